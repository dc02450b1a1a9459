# SPDX-License-Identifier: BSD-3-Clause
"""Panels of several comparisons' pictures: goodput by scene, the curve of a silent rail."""

from __future__ import annotations

from lull import drawing
from matplotlib.axes import Axes
from result import Result, Round
from scene import SILENCE, Kind, Scene

STEPS = 5  # of 10 ms, over which a curve is smooth
MARKERS = "osD^v<>PX*hd8p"
SHORT_S = 0.02
SILENT_S, AFTER_S = 2, 5  # of a curve
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


def has_curves(result: Result, what: Kind) -> bool:
    """Whether there is anything for curves()."""
    return any(one.curve and one.curve["heard_s"] for one in _of(result, what))


def curves(axes: Axes, result: Result, what: Kind) -> None:
    """Goodput over time while a rail is silent, of each peer."""
    where = _scene(result, what)
    drawn = set()
    for one in _of(result, what):  # the first valid one of each peer
        curve = one.curve
        if not curve or not curve["heard_s"] or one.flaw or one.peer in drawn:
            continue
        drawn.add(one.peer)
        at = [second - curve["silent_s"] for second in curve["at_s"]]
        # Who records was late where steps are shorter than they should be.
        steps = [i for i in range(STEPS, len(at)) if at[i] - at[i - STEPS] > SHORT_S]
        rates = [800 * (curve["bytes"][i] - curve["bytes"][i - STEPS])
                 / (at[i] - at[i - STEPS]) / where.sum_bps() for i in steps]  # fmt: skip
        axes.plot([at[i] for i in steps], rates, label=one.peer, linewidth=1)
    axes.axvspan(0, SILENT_S if what == SILENCE else AFTER_S, color=drawing.GRID, alpha=0.6)
    axes.set_xlim(-1, AFTER_S)
    axes.set_ylim(0, 105)
    axes.set_xlabel("s since the rail fell silent")
    until = f" for {SILENT_S} s" if what == SILENCE else " for good"
    axes.set_title(f"goodput in % of {where.rails} while r1 is silent{until}", loc="left")
    if drawn:
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))


def _scene(result: Result, what: Kind) -> Scene:
    return next(one for one in result.scenes if one.what == what)


def _of(result: Result, what: Kind) -> list[Round]:
    names = [where.name for where in result.scenes if where.what == what]
    return [one for one in result.rounds if one.scene in names]
