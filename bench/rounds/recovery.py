# SPDX-License-Identifier: BSD-3-Clause
"""Recovery: what the receiver gets while a rail falls silent, or slow, and after it returned."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lull.channel.bed import SWITCH
from lull.channel.bed_namespace import inside
from lull.errors import LullError
from scene import CHANGE, CHANGED_BPS, CHANGED_RAIL, SILENT, SILENT_RAIL, Scene
from station import PeerError, Station

BEGIN_S, SILENT_S, AFTER_S = 3.0, 2.0, 3.0
SECONDS = BEGIN_S + SILENT_S + AFTER_S
STEP_S = 0.01
WINDOW_S = 0.25  # that is to carry so much, all in all
ZERO_SHARE = 0.02  # of the sum: acknowledgements and questions whether anybody is there
GOOD_SHARE = 0.95  # of its rate before, as far as rails are left
BEGUN_BYTES = 1 << 20
NICE = -10
LATE_S = 0.5  # that the bed may be changed later than wanted
LOW_SHARE, LOW_S = 0.9, 0.05  # of its rate, over so long: below it, it has not followed


@dataclass
class Curve:
    """Bytes that the program of node b had so far, every 10 ms; times in s since the first.

    Where a peer does not tell, those of the wire, with headers and what is sent again.
    """

    at_s: list[float] = field(default_factory=list)
    bytes: list[int] = field(default_factory=list)
    silent_s: float = 0.0
    heard_s: float = 0.0

    def rate_bps(self, begin_s: float, end_s: float) -> float:
        """Between two times."""
        inner = [i for i, at in enumerate(self.at_s) if begin_s <= at <= end_s]
        if len(inner) < 2:
            return 0.0
        first, last = inner[0], inner[-1]
        return 8 * (self.bytes[last] - self.bytes[first]) / (self.at_s[last] - self.at_s[first])

    def reaches_s(self, bps: float, begin_s: float, end_s: float) -> float | None:
        """From when on, since begin_s, WINDOW_S carries so much; None: never."""
        for at in (at for at in self.at_s if begin_s <= at <= end_s - WINDOW_S):
            if self.rate_bps(at, at + WINDOW_S) >= bps:
                return at - begin_s
        return None

    def zero_s(self, bps: float, begin_s: float, end_s: float) -> float:
        """Longest time in which it stayed below a rate, step by step."""
        longest, since = 0.0, begin_s
        for i in range(1, len(self.at_s)):
            at, before = self.at_s[i], self.at_s[i - 1]
            if not begin_s < at <= end_s:
                continue
            if 8 * (self.bytes[i] - self.bytes[i - 1]) / (at - before) > bps:
                since = at
            longest = max(longest, at - since)
        return longest

    def figures(self, where: Scene) -> dict[str, float]:
        """What a reader wants to know; a time that is missing never came."""
        late_s = self.heard_s - self.silent_s - SILENT_S
        if late_s > LATE_S:
            raise PeerError(f"the rail came back {late_s:.1f} s late: no CPU was left for that")
        whole, rest = where.sum_bps(), where.meanwhile_bps()
        end_s = self.heard_s + AFTER_S - STEP_S
        back_s = end_s if where.what == SILENT else self.heard_s
        found = {
            "before_share": self.rate_bps(self.silent_s - 1, self.silent_s) / whole,
            "zero_ms": 1e3 * self.zero_s(ZERO_SHARE * whole, self.silent_s, back_s),
            "silent_share": self.rate_bps(self.silent_s + 0.1, back_s) / rest,
            "after_share": self.rate_bps(self.heard_s + 0.5, end_s) / whole,
        }
        own = GOOD_SHARE * found["before_share"]
        there = self.reaches_s(own * rest, self.silent_s, self.heard_s)
        back = self.reaches_s(own * whole, self.heard_s, end_s)
        found |= {} if there is None else {"there_ms": 1e3 * there}
        if where.what == SILENT:
            del found["after_share"]
        elif back is not None:
            found["back_ms"] = 1e3 * back
        if where.what == CHANGE:
            before = found["before_share"]
            found["below_ms"] = 1e3 * max(
                self.below_s(LOW_SHARE * before * rest, self.silent_s, self.heard_s),
                self.below_s(LOW_SHARE * before * whole, self.heard_s, end_s))
        return found

    def below_s(self, bps: float, begin_s: float, end_s: float) -> float:
        """Longest time in which no LOW_S carried so much."""
        longest, since = 0.0, begin_s
        for at in (at for at in self.at_s if begin_s + LOW_S <= at <= end_s):
            if self.rate_bps(at - LOW_S, at) >= bps:
                since = at
            longest = max(longest, at - since)
        return longest


class Recorder:
    """Records until it is stopped, and changes a rail meanwhile."""

    def __init__(self, station: Station, where: Scene) -> None:
        self._station = station
        rails = len(where.rail_list())
        rate = f"rate={(where.rail_list()[CHANGED_RAIL].port.rate_bps or 0):.0f}"
        self._rail, self._words = SILENT_RAIL, ("silent", "heard")
        if where.what == CHANGE:
            self._rail, self._words = CHANGED_RAIL, (f"rate={CHANGED_BPS:.0f}", rate)
        elif where.what == SILENT:
            self._words = ("silent", "silent")
        self._ports = [f"b.r{rail}:" for rail in range(rails)]
        self._stop = threading.Event()
        self._wire_bytes = 0
        self.curve = Curve()
        self._threads = [threading.Thread(target=work) for work in (self._record, self._change)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> Curve:
        """When the peer has ended."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        return self.curve

    def _record(self) -> None:
        go_first()
        inside(self._station.bed.namespace(SWITCH), self._look_often)

    def _look_often(self) -> None:
        begin = time.monotonic()
        next_s = begin
        while not self._stop.is_set():
            text = Path("/proc/thread-self/net/dev").read_text(encoding="ascii")
            self._wire_bytes = sum(int(line.split()[9]) for line in text.splitlines()
                                   if line.split()[0] in self._ports)  # fmt: skip
            self.curve.at_s.append(time.monotonic() - begin)
            self.curve.bytes.append(self._received())
            next_s += STEP_S
            self._stop.wait(max(0.0, next_s - time.monotonic()))

    def _received(self) -> int:
        if self._station.received is None:
            return self._wire_bytes
        try:
            return self._station.received()
        except (OSError, ValueError, LullError):  # it has ended, or not begun
            return self.curve.bytes[-1] if self.curve.bytes else 0

    def _change(self) -> None:
        go_first()
        while self._wire_bytes < BEGUN_BYTES:
            if self._stop.wait(STEP_S):  # wait until the peer has begun
                return
        for seconds, word, member in ((BEGIN_S, self._words[0], "silent_s"),
                                      (SILENT_S, self._words[1], "heard_s")):  # fmt: skip
            if self._stop.wait(seconds):
                return
            self._station.bed.set(self._rail, [word])
            setattr(self.curve, member, self.curve.at_s[-1])


def go_first() -> None:
    """This thread and what it starts: two peers that spin leave two CPUs to nobody else."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)


def thinned(curve: Curve) -> dict[str, Any]:
    """For JSON."""
    return {"at_s": [round(at, 3) for at in curve.at_s], "bytes": curve.bytes,
            "silent_s": round(curve.silent_s, 3), "heard_s": round(curve.heard_s, 3)}  # fmt: skip
