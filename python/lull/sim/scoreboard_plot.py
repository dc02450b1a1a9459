# SPDX-License-Identifier: BSD-3-Clause
"""Scoreboard plot: all cells and all governors in one picture."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lull import drawing
from lull.palette import ink
from lull.quantities import digits
from lull.sim.scoreboard import NEAR_POINTS, Score, standings

TOP_POINTS = 20.0
HEAT = LinearSegmentedColormap.from_list("lull", ["#e9f3ee", "#f3e6b8", "#d9822b", "#8f2d1e"])
GAP = 0.35  # between groups


def picture(found: Sequence[Score]) -> Figure:
    """Draw it."""
    with drawing.style():
        made = drawing.figure(13.5, 8.2)
        left, right = made.subplots(1, 2, width_ratios=[2.6, 1])
        _heat(made, left, found)
        _standing(right, found)
        return made


def _places(groups: Sequence[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """Position of each row or column; a gap before each new group."""
    places: dict[tuple[str, str], float] = {}
    at, before = 0.0, groups[0][0] if groups else ""
    for group in groups:
        at += GAP if group[0] != before else 0.0
        places[group] = at
        at, before = at + 1, group[0]
    return places


def _heat(made: Figure, axes: Axes, found: Sequence[Score]) -> None:
    rows = _places(list(dict.fromkeys((score.kind, score.link) for score in found)))
    columns = _places(list(dict.fromkeys(
        (f"{digits(score.load)} %", str(score.objective_us)) for score in found)))
    norm = Normalize(0, TOP_POINTS)
    for score in found:
        x = columns[f"{digits(score.load)} %", str(score.objective_us)]
        y = rows[score.kind, score.link]
        above = max(0.0, score.above())
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor=HEAT(norm(above)), linewidth=1,
                                 edgecolor="white", alpha=1 if score.feasible() else 0.45,
                                 hatch=None if score.feasible() else "////"))
        mark = "✕" if score.feasible() and not score.entry().kept else (
            "○" if score.rivals() else "")
        if score.nobody_keeps:
            mark = "·"
        number = f"{score.above():.0f}" if abs(score.above()) >= 0.5 else "0"
        axes.text(x + 0.5, y + 0.5, f"{mark}{number}", ha="center", va="center", fontsize=7,
                  color="white" if above > 0.6 * TOP_POINTS else drawing.INK)
    axes.set_xlim(-0.1, max(columns.values(), default=0) + 1.1)
    axes.set_ylim(max(rows.values(), default=0) + 1.1, -0.1)
    axes.grid(visible=False)
    axes.set_xticks([x + 0.5 for x in columns.values()], [group[1] for group in columns])
    axes.set_yticks([y + 0.5 for y in rows.values()], [group[1] for group in rows])
    for name in dict.fromkeys(group[0] for group in columns):
        middle = [x for group, x in columns.items() if group[0] == name]
        axes.text((middle[0] + middle[-1] + 1) / 2, -0.35, f"load {name}", ha="center",
                  va="bottom", color=drawing.INK)
    for name in dict.fromkeys(group[0] for group in rows):
        middle = [y for group, y in rows.items() if group[0] == name]
        axes.text(-0.09, (middle[0] + middle[-1] + 1) / 2, name, ha="right", va="center",
                  rotation=90, color=drawing.INK, transform=axes.get_yaxis_transform())
    axes.set_xlabel("objective, µs.   Numbers: points of CPU above the oracle.   Hatched: no "
                    "promise.   ✕ promised and not kept.   ○ beaten by ramp, drain or kalman"
                    + (".   · spin breaks it too" if any(
                        score.nobody_keeps for score in found) else ""))
    axes.set_title("objective: CPU above the best fixed sleep", pad=24, loc="left")
    made.colorbar(_scale(norm), ax=axes, location="bottom", shrink=0.35, aspect=40, pad=0.02,
                  label=f"points of CPU (within {NEAR_POINTS:g} wanted)")


def _scale(norm: Normalize) -> ScalarMappable:
    return ScalarMappable(norm, HEAT)


def _standing(axes: Axes, found: Sequence[Score]) -> None:
    """CPU against the share of cells kept."""
    names: dict[tuple[int, int], list[str]] = {}  # of those that stand at one place
    for one in standings(found):
        share = 100 * one.kept / one.cells
        axes.plot([one.cpu_pct], [share], ink(one.governor).marker, markersize=9,
                  color=ink(one.governor).light)
        place = (round(one.cpu_pct / 5), round(share / 3))
        names.setdefault(place, []).append(one.governor)
        axes.annotate(one.governor, (one.cpu_pct, share), textcoords="offset points",
                      xytext=(8, 13 - 10 * len(names[place])), color=ink(one.governor).light)
    oracle = sum(score.oracle.cpu_pct for score in found) / len(found) if found else 0.0
    axes.axvline(oracle, color=drawing.MUTED, linewidth=1, linestyle=(0, (5, 3)))
    axes.annotate("oracle", (oracle, 0), xytext=(4, 4), textcoords="offset points",
                  color=drawing.MUTED)
    axes.set_xlim(0, 112)
    axes.set_ylim(0, 106)
    axes.set_xlabel("CPU of one core, mean of all cells, %")
    axes.set_ylabel("cells in which the objective was kept, %")
    axes.set_title("every governor", loc="left", pad=24)
