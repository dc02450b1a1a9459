# SPDX-License-Identifier: BSD-3-Clause
"""Scoreboard: who keeps the objective at what CPU, beside an oracle; counted, never argued."""

from collections.abc import Callable, Sequence

from pydantic import BaseModel

from lull import scoreboard_cells
from lull.scoreboard_cells import Cell, Job, Setup, Traffic
from lull.sim_reply import SimReply, SimRun, kept

PERCENTILE = 99.0
NEAR_POINTS = 5.0     # of CPU: as good as the oracle
NEAR_SHARE = 95.0     # of the feasible cells
TIE_POINTS = 0.1      # of CPU: no more than rounding
FEASIBLE_SHARE = 0.5  # of the measured time with a verdict that promises
RIVALS = ("ramp", "drain", "kalman")
Find = Callable[[Job], SimReply]


class Entry(BaseModel):
    """One governor in one cell."""

    governor: str
    cpu_pct: float
    p50_us: float
    p99_us: float
    p999_us: float
    max_us: float
    lost: int
    kept: bool
    proven: bool  # kept, and not for want of packets or of bursts that may come
    survives: bool  # loses no more than spin when bursts at the stated rate come
    verdict: str
    feasible_share: float
    wakes_per_s: float
    power_w: float | None


class Oracle(BaseModel):
    """The best fixed sleep; rest 0: only polling keeps the objective."""

    rest_us: float
    cpu_pct: float
    p99_us: float


class Score(BaseModel):
    """One cell."""

    kind: str
    load: float
    link: str
    objective_us: int
    traffic: str
    packets: int
    spin_lost: int
    bound_pct: float | None
    oracle: Oracle
    entries: list[Entry]

    def entry(self, governor: str = "objective") -> Entry:
        """One governor's figures."""
        return next(entry for entry in self.entries if entry.governor == governor)

    def words(self) -> str:
        """The cell in a few words."""
        return Cell(Traffic(self.kind, self.load, self.link), self.objective_us).words()

    def feasible(self) -> bool:
        """Did the governor promise for most of the time?"""
        return self.entry().feasible_share >= FEASIBLE_SHARE

    def above(self) -> float:
        """CPU beyond the oracle's, in points."""
        return self.entry().cpu_pct - self.oracle.cpu_pct

    def rivals(self) -> list[Entry]:
        """Those that keep it too, at less CPU."""
        return [self.entry(name) for name in RIVALS
                if self.entry(name).proven
                and self.entry().cpu_pct > self.entry(name).cpu_pct + TIE_POINTS]


class Statement(BaseModel):
    """One sentence of the summary, counted."""

    holds: bool
    text: str
    exceptions: list[str]


def scores(cells: Sequence[Cell], setup: Setup, find: Find) -> list[Score]:
    """Every cell judged; find() gives the reply of a run."""
    return [_score(cell, setup, find) for cell in cells]


def _score(cell: Cell, setup: Setup, find: Find) -> Score:
    runs, tested = _runs(cell, setup, find), _runs(cell.tested(), setup, find)
    spin, objective = runs["spin"], runs["objective"]
    hard = _stressed(cell.tested(), setup, find)
    return Score(
        kind=cell.traffic.kind, load=cell.traffic.load, link=cell.traffic.link,
        objective_us=cell.objective_us,
        traffic=scoreboard_cells.traffic_spec(cell.traffic, setup),
        packets=spin.offered, spin_lost=spin.lost, bound_pct=objective.cpu_bound_pct,
        oracle=_oracle(cell, setup, find),
        entries=[_entry(run, cell, spin, hard.get(name, True),
                        proven=_proven(run, cell, tested[name], tested["spin"]))
                 for name, run in runs.items()])


def _stressed(cell: Cell, setup: Setup, find: Find) -> dict[str, bool]:
    """Who loses no more than spin when bursts at the stated rate come in between."""
    spin = find(scoreboard_cells.spin_job(cell.traffic, setup)).run("spin")
    jobs = (scoreboard_cells.promising_job(cell, setup), scoreboard_cells.capped_job(cell, setup))
    replies = [find(scoreboard_cells.stressed(job, setup)) for job in jobs]
    return {run.governor: run.lost <= spin.lost for reply in replies for run in reply.runs}


def _proven(run: SimRun, cell: Cell, tested: SimRun, spin: SimRun) -> bool:
    """At load 0 no packet can tell: a few must be kept, and rests not be longer than allowed."""
    return _kept(tested, cell, spin) and (
        cell.traffic.load > 0 or run.rest_mean_ns <= cell.objective_us * 1e3)


def _runs(cell: Cell, setup: Setup, find: Find) -> dict[str, SimRun]:
    replies = (find(scoreboard_cells.promising_job(cell, setup)),
               find(scoreboard_cells.free_job(cell.traffic, setup)),
               find(scoreboard_cells.capped_job(cell, setup)))
    return {run.governor: run for reply in replies for run in reply.runs}


def _kept(run: SimRun, cell: Cell, spin: SimRun) -> bool:
    return kept(run, cell.objective_us * 1e3, PERCENTILE, spin.lost)


def _entry(run: SimRun, cell: Cell, spin: SimRun, survives: bool, proven: bool) -> Entry:
    added, held = run.added, _kept(run, cell, spin)
    return Entry(
        governor=run.governor, cpu_pct=run.cpu_pct, p50_us=added.p50_ns / 1e3,
        p99_us=added.p99_ns / 1e3, p999_us=added.p999_ns / 1e3, max_us=added.max_ns / 1e3,
        lost=run.lost, kept=held, proven=held and proven and survives, survives=survives,
        verdict=run.verdict.state, feasible_share=run.feasible_share,
        wakes_per_s=run.wakes_per_s, power_w=run.power_w)


def _oracle(cell: Cell, setup: Setup, find: Find) -> Oracle:
    """Least CPU among the fixed sleeps that keep the objective and lose no more than polling.

    Without packets every sleep keeps every objective, so there it is one that would keep it
    if a little came.
    """
    free = find(scoreboard_cells.free_job(cell.traffic, setup))
    spin = free.run("spin")
    polling = Oracle(rest_us=0, cpu_pct=spin.cpu_pct, p99_us=spin.added.p99_ns / 1e3)
    judged = find(scoreboard_cells.free_job(cell.traffic.tested(), setup))
    good = {point.rest_ns for point in judged.sweep
            if point.added_p99_ns <= cell.objective_us * 1e3
            and point.lost <= judged.run("spin").lost}
    best = min((point for point in free.sweep if point.rest_ns in good),
               key=lambda point: point.cpu_pct, default=None)
    if best is None or best.cpu_pct >= polling.cpu_pct:
        return polling
    return Oracle(rest_us=best.rest_ns / 1e3, cpu_pct=best.cpu_pct,
                  p99_us=best.added_p99_ns / 1e3)


def statements(found: Sequence[Score]) -> list[Statement]:
    """The summary."""
    feasible = [score for score in found if score.feasible()]
    broken = [score for score in feasible if not score.entry().kept]
    silent = [score for score in found if not score.feasible() and not score.entry().kept
              and score.entry().verdict not in ("infeasible", "suspended")]
    timid = [score for score in found if not score.feasible() and score.oracle.rest_us > 0]
    far = [score for score in feasible if score.above() > NEAR_POINTS]
    near_pct = 100 * (1 - len(far) / len(feasible)) if feasible else 100.0
    rivals = [score for score in found if score.rivals()]
    drowned = [score for score in feasible if not score.entry().survives]
    return [
        Statement(holds=not broken, exceptions=list(map(_broken, broken)), text=(
            f"objective keeps the objective and loses no more than spin in "
            f"{len(feasible) - len(broken)} of {len(feasible)} cells with a feasible verdict")),
        Statement(holds=not drowned, exceptions=[score.words() for score in drowned], text=(
            f"it loses no more than spin in {len(feasible) - len(drowned)} of {len(feasible)} of "
            "them when bursts of a whole ring at the stated rate come in between as well")),
        Statement(holds=not silent, exceptions=[score.words() for score in silent], text=(
            f"of {len(found) - len(feasible)} cells without a promise, "
            f"{len(found) - len(feasible) - len(silent)} keep it all the same or are reported "
            "as infeasible")),
        Statement(holds=near_pct >= NEAR_SHARE, exceptions=list(map(_far, far)), text=(
            f"objective is within {NEAR_POINTS:g} points of the oracle's CPU in {near_pct:.1f} % "
            f"of the feasible cells ({NEAR_SHARE:g} % wanted)")),
        Statement(holds=not rivals, exceptions=list(map(_rivals, rivals)), text=(
            f"objective loses on CPU to {', '.join(RIVALS)}, where those keep it too (with "
            "such bursts as well), in "
            f"{len(rivals)} of {len(found)} cells (beyond {TIE_POINTS:g} points)")),
        Statement(holds=not timid, exceptions=list(map(_far, timid)), text=(
            f"in {len(timid)} cells without a promise a fixed sleep would have kept it "
            "(known only afterwards)")),
    ]


def _broken(score: Score) -> str:
    entry = score.entry()
    return (f"{score.words()}: p99 {entry.p99_us:.0f} us, lost {entry.lost} "
            f"(spin {score.spin_lost}), promised {100 * entry.feasible_share:.0f} % of the time")


def _far(score: Score) -> str:
    return (f"{score.words()}: {score.entry().cpu_pct:.1f} % CPU, oracle "
            f"{score.oracle.cpu_pct:.1f} % (sleeps {score.oracle.rest_us:.0f} us)")


def _rivals(score: Score) -> str:
    others = ", ".join(f"{entry.governor} {entry.cpu_pct:.1f} %" for entry in score.rivals())
    return f"{score.words()}: objective {score.entry().cpu_pct:.1f} % CPU, {others}"


class Standing(BaseModel):
    """One governor over all cells."""

    governor: str
    cells: int
    kept: int
    lossy: int
    cpu_pct: float
    cpu_kept_pct: float | None


def standings(found: Sequence[Score]) -> list[Standing]:
    """Governors, those that keep most first."""
    names = list(dict.fromkeys(entry.governor for score in found for entry in score.entries))
    made = []
    for name in names:
        of = [(score, entry) for score in found for entry in score.entries
              if entry.governor == name]
        good = [entry.cpu_pct for _, entry in of if entry.kept]
        made.append(Standing(
            governor=name, cells=len(of), kept=len(good),
            lossy=sum(entry.lost > score.spin_lost for score, entry in of),
            cpu_pct=sum(entry.cpu_pct for _, entry in of) / len(of),
            cpu_kept_pct=sum(good) / len(good) if good else None))
    return sorted(made, key=lambda one: (-one.kept, one.cpu_pct))


def summary(found: Sequence[Score]) -> list[str]:
    """The standings as lines; the oracle's mean below them."""
    lines = [f"{'governor':15} {'kept in':>8} {'loses in':>9} {'mean CPU %':>11}"]
    lines += [f"{one.governor:15} {one.kept:8} {one.lossy:9} {one.cpu_pct:11.1f}"
              for one in standings(found)]
    oracle = sum(score.oracle.cpu_pct for score in found) / len(found)
    return [*lines, f"{'(oracle)':15} {'':8} {'':9} {oracle:11.1f}"]
