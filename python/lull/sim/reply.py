# SPDX-License-Identifier: BSD-3-Clause
"""Simulation replies: what lull-sim says, as typed plain data.

Unknown members are kept: a newer program may say more.
"""

import json
from typing import Any

from lull.document import Document, item
from lull.errors import LullError
from lull.quantities import parse_ns

PERCENTILES = ((50.0, "p50"), (99.0, "p99"), (99.9, "p999"), (100.0, "max"))


class Data(Document, keep_unknown=True):
    """Base of all parts."""


class Latency(Data):
    """A distribution in ns; count 0: no packet."""

    count: int = 0
    mean: float = 0
    p50: float = 0
    p99: float = 0
    p999: float = 0
    max: float = 0

    def at(self, percentile: float) -> float:
        """The percentile, or the next higher one that is known."""
        for share, name in PERCENTILES:
            if percentile <= share:
                return float(getattr(self, name))
        return self.max


class Verdict(Data):
    """What the governor promised at the end."""

    state: str = "none"
    binding: str = "none"
    rest_ns: float = 0
    predicted_ns: float = 0
    text: str = ""  # the same in a sentence, with what would help


class SimRun(Data):
    """One governor on one side, after the warm-up."""

    governor: str
    rest_ns: float = 0
    side: str = "receive"
    duration_ns: float = 0
    cpu_pct: float
    busy_pct: float = 0
    offered: int = 0
    offered_per_s: float = 0
    delivered: int = 0
    lost: int = 0
    loss_ppm: float = 0
    bytes: int = 0
    bits_per_s: float = 0
    latency_ns: Latency = item(default_factory=Latency)
    added_ns: Latency = item(default_factory=Latency)
    rests: int = 0
    rest_mean_ns: float = 0
    rest_p99_ns: float = 0
    wakes_per_s: float = 0
    empty_pct: float = 0
    usage_pct: float = 0
    empty_requested_pct: float = 0
    usage_requested_pct: float = 0
    power_w: float | None = None
    energy_j: float | None = None
    cpu_bound_pct: float | None = None
    verdict: Verdict = item(default_factory=Verdict)
    feasible_pct: float = 0
    stolen_pct: float = 0
    waited_pct: float = 0
    fifo_pct: float = 0
    fifo_left: int = 0
    competitor_pct: float | None = None        # what the other program got
    competitor_share_pct: float | None = None  # of what this one left
    counters: dict[str, Any] = {}


class SweepPoint(Data):
    """One fixed sleep of the oracle's search."""

    rest_ns: float
    cpu_pct: float
    added_p50_ns: float = 0
    added_p99_ns: float = 0
    added_p999_ns: float = 0
    lost: int = 0


class SimReply(Data):
    """Everything that one lull-sim printed."""

    program: str = "lull-sim"
    version: str = ""
    settings: dict[str, Any] = {}
    runs: list[SimRun] = []
    sweep: list[SweepPoint] = []
    simulated_pkts: int = 0
    duration_s: float = 0

    def objective_ns(self) -> float:
        """The latency asked for."""
        return parse_ns(str(self.settings.get("max-latency", "100us")))

    def percentile(self) -> float:
        """The percentile it holds at."""
        return float(str(self.settings.get("percentile", "99")).rstrip("%"))

    def run(self, governor: str, side: str = "receive") -> SimRun:
        """The run of one governor on one side."""
        for run in self.runs:
            if (run.governor, run.side) == (governor, side):
                return run
        raise LullError(f"lull-sim left out governor {governor} ({side}): "
                        "it is not the one that this lull belongs to")


def parse(text: str) -> SimReply:
    """What lull-sim printed; complains where it does not fit."""
    try:
        return SimReply.model_validate(json.loads(text))
    except ValueError as error:
        first = str(error).replace("\n", " ")[:160]
        raise LullError(f"lull-sim: reply not understood ({first}): rebuild it with "
                        "'make build'") from None


def kept(run: SimRun, objective_ns: float, percentile: float, allowed_lost: int = 0) -> bool:
    """Does the run hold the objective: latency at the percentile, and no packet more lost?"""
    late = run.added_ns.count > 0 and run.added_ns.at(percentile) > objective_ns
    return not late and run.lost <= allowed_lost
