# SPDX-License-Identifier: BSD-3-Clause
"""Reproduce dispatch: run its figures and Table 1, judge them, write table, JSON and page."""

import re
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from lull import __version__
from lull.errors import LullError
from lull.program.child import CHECKOUT, find_program
from lull.program.machine import describe
from lull.program.tree import Tree
from lull.reproduce import dispatch as reproduction_dispatch
from lull.reproduce import dispatch_plot as reproduction_dispatch_plot
from lull.reproduce import dispatch_run as run_
from lull.reproduce import page as reproduction_page
from lull.reproduce import reproduction
from lull.reproduce.dispatch import DispatchFigure, Shown
from lull.reproduce.dispatch_run import DispatchBench
from lull.reproduce.page import Head, Part
from lull.reproduce.reproduction import NOT_RUN, NOT_TESTABLE, Judged, Row
from lull.reproduce.table import table
from lull.sim.simulation import Pool, progress_bar

PROGRAM = "lull reproduce dispatch"
MEMIF = "net_memif0,socket-abstract=no,socket=/tmp/lull-memif,role="
LARGER = (f"lull-flow --vdev {MEMIF}server --workers 4 --cpus 1-6 --scheduler NAME --duration 10s "
          f"--json - & lull-gen --vdev {MEMIF}client --cpus 0 --tx-only --flows 10k --traffic "
          "constant:RATE --duration 8s")


@dataclass(frozen=True)
class Choice:
    """What is to be run."""

    simulated: bool = True
    live: bool = True
    figures: str = ""  # numbers; empty: all
    jobs: int | None = None


def run(bench: DispatchBench, choice: Choice, out: Path, cpus: int, command: str) -> None:
    """Everything."""
    if not choice.simulated and not choice.live:
        raise LullError("--no-sim and --no-live leave nothing to run", 2)
    figures = [one for one in reproduction_dispatch.figures()
               if reproduction.wanted(one.name, choice.figures)]
    if not figures:
        raise LullError(f"--figures: {choice.figures}: the figures are 2-6, and table 1", 2)
    simulated = _simulate(figures, bench, choice) if choice.simulated else None
    live, remark = _live(figures, bench) if choice.live else (None, "")
    parts = [_part(figure, simulated, live, remark, cpus) for figure in figures]
    reproduction_page.save(parts, Head(
        PROGRAM, "reproduce/dispatch.html.j2", f"lull {__version__}", command,
        describe(Tree(), "", __version__, CHECKOUT), choice.live, bench), out)
    console = Console(highlight=False)
    for part in parts:
        console.print(table(part))
    if choice.live and any(figure.traffics for figure in figures):
        console.print(f"\nTo measure the others live on a larger machine: {LARGER}", soft_wrap=True,
                      markup=False)
    console.print(f"\n[dim]page[/]  {out / 'reproduce.html'}", soft_wrap=True)


def _simulate(figures: Sequence[DispatchFigure], bench: DispatchBench,
              choice: Choice) -> list[Shown]:
    with Pool(find_program("lull-flow-sim"), choice.jobs) as pool:
        jobs = run_.plan(figures, bench)
        progress, task = progress_bar(len(jobs), "simulated")
        with progress:
            return run_.simulate(pool, jobs, lambda: progress.advance(task))


def _live(figures: Sequence[DispatchFigure], bench: DispatchBench) -> tuple[Shown, str]:
    """What can be measured on any machine; and why the costs are not, where they are not."""
    names = {figure.name for figure in figures}
    shares: dict[str, list[int]] = {}
    costs: dict[str, float] = {}
    remark = ""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lull-")))
        progress, task = progress_bar(len(reproduction_dispatch.SCHEDULERS), "live")
        stack.enter_context(progress)
        if "Fig. 2" in names:
            flow = stack.enter_context(Pool(find_program("lull-flow"), 1))
            shares = run_.live_shares(flow, bench, folder, lambda: progress.advance(task))
        if "Fig. 6" in names:
            try:
                program = find_program("dispatch-cost", "bench/dispatch")
            except LullError as error:
                remark = str(error)
            else:
                costs = run_.live_costs(stack.enter_context(Pool(program, 1)), bench, folder)
    return Shown(shares=shares, costs=costs), remark


def _part(figure: DispatchFigure, simulated: Sequence[Shown] | None, live: Shown | None,
          remark: str, cpus: int) -> Part:
    told = None if live is None else [live]
    rows = [reproduction.row(figure.name, claim, _known(figure, simulated), told, cpus)
            for claim in figure.claims]
    note = figure.note
    if live is not None and remark and figure.name == "Fig. 6":
        rows = [_without_live(one, remark) for one in rows]
    if live is not None and figure.traffics and figure.name != "Fig. 2":
        note = f"{note} To measure it live on a larger machine: {LARGER}".strip()
    first = simulated[0] if simulated else None
    number = "".join(re.findall(r"[0-9]+", figure.name))
    return Part(figure.name, figure.title, rows,
                reproduction_dispatch_plot.picture(figure.name, first, live), note,
                f"{PROGRAM} --figures {number}",
                {"simulated": _data(figure, first), "live": _live_data(figure, live),
                 "carried": _carried(figure, simulated or [])})


def _known(figure: DispatchFigure, simulated: Sequence[Shown] | None) -> Sequence[Shown] | None:
    """What the simulator showed of a figure; Fig. 6 has nothing of it."""
    return [] if simulated is not None and figure.name == "Fig. 6" else simulated


def _without_live(row: Row, remark: str) -> Row:
    if row.live.verdict == NOT_RUN:
        return row
    return row.model_copy(update={"live": Judged(verdict=NOT_TESTABLE, because=remark)})


def _data(figure: DispatchFigure, simulated: Shown | None) -> dict[str, Any]:
    if simulated is None:
        return {}
    if figure.name == "Table 1":
        return {str(threshold): run.model_dump() for threshold, run in simulated.odds.items()}
    return {f"{traffic}, {name}": [
        {**run.model_dump(), "mbps": reproduction_dispatch.mbps(simulated, traffic, run.load)}
        if traffic in (reproduction_dispatch.ONE, reproduction_dispatch.TWO) else run.model_dump()
        for run in runs]
            for (traffic, name), runs in simulated.runs.items() if traffic in figure.traffics}


def _carried(figure: DispatchFigure, worlds: Sequence[Shown]) -> dict[str, dict[str, list[float]]]:
    """Largest load without loss, and with 1 in 10,000, by seed."""
    limits = {"no loss": 0.0, "1 in 10,000": reproduction_dispatch.SLIGHT_PPM}
    return {f"{traffic}, {name}": {
        word: [reproduction_dispatch.carried(world.runs[traffic, name], limit) for world in worlds]
        for word, limit in limits.items()}
        for traffic, name in (worlds[0].runs if worlds else {}) if traffic in figure.traffics}


def _live_data(figure: DispatchFigure, live: Shown | None) -> dict[str, Any]:
    if live is None:
        return {}
    told: dict[str, Callable[[Shown], Any]] = {
        "Fig. 2": lambda shown: shown.shares, "Fig. 6": lambda shown: shown.costs}
    return dict(told[figure.name](live)) if figure.name in told else {}
