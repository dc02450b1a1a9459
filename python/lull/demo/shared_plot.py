# SPDX-License-Identifier: BSD-3-Clause
"""Shared plot: one CPU with a loop and another program on it: who got it, and what packets met.

The report draws it in the colours of its page, a file of its own has them fixed.
"""

from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from lull import drawing
from lull.demo.result import Result, Run
from lull.demo.settings import Phase
from lull.errors import LullError
from lull.palette import PROGRAM, ink
from lull.quantities import micros

WIDTH_IN, HEIGHT_IN = 9.6, 3.5
FLOOR_US = 0.1
ROW = 0.62  # height of a bar, of the distance between two
INSIDE_PCT = 9  # a bar as wide as this holds its own figure


@dataclass(frozen=True)
class Colours:
    """What a picture is drawn with."""

    ink: str
    muted: str
    bad: str
    paper: str
    program: str
    governors: dict[str, str]


def draw(figure: Figure, result: Result, phase: Phase, colours: Colours) -> None:
    """Left the CPU, right the latency; a row for each governor."""
    runs = result.runs_beside(phase)
    shares, latency = figure.subplots(1, 2, sharey=True, width_ratios=(1.15, 1))
    _shares(shares, runs, colours)
    _latency(latency, result, runs, colours)
    shares.set_yticks(range(len(runs)), [run.governor for run in runs])
    shares.tick_params(axis="y", labelcolor=colours.ink, labelsize=10.5, pad=6)
    shares.set_ylim(len(runs) - 0.4, -0.6)
    for axes, title in ((shares, "one CPU: the loop, and the other program"),
                        (latency, "added latency: p50 to p99")):
        axes.set_title(title, loc="left", fontsize=9.5, color=colours.ink)
        axes.grid(visible=True, axis="x")
        axes.grid(visible=False, axis="y")


def _shares(axes: Axes, runs: list[Run], colours: Colours) -> None:
    for row, run in enumerate(runs):
        other = run.other_pct or 0.0
        axes.barh(row, run.cpu_pct, ROW, color=colours.governors[run.governor], linewidth=0)
        axes.barh(row, other, ROW, left=run.cpu_pct, color=colours.program, linewidth=0)
        wide = run.cpu_pct >= INSIDE_PCT
        axes.annotate(f"{run.cpu_pct:.0f} %", (run.cpu_pct / 2 if wide else run.cpu_pct, row),
                      xytext=(0 if wide else 4, 0), textcoords="offset points", va="center",
                      ha="center" if wide else "left", fontsize=9, color=colours.paper)
        if other >= INSIDE_PCT:
            axes.annotate(f"other program {other:.0f} %", (run.cpu_pct + other / 2, row),
                          xytext=(0 if wide else 14, 0), textcoords="offset points",
                          va="center", ha="center", fontsize=9, color=colours.paper)
    axes.set_xlim(0, 100)
    axes.set_xticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "100 %"])


def _latency(axes: Axes, result: Result, runs: list[Run], colours: Colours) -> None:
    objective = result.settings.max_latency_us
    values = [objective]
    for row, run in enumerate(runs):
        p50, p99 = max(run.p50_us, FLOOR_US), max(run.p99_us, FLOOR_US)
        colour = colours.governors[run.governor]
        axes.plot([p50, p99], [row, row], color=colour, linewidth=6, alpha=0.32,
                  solid_capstyle="butt")
        axes.plot([p99], [row], marker=ink(run.governor).marker, markersize=8, color=colour,
                  markeredgecolor=colours.paper, markeredgewidth=0.8)
        late = p99 > objective
        lost = f", lost {run.lost}" if run.lost else ""
        axes.annotate(f"{micros(run.p99_us)}{lost}", (p99, row), xytext=(0, 11),
                      textcoords="offset points", ha="center", fontsize=9, zorder=5,
                      color=colours.bad if late or run.lost else colours.ink,
                      bbox={"facecolor": colours.paper, "edgecolor": "none", "pad": 1.5})
        values += [p50, p99]
    axes.set_xscale("log")
    axes.set_xlim(min(values) / 2.5, max(values) * 4)
    axes.xaxis.set_major_locator(FixedLocator([10.0**power for power in range(-1, 8)]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda us, _: micros(us)))
    axes.axvline(objective, color=colours.bad, linewidth=1, linestyle=(0, (5, 3)))
    axes.annotate(f"objective {micros(objective)}", (objective, 0),
                  xycoords=("data", "axes fraction"), xytext=(4, 3), textcoords="offset points",
                  fontsize=8.5, color=colours.bad)


def save(result: Result, path: Path) -> None:
    """The picture as a file, for light paper."""
    found = result.phases_beside()
    if not found:
        raise LullError(f"{path}: the result has no phase beside another program to draw: "
                        "run 'lull demo' with phase shared", 2)
    colours = Colours(drawing.INK, drawing.MUTED, drawing.BAD, "#ffffff", PROGRAM.light,
                      {name: ink(name).light for name in result.settings.governors})
    with drawing.style():
        made = drawing.figure(WIDTH_IN, HEIGHT_IN)
        draw(made, result, found[0], colours)
        made.suptitle(f"{found[0].summary}; objective p{result.settings.percentile} "
                      f"≤ {micros(result.settings.max_latency_us)}", fontsize=10.5,
                      color=drawing.INK, x=0.01, ha="left")
        drawing.save(made, path)
