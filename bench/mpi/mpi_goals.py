# SPDX-License-Identifier: BSD-3-Clause
"""Goals: what MPI over the channel is to reach in this comparison."""

from __future__ import annotations

from collections.abc import Iterator

from goal import Goal

DPDK, SEALED, KERNEL = "lull dpdk", "lull dpdk sealed", "lull kernel"
NODE, MEMIF = "lull node", "lull memif"
FABRIC = "Open MPI mtl/ofi tcp;ofi_rxm"
TIMES = (("64B", DPDK, 0.6), ("64B", KERNEL, 0.8), ("64B", MEMIF, 0.35),
         ("64B-same", NODE, 0.2))  # fmt: skip
SHARES = {"4x200": 95, "200+100+50": 93, "200+200+100+50": 92, "4x200-loss-1": 92}
POINTS = {DPDK: 0, SEALED: 1, KERNEL: 2}  # fewer than `dpdk:` and `open`, as the channel's goals
WAITS = (("wait", KERNEL), ("wait", DPDK), ("wait", NODE), ("wait-same", NODE))
SPUN = (("64B", DPDK), ("64B", KERNEL), ("64B", MEMIF), ("64B-same", NODE))


def goals() -> Iterator[Goal]:
    """All that this bench can judge; numbers are those of the issue's list."""
    for scene, peer, bound in TIMES:
        yield Goal(2, "p50 us of 64 B", scene, peer, "p50_us", False, bound,
                   (FABRIC, "p50_us"), "64B")  # fmt: skip
    for scene, share in SHARES.items():
        for peer, points in POINTS.items():
            yield Goal(2, "goodput in % of the sum", scene, peer, "share_pct", True,
                       share - points)  # fmt: skip
    for peer in (DPDK, KERNEL):
        for scene in ("silence", "silent"):
            yield Goal(2, "1: a silent rail does not stop it", scene, peer, "went_on", True, 1)
            yield Goal(2, "ms at zero", scene, peer, "zero_ms", False, 25)
            yield Goal(2, "ms to 95 % of the rest", scene, peer, "there_ms", False, 50)
        yield Goal(2, "ms to 95 % of all", "silence", peer, "back_ms", False, 300)
    for scene, peer in WAITS:
        yield Goal(3, "CPU % in MPI_Recv", scene, peer, "wait_cpu_pct", False, 3)
    for scene, peer in SPUN:
        yield Goal(3, "p50 us resting", scene, peer, "p50_us", False, 1.05,
                   (f"{peer} spin", "p50_us"))  # fmt: skip
    for peer in (KERNEL, NODE):
        yield Goal(3, "s of four ranks on these CPUs", "conform-4", peer, "wall_s", False, 1,
                   (f"{peer} spin", "wall_s"))  # fmt: skip
