# SPDX-License-Identifier: BSD-3-Clause
"""Reproduction: published figures beside simulated and live ones, judged by stated tolerances."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Generic, TypeVar

from pydantic import BaseModel

BLOCK, USLEEP = "block", "usleep"


@dataclass(frozen=True)
class Rest:
    """What a thread does when it finds nothing."""

    kind: str = "none"  # none, block, usleep or a governor
    us: float = 0

    def words(self) -> str:
        """As people say it."""
        return f"{self.kind}({self.us:g})" if self.kind in (BLOCK, USLEEP) else self.kind


POLL = Rest()


@dataclass(frozen=True)
class Scenario:
    """One run of the test framework: producer, sender, link, receiver, consumer."""

    size: int  # bytes on the wire; 0: nothing is sent
    send: Rest = POLL
    receive: Rest = POLL
    kalman_step_us: float = 10

    def searches(self) -> bool:
        """Does a policy decide, which takes its time and may come out differently?"""
        return not {self.send.kind, self.receive.kind} <= {"none", BLOCK, USLEEP}


class Side(BaseModel):
    """What one of the two threads did."""

    cpu_pct: float
    empty_pct: float = 0
    empty_requested_pct: float = 0  # the published model: as if a sleep lasted what was asked for
    speed_bps: float = 0
    rest_us: float = 0              # that the governor took at the end


class Observation(BaseModel):
    """What one run showed."""

    send: Side
    receive: Side
    loss_ppm: float = 0


def middle(seen: Sequence[Observation]) -> Observation:
    """The median of several runs, figure by figure."""
    def side(sides: Sequence[Side]) -> Side:
        return Side.model_validate({name: median(getattr(one, name) for one in sides)
                                    for name in Side.model_fields})

    return Observation(send=side([one.send for one in seen]),
                       receive=side([one.receive for one in seen]),
                       loss_ppm=median(one.loss_ppm for one in seen))


Curve = Sequence[tuple[float, Observation]]
Curves = Mapping[str, Curve]


@dataclass(frozen=True)
class Series:
    """A line of a figure or rows of a table."""

    name: str
    points: tuple[tuple[float, Scenario], ...]


Seen = TypeVar("Seen")


@dataclass(frozen=True)
class Claim(Generic[Seen]):
    """One thing the text says, and how much of it must come out. None: the text states nothing.

    Measured of whatever the runs showed: lines of a figure, or another thing.
    """

    text: str
    published: str
    measure: Callable[[Seen], float | None] | None
    low: float | None = None
    high: float | None = None
    near: tuple[float, float] | None = None  # instead: a value and how far from it will do
    tolerance: str = ""
    unit: str = ""
    sim_because: str = ""   # why the simulation may differ
    live_because: str = ""  # why this machine may differ
    sim: bool = True
    live: bool = True
    ours: bool = False      # about our own governor, beside the published ones

    def bounds(self) -> tuple[float | None, float | None]:
        """What counts as a match."""
        if self.near is None:
            return self.low, self.high
        return self.near[0] - self.near[1], self.near[0] + self.near[1]


@dataclass(frozen=True)
class Figure:
    """A figure or table of the paper."""

    name: str
    title: str
    axis: str
    series: tuple[Series, ...]
    claims: tuple[Claim[Curves], ...]
    note: str = ""
    panels: tuple[str, ...] = field(default=("receive.cpu_pct", "receive.empty_requested_pct",
                                             "receive.speed_bps", "loss_ppm"))

    def scenarios(self) -> list[Scenario]:
        """Every run it needs."""
        return [scenario for series in self.series for _, scenario in series.points]


class Judged(BaseModel):
    """One value beside what was published."""

    value: float | None = None
    verdict: str = "not run"
    because: str = ""


class Row(BaseModel):
    """One claim, judged."""

    figure: str
    text: str
    published: str
    tolerance: str
    unit: str
    simulated: Judged
    live: Judged
    ours: bool = False


def judge(claim: Claim[Seen], seen: Seen | None, because: str) -> Judged:
    """Compare; the tolerance decides, nobody's eye."""
    if seen is None or claim.measure is None:
        return Judged(because=because if claim.measure is None else "")
    found = claim.measure(seen)
    if found is None:
        return Judged(verdict="differs", because=because)
    low, high = claim.bounds()
    if low is None and high is None:
        return Judged(value=found, verdict="not stated")
    fits = (low is None or found >= low) and (high is None or found <= high)
    return Judged(value=found, verdict="matches" if fits else "differs",
                  because="" if fits else because)


def rows(figure: Figure, simulated: Curves | None, live: Curves | None) -> list[Row]:
    """All claims of a figure."""
    return [row(figure.name, claim, simulated, live) for claim in figure.claims]


def row(figure: str, claim: Claim[Seen], simulated: Seen | None, live: Seen | None) -> Row:
    """One claim, judged in both worlds."""
    return Row(figure=figure, text=claim.text, published=claim.published,
               tolerance=claim.tolerance, unit=claim.unit, ours=claim.ours,
               simulated=judge(claim, simulated if claim.sim else None, claim.sim_because),
               live=judge(claim, live if claim.live else None, claim.live_because))


def wanted(name: str, numbers: str) -> bool:
    """Does a list of numbers, as 2,8,20, ask for the figure or table of this name? Empty: all."""
    low_high = re.findall(r"(\d+)(?:-(\d+))?", name)
    has = {number for low, high in low_high for number in range(int(low), int(high or low) + 1)}
    return not numbers or any(int(word) in has for word in re.findall(r"\d+", numbers))


# ---- what claims measure ----


def value(observation: Observation, path: str) -> float:
    """A figure by its name: receive.cpu_pct, loss_ppm."""
    side, _, name = path.rpartition(".")
    return float(getattr(getattr(observation, side) if side else observation, name))


def at(curve: Curve, x: float) -> Observation:
    """The run at one place of a line."""
    return next(seen for place, seen in curve if place == x)


def change_pct(curve: Curve, path: str, x: float, base: Observation | None = None) -> float:
    """Change in percent against the first point, or against another run."""
    before = value(base or curve[0][1], path)
    return 100 * (value(at(curve, x), path) - before) / before if before else 0.0


def threshold(curve: Curve, path: str, share: float) -> float | None:
    """Last place before a value falls below a share of the first one; None: it never does."""
    floor = share * value(curve[0][1], path)
    for (before, _), (_, seen) in pairwise(curve):
        if value(seen, path) < floor:
            return before
    return None


def fall_share(curve: Curve, path: str, slack: float) -> float:
    """Percent of the steps along a line in which a value does not rise (by more than slack)."""
    steps = [(value(a, path), value(b, path))
             for (_, a), (_, b) in pairwise(curve)]
    return 100 * sum(after <= before + slack for before, after in steps) / max(1, len(steps))
