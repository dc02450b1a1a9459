# SPDX-License-Identifier: BSD-3-Clause
"""Simulator: lull-sim on the same traffic, and what the live instrument would have made of it.

The live latency ends when the sink holds the packet, not when the forwarder has sent it. For
each packet the sink knows its gap: from its look before to the end of the fetch that brought
the packet. The fetch takes what the median gap is longer than an empty iteration of the sink; the
packet came at any moment of what was before the fetch. So fetch + U * (gap - fetch), U uniform
in 0..1, is added to each simulated latency. Of the gaps the program tells a median and a 99th
percentile; all of them are taken from what its loop says packets waited at most (until the end
of the iteration, not of the fetch), less the difference of the two medians.

The jitter of the forwarder's own iterations (costs.py) is added as well, each packet's for itself.
"""

from __future__ import annotations

import json
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from costs import EVEN_PERCENTS, Costs, quantiles
from forwarder import Window

from program import BenchError

# Parts of a gap that stand for all.
PARTS = [(i + 0.5) / 8 for i in range(8)]


@dataclass(frozen=True)
class Simulated:
    """One governor on one kind of traffic, as the live sink would have seen it; medians."""

    cpu_pct: float
    p50_ns: float
    p99_ns: float
    bare_p50_ns: float  # without the instrument
    bare_p99_ns: float
    rest_ns: float  # mean, as asked for
    lost: float
    state: str  # of the last one
    command: list[str]


def coarse(value: int, bits: int) -> int:
    """Cut to so many bits."""
    return value - value % (1 << max(0, value.bit_length() - bits))


def gaps_of(windows: list[Window]) -> tuple[float, list[float]]:
    """The sink's gap in these windows: its median, and values that stand for all."""
    median_ns = statistics.median(window.gaps["sink_gap_p50_ns"] for window in windows)
    bins = [pair for window in windows for pair in window.sink_bins]
    if not bins:
        return 0, [0]
    waits = quantiles(bins, EVEN_PERCENTS)
    longer_ns = statistics.median(waits) - median_ns
    return median_ns, [max(0, wait - longer_ns) for wait in waits]


@dataclass(frozen=True)
class Instrument:
    """What live figures have on top of simulated ones: the sink, and iterations not alike."""

    offsets: dict[int, int]  # ns, and how often

    @staticmethod
    def of(windows: list[Window], costs: Costs) -> Instrument:
        """As it was in these."""
        median_ns, gaps_ns = gaps_of(windows)
        fetch_ns = max(0.0, median_ns - costs.sink_ns)
        offsets: dict[int, int] = {}
        for gap_ns in gaps_ns:
            for part in PARTS:
                looked_ns = fetch_ns + part * max(0.0, gap_ns - fetch_ns)
                for jitter_ns in costs.jitter_ns:
                    offset = coarse(max(0, int(looked_ns + jitter_ns)), 8)
                    offsets[offset] = offsets.get(offset, 0) + 1
        return Instrument(offsets)

    def seen(self, bins: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Simulated latencies as the sink would have seen them."""
        sums: dict[int, int] = {}
        for low, count in bins:
            for offset, often in self.offsets.items():
                value = coarse(low + offset, 9)
                sums[value] = sums.get(value, 0) + count * often
        return sorted(sums.items())


class Simulator:
    """lull-sim, seen through an instrument."""

    def __init__(self, program: Path, instrument: Instrument) -> None:
        self.program = program
        self.instrument = instrument

    def _run(self, command: list[str]) -> tuple[dict[str, float], str]:
        done = subprocess.run(
            [*command, "--bins", "--json", "-"], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise BenchError(done.stderr.strip())
        run: dict[str, Any] = json.loads(done.stdout)["runs"][0]
        flat = run["latency_ns"]["bins"]
        bins = list(zip(flat[0::2], flat[1::2], strict=True))
        p50_ns, p99_ns = (0, 0)
        if bins:
            p50_ns, p99_ns = quantiles(self.instrument.seen(bins), (50, 99))
        figures = {
            "cpu_pct": run["cpu_pct"],
            "p50_ns": p50_ns,
            "p99_ns": p99_ns,
            "bare_p50_ns": run["latency_ns"]["p50"],
            "bare_p99_ns": run["latency_ns"]["p99"],
            "rest_ns": run["counters"]["rest_requested_ns"] / max(1, run["rests"]),
            "lost": run["lost"],
        }
        return figures, run["verdict"]["state"]

    def run(self, options: dict[str, str], seeds: range) -> Simulated:
        """Once with each seed."""
        words = [word for key, text in options.items() for word in (f"--{key}", text)]
        command = [str(self.program), *words]
        runs = [self._run([*command, "--seed", str(seed)]) for seed in seeds]
        medians = {name: statistics.median(run[name] for run, _ in runs) for name in runs[0][0]}
        return Simulated(**medians, state=runs[-1][1], command=command)
