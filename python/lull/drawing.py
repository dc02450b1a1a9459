# SPDX-License-Identifier: BSD-3-Clause
"""Drawing: figures for files of their own (png, svg), all in one style."""

import base64
import io
import logging
from pathlib import Path
from typing import Any

from lull import atomic
from lull.errors import LullError
from lull.quantities import micros

# Matplotlib tells of its first run on a machine; nobody wants to know.
logging.getLogger("matplotlib").setLevel(logging.ERROR)

import matplotlib as mpl  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.layout_engine import ConstrainedLayoutEngine  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator  # noqa: E402

INK, MUTED, GRID, BAD, GOOD = "#1c2126", "#666f79", "#e3e5e4", "#c0392b", "#23794a"
LEGEND_IN = 0.3
FORMATS = ("png", "svg", "pdf")
STYLE: dict[Any, Any] = {
    "font.family": "sans-serif", "font.size": 8.5, "text.color": INK, "axes.labelcolor": MUTED,
    "axes.edgecolor": GRID, "xtick.color": MUTED, "ytick.color": MUTED, "axes.spines.top": False,
    "axes.spines.right": False, "axes.spines.left": False, "grid.color": GRID,
    "grid.linewidth": 0.6, "axes.axisbelow": True, "xtick.major.size": 0, "ytick.major.size": 0,
    "legend.frameon": False, "axes.titlesize": 9.5, "axes.titlecolor": INK,
    "svg.hashsalt": "lull", "axes.grid": True,
}


def style() -> Any:  # noqa: ANN401 - a context of matplotlib's
    """Draw inside this context."""
    return mpl.rc_context(STYLE)


def figure(width_in: float, height_in: float) -> Figure:
    """An empty figure."""
    made = Figure(figsize=(width_in, height_in), layout="constrained")
    FigureCanvasAgg(made)
    return made


def legend_above(made: Figure, *entries: Any,  # noqa: ANN401 - what Figure.legend() takes
                 side: str = "left", **looks: Any) -> None:  # noqa: ANN401
    """A legend over all axes, which make room for it."""
    draw: Any = made.legend
    try:
        draw(*entries, loc=f"outside upper {side}", **looks)
    except ValueError:  # matplotlib 3.6, of Debian 12, makes no room
        draw(*entries, loc=f"upper {side}", **looks)
        engine = made.get_layout_engine()
        assert isinstance(engine, ConstrainedLayoutEngine)
        engine.set(rect=(0, 0, 1, 1 - LEGEND_IN / made.get_figheight()))


def check_path(path: Path) -> None:
    """Complain before the work about a file that cannot be drawn."""
    if path.suffix.lstrip(".").lower() not in FORMATS:
        raise LullError(f"{path}: end the name with .{', .'.join(FORMATS)}", 2)
    atomic.check_target(path)


def save(made: Figure, path: Path) -> None:
    """Write a figure in the format its name tells, whole or not at all."""
    kind = path.suffix.lstrip(".").lower()
    data = io.BytesIO()
    metadata: Any = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    made.savefig(data, format=kind, dpi=144, metadata=metadata)
    atomic.write_bytes(path, data.getvalue())


def to_base64(made: Figure, dots_per_inch: int = 110) -> str:
    """A figure as part of a page: a PNG in an address of its own."""
    data = io.BytesIO()
    made.savefig(data, format="png", dpi=dots_per_inch)
    return base64.b64encode(data.getvalue()).decode()


def micros_axis(axes: Axes, low_us: float, high_us: float) -> None:
    """A logarithmic axis of times, given in us."""
    axes.set_yscale("log")
    axes.set_ylim(low_us, high_us)
    axes.yaxis.set_major_locator(FixedLocator([10.0**power for power in range(-2, 8)]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda us, _: micros(us)))
