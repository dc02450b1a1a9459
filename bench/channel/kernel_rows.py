# SPDX-License-Identifier: BSD-3-Clause
"""Kernel rows: iperf3 over TCP on one rail, Multipath TCP, a bonding device; the raw driver."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from peer import Peer
from scene import CHANGE, GOODPUT, LATENCY, SILENCE, Kind, Scene
from station import SETTLE_S, Figures, PeerError, Station, cpu

PORT = 5201
OMIT_S = 1  # slow start, and subflows that join
BOND = "10.78.0"
FRAME_BYTES = 1400
EAL = ["--no-huge", "-m", "512", "--no-pci", "--no-telemetry"]

class Iperf(Peer):
    """TCP over the first rail alone."""

    name = "tcp"
    packages: Sequence[str] = ("iperf3",)
    programs: Sequence[str] = ("iperf3",)
    does: Sequence[Kind] = (GOODPUT, SILENCE, CHANGE)
    remark = "one rail"
    prefix: Sequence[str] = ()

    def address(self, station: Station) -> str:
        """Of the server."""
        return station.bed.address(0, "b")

    def prepare(self, station: Station, rails: int) -> None:
        """Before the programs start."""

    def measure(self, station: Station, where: Scene) -> Figures:
        """Both sides under the same prefix."""
        self.prepare(station, len(where.rail_list()))
        server = station.start("b", *self.prefix, "iperf3", "-s", "-1")
        station.received = lambda: read_bytes(server.pid)
        station.listens("b", PORT, server)
        client = station.start("a", *self.prefix, "iperf3", "-J", "-t", f"{station.seconds:.0f}",
                               "-O", str(OMIT_S), "-c", self.address(station))  # fmt: skip
        ended = station.finish(client)
        found = json.loads(ended.out)["end"]["sum_received"]
        return {"goodput_bps": found["bits_per_second"], **cpu(ended)}


class TcpPing(Peer):
    """Messages over TCP, one at a time."""

    name = "tcp, one at a time"
    packages: Sequence[str] = ()
    programs: Sequence[str] = ()
    does: Sequence[Kind] = (LATENCY,)
    remark = "a Python program, which takes some 10 us of each way"

    def measure(self, station: Station, where: Scene) -> Figures:
        """Server at b, client at a."""
        python, program = sys.executable, str(Path(__file__).with_name("tcp_pingpong.py"))
        server = station.start("b", python, program, "serve", str(PORT))
        station.listens("b", PORT, server)
        client = station.start("a", python, program, "ask", station.bed.address(0, "b"), str(PORT),
                               f"{station.seconds:g}", str(where.bytes))  # fmt: skip
        station.tell(python, "python3")
        station.tell(program, "bench/channel/tcp_pingpong.py")
        ended = station.finish(client)
        return {**json.loads(ended.out.splitlines()[-1]), **cpu(ended)}


class Multipath(Iperf):
    """Subflows on all rails: the server's node tells its addresses, the client joins them."""

    name = "mptcp"
    packages: Sequence[str] = ("iperf3", "mptcpize")
    programs: Sequence[str] = ("iperf3", "mptcpize")
    remark = ""
    prefix: Sequence[str] = ("mptcpize", "run")

    def prepare(self, station: Station, rails: int) -> None:
        """Up to 8 further subflows are the most that the kernel takes."""
        lines = [("a", ["limits", "set", "subflows", "8", "add_addr_accepted", "8"]),
                 ("b", ["limits", "set", "subflows", "8"])]  # fmt: skip
        lines += [("b", ["endpoint", "add", station.bed.address(rail, "b"), "dev", f"r{rail}",
                         "signal"]) for rail in range(1, rails)]  # fmt: skip
        for node, words in lines:
            configure(station, node, "mptcp", *words)


class Bonding(Iperf):
    """balance-rr over all rails."""

    name = "bonding"
    remark = ""

    def address(self, station: Station) -> str:
        """Of the bonding device."""
        return f"{BOND}.2"

    def prepare(self, station: Station, rails: int) -> None:
        """Rails are down while they join."""
        for number, node in enumerate(station.bed.nodes(), 1):
            try:
                configure(station, node, "link", "add", "bond0", "type", "bond", "mode",
                          "balance-rr", "miimon", "100")  # fmt: skip
            except PeerError as error:
                raise PeerError(f"this kernel has none ({error})") from None
            for rail in range(rails):
                configure(station, node, "link", "set", f"r{rail}", "down")
                configure(station, node, "link", "set", f"r{rail}", "master", "bond0")
            configure(station, node, "addr", "add", f"{BOND}.{number}/24", "dev", "bond0")
            configure(station, node, "link", "set", "bond0", "up")


class Raw(Peer):
    """dpdk-testpmd at both ends of every rail: what the driver and the wire carry."""

    name = "raw rail"
    packages: Sequence[str] = ("dpdk-dev",)
    programs: Sequence[str] = ("dpdk-testpmd",)
    does: Sequence[Kind] = (GOODPUT,)
    remark = f"frames of {FRAME_BYTES} B, by the wire's counters; nothing is sent again"

    def measure(self, station: Station, where: Scene) -> Figures:
        """What the switch delivered to node b in a window."""
        rails = range(len(where.rail_list()))
        sink = self._start(station, "b", rails, "rxonly")
        source = self._start(station, "a", rails, "txonly", f"--txpkts={FRAME_BYTES}")
        self._flows(station, source, sink)
        before, begin = self._delivered(station), time.monotonic()
        time.sleep(station.seconds)
        bits, passed = 8 * (self._delivered(station) - before), time.monotonic() - begin
        return {"goodput_bps": bits / passed}

    @staticmethod
    def _start(station: Station, node: str, rails: range, mode: str,
               *more: str) -> subprocess.Popen[str]:  # fmt: skip
        devices = [f"--vdev=net_af_packet{i},iface=r{i}" for i in rails]
        cpu_number = "0" if node == "a" else "1"
        return station.start(
            node, "dpdk-testpmd", *EAL, "--file-prefix", f"lull-bench-{node}", "--lcores",
            f"0@0,1@{cpu_number}", *devices, "--", f"--forward-mode={mode}", "--auto-start",
            "--no-mlockall", "--total-num-mbufs=8192", "--stats-period=60", *more,
            stdin=subprocess.PIPE)  # fmt: skip

    def _flows(self, station: Station, *programs: subprocess.Popen[str]) -> None:
        """Start-up takes a second or two."""
        end_s = time.monotonic() + 20
        while self._delivered(station) < 1e6:
            for program in programs:
                if program.poll() is not None:
                    out = program.stdout.read() if program.stdout else ""
                    raise PeerError(f"dpdk-testpmd: {' '.join(out.split()[-20:])}")
            if time.monotonic() > end_s:
                raise PeerError("dpdk-testpmd: nothing flows after 20 s")
            time.sleep(0.05)
        time.sleep(SETTLE_S)

    @staticmethod
    def _delivered(station: Station) -> int:
        return sum(one.delivered_bytes for one in station.bed.look() if one.node == "b")


def read_bytes(pid: int) -> int:
    """What a program has read so far, from sockets as well."""
    text = Path(f"/proc/{pid}/io").read_text(encoding="ascii")
    return int(text.split()[1])


def configure(station: Station, node: str, *words: str) -> None:
    """ip(8) in a node."""
    station.commands.append(f"{node}$ ip {' '.join(words)}")
    done = subprocess.run(station.bed.command(node, "ip", *words), capture_output=True, text=True,
                          check=False)  # fmt: skip
    if done.returncode != 0:
        raise PeerError(done.stderr.strip() or f"ip ends with {done.returncode}")


