# SPDX-License-Identifier: BSD-3-Clause
"""Panels of several comparisons' pictures: goodput by scene, the curve of a silent rail."""

from __future__ import annotations

from lull import drawing
from matplotlib.axes import Axes
from result import Result
from scene import SILENCE

STEPS = 5  # of 10 ms, over which a curve is smooth
MARKERS = "osD^v<>PX*hd8p"
WIDTH_IN, PANEL_IN = 9.0, 3.6


def has_shares(result: Result) -> bool:
    """Whether there is anything for shares()."""
    return any("share_pct" in cell.medians for cell in result.cells())


def shares(axes: Axes, result: Result) -> None:
    """Goodput in percent of all rails, by scene."""
    cells = [cell for cell in result.cells() if "share_pct" in cell.medians]
    scenes = list(dict.fromkeys(cell.scene.name for cell in cells))
    for number, peer in enumerate(dict.fromkeys(cell.peer for cell in cells)):
        mine = [cell for cell in cells if cell.peer == peer]
        axes.plot([scenes.index(cell.scene.name) for cell in mine],
                  [cell.medians["share_pct"] for cell in mine],
                  MARKERS[number % len(MARKERS)], label=peer, markersize=5)  # fmt: skip
    axes.set_xticks(range(len(scenes)), scenes)
    axes.set_ylim(0, 102)
    axes.set_title("goodput in % of the sum of all rails", loc="left")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))


def has_curves(result: Result) -> bool:
    """Whether there is anything for curves()."""
    return any(one.curve and one.curve["heard_s"] for one in result.rounds)


def curves(axes: Axes, result: Result) -> None:
    """Goodput over time while a rail is silent, of each peer."""
    where = next(one for one in result.scenes if one.what == SILENCE)
    drawn = set()
    for one in result.rounds:  # the first valid one of each peer
        curve = one.curve
        if not curve or not curve["heard_s"] or one.flaw or one.peer in drawn:
            continue
        drawn.add(one.peer)
        at = [second - curve["silent_s"] for second in curve["at_s"]]
        rates = [800 * (curve["bytes"][i] - curve["bytes"][i - STEPS])
                 / (at[i] - at[i - STEPS]) / where.sum_bps()
                 for i in range(STEPS, len(at))]  # fmt: skip
        axes.plot(at[STEPS:], rates, label=one.peer, linewidth=1)
    axes.axvspan(0, 2, color=drawing.GRID, alpha=0.6)
    axes.set_xlim(-1, 5)
    axes.set_ylim(0, 105)
    axes.set_xlabel("s since the rail fell silent")
    axes.set_title(f"goodput in % of {where.rails} while r1 is silent for 2 s", loc="left")
    if drawn:
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
