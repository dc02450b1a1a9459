#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Side by side: the same MPI programs over the channel, and over what else Open MPI runs on.

Its shared memory and its TCP, UCX over TCP, libfabric over tcp;ofi_rxm and udp;ofi_rxd, and
libfabric over the provider lull, over the same test bed, in turn, round after round: half round
trips, goodput over several rails, a rail that falls silent, what a rank takes that waits, four
ranks on few CPUs, a training step. Prints tables and writes OUT/mpi.json, .png, .svg and .md.
Judges nothing. A peer that is not here or fails is a row with the reason. Needs root: it lays a
bed of network namespaces and removes it.
"""

from __future__ import annotations

import sys
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(TREE / "python"), *(str(TREE / "bench" / name) for name in ("idle", "rounds"))]

import comparison  # noqa: E402 - of this checkout
import mpi_document  # noqa: E402
from mpi_goals import goals  # noqa: E402
from mpi_rows import PINGPONGS, BtlTcp, MtlOfi, PmlUcx, Vader  # noqa: E402
from mpi_scenes import CONFORM, SCENES, TRAINING  # noqa: E402
from peer import Peer  # noqa: E402
from provider_rows import Lull  # noqa: E402
from result import Result  # noqa: E402
from scene import GOODPUT, LATENCY, WAIT  # noqa: E402

ONE_RAIL = (GOODPUT, LATENCY, WAIT)  # a silent rail that it does not use tells nothing


def all_peers(build: Path) -> list[Peer]:
    """In the order of the tables. ofi_rxd crashes at MPI_Ssend, which `conform` calls."""
    return [
        Vader((*PINGPONGS, CONFORM)), BtlTcp((*PINGPONGS, CONFORM, TRAINING)),
        PmlUcx((*PINGPONGS, CONFORM, TRAINING)),
        MtlOfi("tcp;ofi_rxm", (*ONE_RAIL, CONFORM, TRAINING)), MtlOfi("udp;ofi_rxd", ONE_RAIL),
        *(Lull(build, kind, more) for kind, more in (
            ("kernel", ""), ("kernel", "spin"), ("dpdk", ""), ("dpdk", "spin"), ("dpdk", "sealed"),
            ("node", ""), ("node", "spin"), ("memif", ""), ("memif", "spin"))),
    ]  # fmt: skip


def draw(made: Result, stem: Path) -> bool:
    """Needs matplotlib, which is in .venv only."""
    import mpi_picture

    return mpi_picture.save(made, stem)


BENCH = comparison.Bench(
    name="mpi", script="bench/mpi/compare.py", purpose=__doc__ or "",
    shows="MPI over the channel and beside it", scenes=SCENES, goals=goals, peers=all_peers,
    draw=draw, document=mpi_document.prepare,
    quick={"rounds": 1, "tries": 1, "seconds": 1.0, "scenes": "64B,64B-same,200+100+50,wait"},
    packages={"Open MPI": "openmpi-bin", "libfabric": "libfabric1", "UCX": "libucx0"},
)  # fmt: skip

if __name__ == "__main__":
    comparison.main(BENCH)
