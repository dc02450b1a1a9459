# SPDX-License-Identifier: BSD-3-Clause
"""Reproduce the sleep model: run its scenarios, judge them, write the page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from lull import __version__
from lull.errors import LullError
from lull.program.child import CHECKOUT, find_program
from lull.program.machine import describe
from lull.program.tree import Tree
from lull.reproduce import costs as reproduction_costs
from lull.reproduce import page as reproduction_page
from lull.reproduce import plot as reproduction_plot
from lull.reproduce import reproduction
from lull.reproduce import run as reproduction_run
from lull.reproduce import sleep as reproduction_sleep
from lull.reproduce.page import Head, Part
from lull.reproduce.reproduction import (
    ASSUMED,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    REPRODUCED,
    Figure,
)
from lull.reproduce.run import Bench, BurstCost, Seen
from lull.sim.simulation import Pool, progress_bar

COMMAND = "lull reproduce sleep"


@dataclass(frozen=True)
class Choice:
    """What is to be run."""

    simulated: bool = True
    live: bool = True
    figures: str = ""  # numbers; empty: all
    jobs: int | None = None


@dataclass(frozen=True)
class Findings:
    """What one of the two worlds showed; None and empty: not run."""

    seen: Seen | None = None
    costs: Sequence[BurstCost] = ()


def run(bench: Bench, choice: Choice, out: Path, cpus: int) -> None:
    """Everything."""
    if not choice.simulated and not choice.live:
        raise LullError("--no-sim and --no-live leave nothing to run", 2)
    figures = [figure for figure in reproduction_sleep.figures()
               if reproduction.wanted(figure.name, choice.figures)]
    costs = reproduction.wanted(reproduction_costs.NAME, choice.figures)
    if not figures and not costs:
        raise LullError(f"--figures: {choice.figures}: the figures are 2-4, 6-11, 17-22 and "
                        "tables 1, 2, 4", 2)
    simulated = _simulate(figures, costs, bench, choice) if choice.simulated else Findings()
    live = _live(figures, costs, bench, cpus) if choice.live else Findings()
    parts = _parts(figures, costs, simulated, live, choice.live, cpus)
    command = COMMAND + ("" if choice.live else " --no-live") + (
        f" --figures {choice.figures}" if choice.figures else "")
    reproduction_page.save(parts, Head(
        COMMAND, "reproduce/sleep.html.j2", f"lull {__version__}", command,
        describe(Tree(), "", __version__, CHECKOUT), choice.live, bench), out)
    _tell(parts, choice, out)


def _simulate(figures: Sequence[Figure], costs: bool, bench: Bench, choice: Choice) -> Findings:
    with Pool(find_program("lull-sim"), choice.jobs) as pool:
        stated = reproduction_run.sim_costs(pool.one(
            ("--describe-machine", "paper", "--json", "-"))) if costs else []
        plan = reproduction_run.sim_plan(figures, bench)
        progress, task = progress_bar(len(plan), "simulated")
        with progress:
            seen = reproduction_run.simulate(pool, plan, lambda: progress.advance(task))
    return Findings(seen, stated)


def _live(figures: Sequence[Figure], costs: bool, bench: Bench, cpus: int) -> Findings:
    """One at a time: each needs the machine for itself."""
    chosen = [figure for figure in figures if any(
        not claim.no_live and claim.cpus <= cpus for claim in figure.claims)]
    with Pool(find_program("lull-model"), 1) as pool:
        plan = reproduction_run.live_plan(chosen, bench)
        progress, task = progress_bar(len(plan), "live")
        with progress:
            measured = reproduction_run.live_costs(pool.one(
                ("--burst-cost", "--json", "-"))) if costs else []
            seen = reproduction_run.measure(pool, plan, bench.tries,
                                            lambda: progress.advance(task))
    return Findings(seen, measured)


def _parts(figures: Sequence[Figure], costs: bool, simulated: Findings, live: Findings,
           asked_live: bool, cpus: int) -> list[Part]:
    parts = [_part(figure, simulated, live, asked_live, cpus) for figure in figures]
    if costs:
        place = sum(part.name in ("Fig. 2", "Fig. 3", "Fig. 4") for part in parts)
        parts.insert(place, Part(
            reproduction_costs.NAME, "Cost of a burst by its size and the packets'",
            reproduction_costs.rows(simulated.costs, live.costs),
            reproduction_plot.cost_picture(simulated.costs, live.costs),
            "Without data (0 packets) as with it. The simulator's costs are stated, not measured.",
            f"{COMMAND} --figures 6", {
                "simulated": [one.model_dump() for one in simulated.costs],
                "live": [one.model_dump() for one in live.costs]}))
    return parts


def _part(figure: Figure, simulated: Findings, live: Findings, asked_live: bool,
          cpus: int) -> Part:
    sim_worlds = reproduction_run.curves(figure, simulated.seen)
    live_worlds = reproduction_run.curves(figure, live.seen)
    sim_curves, live_curves = (
        reproduction.middle_curves(worlds) for worlds in (sim_worlds, live_worlds))
    # What no claim could use was not run: that is said by each of them.
    told = [] if live_worlds is None and asked_live else live_worlds
    return Part(
        figure.name, figure.title, reproduction.rows(figure, sim_worlds, told, cpus),
        reproduction_plot.picture(figure, sim_curves, live_curves) if figure.series else None,
        figure.note, f"{COMMAND} --figures {','.join(re.findall(r'[0-9]+', figure.name))}",
        {"simulated": reproduction_page.curve_data(sim_curves),
         "live": reproduction_page.curve_data(live_curves)})


def _tell(parts: Sequence[Part], choice: Choice, out: Path) -> None:
    console = Console(highlight=False)
    for part in parts:
        words = []
        for name, chosen in (("simulated", choice.simulated), ("live", choice.live)):
            counts = reproduction_page.count([getattr(row, name) for row in part.rows])
            told = [f"{number} {word}" for number, word in (
                (counts.reproduced, REPRODUCED), (counts.not_reproduced, NOT_REPRODUCED),
                (counts.assumed, ASSUMED), (counts.not_testable, NOT_TESTABLE)) if number]
            if chosen:
                words.append(f"{name}: {', '.join(told)}")
        console.print(f"{part.name:<18}{'; '.join(words)}")
    console.print(f"\n[dim]page[/]  {out / 'reproduce.html'}", soft_wrap=True)
