# SPDX-License-Identifier: BSD-3-Clause
"""Simulation plot: `lull sim` as a picture: CPU and added latency, over what was swept."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lull import drawing
from lull.errors import LullError
from lull.palette import ink
from lull.quantities import micros, parse_ns, parse_rate, si
from lull.sim.reply import SimRun
from lull.sim.request import Outcome
from lull.sim.table import name

PANELS_MAX = 8
FLOOR_US = 0.05
UNITS: dict[str, tuple[str, Callable[[str], float]]] = {
    "link": ("link", parse_rate), "objective": ("objective", parse_ns), "load": ("load, %", float)}


def draw(outcomes: Sequence[Outcome], path: Path) -> None:
    """Write the picture; which one depends on whether anything numeric was swept."""
    with drawing.style():
        axis = _axis(outcomes)
        made = _scatter(outcomes) if axis is None else _lines(outcomes, axis)
        drawing.save(made, path)


def _axis(outcomes: Sequence[Outcome]) -> str | None:
    counts = {key: len({outcome.values[key] for outcome in outcomes})
              for key in outcomes[0].values if key in UNITS}
    return max(counts, key=lambda key: counts[key]) if counts else None


def _us(run: SimRun) -> float:
    return max(run.added_ns.p99 / 1e3, FLOOR_US)


def _scatter(outcomes: Sequence[Outcome]) -> Figure:
    """Few points: what CPU each governor takes for which p99."""
    made = drawing.figure(7.2, 4.2)
    axes = made.subplots()
    values = [outcomes[0].reply.objective_ns() / 1e3]
    for outcome in outcomes:
        for run in outcome.reply.runs:
            axes.plot([run.cpu_pct], [_us(run)], ink(run.governor).marker, markersize=8,
                      color=ink(run.governor).light)
            label = " ".join([name(run), *outcome.values.values(),
                              *([f"lost {si(run.lost)}"] if run.lost else [])])
            axes.annotate(label, (run.cpu_pct, _us(run)), xytext=(7, 4),
                          textcoords="offset points", color=ink(run.governor).light)
            values.append(_us(run))
        steps = [step for step in outcome.reply.sweep if step.added_p99_ns > 0]
        axes.plot([step.cpu_pct for step in steps],
                  [max(step.added_p99_ns / 1e3, FLOOR_US) for step in steps],
                  color=drawing.MUTED, linewidth=1, zorder=0)
    _objective(axes, values[0])
    axes.set_xlim(0, 108)
    axes.set_xlabel("CPU of one core, %")
    axes.set_ylabel("p99 of the added latency")
    drawing.micros_axis(axes, min(values) / 1.6, max(values) * 1.6)
    return made


def _lines(outcomes: Sequence[Outcome], axis: str) -> Figure:
    """A sweep: CPU above, p99 below, one column for each of the other combinations."""
    others: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        rest = " ".join(value for key, value in outcome.values.items() if key != axis)
        others.setdefault(rest, []).append(outcome)
    if len(others) > PANELS_MAX:
        raise LullError(f"--plot: {len(others)} columns are too many to read: sweep less, or "
                        "take --json", 2)
    made = drawing.figure(max(6.4, 2.9 * len(others)), 5.4)
    panels = made.subplots(2, len(others), sharex=True, sharey="row", squeeze=False)
    for column, (title, group) in enumerate(others.items()):
        upper, lower = panels[0][column], panels[1][column]
        upper.set_title(title)
        _panel(upper, lower, group, axis)
        lower.set_xlabel(UNITS[axis][0])
    panels[0][0].set_ylabel("CPU of one core, %")
    panels[1][0].set_ylabel("p99 of the added latency")
    handles, labels = panels[0][0].get_legend_handles_labels()
    drawing.legend_above(made, handles, labels, side="center", ncols=min(6, len(labels)))
    return made


def _panel(upper: Axes, lower: Axes, group: Sequence[Outcome], axis: str) -> None:
    parse = UNITS[axis][1]
    places = [parse(outcome.values[axis]) for outcome in group]
    low, high = 1e9, FLOOR_US
    for index, first in enumerate(group[0].reply.runs):
        runs = [outcome.reply.runs[index] for outcome in group]
        look = ink(first.governor)
        style: dict[str, Any] = {"color": look.light, "marker": look.marker}
        label = f"{name(first)}{f' ({first.side})' if first.side != 'receive' else ''}"
        upper.plot(places, [run.cpu_pct for run in runs], label=label, markersize=4, linewidth=1.3,
                   **style)
        lower.plot(places, [_us(run) for run in runs], markersize=4, linewidth=1.3, **style)
        low, high = min(low, *map(_us, runs)), max(high, *map(_us, runs))
    limits = [outcome.reply.objective_ns() / 1e3 for outcome in group]
    lower.plot(places, limits, color=drawing.BAD, linewidth=1, linestyle=(0, (5, 3)))
    upper.set_ylim(0, 108)
    bottom, top = lower.get_ylim() if lower.get_yscale() == "log" else (1e9, 0.0)
    drawing.micros_axis(lower, min(bottom, low / 1.6), max(top, high * 1.6, max(limits) * 1.6))
    if axis != "load":
        upper.set_xscale("log")
    upper.set_xticks(places, [outcome.values[axis] for outcome in group])
    upper.minorticks_off()


def _objective(axes: Axes, objective_us: float) -> None:
    axes.axhline(objective_us, color=drawing.BAD, linewidth=1, linestyle=(0, (5, 3)))
    axes.annotate(f"objective {micros(objective_us)}", (0.995, objective_us), ha="right",
                  xycoords=("axes fraction", "data"), xytext=(0, 3), textcoords="offset points",
                  color=drawing.BAD)
