# SPDX-License-Identifier: BSD-3-Clause
"""Simulator: lull-sim on the same traffic, and what the live instrument would have made of it.

The live latency ends when the sink holds the packet, not when the forwarder has sent it. For
each packet the sink knows its gap: from its look before to the end of the fetch that brought
the packet. The fetch takes what the median gap is longer than an empty turn of the sink; the
packet came at any moment of what was before the fetch. So fetch + U * (gap - fetch), U uniform
in 0..1, is added to each simulated latency. Gaps are drawn from their quantiles as measured in
the same windows (median, 99, 99.5 and 100 %; straight lines between, level below the median).
"""

from __future__ import annotations

import json
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from costs import between, quantiles
from program import BenchError

# Parts and gaps that stand for all: each combination weighs the same.
PARTS = [(i + 0.5) / 8 for i in range(8)]
GAP_PERCENTS = [(i + 0.5) for i in range(100)]


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


def gap_values(gaps: dict[str, float]) -> list[float]:
    """Gaps of the sink that stand for all, ns."""
    curve = [
        (5000, round(gaps["sink_gap_p50_ns"])),
        (9900, round(gaps["sink_gap_p99_ns"])),
        (9950, round(gaps["sink_gap_p995_ns"])),
        (10000, round(gaps["sink_gap_max_ns"])),
    ]
    return [between(curve, percent * 100) for percent in GAP_PERCENTS]


def seen(
    bins: list[tuple[int, int]], gaps: dict[str, float], sink_ns: float
) -> list[tuple[int, int]]:
    """Latencies once the sink has the packets."""
    fetch = max(0.0, gaps["sink_gap_p50_ns"] - sink_ns)
    offsets = [
        min(fetch, gap) + part * max(0.0, gap - fetch) for gap in gap_values(gaps) for part in PARTS
    ]
    sums: dict[int, int] = {}
    for low, count in bins:
        for offset in offsets:
            # As fine as it needs to be: 1/256 of the value.
            value = int(low + offset)
            step = max(1, 1 << max(0, value.bit_length() - 9))
            value -= value % step
            sums[value] = sums.get(value, 0) + count
    return sorted(sums.items())


class Simulator:
    """lull-sim, and the instrument of these windows."""

    def __init__(self, program: Path, gaps: dict[str, float], sink_ns: float) -> None:
        self.program = program
        self.gaps = gaps
        self.sink_ns = sink_ns

    def _run(self, command: list[str]) -> tuple[dict[str, float], str]:
        done = subprocess.run(
            [*command, "--bins", "--json", "-"], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise BenchError(done.stderr.strip())
        run: dict[str, Any] = json.loads(done.stdout)["runs"][0]
        flat = run["latency"]["bins"]
        bins = list(zip(flat[0::2], flat[1::2], strict=True))
        p50_ns, p99_ns = (0, 0)
        if bins:
            p50_ns, p99_ns = quantiles(seen(bins, self.gaps, self.sink_ns), (50, 99))
        figures = {
            "cpu_pct": run["cpu_pct"],
            "p50_ns": p50_ns,
            "p99_ns": p99_ns,
            "bare_p50_ns": run["latency"]["p50_ns"],
            "bare_p99_ns": run["latency"]["p99_ns"],
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
