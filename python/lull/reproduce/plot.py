# SPDX-License-Identifier: BSD-3-Clause
"""Reproduction plot: a figure's lines, simulated and live, one panel per quantity."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from lull import drawing
from lull.reproduce.reproduction import Curves, Figure, value
from lull.reproduce.run import BurstCost

TITLES = {"cpu_pct": "CPU, %", "empty_pct": "empty polling, %",
          "empty_requested_pct": "empty polling as published, %", "speed_bps": "speed, Mbit/s",
          "loss_ppm": "loss, ppm", "resent_ppm": "sent again, ppm",
          "loops_per_s": "loops per second",
          "rest_us": "sleep at the end, us"}
SIDES = {"send": "sender: ", "receive": "receiver: ", "": ""}
COLOURS = ("#0b7a8c", "#d9822b", "#8b5fbf", "#4f7d33", "#b5475f", "#3b63c4", "#8c6d46")


def picture(figure: Figure, simulated: Curves | None, live: Curves | None) -> Picture:
    """Draw it: lines are simulated, dots are live."""
    with drawing.style():
        columns = 4 if len(figure.panels) == 4 else min(3, len(figure.panels))
        lines = -(-len(figure.panels) // columns)
        made = drawing.figure(max(6.4, (3.5 if columns < 4 else 3.0) * columns),
                              2.6 * lines + 0.5)
        panels = made.subplots(lines, columns, squeeze=False).ravel()
        for axes, path in zip(panels, figure.panels, strict=False):
            _panel(axes, path, figure.axis, simulated, live)
        for axes in panels[len(figure.panels):]:
            axes.set_visible(False)
        handles, labels = panels[0].get_legend_handles_labels()
        drawing.legend_above(made, handles, labels, ncols=4)
        return made


def _panel(axes: Axes, path: str, axis: str, simulated: Curves | None,
           live: Curves | None) -> None:
    side, _, name = path.rpartition(".")
    scale = 1e-6 if name == "speed_bps" else 1.0
    for curves, kind, style in ((simulated, "simulated", "-"), (live, "live", "o")):
        for index, (label, curve) in enumerate((curves or {}).items()):
            axes.plot([x for x, _ in curve], [scale * value(seen, path) for _, seen in curve],
                      style, color=COLOURS[index % len(COLOURS)], markersize=3.5, linewidth=1.3,
                      label=f"{label}, {kind}")
    axes.set_title(f"{SIDES[side]}{TITLES[name]}", loc="left")
    axes.set_xlabel(axis)
    axes.set_ylim(bottom=0)


def cost_picture(simulated: Sequence[BurstCost], live: Sequence[BurstCost]) -> Picture:
    """Fig. 6: time against burst, one line per packet size."""
    with drawing.style():
        made = drawing.figure(8.6, 3.2)
        panels = made.subplots(1, 2, sharex=True)
        for axes, title, name in zip(panels, ("receive, ns", "send, ns"), ("rx_ns", "tx_ns"),
                                     strict=True):
            for costs, style in ((simulated, "-"), (live, "o-")):
                for index, size in enumerate(sorted({cost.size for cost in costs if cost.burst})):
                    line = [(cost.burst, getattr(cost, name)) for cost in costs
                            if cost.burst == 0 or cost.size == size]
                    axes.plot([x for x, ns in line if ns is not None],
                              [ns for _, ns in line if ns is not None], style, markersize=3,
                              color=COLOURS[index % len(COLOURS)] if size else drawing.MUTED,
                              linewidth=1, label=f"{size} B, live" if size else "stated, simulated")
            axes.set_title(title, loc="left")
            axes.set_xlabel("packets of a burst")
        handles, labels = panels[0].get_legend_handles_labels()
        if labels:
            drawing.legend_above(made, handles, labels, ncols=4)
        return made
