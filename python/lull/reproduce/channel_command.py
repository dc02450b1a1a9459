# SPDX-License-Identifier: BSD-3-Clause
"""Reproduce the channel: run its figures, judge them, write table, JSON and page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from lull import __version__
from lull.errors import LullError
from lull.program.child import CHECKOUT, find_program
from lull.program.machine import describe
from lull.program.tree import Tree
from lull.reproduce import channel as reproduction_channel
from lull.reproduce import channel_live as live_
from lull.reproduce import channel_run as run_
from lull.reproduce import page as reproduction_page
from lull.reproduce import plot as reproduction_plot
from lull.reproduce import reproduction
from lull.reproduce.channel_run import ChannelBench
from lull.reproduce.page import Head, Part
from lull.reproduce.reproduction import NOT_RUN, Curves, Figure, Judged, Row
from lull.reproduce.table import table
from lull.sim.simulation import Pool, progress_bar

PROGRAM = "lull reproduce channel"
NOT_ASKED = "as root, --live measures it"
LIVE_CPUS = 4  # two nodes, in each a thread that polls and a program


@dataclass(frozen=True)
class Choice:
    """What is to be run."""

    simulated: bool = True
    live: bool = False
    figures: str = ""  # names of figures, as in the page; empty: all
    jobs: int | None = None


def run(bench: ChannelBench, choice: Choice, out: Path, cpus: int, command: str) -> None:
    """Everything."""
    if not choice.simulated and not choice.live:
        raise LullError("--no-sim without --live leaves nothing to run", 2)
    figures = [one for one in reproduction_channel.figures() if wanted(one.name, choice.figures)]
    if not figures:
        raise LullError(f"--figures: {choice.figures}: the figures are 20, 21, 22, steps and "
                        "rings", 2)
    simulated = _simulate(figures, bench, choice) if choice.simulated else {}
    live, remark = _live(figures, bench) if choice.live else ({}, NOT_ASKED)
    parts = [_part(figure, simulated.get(figure.name), live.get(figure.name), remark, cpus)
             for figure in figures]
    reproduction_page.save(parts, Head(
        PROGRAM, "reproduce/channel.html.j2", f"lull {__version__}", command,
        describe(Tree(), "", __version__, CHECKOUT), bool(live), bench), out)
    console = Console(highlight=False)
    for part in parts:
        console.print(table(part))
    if remark:
        console.print(f"\nlive: not run: {remark}", soft_wrap=True, markup=False)
    console.print(f"\n[dim]page[/]  {out / 'reproduce.html'}", soft_wrap=True)


def wanted(name: str, asked: str) -> bool:
    """Is a figure asked for, by its number or by a word of its name? Empty: all are."""
    words = [word.strip().lower() for word in asked.split(",") if word.strip()]
    return not words or any(
        reproduction.wanted(name, word) if word.isdecimal() else word in name.lower().split()
        for word in words)


def _simulate(figures: Sequence[Figure], bench: ChannelBench,
              choice: Choice) -> Mapping[str, Curves]:
    with Pool(find_program("lull-channel-sim"), choice.jobs) as pool:
        jobs = run_.plan(figures, bench)
        progress, task = progress_bar(len(jobs), "simulated")
        with progress:
            return run_.simulate(pool, jobs, lambda: progress.advance(task))


def _live(figures: Sequence[Figure], bench: ChannelBench) -> tuple[Mapping[str, Curves], str]:
    """What was measured; and why nothing was, where nothing was."""
    progress, task = progress_bar(len(live_.plan(figures, bench)), "live")
    try:
        with progress:
            return live_.measure(find_program("lull-channel-perf"), figures, bench,
                                 lambda: progress.advance(task)), ""
    except LullError as error:
        return {}, str(error)


def _part(figure: Figure, simulated: Curves | None, live: Curves | None, remark: str,
          cpus: int) -> Part:
    rows = reproduction.rows(figure, None if simulated is None else [simulated],
                             None if live is None else [live], cpus)
    rows = [_with_reason(row, claim.no_live or remark)
            for row, claim in zip(rows, figure.claims, strict=True)]
    return Part(
        figure.name, figure.title, rows, reproduction_plot.picture(figure, simulated, live)
        if simulated or live else None, figure.note + (_few(cpus) if live else ""),
        data={"simulated": reproduction_page.curve_data(simulated),
              "live": reproduction_page.curve_data(live)})


def _few(cpus: int) -> str:
    """What a small machine does to live figures."""
    return "" if cpus >= LIVE_CPUS else (
        f" Live, two nodes whose threads poll want {LIVE_CPUS} CPUs, this machine has {cpus}: they "
        "take turns, and polling comes out slower than it is.")


def _with_reason(row: Row, remark: str) -> Row:
    """Say why a live value is not there."""
    if row.live.verdict != NOT_RUN:
        return row
    return row.model_copy(update={"live": Judged(because=remark)})
