# SPDX-License-Identifier: BSD-3-Clause
"""Picture: goodput by scene, and the curve of each peer while a rail is silent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lull import drawing
from matplotlib.axes import Axes
from panels import PANEL_IN, WIDTH_IN, curves, has_curves, has_shares, shares
from result import Result
from scene import SILENCE


def save(result: Result, stem: Path) -> bool:
    """As .png and .svg; false where there is nothing to draw."""
    panels: list[Callable[[Axes, Result], None]] = [shares] if has_shares(result) else []
    if has_curves(result, SILENCE):
        panels.append(lambda axes, made: curves(axes, made, SILENCE))
    if not panels:
        return False
    with drawing.style():
        made = drawing.figure(WIDTH_IN, PANEL_IN * len(panels))
        for number, draw in enumerate(panels):
            draw(made.add_subplot(len(panels), 1, number + 1), result)
        for kind in ("png", "svg"):
            drawing.save(made, stem.with_suffix(f".{kind}"))
    return True
