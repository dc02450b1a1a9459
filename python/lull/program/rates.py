# SPDX-License-Identifier: BSD-3-Clause
"""Rates: what a loop did between two looks at its counters."""

from dataclasses import dataclass

from lull.program.replies import Loop


@dataclass(frozen=True)
class Rates:
    """One loop over one interval; shares are of the interval."""

    seconds: float
    cpu_pct: float
    pps: float
    wakes_per_s: float
    rests_per_s: float
    rest_mean_us: float
    busy_share: float
    empty_share: float
    rest_share: float
    steal_ms: float
    waited_pct: float = 0.0


def between(before: Loop, after: Loop) -> Rates | None:
    """Rates from one reply to a later one of the same loop; None when no time went by."""
    passed_ns = after.now_ns - before.now_ns
    if passed_ns <= 0 or before.tid != after.tid:
        return None
    seconds = passed_ns / 1e9

    def rise(name: str) -> int:
        return max(0, after.count(name) - before.count(name))

    rests = max(0, after.rests() - before.rests())
    # A loop counts a rest when it ends, so a share may overshoot a short interval.
    busy, empty, rest = rise("busy_ns"), rise("empty_ns"), rise("rest_ns")
    whole = max(1, busy + empty + rest)
    return Rates(
        seconds=seconds,
        cpu_pct=100 * max(0, after.thread_cpu_ns - before.thread_cpu_ns) / passed_ns,
        pps=rise("pkts") / seconds,
        wakes_per_s=max(0, after.wakes() - before.wakes()) / seconds,
        rests_per_s=rests / seconds,
        rest_mean_us=rest / rests / 1e3 if rests else 0.0,
        busy_share=busy / whole,
        empty_share=empty / whole,
        rest_share=rest / whole,
        steal_ms=rise("steal_ns") / 1e6,
    )
