# SPDX-License-Identifier: BSD-3-Clause
"""Camera latency as a picture: minimum to maximum as in the paper's tables, distributions, gaps."""

from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from lull import drawing
from lull.camera.latency import (
    BLOCKING,
    BLOCKING_DIRECT,
    BUSY,
    BUSY_DIRECT,
    DPDK,
    DPDK_DIRECT,
    PHASE,
    RECEIVERS,
    XDP,
    Report,
    Row,
    counting,
    of,
)
from lull.camera.latency_histogram import Histogram, pool
from lull.camera.latency_table import invalid, load

COLOURS = {BLOCKING: "#b5475f", BLOCKING_DIRECT: "#d48a9a", BUSY: "#d9822b", BUSY_DIRECT: "#e8b06a",
           DPDK: "#0b7a8c", DPDK_DIRECT: "#45b5a0", XDP: "#3b63c4", PHASE: "#8b5fbf"}
NS = 1e3
COLUMN_IN = 5.0


def picture(report: Report) -> Figure:
    """A column for each number of cameras."""
    columns = report.settings.cameras
    with drawing.style():
        made = drawing.figure(COLUMN_IN * max(len(columns), 1.3), 8.4)
        panels = made.subplots(3, len(columns), squeeze=False, height_ratios=(1.1, 2, 2))
        for column, cameras in enumerate(columns):
            rows = [row for row in report.rows if row.cameras == cameras]
            _ranges(panels[0][column], rows)
            _curves(panels[1][column], report, rows, "fetched")
            _curves(panels[2][column], report, rows, "gap")
            panels[0][column].set_title(load(report, cameras), loc="left")
        panels[1][0].set_ylabel("share of frames that took at least so long")
        panels[2][0].set_ylabel("share of iterations with at least such a gap")
        _legend(made, panels[1])
        if invalid(report):
            made.text(0.5, 0.5, "INVALID", fontsize=90, color=drawing.BAD, alpha=0.25, rotation=30,
                      ha="center", va="center", weight="bold")
        return made


def _ranges(axes: Axes, rows: Sequence[Row]) -> None:
    """From minimum to maximum with the average, as Tables I and II tell; p50 and p99 besides."""
    for place, row in enumerate(rows):
        found, colour = row.fetched_pooled, COLOURS[row.receiver]
        if found.min is None or found.max is None:
            continue
        axes.plot([max(found.min, 1e-2), found.max], [place, place], color=colour, linewidth=2,
                  solid_capstyle="butt", linestyle="-" if row.valid else ":")
        for us, marker in ((found.min, "|"), (found.p50, "s"), (found.avg, "o"), (found.p99, "^"),
                           (found.max, "|")):
            if us is not None:
                axes.plot([us], [place], marker=marker, color=colour, markersize=6)
    axes.set_yticks(range(len(rows)), [RECEIVERS[row.receiver].title for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    _time_axis(axes)
    axes.set_xlabel("| min, max   ■ p50   ● avg   ▲ p99")


def _curves(axes: Axes, report: Report, rows: Sequence[Row], which: str) -> None:
    """Both axes are logarithmic: the tail is what matters."""
    lowest = 1.0
    for row in rows:
        rounds = counting(of(report.rounds, row.receiver, row.cameras))
        found: Histogram = pool([getattr(one, which) for one in rounds])
        points = found.at_least()
        if not points:
            continue
        lowest = min(lowest, points[-1][1])
        axes.step([max(ns, 10) / NS for ns, _ in points], [share for _, share in points],
                  where="pre", color=COLOURS[row.receiver], linewidth=1.3,
                  linestyle="-" if row.valid else ":", gid=row.receiver,
                  label=RECEIVERS[row.receiver].title + ("" if row.valid else " (INVALID)"))
    axes.set_yscale("log")
    axes.set_ylim(lowest / 1.5, 1.5)
    _time_axis(axes)
    axes.set_xlabel("stamp of the last packet to the application" if which == "fetched" else
                    "from the end of an iteration to the next")


def _time_axis(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator([10.0**power for power in range(-2, 8)]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda us, _: _decade(us)))


def _decade(us: float) -> str:
    """A power of ten in the unit that suits it."""
    for unit, factor in (("µs", 1.0), ("ms", 1e3)):
        if us < 999 * factor:
            return f"{us / factor:g} {unit}"
    return f"{us / 1e6:g} s"


def _legend(made: Figure, panels: Sequence[Axes]) -> None:
    """One for all columns."""
    known: dict[str, Artist] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            known.setdefault(label, handle)
    if known:
        drawing.legend_above(made, list(known.values()), list(known), ncols=len(known))
