# SPDX-License-Identifier: BSD-3-Clause
"""Plot: CPU and p99 latency by load, and saturated throughput; a row for each kind of port."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from figures import Cell
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from report import Result

COLUMN_INCHES = 4.6
ROW_INCHES = 3.6
MARKERS = {"lull": "o", "testpmd": "s", "ovs": "^"}
LINES = {"lull": "-", "testpmd": ":", "ovs": "--"}


def _curve(axes: Axes, cells: list[Cell], name: str, rates: list[str]) -> None:
    """One peer: medians, with the span of all rounds as a bar."""
    family = cells[0].peer.partition("-")[0]
    middle = [cell.medians[name] for cell in cells]
    below = [cell.medians[name] - cell.lowest[name] for cell in cells]
    above = [cell.highest[name] - cell.medians[name] for cell in cells]
    axes.errorbar(
        [rates.index(cell.rate) for cell in cells],
        middle,
        yerr=[below, above],
        label=cells[0].peer,
        marker=MARKERS.get(family, "x"),
        linestyle=LINES.get(family, "-"),
        markersize=5,
        linewidth=1.2,
        elinewidth=0.7,
        capsize=2,
    )


def _panel(axes: Axes, cells: list[Cell], name: str, title: str) -> None:
    rates = list(dict.fromkeys(cell.rate for cell in cells))
    peers = list(dict.fromkeys(cell.peer for cell in cells))
    if name != "cpu_pct":  # silence has no latency
        cells = [cell for cell in cells if cell.medians[name] > 0]
        axes.set_yscale("log" if cells else "linear")
        axes.minorticks_off()
    for peer in peers:
        own = [cell for cell in cells if cell.peer == peer]
        if own:
            _curve(axes, own, name, rates)
    axes.set_xticks(range(len(rates)), rates)
    axes.set_xlabel("packets/s offered")
    axes.set_title(title, fontsize=10)
    axes.grid(True, linewidth=0.3)
    if name == "cpu_pct":
        axes.set_ylim(0, 105)


def _bars(axes: Axes, cells: list[Cell], title: str) -> None:
    """Throughput of each peer, in the colours of the other panels."""
    middle = [cell.medians["received_pps"] / 1000 for cell in cells]
    below = [(cell.medians["received_pps"] - cell.lowest["received_pps"]) / 1000 for cell in cells]
    above = [(cell.highest["received_pps"] - cell.medians["received_pps"]) / 1000 for cell in cells]
    axes.barh(
        [cell.peer for cell in cells],
        middle,
        xerr=[below, above],
        color=[f"C{index}" for index in range(len(cells))],
        error_kw={"elinewidth": 0.7, "capsize": 2},
    )
    axes.invert_yaxis()
    axes.tick_params(axis="y", labelsize=8)
    axes.set_title(title, fontsize=10)
    axes.grid(True, axis="x", linewidth=0.3)


def draw(result: Result) -> Figure:
    """All panels."""
    cells = result.cells()
    # Null ports know one load only; the table says it all, unless there is nothing else.
    kinds = list(dict.fromkeys(cell.ports for cell in cells if cell.ports != "null")) or ["null"]
    figure, grid = plt.subplots(
        len(kinds),
        3,
        figsize=(3 * COLUMN_INCHES, ROW_INCHES * len(kinds) + 0.8),
        squeeze=False,
        layout="constrained",
    )
    for row, kind in zip(grid, kinds, strict=True):
        own = [cell for cell in cells if cell.ports == kind]
        _panel(row[0], own, "cpu_pct", f"{kind}: CPU of the polling thread, %")
        _panel(row[1], own, "p99_us", f"{kind}: p99 latency, us")
        _bars(row[2], [cell for cell in own if cell.rate == "sat"], f"{kind}: saturated, kpps")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=9)
    machine = result.machine
    figure.suptitle(
        f"{machine['cpu']}, {machine['cpus']} CPUs, DPDK {machine['dpdk']},"
        f" commit {machine['commit']}, {machine['date']}; bars span all rounds",
        fontsize=9,
    )
    return figure


def save(result: Result, stem: Path) -> list[Path]:
    """STEM.png and STEM.svg; the latter without a date, so that only figures change it."""
    matplotlib.rcParams["svg.fonttype"] = "none"
    matplotlib.rcParams["svg.hashsalt"] = "lull"
    figure = draw(result)
    paths = [stem.with_suffix(".png"), stem.with_suffix(".svg")]
    figure.savefig(paths[0], dpi=110)
    figure.savefig(paths[1], metadata={"Date": None})
    plt.close(figure)
    return paths
