# SPDX-License-Identifier: BSD-3-Clause
"""Result table: a demo's numbers on a terminal."""

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from lull.demo_settings import Settings
from lull.judgement import headline, warning
from lull.palette import ink
from lull.quantities import micros, percent, si
from lull.result import Result, Run

WIDE = 92  # columns of a terminal from which everything fits
DISTURBED_MARK = "†"
VERDICT_STYLE = {"feasible": "green", "infeasible": "red", "suspended": "red",
                 "calibrating": "yellow"}


def latency_style(p99_us: float, settings: Settings) -> str:
    """Green within the objective, red beyond."""
    return "green" if p99_us <= settings.max_latency_us else "red"


def loss_style(lost: int) -> str:
    """Red for any loss."""
    return "bold red" if lost else "green"


def verdict_text(verdict: str) -> Text:
    """A verdict in its colour; a governor without objective has none."""
    return Text("–", "dim") if verdict == "none" else Text(verdict, VERDICT_STYLE.get(verdict, ""))


def phase_cells(run: Run, settings: Settings) -> list[Text]:
    """CPU, p99 and loss of one cell of the overview."""
    mark = DISTURBED_MARK if run.disturbed else " "
    return [Text(percent(run.cpu_pct) + mark, "bold"),
            Text(micros(run.p99_us), latency_style(run.p99_us, settings)),
            Text(si(run.lost), loss_style(run.lost))]


def print_result(result: Result, console: Console) -> None:
    """The table and the sentence."""
    console.print(result_table(result, console.width))
    if any(run.disturbed for run in result.runs):
        console.print(f"{DISTURBED_MARK} the host or other programs took CPU time", style="dim")
    console.print()
    console.print(headline(result), style="bold")
    for run in result.runs:
        if run.verdict in ("infeasible", "suspended"):
            console.print(f"[bold]{run.phase}[/]  {escape(run.verdict_text)}", style="dim")
    if warning(result):
        console.print(warning(result), style="yellow")


def result_table(result: Result, width: int) -> Table:
    """Every row: medians over the rounds, losses summed."""
    settings = result.settings
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    wide = width >= WIDE
    for title in ("phase", "governor"):
        table.add_column(title, no_wrap=True)
    for title in ("packets/s", "CPU", "p50", "p99", "lost", "bound", "wakes/s") if wide else (
            "pkts/s", "CPU", "p50", "p99", "lost"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for phase in settings.phases:
        rows = [run for run in result.runs if run.phase == phase.name]
        for index, run in enumerate(rows):
            cpu, p99, _ = phase_cells(run, settings)
            further = [Text(micros(run.p99_bound_us), "dim"), Text(si(run.wakes_per_s))]
            table.add_row(
                Text(phase.name if index == 0 else "", "bold"),
                Text(run.governor, ink(run.governor).terminal),
                si(run.offered_pps), cpu, micros(run.p50_us), p99,
                Text(si(run.lost), loss_style(run.lost)), *(further if wide else []),
                verdict_text(run.verdict), end_section=index == len(rows) - 1)
    return table
