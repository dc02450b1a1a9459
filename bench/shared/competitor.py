# SPDX-License-Identifier: BSD-3-Clause
"""Competitor: another program on the polling thread's CPU, and what it gets done."""

from __future__ import annotations

import bisect
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import machine

from program import FORWARDER, SOURCE, BenchError, Place, Program, wait_for

WORK = Path(__file__).resolve().with_name("work.py")
KINDS = ("hog", "xz", "compile", "udp", "duty")
WARM_S = 0.3
NEAR, FAR = "198.51.100.1", "198.51.100.2"  # of the wire of kind udp; documentation's own


@dataclass(frozen=True)
class Line:
    """What the program knew of itself at one moment."""

    at_ns: int
    done: int
    cpu_ns: int
    longest_ns: int  # piece since the line before

    @staticmethod
    def of(text: str) -> Line:
        """As work.py writes it."""
        at_ns, done, cpu_ns, longest_ns = (int(word) for word in text.split())
        return Line(at_ns, done, cpu_ns, longest_ns)


@dataclass(frozen=True)
class Progress:
    """What a program got and did between two moments."""

    cpu_pct: float
    pieces_per_s: float
    longest_ms: float


def _between(lines: Sequence[Line], at_ns: int) -> tuple[float, float]:
    """Pieces done and CPU time had at a moment: what lies between two lines came evenly."""
    index = bisect.bisect_left(lines, at_ns, key=lambda line: line.at_ns)
    if index == 0 or index == len(lines):
        raise BenchError("the other program said nothing about this moment")
    before, after = lines[index - 1], lines[index]
    share = (at_ns - before.at_ns) / (after.at_ns - before.at_ns)
    return (
        before.done + share * (after.done - before.done),
        before.cpu_ns + share * (after.cpu_ns - before.cpu_ns),
    )


def progress(lines: Sequence[Line], begin_ns: int, end_ns: int) -> Progress:
    """Of a window within the lines."""
    done, cpu_ns = _between(lines, begin_ns)
    done_end, cpu_ns_end = _between(lines, end_ns)
    wall_ns = end_ns - begin_ns
    longest = [line.longest_ns for line in lines if begin_ns < line.at_ns <= end_ns]
    return Progress(
        100 * (cpu_ns_end - cpu_ns) / wall_ns,
        (done_end - done) * 1e9 / wall_ns,
        max(longest, default=wall_ns) / 1e6,
    )


class Competitor:
    """One at work on a CPU; a meter of what it got in a window."""

    def __init__(self, place: Place, kind: str, cpu: int, nice: int = 0) -> None:
        name, _, percent = kind.partition(":")
        if name not in KINDS or (name == "duty") != bool(percent):
            raise BenchError(f"no other program {kind!r}: hog, xz, compile, udp, duty:PERCENT")
        self.log = place.path(f"work-{name}-{cpu}.log")
        self.log.unlink(missing_ok=True)
        more = _wire(place) if name == "udp" else []
        command = [sys.executable, "-S", str(WORK), kind, str(self.log), *more]
        self.program: Program = place.start(FORWARDER, f"work-{name}-{cpu}", command, cpu)
        self.begin_ns = 0
        if nice != 0:
            renice(self.program.pid, nice)
        wait_for(f"{kind} works", self._lines)
        time.sleep(WARM_S)

    def _lines(self) -> list[Line]:
        self.program.check_alive()
        if not self.log.exists():
            return []
        whole = self.log.read_text(encoding="ascii").rpartition("\n")[0]
        return [Line.of(line) for line in whole.splitlines()]

    def begin(self) -> None:
        """A window begins."""
        self.begin_ns = time.monotonic_ns()

    def end(self) -> dict[str, Any]:
        """What it got meanwhile."""
        end_ns = time.monotonic_ns()
        # Its next line may be late where it gets no CPU at all: that is a figure, too.
        lines = wait_for("the other program goes on", lambda: self._up_to(end_ns))
        seen = progress(lines, self.begin_ns, end_ns)
        return {
            "other_pct": seen.cpu_pct,
            "other_per_s": seen.pieces_per_s,
            "stall_ms": seen.longest_ms,
        }

    def _up_to(self, at_ns: int) -> list[Line] | None:
        lines = self._lines()
        return lines if lines[-1].at_ns >= at_ns else None


def renice(pid: int, nice: int) -> None:
    """A process and its session group, which the kernel shares CPU time by first."""
    group = machine.PROC / str(pid) / "autogroup"
    if group.exists():
        group.write_text(str(nice), encoding="utf-8")
    os.setpriority(os.PRIO_PROCESS, pid, nice)


def _wire(place: Place) -> list[str]:
    """A veth pair with addresses; it goes when the place goes. Where the far end is."""
    there = place.namespaces[SOURCE]
    if not _exists(place, "k0"):
        place.run(FORWARDER, *f"ip link add k0 type veth peer name k1 netns {there}".split())
        for side, interface, address in ((FORWARDER, "k0", NEAR), (SOURCE, "k1", FAR)):
            place.run(side, "ip", "address", "add", f"{address}/30", "dev", interface)
            place.run(side, "ip", "link", "set", interface, "up")
    return [f"/run/netns/{there}", FAR]


def _exists(place: Place, interface: str) -> bool:
    try:
        place.run(FORWARDER, "ip", "link", "show", interface)
    except BenchError:
        return False
    return True
