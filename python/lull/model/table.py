# SPDX-License-Identifier: BSD-3-Clause
"""Model table: what `lull model` measured, on a terminal."""

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lull.model.figures import Report
from lull.model.reply import BurstCost
from lull.quantities import digits, si

STOLEN = "†"


def print_report(report: Report, console: Console) -> None:
    """The table, and what follows from it."""
    if report.costs:
        console.print(_costs(report, "rx"), _costs(report, "tx"), "Times in ns; burst 0: nothing "
                      "to do.", sep="\n")
        return
    console.print(_rows(report))
    for threshold in report.thresholds:
        console.print(f"{threshold.figure}, {threshold.size} B: speed holds up to a sleep of "
                      f"{threshold.sleep_us:g} µs")
    if any(row.steal_ms > 0 for row in report.rows):
        console.print(f"{STOLEN} the host took CPU time meanwhile", style="dim")


def _table(*titles: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    return table


def _rows(report: Report) -> Table:
    table = _table("sender", "CPU %", "η %", "receiver", "CPU %", "η %", "Mbit/s", "lost ppm")
    table.columns[0].justify = table.columns[3].justify = "left"
    before = ("", 0)
    for row in report.rows:
        if before != (row.figure, row.size):
            table.add_section()
            table.add_row(Text(f"{row.figure}, {row.size} B", "dim"))
        before = (row.figure, row.size)
        table.add_row(
            row.sender.rest + (STOLEN if row.steal_ms > 0 else ""),
            Text(digits(row.sender.cpu_pct), "bold"), digits(row.sender.empty_pct),
            row.receiver.rest, Text(digits(row.receiver.cpu_pct), "bold"),
            digits(row.receiver.empty_pct), digits(row.receiver.bps / 1e6),
            Text(si(row.loss_ppm), "bold red" if row.lost else "green"))
    return table


def _costs(report: Report, way: str) -> Table:
    sizes = sorted({cost.size for cost in report.costs if cost.burst > 0})
    table = _table("burst", *(f"{way} {size} B" for size in sizes))
    for burst in sorted({cost.burst for cost in report.costs}):
        found = {cost.size: cost for cost in report.costs if cost.burst == burst}
        cells = [found.get(size) or found.get(0) for size in sizes]
        table.add_row(str(burst), *(_ns(cost, way) for cost in cells))
    return table


def _ns(cost: BurstCost | None, way: str) -> str:
    value = None if cost is None else cost.rx_ns if way == "rx" else cost.tx_ns
    return "–" if value is None else digits(value)
