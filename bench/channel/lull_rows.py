# SPDX-License-Identifier: BSD-3-Clause
"""Lull rows: lull-channel-perf by kind of rail and by how packets are protected."""

from __future__ import annotations

import json
import secrets
import tempfile
from collections.abc import Sequence
from pathlib import Path

import scene
from kernel_rows import Figures, cpu
from lull.program.telemetry import Telemetry
from station import PeerError, Station, ready

NAME = "lull-channel-perf"
JOBS = {scene.GOODPUT: "bandwidth", scene.SILENCE: "bandwidth", scene.LATENCY: "latency",
        scene.WAIT: "periodic"}  # fmt: skip
ONCE = ["--period", "100s", "--burst", "1us"]  # one message, then nothing
NS_PER_US = 1000


class Channel:
    """Sealed, signed or open, over one kind of rail."""

    packages: Sequence[str] = ()
    programs: Sequence[str] = ()
    does: Sequence[str] = tuple(JOBS)
    remark = ""

    def __init__(self, build: Path, kind: str, security: str, governor: str = "") -> None:
        self.name = f"lull {kind} {security}" + f" {governor}" * bool(governor)
        self.program = build / "apps" / NAME / NAME
        self.kind = kind
        self.security = security
        self.governor = governor

    def _words(self, node: str, rails: int, key: Path) -> list[str]:
        device = "kernel:r{}" if self.kind == "kernel" else "dpdk:af_packet=r{}"
        words = [str(self.program), "--name", node, "--security", self.security, "--stats", "0"]
        words += [word for rail in range(rails) for word in ("--rail", device.format(rail))]
        if self.security != "open":
            words += ["--key-file", str(key)]
        if self.governor:
            words += ["--governor", self.governor]
        return words

    def measure(self, station: Station, where: scene.Scene) -> Figures:
        """Node b listens, node a asks."""
        if not self.program.exists():
            raise PeerError(f"{NAME} is not built: run make build, or name its folder by --build")
        with tempfile.TemporaryDirectory(prefix="lull-bench-") as folder:
            key = Path(folder) / "key"
            key.touch(mode=0o600)
            key.write_text(secrets.token_hex(32) + "\n", encoding="ascii")
            try:
                return self._run(station, where, key)
            finally:
                station.tell(folder, "/tmp")
                station.tell(str(self.program), NAME)

    def _run(self, station: Station, where: scene.Scene, key: Path) -> Figures:
        rails, folder = len(where.rail_list()), key.parent
        homes = {node: {"RUNTIME_DIRECTORY": str(folder / node)} for node in ("a", "b")}
        for home in homes.values():
            Path(home["RUNTIME_DIRECTORY"]).mkdir()
        listener = station.start("b", *self._words("b", rails, key), "--listen",
                                 environment=homes["b"])  # fmt: skip
        socket = ready(Path(homes["b"]["RUNTIME_DIRECTORY"]), listener, NAME)
        if where.what == scene.SILENCE:
            telemetry = Telemetry(socket)
            station.received = lambda: sum(one.received_bytes for one in telemetry.channel_peers())
        job = JOBS[where.what]
        words = ["--to", "b", "--job", job, "--message", str(where.bytes), "--json", "-",
                 "--duration", f"{station.seconds:g}s"]  # fmt: skip
        words += ONCE if job == "periodic" else []
        caller = station.start("a", *self._words("a", rails, key), *words,
                               environment=homes["a"])  # fmt: skip
        ended = station.finish(caller)
        begin = ended.out.find("{\n")  # its words on stderr are around it
        if begin < 0:
            raise PeerError(f"{NAME}: no result, but: {' '.join(ended.out.split()[-20:])}")
        result, _ = json.JSONDecoder().raw_decode(ended.out[begin:])
        figures = {**self._figures(where, result), **cpu(ended)}
        if where.what == scene.WAIT and "cpu_b_pct" in figures:
            figures["wait_cpu_pct"] = figures["cpu_b_pct"]
        return figures

    @staticmethod
    def _figures(where: scene.Scene, result: dict[str, object]) -> Figures:
        """Of the side that received; of who asked for latency."""
        peers = result["peers"]
        assert isinstance(peers, list)
        peer = peers[0]
        if where.what == scene.LATENCY:
            half = peer["half_round_trip_ns"]
            found = {f"{key}_us": half[key] / NS_PER_US for key in ("p50", "p99", "max")}
            return {"messages": peer["messages"], **found}
        return {"messages": peer["far"]["messages"],
                "goodput_bps": peer["far"]["goodput_bits_per_s"]}  # fmt: skip
