# SPDX-License-Identifier: BSD-3-Clause
"""Scoreboard of objective alone: does it keep what it promises, in each cell, at what CPU?"""

from collections.abc import Sequence

from lull.document import Document
from lull.sim import scoreboard_cells
from lull.sim.reply import SimRun, kept
from lull.sim.scoreboard import FEASIBLE_SHARE, PERCENTILE, Find
from lull.sim.scoreboard_cells import Cell, Job, Setup


class Promise(Document):
    """One cell."""

    cell: str
    cpu_pct: float
    promised: bool  # most of the time
    p99_us: float   # with the fewest packets that can tell
    lost: int       # beyond what polling loses
    lost_bursts: int  # the same when bursts as large as the ring come in between
    kept: bool      # p99 and losses


def jobs(cells: Sequence[Cell], setup: Setup) -> list[Job]:
    """Each run once."""
    found = []
    for cell in cells:
        alone = scoreboard_cells.objective_job(cell.tested(), setup)
        found += [scoreboard_cells.objective_job(cell, setup), alone,
                  scoreboard_cells.stressed(alone, setup),
                  scoreboard_cells.polling_job(cell.traffic.tested(), setup),
                  scoreboard_cells.spin_job(cell.traffic.tested(), setup)]
    return scoreboard_cells.in_order(found)


def promises(cells: Sequence[Cell], setup: Setup, find: Find) -> list[Promise]:
    """Every cell judged; find() gives the reply of a run."""
    return [_promise(cell, setup, find) for cell in cells]


def _promise(cell: Cell, setup: Setup, find: Find) -> Promise:
    def objective(job: Job) -> SimRun:
        return find(job).run("objective")

    traffic = cell.traffic.tested()
    job = scoreboard_cells.objective_job(cell.tested(), setup)
    run, hard = objective(job), objective(scoreboard_cells.stressed(job, setup))
    spin = find(scoreboard_cells.polling_job(traffic, setup)).run("spin")
    hard_spin = find(scoreboard_cells.spin_job(traffic, setup)).run("spin")
    return Promise(
        cell=cell.words(),
        cpu_pct=objective(scoreboard_cells.objective_job(cell, setup)).cpu_pct,
        promised=run.feasible_pct / 100 >= FEASIBLE_SHARE,
        p99_us=run.added_ns.at(PERCENTILE) / 1e3,
        lost=max(0, run.lost - spin.lost),
        lost_bursts=max(0, hard.lost - hard_spin.lost),
        kept=kept(run, cell.objective_us * 1e3, PERCENTILE, spin.lost)
        and hard.lost <= hard_spin.lost)


def summary(found: Sequence[Promise]) -> list[str]:
    """Counts, and each promise that was not kept."""
    promised = [one for one in found if one.promised]
    broken = [one for one in promised if not one.kept]
    mean = sum(one.cpu_pct for one in found) / len(found)
    return [f"promised in {len(promised)} of {len(found)} cells, kept in "
            f"{len(promised) - len(broken)} of these; mean CPU {mean:.1f} %",
            *(f"not kept: {one.cell}: p99 {one.p99_us:.1f} us, lost {one.lost}, with bursts as "
              f"large as the ring {one.lost_bursts}" for one in broken)]
