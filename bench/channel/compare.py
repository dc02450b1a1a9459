#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Side by side: what do several rails carry together, how soon does a message arrive, and what
does it cost to wait?

lull-channel-perf and what else bundles network cards, over the same test bed, in turn, round after
round. Prints tables and writes OUT/channel.json, .png, .svg and .md. Judges nothing. A peer that
is not installed or fails is a row with the reason. Needs root: it lays a bed of network
namespaces and removes it.
"""

from __future__ import annotations

import sys
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(TREE / "python"), *(str(TREE / "bench" / name)
                                       for name in ("idle", "rounds", "mpi"))]

import comparison  # noqa: E402 - of this checkout
import goals  # noqa: E402
from fabric_rows import Pingpong, Ucx  # noqa: E402
from kernel_rows import Bonding, Iperf, Multipath, Raw, TcpPing  # noqa: E402
from lull_rows import Channel  # noqa: E402
from mpi_rows import BtlTcp, MtlOfi  # noqa: E402
from peer import Peer  # noqa: E402
from result import Result  # noqa: E402
from scenes import SCENES  # noqa: E402

PROVIDERS = ("tcp;ofi_rxm", "udp;ofi_rxd")
SECURITIES = ("open", "signed", "sealed")


def all_peers(build: Path) -> list[Peer]:
    """In the order of the tables."""
    return [
        Raw(), Iperf(), TcpPing(), Multipath(), Bonding(), BtlTcp(), *map(MtlOfi, PROVIDERS),
        *map(Pingpong, PROVIDERS), Ucx(),
        *(Channel(build, kind, security) for kind in ("kernel", "dpdk") for security in SECURITIES),
        Channel(build, "dpdk", "open", "spin"),
        *(Channel(build, kind, "open", governor) for kind in ("memif", "same node")
          for governor in ("", "spin")),
        Channel(build, "node", "open"),
    ]  # fmt: skip


def draw(made: Result, stem: Path) -> bool:
    """Needs matplotlib, which is in .venv only."""
    import picture

    return picture.save(made, stem)


BENCH = comparison.Bench(
    name="channel", script="bench/channel/compare.py", purpose=__doc__ or "",
    shows="Channel and its peers", scenes=SCENES, goals=goals.goals, peers=all_peers, draw=draw,
    quick={"rounds": 1, "tries": 1, "seconds": 1.0, "scenes": "200+100+50,64B-loss-1,wait"},
)  # fmt: skip

if __name__ == "__main__":
    comparison.main(BENCH)
