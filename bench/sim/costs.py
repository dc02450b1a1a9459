# SPDX-License-Identifier: BSD-3-Clause
"""Costs: what the live program pays for an iteration, a burst and a rest, as options of lull-sim.

Measured on the program itself, on traffic that is not compared afterwards:

- empty iteration: CPU time by iteration of a busy poll loop without traffic;
- burst of n: median length of the iterations that carried n packets sent at once, by busy polling,
  from what the loop says its packets waited at most: an empty iteration and the one that carried
  them. The median, because an iteration during which others held the CPU is no cost of ours;
- jitter: by how much the iterations with one packet are longer or shorter than their median. The
  simulator's iterations are all alike, so this is put on top of its latencies;
- overshoot: quantiles of the rests of governor `fixed` less what it asked for;
- rest: CPU time of the thread under `fixed`, less its iterations at the costs above. That caches
  are cold after a sleep is in here.

Overshoot and rest are taken for several lengths, because a sleep of 20 us ends otherwise
than one of 200 us.
"""

from __future__ import annotations

import itertools
import math
import statistics
from dataclasses import dataclass, replace

from forwarder import Forwarder, Quiet, Window

BURSTS = (1, 2, 4, 8, 16, 32)
BURST_EVERY = "100us"
RESTS_US = (10, 20, 50, 100, 200)
REST_TRAFFIC = "poisson:50k"
PERCENTS = (0, 10, 50, 90, 99, 99.9, 99.99, 100)
# rte_eth_rx_burst() on an empty ring, from bench/turn/forward-cost ("idle ring, bare"). It only
# says which part of an empty iteration comes after the packets were fetched.
EMPTY_POLL_NS = 5
EVEN_PERCENTS = tuple(i + 0.5 for i in range(100))  # quantiles that stand for all
BIN_SHARE = 1 / 64  # a histogram's bins are no wider, by their value


@dataclass(frozen=True)
class Rest:
    """Sleeps of one length."""

    asked_us: int
    cost_ns: float
    overshoot: list[tuple[float, int]]  # percent, ns


@dataclass(frozen=True)
class Costs:
    """All that lull-sim has to know of a machine."""

    empty_ns: float
    sink_ns: float  # of an empty iteration of the loop that makes the traffic and takes it back
    burst: list[tuple[int, int]]  # packets, ns of the whole iteration
    jitter_ns: list[int]  # that stand for all
    held_pct: float  # of the time that others kept from the loops, in the worst window used
    rests: list[Rest]

    def rest_near(self, asked_ns: float) -> Rest:
        """The sleeps whose length is nearest, by ratio."""
        asked_us = max(asked_ns, 1.0) / 1000
        return min(self.rests, key=lambda rest: abs(math.log(rest.asked_us / asked_us)))

    def options(self, asked_ns: float) -> dict[str, str]:
        """For lull-sim, with the sleeps nearest to this length."""
        rest = self.rest_near(asked_ns)
        iteration_ns = max(0, round(self.empty_ns) - EMPTY_POLL_NS)
        burst = [(0, EMPTY_POLL_NS)]
        burst += [(pkts, max(0, ns - iteration_ns)) for pkts, ns in self.burst]
        return {
            "iteration-cost": f"{iteration_ns}ns",
            "burst-cost": ",".join(f"{pkts}:{ns}ns" for pkts, ns in burst),
            "rest-cost": f"{max(0, round(rest.cost_ns))}ns",
            "overshoot": ",".join(f"{percent:g}:{ns}ns" for percent, ns in rest.overshoot),
        }


def quantiles(bins: list[tuple[int, int]], percents: tuple[float, ...]) -> list[int]:
    """Upper edges of the bins in which these shares end, as the programs reckon."""
    total = sum(count for _, count in bins)
    found, seen = [], 0
    rest = iter(sorted(bins))
    low = 0
    for percent in percents:
        wanted = max(1, math.ceil(total * percent / 100))
        while seen < wanted:
            low, count = next(rest)
            seen += count
        found.append(round(low * (1 + BIN_SHARE)))
    return found


def overshoot(bins: list[tuple[int, int]], asked_ns: int) -> list[tuple[float, int]]:
    """Of sleeps that were all asked to last as long."""
    # The middle of a bin: its upper edge would add up to 3 us to a rest of 200 us.
    found = [round(edge / (1 + BIN_SHARE / 2)) for edge in quantiles(bins, PERCENTS)]
    return [(at, max(0, ns - asked_ns)) for at, ns in zip(PERCENTS, found, strict=True)]


def merged(windows: list[Window]) -> list[tuple[int, int]]:
    """Bins of all windows together."""
    return [pair for window in windows for pair in window.rest_bins]


class Meter:
    """Measures costs on a forwarder."""

    def __init__(self, forwarder: Forwarder, quiet: Quiet, seconds: float, rounds: int) -> None:
        self.forwarder = forwarder
        self.quiet = quiet
        self.seconds = seconds
        self.rounds = rounds
        self.held_pct = 0.0

    def _windows(self, governor: str, traffic: str, rest: str = "") -> list[Window]:
        """Those that nobody disturbed; the quietest one when all were."""
        tried: list[Window] = []
        for _ in range(self.rounds):
            settle_s = self.seconds / 4
            tried += self.forwarder.try_often(
                self.quiet, governor, traffic, self.seconds, settle_s, rest
            )
        tried.sort(key=lambda window: window.held_pct)
        used = [window for window in tried if not window.disturbed(self.quiet)] or tried[:1]
        self.held_pct = max(self.held_pct, *(window.held_pct for window in used))
        return used

    def measure(self) -> Costs:
        """Everything."""
        empty = self._windows("spin", "off")
        empty_ns = statistics.median(
            window.cpu_ns / window.counts["iterations"] for window in empty
        )
        sink_ns = statistics.median(window.source_iteration_ns for window in empty)
        burst = [(pkts, self._burst(pkts, empty_ns)) for pkts in BURSTS]
        costs = Costs(empty_ns, sink_ns, burst, self._jitter(), 0, [])
        rests = [self._rest(asked_us, costs) for asked_us in RESTS_US]
        return replace(costs, rests=rests, held_pct=self.held_pct)

    def _burst(self, pkts: int, empty_ns: float) -> int:
        windows = self._windows("spin", f"incast:1x{pkts},{BURST_EVERY}")
        return round(statistics.median(window.wait_p50_ns for window in windows) - empty_ns)

    def _jitter(self) -> list[int]:
        windows = self._windows("spin", f"incast:1x1,{BURST_EVERY}")
        waits = quantiles([pair for w in windows for pair in w.wait_bins], EVEN_PERCENTS)
        median_ns = statistics.median(waits)
        # Longer is what others do to us.
        most_ns = self.quiet.late_us * 1000
        return [round(min(wait - median_ns, most_ns)) for wait in waits]

    def _rest(self, asked_us: int, costs: Costs) -> Rest:
        windows = self._windows("fixed", REST_TRAFFIC, f"{asked_us}us")
        cost = statistics.median(self._rest_cost(window, costs) for window in windows)
        return Rest(asked_us, cost, overshoot(merged(windows), asked_us * 1000))

    def _rest_cost(self, window: Window, costs: Costs) -> float:
        size = window.counts["pkts"] / max(1, window.iterations_busy)
        iterations_ns = window.iterations_busy * between(costs.burst, size)
        iterations_ns += window.counts["iterations_empty"] * costs.empty_ns
        return (window.cpu_ns - iterations_ns) / max(1, window.counts["rests"])


def between(curve: list[tuple[int, int]], at: float) -> float:
    """Straight lines between the points of a curve, level beyond."""
    if at <= curve[0][0]:
        return curve[0][1]
    for (low, low_ns), (high, high_ns) in itertools.pairwise(curve):
        if at <= high:
            return low_ns + (high_ns - low_ns) * (at - low) / (high - low)
    return curve[-1][1]
