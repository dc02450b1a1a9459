# SPDX-License-Identifier: BSD-3-Clause
"""Model plot: what `lull model` measured as a picture in the manner of the literature's."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lull import drawing
from lull.model.figures import Report, Row, swept_us

CPU, EMPTY, SPEED, LOSS = "#0b7a8c", "#d9822b", "#3b63c4", drawing.BAD


def draw(report: Report, path: Path) -> None:
    """Write the picture; which one depends on the command."""
    with drawing.style():
        if report.costs:
            made = _costs(report)
        elif report.command == "evaluate":
            made = _bars([row for row in report.rows if row.figure == "Fig. 20-22"] or report.rows)
        else:
            made = _sweeps(report)
        drawing.save(made, path)


def _costs(report: Report) -> Figure:
    made = drawing.figure(6.4, 3.6)
    axes = made.subplots()
    for size in sorted({cost.size for cost in report.costs if cost.burst > 0}):
        found = [cost for cost in report.costs if cost.size == size and cost.burst > 0]
        axes.plot([cost.burst for cost in found], [cost.rx_ns or 0 for cost in found], "o-",
                  markersize=3, linewidth=1, label=f"rx {size} B")
        axes.plot([cost.burst for cost in found], [cost.tx_ns or 0 for cost in found], "s--",
                  markersize=3, linewidth=1, label=f"tx {size} B")
    axes.set_xlabel("burst, packets")
    axes.set_ylabel("time of one call, ns")
    axes.legend(ncols=2)
    return made


def _sweeps(report: Report) -> Figure:
    curves: dict[tuple[str, int], list[tuple[float, Row]]] = {}
    for row in report.rows:
        us = swept_us(row)
        if us is not None:
            function = row.receiver.rest.partition(":")[0] if row.figure == "Fig. 2" else ""
            curves.setdefault((f"{row.figure} {function}".strip(), row.size), []).append((us, row))
    made = drawing.figure(3.4 * len(curves), 5.2)
    panels = made.subplots(2, len(curves), sharex="col", sharey="row", squeeze=False)
    for column, ((figure, size), curve) in enumerate(curves.items()):
        upper, lower = panels[0][column], panels[1][column]
        upper.set_title(f"{figure}, {size} B")
        _curve(upper, lower, sorted(curve, key=lambda point: point[0]))
        lower.set_xlabel("sleep, µs")
    panels[0][0].set_ylabel("%")
    panels[1][0].set_ylabel("Mbit/s received, ppm lost")
    panels[0][0].legend()
    panels[1][0].legend()
    return made


def _curve(upper: Axes, lower: Axes, curve: Sequence[tuple[float, Row]]) -> None:
    places = [us for us, _ in curve]
    sides = [row.sender if row.figure in ("Table 1, Fig. 7", "Fig. 8", "Fig. 9") else row.receiver
             for _, row in curve]
    upper.plot(places, [side.cpu_pct for side in sides], "o-", color=CPU, markersize=3, label="CPU")
    upper.plot(places, [side.empty_pct for side in sides], "s-", color=EMPTY, markersize=3,
               label="empty polling rate")
    upper.set_ylim(0, 105)
    lower.plot(places, [row.receiver.bps / 1e6 for _, row in curve], "o-", color=SPEED,
               markersize=3, label="speed")
    lower.plot(places, [row.loss_ppm for _, row in curve], "s-", color=LOSS, markersize=3,
               label="loss")
    lower.set_yscale("symlog", linthresh=1)


def _bars(rows: Sequence[Row]) -> Figure:
    sizes = sorted({row.size for row in rows})
    rests = list(dict.fromkeys(row.sender.rest for row in rows))
    made = drawing.figure(9.6, 6.4)
    panels = made.subplots(3, 2, sharex=True)
    width = 0.8 / len(rests)
    for index, rest in enumerate(rests):
        found = {row.size: row for row in rows if row.sender.rest == rest}
        places = [place + index * width for place, size in enumerate(sizes) if size in found]
        shown = [found[size] for size in sizes if size in found]
        for axes, values in zip(panels.flat, (
                [row.sender.cpu_pct for row in shown], [row.receiver.cpu_pct for row in shown],
                [row.sender.empty_pct for row in shown], [row.receiver.empty_pct for row in shown],
                [row.receiver.bps / 1e6 for row in shown], [row.loss_ppm for row in shown]),
                strict=True):
            axes.bar(places, values, width, label=rest)
    for axes, title in zip(panels.flat, (
            "CPU of the sender, %", "CPU of the receiver, %", "Empty polling rate, sender, %",
            "Empty polling rate, receiver, %", "Received, Mbit/s", "Lost, ppm"), strict=True):
        axes.set_title(title)
        axes.set_xticks([place + 0.4 for place in range(len(sizes))],
                        [f"{size} B" for size in sizes])
    handles, labels = panels[0][0].get_legend_handles_labels()
    drawing.legend_above(made, handles, labels, side="center", ncols=len(labels))
    return made
