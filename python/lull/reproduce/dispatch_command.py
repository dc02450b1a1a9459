# SPDX-License-Identifier: BSD-3-Clause
"""Reproduce dispatch: run its figures and Table 1, judge them, write table, JSON and page."""

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
from lull.reproduce.dispatch import NOT_COMPARABLE, DispatchFigure, Shown
from lull.reproduce.dispatch_run import DispatchBench
from lull.reproduce.page import Head, Part
from lull.reproduce.reproduction import Judged, Row
from lull.reproduce.table import table
from lull.sim.simulation import Pool, progress_bar

PROGRAM = "lull reproduce dispatch"
NOT_MEASURED = "not measured on this machine"
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
    if choice.live and any(figure.roles for figure in figures):
        console.print(f"\nTo measure the others live on a larger machine: {LARGER}", soft_wrap=True,
                      markup=False)
    console.print(f"\n[dim]page[/]  {out / 'reproduce.html'}", soft_wrap=True)


def _simulate(figures: Sequence[DispatchFigure], bench: DispatchBench, choice: Choice) -> Shown:
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


def _part(figure: DispatchFigure, simulated: Shown | None, live: Shown | None, remark: str,
          cpus: int) -> Part:
    told = None if live is None or (figure.name == "Fig. 6" and not live.costs) else live
    rows = [reproduction.row(figure.name, claim, simulated, told) for claim in figure.claims]
    rows = [_stated(one) for one in rows]
    note = figure.note
    if live is not None and figure.roles:
        why = (f"source, I/O, {reproduction_dispatch.WORKERS} workers and aggregator "
               f"want {figure.roles} CPUs, this machine has {cpus}" if cpus < figure.roles else
               "loss by load needs a source that steps through rates")
        rows = [_without_live(one) for one in rows]
        note = f"{note} Live: {NOT_MEASURED}: {why}. To measure it: {LARGER}".strip()
    elif live is not None and remark and figure.name == "Fig. 6":
        rows = [_without_live(one) for one in rows]
        note = f"{note} Live: {NOT_MEASURED}: {remark}"
    return Part(figure.name, figure.title, rows,
                reproduction_dispatch_plot.picture(figure.name, simulated, live), note,
                {"simulated": _data(figure, simulated), "live": _live_data(figure, live)})


def _stated(row: Row) -> Row:
    """What has no tolerance is stated, and cannot be compared."""
    def plain(judged: Judged) -> Judged:
        stated = judged.verdict == "not stated"
        return judged.model_copy(update={"verdict": NOT_COMPARABLE}) if stated else judged

    return row.model_copy(update={"simulated": plain(row.simulated), "live": plain(row.live)})


def _without_live(row: Row) -> Row:
    return row.model_copy(update={"live": Judged(verdict=NOT_MEASURED)})


def _data(figure: DispatchFigure, simulated: Shown | None) -> dict[str, Any]:
    if simulated is None:
        return {}
    if figure.name == "Table 1":
        return {str(threshold): run.model_dump() for threshold, run in simulated.odds.items()}
    return {f"{traffic}, {name}": [run.model_dump() for run in runs]
            for (traffic, name), runs in simulated.runs.items() if traffic in figure.traffics}


def _live_data(figure: DispatchFigure, live: Shown | None) -> dict[str, Any]:
    if live is None:
        return {}
    told: dict[str, Callable[[Shown], Any]] = {
        "Fig. 2": lambda shown: shown.shares, "Fig. 6": lambda shown: shown.costs}
    return dict(told[figure.name](live)) if figure.name in told else {}
