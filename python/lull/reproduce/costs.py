# SPDX-License-Identifier: BSD-3-Clause
"""Reproduction of burst costs: what a receive and a send take, by burst and packet size."""

from collections.abc import Sequence

from lull.reproduce.reproduction import ASSUMED, NOT_REPRODUCED, REPRODUCED, Judged, Row
from lull.reproduce.run import BurstCost

NAME = "Fig. 6"
FLAT_PCT = 25.0
STATED = "the simulator is told the costs, as a function of the burst alone"


def rows(simulated: Sequence[BurstCost], live: Sequence[BurstCost]) -> list[Row]:
    """What the text says about the figure."""
    return [
        Row(figure=NAME, text="cost rises with the burst, from the smallest to the largest",
            published="yes", tolerance="more than 0 ns", unit="ns",
            simulated=_assumed(_rise(simulated)),
            live=_judge(_rise(live), "noise of a shared machine", low=0.0)),
        Row(figure=NAME, text="cost of the largest burst differs between packet sizes",
            published="the same", tolerance=f"within {FLAT_PCT:g} %", unit="%",
            simulated=_assumed(None if not simulated else 0.0),
            live=_judge(_spread(live), "the live link copies into a ring in memory, whose "
                        "packets of larger size touch more cache lines", high=FLAT_PCT)),
    ]


def _assumed(value: float | None) -> Judged:
    return Judged() if value is None else Judged(
        value=value, low=value, high=value, runs=1, verdict=ASSUMED, because=STATED)


def _judge(value: float | None, because: str, low: float | None = None,
           high: float | None = None) -> Judged:
    if value is None:
        return Judged()
    fits = (low is None or value > low) and (high is None or value <= high)
    return Judged(value=value, low=value, high=value, runs=1,
                  verdict=REPRODUCED if fits else NOT_REPRODUCED, because="" if fits else because)


def _sum(cost: BurstCost) -> float:
    return (cost.rx_ns or 0.0) + (cost.tx_ns or 0.0)


def _rise(costs: Sequence[BurstCost]) -> float | None:
    """Least difference between the largest burst and one packet, over the sizes."""
    rises = []
    for size in {cost.size for cost in costs if cost.burst}:
        line = sorted((cost.burst, _sum(cost)) for cost in costs
                      if cost.size == size and cost.burst)
        rises.append(line[-1][1] - line[0][1])
    return min(rises, default=None)


def _spread(costs: Sequence[BurstCost]) -> float | None:
    largest = max((cost.burst for cost in costs), default=0)
    times = [_sum(cost) for cost in costs if cost.burst == largest]
    if not times or min(times) <= 0:
        return None
    return 100 * (max(times) / min(times) - 1)
