# SPDX-License-Identifier: BSD-3-Clause
"""Forwarder: one lull-fwd with traffic of its own over rings, and windows measured on it.

Driven over its telemetry socket, as the demo drives it: governor, traffic, settle, mark,
wait, read. Nothing is asked while a window runs.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import machine

from program import REPLY_BYTES, BenchError, place_threads, wait_for

GRACE_S = 5.0
FORWARD, TRAFFIC = "forward", "traffic"
COUNTERS = ("iterations", "iterations_empty", "pkts", "busy_ns", "empty_ns", "rest_requested_ns")
DEPTHS = ("pause", "monitor", "sleep", "interrupt")
GAPS = ("sink_gap_p50_ns", "sink_gap_p99_ns")


@dataclass(frozen=True)
class Quiet:
    """What a window may be disturbed by and still counts, and how often it is tried."""

    held_pct: float  # of the time that others held the CPUs
    late_us: float  # p99 of departures behind schedule
    tries: int


@dataclass(frozen=True)
class Window:
    """One governor on one kind of traffic for a while."""

    governor: str
    traffic: str
    ns: int
    cpu_ns: int  # of the forwarding thread
    counts: dict[str, int]  # COUNTERS and rests, in this window
    p50_ns: int
    p99_ns: int
    offered: int
    lost: int
    wait_p50_ns: int  # from the look before to the end of the iteration that carried a packet
    source_iteration_ns: float  # CPU time by iteration of the other loop
    gaps: dict[str, int]  # how long the sink had not looked, by packet
    late_p99_ns: int  # departures behind schedule
    held_pct: float  # of the time that others kept from the two loops
    state: str  # of the verdict
    rest_bins: list[tuple[int, int]]  # low edge and count
    wait_bins: list[tuple[int, int]]  # the same of what packets waited here at most
    sink_bins: list[tuple[int, int]]  # and in the sink

    @property
    def cpu_pct(self) -> float:
        """Of the forwarding thread."""
        return 100 * self.cpu_ns / self.ns

    @property
    def iterations_busy(self) -> int:
        """Turns that carried packets."""
        return self.counts["iterations"] - self.counts["iterations_empty"]

    def disturbed(self, quiet: Quiet) -> bool:
        """Did others take so much of the CPUs that the figures are theirs?"""
        return self.held_pct > quiet.held_pct or self.late_p99_ns > quiet.late_us * 1000


def cpu_by_iteration(begin: dict[str, Any], end: dict[str, Any]) -> float:
    """Mean of a loop, ns."""
    iterations = max(1, end["iterations"] - begin["iterations"])
    cpu_ns: int = end["thread_cpu_ns"] - begin["thread_cpu_ns"]
    return float(cpu_ns / iterations)


class Forwarder:
    """A process of ours; leaving the `with` block ends it."""

    def __init__(self, program: Path, options: dict[str, str], nice: int) -> None:
        self.options = options
        self.nice = nice
        self.directory = Path(tempfile.mkdtemp(prefix="lull-live-"))
        self.log = (self.directory / "log").open("w+b")
        words = [word for key, text in options.items() for word in (f"--{key}", text)]
        self.process = subprocess.Popen(
            [str(program), "--stats", "0", "--traffic", "off", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.log,
            env={**os.environ, "RUNTIME_DIRECTORY": str(self.directory)},
            start_new_session=True,
        )
        self.loops: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Forwarder:
        try:
            self._find_loops()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def _close(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _find_loops(self) -> None:
        for name in wait_for("lull-fwd answers", self._names):
            loop = self.ask(f"/lull/loop,{name}")
            self.loops[loop["kind"]] = loop
        forward, traffic = self.loops[FORWARD], self.loops[TRAFFIC]
        if forward["cpu"] == traffic["cpu"]:
            raise BenchError("needs two CPUs: the loops would measure each other")
        if self.nice != 0:
            place_threads(self.process.pid, forward["tid"], traffic["cpu"], self.nice)

    def _names(self) -> list[str] | None:
        status = self.process.poll()
        if status is not None:
            self.log.seek(0)
            last = self.log.read().decode(errors="replace").strip().rpartition("\n")[2]
            raise BenchError(f"lull-fwd ended with {status}: {last}")
        try:
            return list(self.ask("/lull/info")["loops"])
        except (OSError, BenchError, KeyError, ValueError):
            return None

    # ---- telemetry ----

    def ask(self, command: str) -> Any:  # noqa: ANN401, RUF100 - JSON is anything
        """The value under the command's name."""
        prefix = f"lull-fwd-{self.process.pid}"
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.settimeout(GRACE_S)
            client.connect(str(self.directory / "dpdk" / prefix / "dpdk_telemetry.v2"))
            client.recv(REPLY_BYTES)  # greeting
            client.send(command.encode())
            reply = json.loads(client.recv(REPLY_BYTES))
        value = reply.get(command.partition(",")[0])
        if value is None:
            raise BenchError(f"lull-fwd has no answer to {command}")
        return value

    def set(self, key: str, text: str) -> None:
        """Change a setting."""
        reply = self.ask(f"/lull/set,{key}={text}")
        if reply.get("ok") != 1:
            raise BenchError(f"lull-fwd: {reply.get('error', key)}")

    def loop(self, kind: str) -> dict[str, Any]:
        """What is known of a loop now."""
        found: dict[str, Any] = self.ask(f"/lull/loop,{self.loops[kind]['name']}")
        return found

    def _bins(self, kind: str, which: str) -> list[tuple[int, int]]:
        bins = self.ask(f"/lull/histogram,{self.loops[kind]['name']},{which}")["bins"]
        return list(zip(bins[0::2], bins[1::2], strict=True))

    def _mark(self) -> None:
        window = self.ask("/lull/mark")["window"]
        for kind in self.loops:
            wait_for(f"window {window}", partial(self._marked, kind, window))

    def _marked(self, kind: str, window: int) -> bool:
        return bool(self.loop(kind)["window"] == window)

    def _held_ns(self) -> int:
        """Time that others kept from either loop: the hypervisor, other programs."""
        held = 0
        for kind in self.loops:
            loop = self.loop(kind)
            held += loop["steal_ns"]
            held += machine.read_thread(self.process.pid, loop["tid"]).waited_ns
        return held

    # ---- a window ----

    def try_often(
        self,
        quiet: Quiet,
        governor: str,
        traffic: str,
        seconds: float,
        settle_s: float,
        rest: str = "",
    ) -> list[Window]:
        """Windows up to the first that nobody disturbed."""
        windows: list[Window] = []
        while len(windows) < quiet.tries:
            windows.append(self.measure(governor, traffic, seconds, settle_s, rest))
            if not windows[-1].disturbed(quiet):
                break
        return windows

    def measure(
        self, governor: str, traffic: str, seconds: float, settle_s: float, rest: str = ""
    ) -> Window:
        """Figures of a window after it has settled."""
        if rest:
            self.set("rest", rest)
        self.set("governor", governor)
        self.set("traffic", traffic)
        time.sleep(settle_s)
        self._mark()
        held = self._held_ns()
        other = self.loop(TRAFFIC)
        begin = self.loop(FORWARD)
        time.sleep(seconds)
        end = self.loop(FORWARD)
        other_end = self.loop(TRAFFIC)
        counted = self.ask(f"/lull/traffic,{self.loops[TRAFFIC]['name']}")
        held = self._held_ns() - held
        rest_bins = self._bins(FORWARD, "rest")
        wait_bins = self._bins(FORWARD, "wait")
        sink_bins = self._bins(TRAFFIC, "wait")
        state = self.ask(f"/lull/explain,{begin['name']}")["state"]
        ns = end["now_ns"] - begin["now_ns"]
        counts = {name: end[name] - begin[name] for name in COUNTERS}
        counts["rests"] = sum(end[f"rests_{way}"] - begin[f"rests_{way}"] for way in DEPTHS)
        return Window(
            governor,
            traffic,
            ns,
            end["thread_cpu_ns"] - begin["thread_cpu_ns"],
            counts,
            counted["latency_p50_ns"],
            counted["latency_p99_ns"],
            counted["offered"],
            counted["rejected"] + counted["no_buffer"],
            end["wait_p50_ns"],
            cpu_by_iteration(other, other_end),
            {name: counted[name] for name in GAPS},
            counted["late_p99_ns"],
            100 * held / ns,
            state,
            rest_bins,
            wait_bins,
            sink_bins,
        )
