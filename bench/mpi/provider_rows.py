# SPDX-License-Identifier: BSD-3-Clause
"""Provider rows: Open MPI over the channel, by kind of rail, protection and rests."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mpi_rows import Mpi, Way, mtl_ofi
from mpi_scenes import CONFORM, TRAINING
from rails import NODE, devices, memif, node_program, program_of
from scene import GOODPUT, LATENCY, SILENCE, SILENT, WAIT, Kind, Scene
from station import Figures, Station

PROVIDER = "liblull-fi.so"
ALONE = (LATENCY, CONFORM)  # what a row that never rests is there for
OVER_RAILS = (GOODPUT, LATENCY, SILENCE, SILENT, WAIT, TRAINING)


@dataclass(frozen=True)
class Reach:
    """How ranks reach each other: what is asked of them on two nodes, and on one."""

    two: Sequence[Kind] = ()
    one: Sequence[Kind] = ()
    remark: str = ""
    unshaped: bool = False  # there is no wire that a bed could shape


REACHES = {
    "kernel": Reach(OVER_RAILS, (LATENCY, WAIT, CONFORM)),
    "dpdk": Reach(OVER_RAILS),
    "node": Reach(OVER_RAILS, (LATENCY, WAIT, CONFORM), "each node's program has the rails"),
    "memif": Reach((LATENCY,), (), "shared memory of two DPDK programs", unshaped=True),
}


class Lull(Mpi):
    """Our provider."""

    def __init__(self, build: Path, kind: str, more: str = "") -> None:
        reach = REACHES[kind]
        super().__init__(f"lull {kind}" + f" {more}" * bool(more), reach.remark)
        self.build = build.resolve()
        self.kind = kind
        self.spins = more == "spin"
        self.sealed = more == "sealed"

    def takes(self, where: Scene) -> bool:
        """Nothing shapes shared memory, and a row of its own is for what differs there."""
        reach = REACHES[self.kind]
        wanted = reach.one if where.nodes == 1 else reach.two
        if self.spins and where.nodes == 2 and self.kind == "node":
            return False  # two ranks and two programs of nodes would want four CPUs
        only = ALONE if self.spins else (GOODPUT,) if self.sealed else wanted
        shaped = bool(where.sum_bps())
        return where.what in wanted and where.what in only and not (reach.unshaped and shaped)

    def missing(self, where: Scene) -> str:
        """What was built."""
        found = super().missing(where)
        if not found and not (self.build / "fi" / PROVIDER).exists():
            found = (f"{PROVIDER} is not built: apt-get install libfabric-dev, run make build, or "
                     "name its folder by --build")  # fmt: skip
        if not found and self.kind == "node" and not program_of(self.build, NODE).exists():
            found = f"{NODE} is not built: run make build, or name its folder by --build"
        return found

    def measure(self, station: Station, where: Scene) -> Figures:
        """The same, told without folders of this machine."""
        try:
            return super().measure(station, where)
        finally:
            station.tell(str(program_of(self.build, NODE)), NODE)
            station.tell(str(self.build), "build")

    def way(self, station: Station, where: Scene, folder: Path) -> Way:
        """Rails of each node; where they are the same for all, mpirun is told once."""
        environment = {"FI_PROVIDER_PATH": str(self.build / "fi"), "FI_LOG_LEVEL": "warn",
                       "FI_LULL_SECURITY": "sealed" if self.sealed else "open"}  # fmt: skip
        if self.sealed:
            environment["FI_LULL_KEY"] = str(key(folder))
        if self.spins:
            environment["FI_LULL_MAX_REST"] = "0"
        nodes = "ab"[:where.nodes]
        words = {node: self.rail_words(station, where, folder, node) for node in nodes}
        own = {node: {"FI_LULL_RAILS": text, "RUNTIME_DIRECTORY": str(home(folder, node))}
               for node, text in words.items()}  # fmt: skip
        if len(set(words.values())) > 1 or self.kind == "dpdk":
            return Way(mtl_ofi("lull"), environment, own)
        return Way(mtl_ofi("lull"), environment | {"FI_LULL_RAILS": words["a"]})

    def rail_words(self, station: Station, where: Scene, folder: Path, node: str) -> str:
        """Starts the node's program where rails are its."""
        rails = len(where.rail_list())
        if self.kind == "memif":
            return memif(folder, node)
        if self.kind == "kernel" and where.nodes == 1:
            return "kernel:lo"
        if self.kind in ("kernel", "dpdk"):
            return " ".join(devices(self.kind, rails))
        below = devices("kernel" if where.nodes == 1 else "dpdk", rails)
        busy = "-busy" * self.spins
        return f"node{busy}:{node_program(station, self.build, folder, node, below)}"


def home(folder: Path, node: str) -> Path:
    """Where ranks of a node keep their sockets."""
    path = folder / f"home-{node}"
    path.mkdir(exist_ok=True)
    return path


def key(folder: Path) -> Path:
    """A key for this run."""
    path = folder / "key"
    path.touch(mode=0o600)
    path.write_text(secrets.token_hex(32) + "\n", encoding="ascii")
    return path
