# SPDX-License-Identifier: BSD-3-Clause
"""Plots: a demo's result as SVG that takes its colours from the page around it.

Matplotlib draws with placeholder colours; each is then replaced by a CSS
variable, so that one drawing serves light and dark pages.
"""

import io
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lull import drawing
from lull.demo import shared_plot
from lull.demo.result import Result, Run
from lull.demo.settings import Phase
from lull.palette import ink
from lull.quantities import micros

# Matplotlib tells of its first run on a machine and of a home that cannot be written; before it is
# loaded is the time to say that nobody wants to know.
logging.getLogger("matplotlib").setLevel(logging.ERROR)

import matplotlib as mpl  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator  # noqa: E402

INK, MUTED, GRID, BAD, PAPER = "#000001", "#000002", "#000003", "#000004", "#000005"
PROGRAM = "#000006"
PAGE_COLOURS = {INK: "ink", MUTED: "muted", GRID: "grid", BAD: "bad", PAPER: "paper",
                PROGRAM: "program"}
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 8.5,
    "text.color": INK, "axes.labelcolor": MUTED, "axes.edgecolor": GRID, "xtick.color": MUTED,
    "ytick.color": MUTED, "axes.spines.top": False, "axes.spines.right": False,
    "axes.spines.left": False, "grid.color": GRID, "grid.linewidth": 0.6, "axes.axisbelow": True,
    "xtick.major.size": 0, "ytick.major.size": 0, "legend.frameon": False, "figure.dpi": 72,
}
WIDTH_IN = 9.6
GROUP = 0.78  # of the distance between phases
LADDER_PPM = (500_000, 750_000, 900_000, 950_000, 975_000, 990_000, 995_000, 999_000, 999_500,
              999_900)


@dataclass(frozen=True)
class Plot:
    """One picture of the report."""

    title: str
    reading: str
    svg: str


def plots(result: Result) -> list[Plot]:
    """Every picture that the result has data for."""
    objective = micros(result.settings.max_latency_us)
    made = [_shared(result, phase) for phase in result.phases_beside()]
    made += [
        Plot("CPU time of the polling thread",
             "Median over the rounds; dots are single rounds.",
             _draw(result, "cpu", 3.1, _cpu)),
        Plot("Added latency against the objective",
             f"Symbols are p99, the bar below reaches down to p50. The small cap above is the "
             f"bound that lull derives without looking at packets. Dashed: {objective}.",
             _draw(result, "latency", 3.5, _latency)),
    ]
    if any(run.latency_bins for run in result.runs):
        made.append(Plot("From the median to the tail",
                         "Every packet of every round: how long the slowest share of them took. "
                         "Lines end where fewer than ten packets are left.",
                         _draw(result, "ladder", 2.7, _ladder)))
    return made


def ladder(run: Run) -> list[tuple[int, float]]:
    """(share in ppm, latency in us where it ends, to within a bin) while packets are many."""
    bins = run.bins()
    total = sum(count for _, count in bins)
    steps: list[tuple[int, float]] = []
    for ppm in LADDER_PPM:
        if total * (1_000_000 - ppm) < 10 * 1_000_000:
            break
        reached, target = 0, total * ppm / 1e6
        for low_ns, count in bins:
            reached += count
            if reached >= target:
                steps.append((ppm, low_ns / 1e3))
                break
    return steps


def _shared(result: Result, phase: Phase) -> Plot:
    colours = shared_plot.Colours(INK, MUTED, BAD, PAPER, PROGRAM, {
        name: _colour(result, name) for name in result.settings.governors})
    return Plot("Beside another program on the same CPU",
                f"{phase.summary[0].upper()}{phase.summary[1:]}. Left: what the loop took of it, "
                "and what the other program, which computes without end, got. Right: symbols are "
                f"p99, the bar begins at p50; dashed: {micros(result.settings.max_latency_us)}.",
                _draw(result, f"beside-{phase.name}", 2.7,
                      lambda figure, result: shared_plot.draw(figure, result, phase, colours)))


def _draw(result: Result, name: str, height_in: float,
          draw: Callable[[Figure, Result], None]) -> str:
    # A salt makes the ids of the drawing depend on its data only.
    with mpl.rc_context({**STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
        FigureCanvasSVG(figure)
        figure.patch.set_alpha(0)
        draw(figure, result)
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return _embed(text.getvalue(), name, result)


def _embed(svg: str, name: str, result: Result) -> str:
    """Make the drawing part of a page: no prolog, ids of its own, the page's colours and fonts."""
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<svg ([^>]*?)height="[^"]*"([^>]*?)width="[^"]*"', r"<svg \1\2", svg, count=1)
    svg = re.sub(r'<svg ([^>]*?)width="[^"]*"([^>]*?)height="[^"]*"', r"<svg \1\2", svg, count=1)
    svg = svg.replace("<svg ", '<svg role="img" ', 1)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", svg)
    svg = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font-size: \1", svg)
    svg = re.sub(r"font: (?:\w+ )?([\d.]+px) [^;\"]*", r"font-size: \1", svg)
    for colour, variable in PAGE_COLOURS.items():
        svg = svg.replace(colour, f"var(--{variable})")
    for governor in result.settings.governors:
        svg = svg.replace(_colour(result, governor), f"var(--{governor})")
    return svg


def _colour(result: Result, governor: str) -> str:
    return f"#0100{result.settings.governors.index(governor):02x}"


def _offsets(result: Result) -> dict[str, float]:
    """Where each governor stands within a phase."""
    names = result.settings.governors
    step = GROUP / len(names)
    return {name: (index - (len(names) - 1) / 2) * step for index, name in enumerate(names)}


def _phase_axis(axes: Axes, result: Result) -> None:
    phases = result.settings.phases
    axes.set_xticks(range(len(phases)), [phase.name for phase in phases])
    axes.tick_params(axis="x", labelcolor=INK, labelsize=9.5, pad=5)
    axes.set_xlim(-0.5, len(phases) - 0.5)
    axes.grid(visible=True, axis="y")


def _legend(figure: Figure, result: Result) -> None:
    handles = [Line2D([], [], color=_colour(result, name), marker=ink(name).marker, linestyle="",
                      markersize=6, label=name) for name in result.settings.governors]
    drawing.legend_above(figure, handles=handles, ncols=len(handles),
                         handletextpad=0.2, columnspacing=1.4, borderaxespad=0.1)


def _cpu(figure: Figure, result: Result) -> None:
    axes = figure.subplots()
    offsets = _offsets(result)
    width = GROUP / len(offsets) * 0.86
    for index, phase in enumerate(result.settings.phases):
        for governor, offset in offsets.items():
            run = result.run(governor, phase.name)
            if run is None:
                continue
            x, colour = index + offset, _colour(result, governor)
            axes.bar(x, run.cpu_pct, width, color=colour, alpha=0.88, linewidth=0)
            singles = [sample.cpu_pct for sample in result.samples
                       if (sample.governor, sample.phase) == (governor, phase.name)]
            axes.plot([x] * len(singles), singles, "o", markersize=2.2, color=INK, alpha=0.55,
                      markeredgewidth=0)
            top = max([run.cpu_pct, *singles])
            label = f"{run.cpu_pct:.0f}" if run.cpu_pct >= 9.95 else f"{run.cpu_pct:.1f}"
            axes.annotate(label, (x, top), xytext=(0, 3), textcoords="offset points", ha="center",
                          fontsize=8.5, color=INK)
    _phase_axis(axes, result)
    axes.set_ylim(0, 112)
    axes.set_yticks([0, 25, 50, 75, 100], ["0", "25", "50", "75", "100 %"])
    _legend(figure, result)


def _latency(figure: Figure, result: Result) -> None:
    axes = figure.subplots()
    offsets = _offsets(result)
    low, high = [result.settings.max_latency_us], [result.settings.max_latency_us]
    for index, phase in enumerate(result.settings.phases):
        for governor, offset in offsets.items():
            run = result.run(governor, phase.name)
            if run is None or run.received == 0:
                continue
            x, colour = index + offset, _colour(result, governor)
            p50, p99 = max(run.p50_us, 0.1), max(run.p99_us, 0.1)
            bound = max(run.p99_bound_us, 0.1)
            axes.plot([x, x], [p50, p99], color=colour, linewidth=5, alpha=0.32,
                      solid_capstyle="butt")
            axes.plot([x, x], [p99, bound], color=colour, linewidth=0.8)
            axes.plot([x], [bound], marker="_", markersize=9, markeredgewidth=1.4, color=colour)
            singles = [max(sample.p99_us, 0.1) for sample in result.samples
                       if (sample.governor, sample.phase) == (governor, phase.name)]
            axes.plot([x] * len(singles), singles, "o", markersize=2.4, color=INK, alpha=0.5,
                      markeredgewidth=0)
            axes.plot([x], [p99], marker=ink(governor).marker, markersize=6.5, color=colour,
                      markeredgecolor=PAPER, markeredgewidth=0.8)
            low.append(p50)
            high += [p99, bound, *singles]
    _micros_axis(axes, min(low) / 1.8, max(high) * 1.8)
    _phase_axis(axes, result)
    _objective_line(axes, result, label=True)
    _legend(figure, result)


def _ladder(figure: Figure, result: Result) -> None:
    phases = [phase for phase in result.settings.phases
              if any(ladder(run) for run in result.runs if run.phase == phase.name)]
    if not phases:
        return
    many = figure.subplots(1, len(phases), sharex=True, sharey=True, squeeze=False)[0]
    values = [result.settings.max_latency_us]
    for axes, phase in zip(many, phases, strict=True):
        for governor in result.settings.governors:
            run = result.run(governor, phase.name)
            steps = ladder(run) if run is not None else []
            if not steps:
                continue
            shares = [1_000_000 / (1_000_000 - ppm) for ppm, _ in steps]
            latencies = [max(us, 0.1) for _, us in steps]
            values += latencies
            axes.plot(shares, latencies, color=_colour(result, governor), linewidth=1.6,
                      marker=ink(governor).marker, markersize=3, markeredgewidth=0)
        axes.set_xscale("log")
        axes.set_xlim(1.7, 14_000)
        axes.xaxis.set_major_locator(FixedLocator([2, 10, 100, 1000, 10_000]))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter(FuncFormatter(_share_label))
        axes.tick_params(axis="x", labelsize=7.5)
        axes.set_title(phase.name, fontsize=9.5, color=INK)
        axes.grid(visible=True)
        _objective_line(axes, result, label=False)
    for axes in many:
        _micros_axis(axes, min(values) / 1.5, max(values) * 1.5)
        axes.tick_params(axis="y", labelleft=axes is many[0])
    figure.supxlabel("share of the packets, %", fontsize=8.5, color=MUTED)
    _legend(figure, result)


def _share_label(inverse: float, _position: int) -> str:
    return f"{100 - 100 / inverse:.6g}"


def _micros_axis(axes: Axes, low: float, high: float) -> None:
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(FixedLocator([10.0**power for power in range(-1, 8)]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda us, _: micros(us)))


def _objective_line(axes: Axes, result: Result, label: bool) -> None:
    objective = result.settings.max_latency_us
    axes.axhline(objective, color=BAD, linewidth=1, linestyle=(0, (5, 3)))
    if label:
        axes.annotate(f"objective\n{micros(objective)}", (1, objective),
                      xycoords=("axes fraction", "data"), xytext=(4, 0),
                      textcoords="offset points", va="center", fontsize=8.5, color=BAD)
