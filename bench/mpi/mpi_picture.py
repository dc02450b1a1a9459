# SPDX-License-Identifier: BSD-3-Clause
"""Picture: half round trips, goodput by scene, a silent rail; and the training step of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path

from lull import drawing
from lull.palette import INKS
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mpi_scenes import TRAINING
from panels import PANEL_IN, WIDTH_IN, curves, has_curves, has_shares, shares
from result import Cell, Result
from scene import LATENCY, SILENCE, SILENT

COLOURS = [INKS[name].light for name in ("ramp", "objective")]
BAR_IN = 0.26


def save(result: Result, stem: Path) -> bool:
    """As .png and .svg, and the training step as STEM-training; false: nothing to draw."""
    panels: list[Callable[[Axes, Result], None]] = [
        draw for draw, has in ((latencies, has_latencies), (shares, has_shares)) if has(result)]
    panels += [functools.partial(curves, what=what) for what in (SILENCE, SILENT)
               if has_curves(result, what)]  # fmt: skip
    if not panels:
        return save_training(result, stem)
    with drawing.style():
        made = drawing.figure(WIDTH_IN, PANEL_IN * len(panels))
        for number, draw in enumerate(panels):
            draw(made.add_subplot(len(panels), 1, number + 1), result)
        _save(made, stem)
    save_training(result, stem)
    return True


def has_latencies(result: Result) -> bool:
    """Whether there is anything for latencies()."""
    return bool(_latencies(result))


def latencies(axes: Axes, result: Result) -> None:
    """Half a round trip, median and p99, on two nodes and on one."""
    cells = _latencies(result)
    places = range(len(cells))
    for key, marker, colour in (("p50_us", "o", COLOURS[0]), ("p99_us", "|", COLOURS[1])):
        axes.plot([cell.medians[key] for cell in cells], places, marker, color=colour,
                  label=key.removesuffix("_us"), linestyle="none")  # fmt: skip
    axes.set_yticks(places, [f"{cell.peer}{', one node' * (cell.scene.nodes == 1)}"
                             for cell in cells])  # fmt: skip
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("us")
    axes.set_title("half a round trip of 64 B", loc="left")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))


def _latencies(result: Result) -> list[Cell]:
    return [cell for cell in result.cells() if cell.scene.what == LATENCY
            and {"p50_us", "p99_us"} <= cell.medians.keys()]  # fmt: skip


def training_cells(result: Result) -> list[Cell]:
    """Rows of the training step that have figures."""
    return [cell for cell in result.cells() if cell.scene.what == TRAINING
            and {"goodput_bps", "rest_cpu_pct"} <= cell.medians.keys()]  # fmt: skip


def save_training(result: Result, stem: Path) -> bool:
    """Goodput and CPU at rest, side by side."""
    cells = training_cells(result)
    if not cells:
        return False
    panels = (("goodput_bps", 1e-6, "goodput of the allreduce, Mb/s"),
              ("rest_cpu_pct", 1.0, "CPU % of a rank at rest"))  # fmt: skip
    with drawing.style():
        made = drawing.figure(WIDTH_IN, 0.9 + BAR_IN * len(cells))
        for number, (key, factor, title) in enumerate(panels):
            axes = made.add_subplot(1, 2, number + 1)
            colours = [COLOURS[not cell.peer.startswith("lull")] for cell in cells]
            bars = axes.barh(range(len(cells)), [factor * cell.medians[key] for cell in cells],
                             color=colours)  # fmt: skip
            axes.bar_label(bars, fmt="%.3g", padding=2)
            axes.set_yticks(range(len(cells)), [cell.peer if number == 0 else "" for cell in cells])
            axes.invert_yaxis()
            axes.margins(x=0.12)
            axes.set_title(title, loc="left")
        _save(made, stem.with_name(f"{stem.name}-training"))
    return True


def _save(made: Figure, stem: Path) -> None:
    for kind in ("png", "svg"):
        drawing.save(made, stem.with_name(f"{stem.name}.{kind}"))
