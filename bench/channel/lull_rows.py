# SPDX-License-Identifier: BSD-3-Clause
"""Lull rows: lull-channel-perf by kind of rail and by how packets are protected."""

from __future__ import annotations

import json
import secrets
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lull.channel.bed_plan import NODE_NAMES
from lull.program.telemetry import Telemetry
from peer import Peer
from rails import DEVICES, NODE, devices, memif, node_program, program_of
from scene import CHANGE, GOODPUT, LATENCY, SILENCE, WAIT, Kind, Scene
from scenes import FIRST, INCAST, PERIODIC
from station import Ended, Figures, PeerError, Station, cpu, ready, stop

NAME = "lull-channel-perf"
JOBS = {GOODPUT: "bandwidth", SILENCE: "bandwidth", CHANGE: "bandwidth",
        LATENCY: "latency", WAIT: "periodic", INCAST: "incast",
        FIRST: "latency", PERIODIC: "periodic"}  # fmt: skip
WORDS = {  # of the caller
    WAIT: ["--period", "100s", "--burst", "1us"],  # one message, then nothing
    FIRST: ["--pause", "1s"],
    # What is under way when a burst ends takes some 3 ms more.
    PERIODIC: ["--period", "100ms", "--burst", "10ms", "--window", "4"],
}
# Of both sides. A ping-pong is made in the caller's thread, as by all peers.
BOTH = {FIRST: ["--max-latency", "100us"], LATENCY: ["--own-loop"]}
SPUN = (LATENCY, PERIODIC)  # what a row that never rests is there for
NS_PER_US = 1000


@dataclass(frozen=True)
class Way:
    """How two programs reach each other."""

    does: Sequence[Kind]
    remark: str = ""
    unshaped: bool = False  # there is no wire that a bed could shape


WAYS = {
    "kernel": Way(tuple(JOBS)),
    "dpdk": Way(tuple(JOBS)),
    "memif": Way((GOODPUT, LATENCY), "shared memory of two DPDK programs", True),
    "same node": Way((GOODPUT, LATENCY), "two processes of a node", True),
    "node": Way((GOODPUT, LATENCY, WAIT), "each node's program has the rails"),
}


class Channel(Peer):
    """Sealed, signed or open, over one kind of rail."""

    def __init__(self, build: Path, kind: str, security: str, governor: str = "") -> None:
        self.name = f"lull {kind} {security}" + f" {governor}" * bool(governor)
        self.build = build
        self.kind = kind
        self.security = security
        self.governor = governor
        self.does = SPUN if governor == "spin" else WAYS[kind].does
        self.remark = WAYS[kind].remark

    def takes(self, where: Scene) -> bool:
        """Nothing shapes shared memory."""
        shaped = bool(where.sum_bps()) or where.rail_list()[0].port.loss > 0
        return where.what in self.does and not (WAYS[self.kind].unshaped and shaped)

    def measure(self, station: Station, where: Scene) -> Figures:
        """Node b listens (and c, d, e), node a asks."""
        if not program_of(self.build, NAME).exists():
            raise PeerError(f"{NAME} is not built: run make build, or name its folder by --build")
        with tempfile.TemporaryDirectory(prefix="lull-bench-") as folder:
            run = Run(self, station, where, Path(folder))
            try:
                return run.measure()
            except PeerError as error:
                raise PeerError(str(error).replace(folder, "/tmp")) from None
            finally:
                station.tell(folder, "/tmp")
                for name in (NAME, NODE):
                    station.tell(str(program_of(self.build, name)), name)


class Run:
    """One measurement, with its files."""

    def __init__(self, row: Channel, station: Station, where: Scene, folder: Path) -> None:
        self.row, self.station, self.where, self.folder = row, station, where, folder
        self.rails = len(where.rail_list())
        self.key = folder / "key"
        self.key.touch(mode=0o600)
        self.key.write_text(secrets.token_hex(32) + "\n", encoding="ascii")

    def measure(self) -> Figures:
        """Start what listens, run the caller to its end."""
        others = station_nodes(self.where)[1:]
        sockets, listeners = {}, {}
        for node in others:
            words = [*self.words(node), "--listen", "--json", str(self.folder / f"{node}.json")]
            listeners[node] = self.start(self.place(node), node, NAME, words)
            sockets[node] = ready(self.home(node), listeners[node], NAME)
        if self.where.what.curve:
            telemetry = Telemetry(sockets["b"])
            self.station.received = lambda: sum(
                one.received_bytes for one in telemetry.channel_peers())
        job = JOBS[self.where.what]
        words = [*self.words("a"), "--job", job, "--message", str(self.where.bytes),
                 "--json", "-", "--duration", f"{self.station.seconds:g}s"]  # fmt: skip
        words += [word for node in others for word in ("--to", node)]
        caller = self.start("a", "a", NAME, words + WORDS.get(self.where.what, []))
        ended = self.station.finish(caller)
        figures = {**self.figures(told(ended)), **cpu(ended)}
        if self.where.what == INCAST:
            figures |= self.resent(listeners)
        return figures

    # ---- what is started ----

    def home(self, name: str) -> Path:
        """Where a program keeps its sockets."""
        path = self.folder / name
        path.mkdir(exist_ok=True)
        return path

    def place(self, name: str) -> str:
        """The node in which a program of this name runs."""
        return "a" if self.row.kind == "same node" else name

    def start(self, node: str, name: str, program: str,
              words: list[str]) -> subprocess.Popen[str]:  # fmt: skip
        """A program, with its own folder for sockets."""
        path = program_of(self.row.build, program)
        return self.station.start(node, str(path), *words, environment={
            "RUNTIME_DIRECTORY": str(self.home(name))})  # fmt: skip

    def words(self, name: str) -> list[str]:
        """Of both sides."""
        words = ["--name", name, "--security", self.row.security, "--stats", "0"]
        words += [word for rail in self.rail_words(name) for word in ("--rail", rail)]
        if self.row.security != "open":
            words += ["--key-file", str(self.key)]
        if self.row.governor:
            words += ["--governor", self.row.governor]
        return words + BOTH.get(self.where.what, [])

    def rail_words(self, name: str) -> list[str]:
        """Starts the node's program where rails are its."""
        if self.row.kind == "memif":
            return [memif(self.folder, name)]
        if self.row.kind in DEVICES:
            return devices(self.row.kind, self.rails)
        kind = "node-busy" if self.row.governor == "spin" else "node"
        below = "kernel" if self.row.kind == "same node" else "dpdk"
        socket = node_program(self.station, self.row.build, self.folder, self.place(name),
                              devices(below, self.rails), self.row.governor)  # fmt: skip
        return [f"{kind}:{socket}"]

    # ---- what came of it ----

    def figures(self, result: dict[str, Any]) -> Figures:
        """Of the side that received; of who asked for latency."""
        peer, what = result["peers"][0], self.where.what
        found = {"messages": peer["messages"]}
        if what in (LATENCY, FIRST):
            # The first message one way is no longer than there and back.
            ways = 2 if what == FIRST else 1
            half = peer["half_round_trip_ns"]
            return found | {f"{key}_us": ways * half[key] / NS_PER_US
                            for key in ("p50", "p99", "max")}  # fmt: skip
        if what == INCAST:
            return {"messages": result["messages"], "jain": result["jain"],
                    "goodput_bps": result["goodput_bits_per_s"]}  # fmt: skip
        found["missing"] = peer["messages"] - peer["far"]["messages"]
        if what == PERIODIC:
            sent = sum(path["tx_pkts"] for path in peer["paths"])
            resent = sum(path["resent_pkts"] for path in peer["paths"])
            return found | {"goodput_bps": peer["goodput_bits_per_s"],
                            "resent_pct": 100 * resent / max(1, sent)}  # fmt: skip
        return found | {"goodput_bps": peer["far"]["goodput_bits_per_s"]}

    def resent(self, listeners: dict[str, subprocess.Popen[str]]) -> Figures:
        """Of those that sent, all together."""
        sent = resent = 0
        for node, process in listeners.items():
            stop(process)
            result = json.loads((self.folder / f"{node}.json").read_text(encoding="utf-8"))
            paths = [path for peer in result["peers"] for path in peer["paths"]]
            sent += sum(path["tx_pkts"] for path in paths)
            resent += sum(path["resent_pkts"] for path in paths)
        return {"resent_pct": 100 * resent / max(1, sent)}


def station_nodes(where: Scene) -> str:
    """Names of the programs, one in each node."""
    return NODE_NAMES[:where.nodes]


def told(ended: Ended) -> dict[str, Any]:
    """The result of a caller; its words on stderr are around it."""
    begin = ended.out.find("{\n")
    if begin < 0:
        raise PeerError(f"{NAME}: no result, but: {' '.join(ended.out.split()[-20:])}")
    result, _ = json.JSONDecoder().raw_decode(ended.out[begin:])
    assert isinstance(result, dict)
    return result
