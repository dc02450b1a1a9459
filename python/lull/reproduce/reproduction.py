# SPDX-License-Identifier: BSD-3-Clause
"""Reproduction: published figures beside simulated and live ones, judged by stated tolerances.

A verdict can say no: it is given of what was measured alone, in every seed, with a tolerance that
is smaller than the effect. What a model was built from is *assumed*, and gets none.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Generic, TypeVar

from lull.document import Document

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


class Side(Document):
    """What one of the two threads did."""

    cpu_pct: float
    empty_pct: float = 0
    empty_requested_pct: float = 0  # the published model: as if a sleep lasted what was asked for
    speed_bps: float = 0
    loops_per_s: float = 0
    rest_us: float = 0              # that the governor took at the end


class Observation(Document):
    """What one run showed."""

    send: Side
    receive: Side
    loss_ppm: float = 0


def middle(seen: Sequence[Observation]) -> Observation:
    """The median of several runs, figure by figure."""
    def side(sides: Sequence[Side]) -> Side:
        return Side.model_validate({name: median(getattr(one, name) for one in sides)
                                    for name in Side.model_names()})

    return Observation(send=side([one.send for one in seen]),
                       receive=side([one.receive for one in seen]),
                       loss_ppm=median(one.loss_ppm for one in seen))


Curve = Sequence[tuple[float, Observation]]
Curves = Mapping[str, Curve]


def middle_curves(worlds: Sequence[Curves] | None) -> Curves | None:
    """The medians of all seeds, point by point; None without one."""
    if not worlds:
        return None
    return {name: [(x, middle([world[name][place][1] for world in worlds]))
                   for place, (x, _) in enumerate(curve)] for name, curve in worlds[0].items()}


@dataclass(frozen=True)
class Series:
    """A line of a figure or rows of a table."""

    name: str
    points: tuple[tuple[float, Scenario], ...]


Seen = TypeVar("Seen")


REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"
ASSUMED = "assumed"              # an input of the model: no verdict
NOT_TESTABLE = "not testable here"
NOT_RUN = "not run"              # nobody asked for it
SLACK = 0.01                     # of a whole rise or fall: what a step of it may go back
DISTURBED = "other programs, or the host, took the CPUs in every round"
HALF = 0.5                       # of an effect: how far from it still shows it


@dataclass(frozen=True)
class Claim(Generic[Seen]):
    """One thing the text says, and how much of it must come out.

    Measured of whatever the runs showed: lines of a figure, or another thing. A measure that finds
    None has nothing to show for the statement, which is then not reproduced.
    """

    text: str
    published: str
    measure: Callable[[Seen], float | None]
    low: float | None = None
    high: float | None = None
    near: tuple[float, float] | None = None  # instead: a value and how far from it will do
    tolerance: str = ""
    unit: str = ""
    sim_because: str = ""   # why the simulation may differ
    live_because: str = ""  # why this machine may differ
    assumed: str = ""       # which input of the model says this already; of the simulated half
    no_sim: str = ""        # why the simulator cannot tell
    no_live: str = ""       # why a live run cannot tell
    cpus: int = 1           # that a live run of it wants
    ours: bool = False      # about our own governor, beside the published ones

    def __post_init__(self) -> None:
        """Refuse a judge that would say yes without the effect."""
        if self.near is not None and not self.near[1] < abs(self.near[0]):
            raise ValueError(f"{self.text}: a tolerance of {self.near[1]:g} for {self.near[0]:g}")

    def bounds(self) -> tuple[float | None, float | None]:
        """What counts as reproduced."""
        if self.near is None:
            return self.low, self.high
        return self.near[0] - self.near[1], self.near[0] + self.near[1]

    def fits(self, found: float | None) -> bool:
        """Is a value within the bounds?"""
        low, high = self.bounds()
        return found is not None and (low is None or found >= low) and (
            high is None or found <= high)


def half(effect: float) -> tuple[float, float]:
    """Near an effect: up to half of it away."""
    return effect, HALF * abs(effect)


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


class Judged(Document):
    """What was found beside what was published."""

    value: float | None = None  # the median
    low: float | None = None    # the least and the most of all seeds or rounds
    high: float | None = None
    runs: int = 0
    verdict: str = NOT_RUN
    because: str = ""


class Row(Document):
    """One claim, judged."""

    figure: str
    text: str
    published: str
    tolerance: str
    unit: str
    simulated: Judged
    live: Judged
    ours: bool = False


def judge(claim: Claim[Seen], worlds: Sequence[Seen], because: str) -> Judged:
    """Compare; the tolerance decides, nobody's eye, and in every world: seed or round.

    Worlds that differ from each other by more than the effect can tell nothing of it.
    """
    found = [claim.measure(world) for world in worlds]
    known = [one for one in found if one is not None]
    if not found:
        return Judged()
    told = Judged(runs=len(found), verdict=NOT_REPRODUCED, because=because)
    if known:
        told = told.model_copy(update={
            "value": median(known), "low": min(known), "high": max(known)})
    if claim.near is not None and known and max(known) - min(known) > abs(claim.near[0]):
        return told.model_copy(update={
            "verdict": NOT_TESTABLE, "because": "seeds differ by more than the effect"})
    fits = sum(claim.fits(one) for one in found)
    if fits == len(found):
        return told.model_copy(update={"verdict": REPRODUCED, "because": ""})
    if fits > 0:
        return told.model_copy(update={"because": "; ".join(
            word for word in (f"in {fits} of {len(found)} runs only", because) if word)})
    return told


def _not_testable(claim: Claim[Seen], worlds: Sequence[Seen], because: str) -> Judged:
    """Without a verdict; what was seen is told where the text has no more than a number either."""
    seen = judge(claim, worlds, "") if claim.bounds() == (None, None) else Judged()
    return seen.model_copy(update={"verdict": NOT_TESTABLE, "because": because})


def simulated_half(claim: Claim[Seen], worlds: Sequence[Seen] | None) -> Judged:
    """What the simulator says of a claim. None: it was not asked."""
    if worlds is None:
        return Judged()
    if claim.no_sim:
        return _not_testable(claim, worlds, claim.no_sim)
    judged = judge(claim, worlds, claim.sim_because)
    if claim.assumed:
        return judged.model_copy(update={"verdict": ASSUMED, "because": claim.assumed})
    return judged


def live_half(claim: Claim[Seen], worlds: Sequence[Seen] | None, cpus: int) -> Judged:
    """What this machine says of a claim. None: it was not asked; empty: it was disturbed."""
    if worlds is None:
        return Judged()
    if claim.no_live:
        return _not_testable(claim, worlds, claim.no_live)
    if cpus < claim.cpus:
        return _not_testable(claim, worlds, f"its threads want {claim.cpus} CPUs, this "
                      f"machine has {cpus}: they take them from each other")
    if not worlds:
        return Judged(verdict=NOT_TESTABLE, because=DISTURBED)
    return judge(claim, worlds, claim.live_because)


def rows(figure: Figure, simulated: Sequence[Curves] | None, live: Sequence[Curves] | None,
         cpus: int) -> list[Row]:
    """All claims of a figure."""
    return [row(figure.name, claim, simulated, live, cpus) for claim in figure.claims]


def row(figure: str, claim: Claim[Seen], simulated: Sequence[Seen] | None,
        live: Sequence[Seen] | None, cpus: int) -> Row:
    """One claim, judged in both worlds."""
    return Row(figure=figure, text=claim.text, published=claim.published,
               tolerance=claim.tolerance, unit=claim.unit, ours=claim.ours,
               simulated=simulated_half(claim, simulated), live=live_half(claim, live, cpus))


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


def change_pct(curve: Curve, path: str, x: float, base: Observation | None = None) -> float | None:
    """Change in percent against the first point, or against another run; None: that shows 0."""
    before = value(base or curve[0][1], path)
    return 100 * (value(at(curve, x), path) - before) / before if before else None


def moving(measure: Callable[[Curves], float | None],
           *names: str) -> Callable[[Curves], float | None]:
    """Measured where data arrived in all runs of these lines: who does nothing needs no CPU."""
    def checked(curves: Curves) -> float | None:
        dead = any(seen.receive.speed_bps <= 0 for name in names for _, seen in curves[name])
        return None if dead else measure(curves)

    return checked


def threshold(curve: Curve, path: str, share: float) -> float | None:
    """Last place before a value falls below a share of the first one; None: it never does."""
    floor = share * value(curve[0][1], path)
    for (before, _), (_, seen) in pairwise(curve):
        if value(seen, path) < floor:
            return before
    return None


def fall_share(curve: Curve, path: str) -> float:
    """Percent of the steps along a line in which a value falls, or rises by no more than 1 % of
    the whole fall; 0 if it ends no lower than it begins.
    """
    return _share([-value(seen, path) for _, seen in curve])


def rise_share(curve: Curve, path: str) -> float:
    """The same of a value that rises."""
    return _share([value(seen, path) for _, seen in curve])


def _share(values: Sequence[float]) -> float:
    slack = SLACK * (values[-1] - values[0])
    if slack <= 0:
        return 0.0
    steps = list(pairwise(values))
    return 100 * sum(after >= before - slack for before, after in steps) / len(steps)


def lost_ppm(seen: Observation) -> float | None:
    """Loss, of what was sent: a run in which nothing moved tells nothing of it."""
    return seen.loss_ppm if seen.receive.speed_bps > 0 else None


def least(values: Iterable[float | None]) -> float | None:
    """The smallest, None if one of them is not known."""
    found = worst(None if one is None else -one for one in values)
    return None if found is None else -found


def worst(values: Iterable[float | None]) -> float | None:
    """The largest, None if one of them is not known."""
    every = list(values)
    known = [one for one in every if one is not None]
    return max(known) if known and len(known) == len(every) else None
