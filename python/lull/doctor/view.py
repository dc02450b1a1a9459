# SPDX-License-Identifier: BSD-3-Clause
"""Doctor view: the checks on a terminal or as JSON."""

import json
from typing import Any

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lull.doctor.check import Check
from lull.quantities import micros, percent

MARKS = {"ok": ("✓", "green"), "note": ("·", "dim"), "warn": ("!", "yellow"), "fail": ("✗", "red")}


def to_json(checks: list[Check]) -> str:
    """All checks as JSON."""
    return json.dumps({"checks": [check.model_dump() for check in checks]}, indent=1,
                      ensure_ascii=False)


def print_checks(checks: list[Check], console: Console) -> None:
    """A line for each check, its remedy below it, and the table of sleeps."""
    width = max(len(check.name) for check in checks)
    for check in checks:
        mark, style = MARKS[check.status]
        line = Table.grid(padding=(0, 2))
        line.add_column(width=1)
        line.add_column(width=width)
        line.add_column()
        line.add_row(Text(mark, style), Text(check.name, "bold" if style == "red" else ""),
                     Text(check.found))
        if check.remedy:
            line.add_row("", "", Text.assemble(("→ ", style), (check.remedy, "italic")))
        console.print(line)
        if check.data.get("rows"):
            console.print(Padding(_sleeps(check.data["rows"]), (0, 0, 1, width + 5)))
    counts = {status: sum(check.status == status for check in checks) for status in MARKS}
    console.print()
    console.print(f"{counts['fail']} failed, {counts['warn']} to look at, {counts['note']} notes, "
                  f"{counts['ok']} fine", style="bold")


def _sleeps(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in ("asked for", "lasted", "p99", "costs CPU", "share"):
        table.add_column(title, justify="right")
    table.add_column()
    for row in rows:
        share = 100 * row["cpu_us"] / row["median_us"]
        table.add_row(micros(row["request_us"]), micros(row["median_us"]), micros(row["p99_us"]),
                      micros(row["cpu_us"]), percent(share),
                      Text("default slack" if row["slack_ns"] > 1 else "", "dim"))
    return table
