# SPDX-License-Identifier: BSD-3-Clause
"""Reproduction of dispatch, its pictures."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from lull import drawing
from lull.reproduce.dispatch import (
    COSTS_NS,
    EXACT,
    MIXED,
    ONE,
    OURS,
    SCHEDULERS,
    SLIGHT_PPM,
    THRESHOLDS,
    TWO,
    WORKERS,
    Shown,
    carried,
    loss_at_pct,
    mbps,
)
from lull.reproduce.plot import COLOURS

LOOKS = dict(zip(SCHEDULERS, COLOURS, strict=False))
PUBLISHED = drawing.MUTED


def picture(name: str, simulated: Shown | None, live: Shown | None) -> Figure | None:
    """The picture of a figure or table; None when nothing was run that it shows."""
    with drawing.style():
        if name == "Table 1" and simulated:
            return _odds(simulated)
        if name == "Fig. 2" and simulated:
            return _shares(simulated, live)
        if name == "Fig. 3" and simulated:
            return _loads(simulated)
        if name in ("Fig. 4", "Fig. 5") and simulated:
            return _losses(simulated, ONE if name == "Fig. 4" else TWO)
        return _costs(live) if name == "Fig. 6" and live and live.costs else None


def _groups(axes: Axes, names: Sequence[str], bars: Mapping[str, Sequence[float]],
            colours: Sequence[str]) -> None:
    """Bars side by side for each name, published ones first."""
    width = 0.8 / len(bars)
    for index, ((label, values), colour) in enumerate(zip(bars.items(), colours, strict=False)):
        axes.bar([place + width * (index - (len(bars) - 1) / 2) for place in range(len(names))],
                 values, width, color=colour, label=label)
    axes.set_xticks(range(len(names)), names)
    axes.grid(visible=False, axis="x")


def _legend(made: Figure, axes: Axes) -> Figure:
    handles, labels = axes.get_legend_handles_labels()
    drawing.legend_above(made, handles, labels, ncols=6)
    return made


def _odds(simulated: Shown) -> Figure:
    made = drawing.figure(6.4, 2.8)
    axes = made.subplots()
    _groups(axes, [f"{threshold} %" for threshold in THRESHOLDS],
            {"published (of what, it does not say)": list(THRESHOLDS.values()),
             "simulated": [simulated.odds[one].watched_lost_pct for one in THRESHOLDS]},
            (PUBLISHED, COLOURS[0]))
    axes.set_xlabel("threshold")
    axes.set_ylabel("odds of a drop, %")
    return _legend(made, axes)


def _shares(simulated: Shown, live: Shown | None) -> Figure:
    """Lines: simulated, one per worker; dots at the right: live."""
    made = drawing.figure(9.6, 3.0)
    panels = made.subplots(1, len(SCHEDULERS), sharey=True)
    for axes, name in zip(panels, SCHEDULERS, strict=True):
        runs = simulated.runs["uniform", name]
        for worker in range(WORKERS):
            axes.plot([run.load for run in runs],
                      [100 * run.worker[worker].packets
                       / max(1, sum(one.packets for one in run.worker)) for run in runs],
                      color=COLOURS[worker], linewidth=1.3, label=f"worker{worker}")
            if live and name in live.shares:
                share = 100 * live.shares[name][worker] / sum(live.shares[name])
                axes.plot([runs[-1].load * 1.1], [share], "o", color=COLOURS[worker], markersize=4)
        axes.set_title(name, loc="left")
        axes.set_xlabel("load")
        axes.set_ylim(0, 100)
    panels[0].set_ylabel("packets, % (dots: live)")
    return _legend(made, panels[0])


def _loads(simulated: Shown) -> Figure:
    made = drawing.figure(9.6, 3.0)
    panels = made.subplots(1, 2, sharey=True)
    for axes, title, loss in zip(panels, ("no loss", "1 in 10,000 lost"), (0.0, SLIGHT_PPM),
                                 strict=True):
        _groups(axes, MIXED, {name: [carried(simulated.runs[traffic, name], loss)
                                     for traffic in MIXED] for name in SCHEDULERS}, COLOURS)
        axes.set_title(title, loc="left")
    panels[0].set_ylabel("load carried")
    return _legend(made, panels[0])


def _losses(simulated: Shown, traffic: str) -> Figure:
    made = drawing.figure(7.2, 3.0)
    axes = made.subplots()
    for name in SCHEDULERS:
        runs = simulated.runs[traffic, name]
        axes.plot([run.load for run in runs], [loss_at_pct(runs, run.load) for run in runs], "o-",
                  color=LOOKS[name], markersize=3, linewidth=1.3, label=name)
    whole = mbps(simulated, traffic, 1)
    if whole is not None:
        _rates(axes, whole)
    axes.set_xlabel("load, of what all workers could do")
    axes.set_ylabel("loss, %")
    axes.set_ylim(bottom=0)
    return _legend(made, axes)


def _rates(axes: Axes, whole: float) -> None:
    """The same axis in the units of the text."""
    def rate(load: ArrayLike) -> NDArray[np.float64]:
        return np.asarray(load, dtype=np.float64) * whole

    def load(rate: ArrayLike) -> NDArray[np.float64]:
        return np.asarray(rate, dtype=np.float64) / whole

    axes.secondary_xaxis("top", functions=(rate, load)).set_xlabel(
        "Mbit/s, if subflow-paper carries 2400")


def _costs(live: Shown) -> Figure:
    made = drawing.figure(7.2, 2.8)
    axes = made.subplots()
    names = [*COSTS_NS, EXACT, OURS]
    _groups(axes, names, {"published": [COSTS_NS.get(name, 0) for name in names],
                          "this machine": [live.costs[name] for name in names]},
            (PUBLISHED, COLOURS[0]))
    axes.set_ylabel("ns per packet")
    return _legend(made, axes)
