# SPDX-License-Identifier: BSD-3-Clause
"""Flow plots: the pictures of a flow report."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from lull import drawing
from lull.flow.result import MOVES, FlowResult
from lull.flow.summary import Slice, Summary, Volume, Volumes
from lull.quantities import si

COLOUR, SECOND = "#0b7a8c", "#d9822b"
WIDTH_IN = 9.6
SHOWN = 12
SI = FuncFormatter(lambda value, _: si(value) if value == 0 or abs(value) >= 0.1 else f"{value:g}")
BARS_MIN = 4  # room for so many: few bars are not thick ones


def balance(result: FlowResult) -> Figure:
    """Packets of each worker beside an even share, and what the shadow would have done."""
    made = drawing.figure(WIDTH_IN, 2.8)
    axes = made.subplots()
    pkts, shadow = result.worker_pkts(), result.shadow_pkts()
    both = sum(shadow) > 0
    width = 0.4 if both else 0.7
    places = range(len(pkts))
    axes.bar([place - (width / 2 if both else 0) for place in places], pkts, width, color=COLOUR,
             label=result.settings.get("scheduler", "packets"))
    if both:
        axes.bar([place + width / 2 for place in places], shadow, width, color=SECOND,
                 label=f"{result.settings.get('shadow', '')}, the shadow")
    if pkts:
        axes.axhline(sum(pkts) / len(pkts), color=drawing.MUTED, linewidth=1,
                     linestyle=(0, (5, 3)), label="even share")
    axes.set_xticks(places, [f"worker{place}" for place in places])
    axes.yaxis.set_major_formatter(SI)
    axes.set_ylabel("packets")
    axes.grid(visible=False, axis="x")
    drawing.legend_above(made, ncols=3)
    return made


def moves(result: FlowResult, summary: Summary) -> Figure:
    """What the dispatcher did about flows, and how flows fared where records tell."""
    made = drawing.figure(WIDTH_IN, 2.8)
    left, right = made.subplots(1, 2, width_ratios=(3, 2))
    names = [name for name in MOVES if name != "shadow_moves" or result.counter(name)]
    per_1000 = [1000 * result.counter(name) / max(1, result.counter("pkts")) for name in names]
    _bars(left, [MOVES[name] for name in names], per_1000)
    left.set_title("per 1000 packets", loc="left")
    right.set_title("workers that a flow had", loc="left")
    if summary.workers:
        _bars(right, [str(count) for count in sorted(summary.workers)],
              [summary.workers[count] for count in sorted(summary.workers)])
        right.set_xlabel("flows")
    else:
        right.set_axis_off()
        right.text(0, 0.5, "not recorded: lull-flow --facts writes it",
                   transform=right.transAxes, color=drawing.MUTED)
    return made


def protocols(summary: Summary) -> Figure:
    """Protocols by bytes, packets and flows."""
    made = drawing.figure(WIDTH_IN, 3.4)
    shown = _shown(summary.apps)
    labels = [name for name, _ in shown]
    measures: tuple[tuple[str, Callable[[Volume], int]], ...] = (
        ("IP bytes", lambda volume: volume.octets), ("packets", lambda volume: volume.packets),
        ("flows", lambda volume: volume.flows))
    for axes, (title, measure) in zip(made.subplots(1, 3, sharey=True), measures, strict=True):
        _bars(axes, labels, [measure(volume) for _, volume in shown])
        axes.set_title(title, loc="left")
    return made


def _shown(volumes: Volumes) -> list[tuple[str, Volume]]:
    """The heaviest, and all others as one."""
    shown, others = volumes.heaviest(SHOWN), volumes.total()
    for _, volume in shown:
        others.add(-volume.flows, -volume.packets, -volume.octets)
    return [*shown, *([("others", others)] if others.flows else [])]


def talkers(summary: Summary) -> Figure:
    """Addresses with most bytes, sent and received."""
    made = drawing.figure(WIDTH_IN, 3.2)
    shown = summary.talkers.heaviest(SHOWN)
    axes = made.subplots()
    _bars(axes, [name for name, _ in shown], [volume.octets for _, volume in shown])
    axes.set_xlabel("IP bytes, both directions")
    return made


def time(summary: Summary) -> Figure:
    """Load and flows over the time of the packets."""
    slices = summary.timeline.slices()
    made = drawing.figure(WIDTH_IN, 4.6)
    measures: tuple[tuple[str, Callable[[Slice], float]], ...] = (
        ("bit/s", lambda one: one.bps), ("flows alive", lambda one: one.active),
        ("new flows per second", lambda one: one.begun_per_s))
    begin_us = slices[0].begin_us if slices else 0
    places = [(one.begin_us - begin_us) / 1e6 for one in slices]
    panels = made.subplots(3, 1, sharex=True)
    for axes, (title, measure) in zip(panels, measures, strict=True):
        axes.stairs([measure(one) for one in slices],
                    [*places, places[-1] + summary.timeline.width_us / 1e6] if places else [0],
                    fill=True, color=COLOUR, alpha=0.85)
        axes.set_title(title, loc="left")
        axes.yaxis.set_major_formatter(SI)
        axes.set_ylim(bottom=0)
    panels[-1].xaxis.set_major_formatter(SI)
    stamp = datetime.fromtimestamp(begin_us / 1e6, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    panels[-1].set_xlabel(f"seconds since {stamp}")
    return made


def _bars(axes: Axes, labels: Sequence[str], values: Sequence[float]) -> None:
    """Lying bars, the first on top, each with its number."""
    places = range(len(labels))
    axes.barh(places, values, 0.7, color=COLOUR)
    # No name of a protocol or address is a formula.
    axes.set_yticks(places, [label.replace("$", r"\$") for label in labels])
    axes.set_ylim(max(len(labels), BARS_MIN) - 0.4, -0.6)
    axes.xaxis.set_major_formatter(SI)
    axes.grid(visible=False, axis="y")
    axes.margins(x=0.14)
    for place, value in zip(places, values, strict=True):
        axes.annotate(si(value), (value, place), xytext=(3, 0), textcoords="offset points",
                      va="center", fontsize=7.5, color=drawing.MUTED)
