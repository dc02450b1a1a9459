# SPDX-License-Identifier: BSD-3-Clause
"""Scoreboard: who keeps the objective at what CPU, beside an oracle; counted, never argued."""

from collections.abc import Callable, Sequence

from lull.document import Document
from lull.sim import scoreboard_cells
from lull.sim.reply import SimReply, SimRun, kept
from lull.sim.scoreboard_cells import Cell, Job, Setup, Traffic

PERCENTILE = 99.0
NEAR_POINTS = 5.0     # of CPU: as good as the oracle
NEAR_SHARE = 95.0     # of the feasible cells
TIE_POINTS = 0.1      # of CPU: no more than rounding
FEASIBLE_SHARE = 0.5  # of the measured time with a verdict that promises
SPIN_POINTS = 1.0     # of CPU beyond the best fixed sleep or ramp, where nobody keeps it
SPIN_LOSS = 2.0       # times what spin loses, there
RIVALS = ("ramp", "drain", "kalman")
Find = Callable[[Job], SimReply]


class Entry(Document):
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
    competitor_share_pct: float | None = None  # of what it left, on a shared core


class Oracle(Document):
    """The best fixed sleep; rest 0: only polling keeps the objective."""

    rest_us: float
    cpu_pct: float
    p99_us: float


class Score(Document):
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
    spin_breaks: bool = False   # the machine took the core away, and polling did not keep it
    nobody_keeps: bool = False  # nor did any fixed sleep
    sleep_pct: float = 100.0    # then: CPU of the fixed sleep that does no worse than polling

    def entry(self, governor: str = "objective") -> Entry:
        """One governor's figures."""
        return next(entry for entry in self.entries if entry.governor == governor)

    def words(self) -> str:
        """The cell in a few words."""
        return Cell(Traffic(self.kind, self.load, self.link), self.objective_us).words()

    def feasible(self) -> bool:
        """Did the governor promise for most of the time?"""
        return self.entry().feasible_share >= FEASIBLE_SHARE

    def allowed_pct(self) -> float:
        """CPU that objective may take where nobody keeps it: the best fixed sleep's, or ramp's."""
        ramp = self.entry("ramp")
        fair = ramp.lost <= SPIN_LOSS * self.spin_lost
        return max(self.sleep_pct, ramp.cpu_pct if fair else 0.0) + SPIN_POINTS

    def excused(self) -> bool:
        """Nobody keeps it: does objective take no more CPU, and lose little more than spin?"""
        entry = self.entry()
        return entry.cpu_pct <= self.allowed_pct() and entry.lost <= SPIN_LOSS * self.spin_lost

    def above(self) -> float:
        """CPU beyond the oracle's, in points."""
        return self.entry().cpu_pct - self.oracle.cpu_pct

    def rivals(self) -> list[Entry]:
        """Those that keep it too, at less CPU."""
        return [self.entry(name) for name in RIVALS
                if self.entry(name).proven
                and self.entry().cpu_pct > self.entry(name).cpu_pct + TIE_POINTS]


class Statement(Document):
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
    breaks = _disturbed(tested["spin"]) and (
        tested["spin"].lost > 0 or not _kept(tested["spin"], cell, tested["spin"]))
    return Score(
        spin_breaks=breaks, nobody_keeps=breaks and not _good(cell, setup, find),
        sleep_pct=_consolation(cell, setup, find),
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
    # A host that takes the core while such a burst comes makes spin lose some of it, and one who
    # was in a rest just then a little more.
    allowed = spin.lost * (SPIN_LOSS if _disturbed(spin) else 1)
    jobs = (scoreboard_cells.promising_job(cell, setup), scoreboard_cells.capped_job(cell, setup))
    replies = [find(scoreboard_cells.stressed(job, setup)) for job in jobs]
    return {run.governor: run.lost <= allowed for reply in replies for run in reply.runs}


def _disturbed(spin: SimRun) -> bool:
    """Did the host or other programs take the core away from polling itself?"""
    return spin.stolen_pct > 0 or spin.waited_pct > 0


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
    added, held = run.added_ns, _kept(run, cell, spin)
    return Entry(
        governor=run.governor, cpu_pct=run.cpu_pct, p50_us=added.p50 / 1e3,
        p99_us=added.p99 / 1e3, p999_us=added.p999 / 1e3, max_us=added.max / 1e3,
        lost=run.lost, kept=held, proven=held and proven and survives, survives=survives,
        verdict=run.verdict.state, feasible_share=run.feasible_pct / 100,
        wakes_per_s=run.wakes_per_s, power_w=run.power_w,
        competitor_share_pct=run.competitor_share_pct)


def _oracle(cell: Cell, setup: Setup, find: Find) -> Oracle:
    """Least CPU among the fixed sleeps that keep the objective and lose no more than polling.

    Without packets every sleep keeps every objective, so there it is one that would keep it
    if a little came.
    """
    free = find(scoreboard_cells.free_job(cell.traffic, setup))
    spin = free.run("spin")
    polling = Oracle(rest_us=0, cpu_pct=spin.cpu_pct, p99_us=spin.added_ns.p99 / 1e3)
    good = _good(cell, setup, find)
    best = min((point for point in free.sweep if point.rest_ns in good),
               key=lambda point: point.cpu_pct, default=None)
    if best is None or best.cpu_pct >= polling.cpu_pct:
        return polling
    return Oracle(rest_us=best.rest_ns / 1e3, cpu_pct=best.cpu_pct,
                  p99_us=best.added_p99_ns / 1e3)


def _good(cell: Cell, setup: Setup, find: Find) -> set[float]:
    """Fixed sleeps that keep the objective and lose no more than polling."""
    judged = find(scoreboard_cells.free_job(cell.traffic.tested(), setup))
    return {point.rest_ns for point in judged.sweep
            if point.added_p99_ns <= cell.objective_us * 1e3
            and point.lost <= judged.run("spin").lost}


def _consolation(cell: Cell, setup: Setup, find: Find) -> float:
    """CPU of the best fixed sleep where none keeps the objective.

    It is no longer than the objective, no later than that or than polling, and loses little more.
    """
    free = find(scoreboard_cells.free_job(cell.traffic, setup))
    judged = find(scoreboard_cells.free_job(cell.traffic.tested(), setup))
    spin, most_ns = judged.run("spin"), cell.objective_us * 1e3
    fair = {point.rest_ns for point in judged.sweep
            if point.rest_ns <= most_ns and point.lost <= SPIN_LOSS * spin.lost
            and point.added_p99_ns <= max(most_ns, spin.added_ns.p99)}
    return min((point.cpu_pct for point in free.sweep if point.rest_ns in fair),
               default=free.run("spin").cpu_pct)


def statements(found: Sequence[Score]) -> list[Statement]:
    """The summary."""
    feasible = [score for score in found if score.feasible() and not score.nobody_keeps]
    unkept = [score for score in found if not score.feasible() and not score.nobody_keeps]
    broken = [score for score in feasible if not score.entry().kept]
    silent = [score for score in unkept if not score.entry().kept
              and score.entry().verdict not in ("infeasible", "suspended")]
    timid = [score for score in unkept if score.oracle.rest_us > 0]
    far = [score for score in feasible if score.above() > NEAR_POINTS]
    near_pct = 100 * (1 - len(far) / len(feasible)) if feasible else 100.0
    rivals = [score for score in found if score.rivals()]
    drowned = [score for score in feasible if not score.entry().survives]
    return [
        Statement(holds=not broken, exceptions=list(map(_broken, broken)), text=(
            f"objective keeps the objective and loses no more than spin in "
            f"{len(feasible) - len(broken)} of {len(feasible)} cells with a feasible verdict")),
        Statement(holds=not drowned, exceptions=[score.words() for score in drowned], text=(
            "with additional bursts of a whole ring at the stated rate, it loses no more than spin "
            f"in {len(feasible) - len(drowned)} of {len(feasible)} of these cells")),
        Statement(holds=not silent, exceptions=[score.words() for score in silent], text=(
            f"of {len(unkept)} cells without a promise, {len(unkept) - len(silent)} keep the "
            "objective anyway or are reported as infeasible")),
        Statement(holds=near_pct >= NEAR_SHARE, exceptions=list(map(_far, far)), text=(
            f"objective is within {NEAR_POINTS:g} points of the oracle's CPU in {near_pct:.1f} % "
            f"of the feasible cells (goal: {NEAR_SHARE:g} %)")),
        Statement(holds=not rivals, exceptions=list(map(_rivals, rivals)), text=(
            f"in {len(rivals)} of {len(found)} cells one of {', '.join(RIVALS)} keeps the "
            "objective too, also with such bursts, with less CPU (by more than "
            f"{TIE_POINTS:g} points)")),
        Statement(holds=not timid, exceptions=list(map(_far, timid)), text=(
            f"in {len(timid)} cells without a promise a fixed sleep would have kept the objective "
            "(known only afterwards)")),
        *_disturbances(found),
    ]


def _disturbances(found: Sequence[Score]) -> list[Statement]:
    """What the machine itself breaks; nothing to say where it takes the core from nobody."""
    broken = [score for score in found if score.spin_breaks]
    nobody = [score for score in broken if score.nobody_keeps]
    dear = [score for score in nobody if not score.excused()]
    false = [score for score in nobody if score.feasible() and not score.entry().kept]
    if not broken:
        return []
    return [
        Statement(holds=not dear, exceptions=list(map(_dear, dear)), text=(
            f"in {len(broken)} of {len(found)} cells spin does not keep the objective either. In "
            f"{len(broken) - len(nobody)} of them a fixed sleep does, so they count above. In "
            f"{len(nobody) - len(dear)} of the other {len(nobody)}, objective uses at most "
            f"{SPIN_POINTS:g} points more CPU than the best fixed sleep or ramp, and loses at most "
            f"{SPIN_LOSS:g} times what spin loses")),
        Statement(holds=not false, exceptions=list(map(_broken, false)), text=(
            f"of the {len(nobody)} cells in which no fixed sleep keeps the objective, objective "
            f"promises nothing, or keeps its promise, in {len(nobody) - len(false)}")),
    ]


def _dear(score: Score) -> str:
    entry = score.entry()
    return (f"{score.words()}: {entry.cpu_pct:.1f} % CPU, {score.allowed_pct():.1f} % allowed; "
            f"lost {entry.lost} (spin {score.spin_lost})")


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


class Standing(Document):
    """One governor over all cells."""

    governor: str
    cells: int
    kept: int
    lossy: int
    cpu_pct: float
    cpu_kept_pct: float | None
    competitor_share_pct: float | None = None  # what another program got of what it left


def standings(found: Sequence[Score]) -> list[Standing]:
    """Governors, those that keep most first."""
    names = list(dict.fromkeys(entry.governor for score in found for entry in score.entries))
    made = []
    for name in names:
        of = [(score, entry) for score in found for entry in score.entries
              if entry.governor == name]
        good = [entry.cpu_pct for _, entry in of if entry.kept]
        others = [entry.competitor_share_pct for _, entry in of
                  if entry.competitor_share_pct is not None]
        made.append(Standing(
            governor=name, cells=len(of), kept=len(good),
            lossy=sum(entry.lost > score.spin_lost for score, entry in of),
            cpu_pct=sum(entry.cpu_pct for _, entry in of) / len(of),
            cpu_kept_pct=sum(good) / len(good) if good else None,
            competitor_share_pct=sum(others) / len(others) if others else None))
    return sorted(made, key=lambda one: (-one.kept, one.cpu_pct))


def summary(found: Sequence[Score]) -> list[str]:
    """The standings as lines; the oracle's mean below them."""
    ranks = standings(found)
    shared = any(one.competitor_share_pct is not None for one in ranks)
    lines = [f"{'governor':15} {'kept in':>8} {'loses in':>9} {'mean CPU %':>11}"
             + (f" {'other got, % of the rest':>25}" if shared else "")]
    lines += [f"{one.governor:15} {one.kept:8} {one.lossy:9} {one.cpu_pct:11.1f}"
              + (f" {one.competitor_share_pct or 0:25.1f}" if shared else "")
              for one in ranks]
    oracle = sum(score.oracle.cpu_pct for score in found) / len(found)
    return [*lines, f"{'(oracle)':15} {'':8} {'':9} {oracle:11.1f}"]
