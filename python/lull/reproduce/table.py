# SPDX-License-Identifier: BSD-3-Clause
"""Reproduction table: the statements of a figure, for a terminal."""

from rich import box
from rich.table import Table
from rich.text import Text

from lull.reproduce.page import Part, figure_text
from lull.reproduce.reproduction import NOT_REPRODUCED, REPRODUCED

STYLES = {REPRODUCED: "green", NOT_REPRODUCED: "red"}


def table(part: Part) -> Table:
    """A figure's statements for a terminal."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0),
                 title=Text(f"{part.name}  {part.title}"), title_justify="left",
                 title_style="bold")
    made.add_column("statement")
    made.add_column("published")
    for title in ("simulated", "live"):
        made.add_column(title)
    for row in part.rows:
        made.add_row(row.text, row.published, *(
            Text.assemble(figure_text(one.value, row.unit) if one.value is not None else "",
                          " ", (one.verdict, STYLES.get(one.verdict, "dim")))
            for one in (row.simulated, row.live)))
    return made
