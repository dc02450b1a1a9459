# SPDX-License-Identifier: BSD-3-Clause
"""Goals: what the channel is to reach in this comparison."""

from __future__ import annotations

from collections.abc import Iterator

from goal import Goal

DPDK, KERNEL, SEALED = "lull dpdk open", "lull kernel open", "lull dpdk sealed"
KERNEL_SEALED, NODE, SPIN = "lull kernel sealed", "lull node open", "lull dpdk open spin"
MEMIF, SAME = "lull memif open spin", "lull same node open spin"
FABRIC, RAW, BTL = "libfabric tcp;ofi_rxm", "raw rail", "Open MPI btl/tcp"
SHARES = {"2x200": 95, "4x200": 95, "8x100": 95, "200+100+50": 93, "4x100+4x50": 93,
          "200+200+100+50": 92, "4x200-loss-0.1": 94, "4x200-loss-1": 92}  # fmt: skip
POINTS = {DPDK: 0, SEALED: 1, KERNEL: 2, KERNEL_SEALED: 3}  # fewer than `dpdk:` and `open`


def goals() -> Iterator[Goal]:
    """All that this bench can judge, in the order of their numbers."""
    for scene, share in SHARES.items():
        for peer, points in POINTS.items():
            yield Goal(1, "goodput in % of the sum", scene, peer, "share_pct", True,
                       share - points)  # fmt: skip
    for peer in (DPDK, KERNEL):
        yield Goal(2, "ms at zero", "silence", peer, "zero_ms", False, 25)
        yield Goal(2, "ms to 95 % of the rest", "silence", peer, "there_ms", False, 50)
        yield Goal(2, "ms to 95 % of all", "silence", peer, "back_ms", False, 300)
        yield Goal(2, "ms to follow the slower rail", "change", peer, "there_ms", False, 50)
        yield Goal(2, "ms to follow the faster rail", "change", peer, "back_ms", False, 50)
        yield Goal(2, "ms below 90 %", "change", peer, "below_ms", False, 100)
        yield Goal(3, "p99 us at 1 % loss", "64B-loss-1", peer, "p99_us", False, 500)
        yield Goal(3, "max us at 1 % loss", "64B-loss-1", peer, "max_us", False, 5000)
    yield Goal(3, "p50 us in shared memory", "64B", MEMIF, "p50_us", False, 0.35,
               (FABRIC, "mean_us"))  # fmt: skip
    yield Goal(3, "p50 us over veth", "64B", SPIN, "p50_us", False, 0.6, (FABRIC, "mean_us"))
    yield Goal(3, "p50 us on the same node", "64B", SAME, "p50_us", False, 0.2,
               (FABRIC, "mean_us"))  # fmt: skip
    yield Goal(3, "bit/s of one rail", "one-full", DPDK, "goodput_bps", True, 0.65,
               (RAW, "goodput_bps"))  # fmt: skip
    yield Goal(3, "bit/s of one rail", "one-full", KERNEL, "goodput_bps", True, 0.75,
               (BTL, "goodput_bps"))  # fmt: skip
    yield Goal(3, "bit/s of memif", "one-full", MEMIF.removesuffix(" spin"), "goodput_bps", True,
               20e9)  # fmt: skip
    for peer in (DPDK, KERNEL):
        yield Goal(3, "Jain's index of four", "incast-4", peer, "jain", True, 0.95)
        yield Goal(3, "% sent again of four", "incast-4", peer, "resent_pct", False, 0.5)
    for peer in (DPDK, KERNEL, NODE):
        for node in "ab":
            yield Goal(4, f"CPU % of {node}, idle", "wait", peer, f"cpu_{node}_pct", False, 3)
    yield Goal(4, "CPU % of the node's program, idle", "wait", NODE, "cpu_program-a_pct", False, 3)
    for peer in (DPDK, KERNEL):
        yield Goal(4, "p99 us there and back after 1 s", "first", peer, "p99_us", False, 150)
    yield Goal(4, "p50 us resting", "64B", DPDK, "p50_us", False, 1.05, (SPIN, "p50_us"))
    for node in "ab":
        yield Goal(4, f"CPU % of {node}, 10 ms in 100", "periodic", DPDK, f"cpu_{node}_pct", False,
                   15)  # fmt: skip
    yield Goal(4, "bit/s in bursts", "periodic", DPDK, "goodput_bps", True, 0.98,
               (SPIN, "goodput_bps"))  # fmt: skip
    yield Goal(4, "messages lost", "periodic", DPDK, "missing", False, 0)
    yield Goal(4, "% sent again in bursts", "periodic", DPDK, "resent_pct", False, 1,
               (SPIN, "resent_pct"))  # fmt: skip
