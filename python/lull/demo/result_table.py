# SPDX-License-Identifier: BSD-3-Clause
"""Result table: a demo's numbers on a terminal."""

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from lull.demo.judgement import advice, closing, headline, shortfalls, warning
from lull.demo.result import Result, Run
from lull.demo.settings import Phase, Settings
from lull.palette import ink
from lull.quantities import micros, percent, si

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
    """The tables, the sentence, and in how many phases the objective was kept."""
    if any(not run.beside for run in result.runs):
        console.print(result_table(result, console.width))
    for phase in result.phases_beside():
        console.print(f"{phase.name}: {phase.summary}", style="bold")
        console.print(beside_table(result, phase, console.width))
    if any(run.disturbed for run in result.runs):
        console.print(f"{DISTURBED_MARK} the host or other programs took CPU time", style="dim")
    console.print()
    console.print(headline(result), style="bold")
    for run in result.runs:
        if run.verdict in ("infeasible", "suspended") and result.kept(run):
            console.print(f"[bold]{run.phase}[/]  {escape(run.verdict_text)}", style="dim")
    if warning(result):
        console.print(warning(result), style="yellow")
    console.print(closing(result), style="bold")
    for run, why in shortfalls(result):
        console.print(f"[bold]{run.phase}[/]  {escape(why)}", style="dim")
    if advice(result):
        console.print(advice(result), style="yellow")


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
        rows = [run for run in result.runs if run.phase == phase.name and not run.beside]
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


def beside_table(result: Result, phase: Phase, width: int) -> Table:
    """One phase beside another program: who got the CPU, and what the packets met."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("governor", no_wrap=True)
    runs = result.runs_beside(phase)
    classes = any(run.sched_class for run in runs)
    if classes:
        table.add_column("class", no_wrap=True)
    wide = width >= WIDE
    for title in ("CPU", "other prog.", "of the rest", "p50", "p99", "lost") if wide else (
            "CPU", "other", "p50", "p99", "lost"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for run in runs:
        cpu, p99, lost = phase_cells(run, result.settings)
        table.add_row(
            Text(run.governor, ink(run.governor).terminal),
            *([run.sched_class or "–"] if classes else []), cpu,
            Text(percent(run.other_pct or 0.0), "bold"),
            *([percent(run.other_of_rest_pct or 0.0)] if wide else []),
            micros(run.p50_us), p99, lost, verdict_text(run.verdict))
    return table
