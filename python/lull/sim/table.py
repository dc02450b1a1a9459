# SPDX-License-Identifier: BSD-3-Clause
"""Simulation table: what `lull sim` found, on a terminal."""

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lull.palette import ink
from lull.quantities import micros, parse_rate, percent, rate_word, si
from lull.sim.reply import SimReply, SimRun, kept
from lull.sim.request import Outcome

WIDE = 100  # columns of a terminal from which everything fits
HELD = ("none", "feasible")  # verdicts that need no reason
VERDICT_STYLE = {"feasible": "green", "infeasible": "red", "suspended": "red",
                 "calibrating": "yellow"}


def print_outcomes(outcomes: Sequence[Outcome], console: Console) -> None:
    """The table, why objectives in it do not hold, and what it is about."""
    console.print(table(outcomes, console.width))
    for number, text in enumerate(reasons(outcomes), 1):
        console.print(f"[{number}] {text}", markup=False, soft_wrap=True)
    first = outcomes[0].reply
    said = [f"{key} {_word(key, str(first.settings[key]))}"
            for key in ("traffic", "pcap", "link", "ring", "machine", "max-latency", "percentile",
                        "seed") if str(first.settings.get(key, "")) and key not in _swept(outcomes)]
    console.print(" · ".join(said), style="dim", soft_wrap=True)
    pkts = sum(outcome.reply.simulated_pkts for outcome in outcomes)
    busy_s = sum(outcome.reply.duration_s for outcome in outcomes)
    if busy_s > 0:
        console.print(f"{si(pkts)} simulated packets, {si(pkts / busy_s)} in a second of one core",
                      style="dim")


def reasons(outcomes: Sequence[Outcome]) -> list[str]:
    """Sentences of the verdicts that are not feasible, each once, in the order of the rows."""
    return list(dict.fromkeys(
        run.verdict.text for outcome in outcomes for run in outcome.reply.runs
        if run.verdict.state not in HELD and run.verdict.text))


def table(outcomes: Sequence[Outcome], width: int) -> Table:
    """Every run a row; a number at a verdict is that of its reason."""
    notes = reasons(outcomes)
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    wide, axes = width >= WIDE, list(outcomes[0].values)
    sides = {run.side for outcome in outcomes for run in outcome.reply.runs}
    for title in (*axes, "governor", *(["side"] if len(sides) > 1 else [])):
        made.add_column(title, no_wrap=True)
    middle = ("p50", "p99", "p99.9", "max") if wide else ("p50", "p99")
    for title in ("CPU", *middle, "lost", *(("wakes/s", "empty", "power") if wide else ())):
        made.add_column(title, justify="right", no_wrap=True)
    made.add_column("verdict", no_wrap=True)
    made.add_column("kept", no_wrap=True)
    for outcome in outcomes:
        for index, run in enumerate(outcome.reply.runs):
            words = [Text(value if index == 0 else "", "bold") for value in outcome.values.values()]
            made.add_row(*words, *_cells(outcome.reply, run, notes, wide, len(sides) > 1),
                         end_section=index == len(outcome.reply.runs) - 1)
    return made


def _word(key: str, value: str) -> str:
    if key != "link":
        return value
    bps = parse_rate(value)
    return rate_word(bps) if bps else "none"


def _swept(outcomes: Sequence[Outcome]) -> set[str]:
    names = set(outcomes[0].values)
    return names | ({"max-latency"} if "objective" in names else set()) | (
        {"traffic"} if "load" in names else set())


def _verdict(run: SimRun, notes: list[str]) -> Text:
    state, text = run.verdict.state, run.verdict.text
    if state == "none":
        return Text("–", "dim")
    note = f" [{notes.index(text) + 1}]" if text in notes else ""
    return Text(state + note, VERDICT_STYLE.get(state, ""))


def _cells(reply: SimReply, run: SimRun, notes: list[str], wide: bool, sided: bool) -> list[Text]:
    objective_ns, share = reply.objective_ns(), reply.percentile()
    held = kept(run, objective_ns, share)
    added = run.added_ns
    late = "green" if added.at(share) <= objective_ns else "red"
    times = [(added.p50, ""), (added.p99, late)]
    if wide:
        times += [(added.p999, "dim"), (added.max, "dim")]
    power = f"{run.power_w:.2f} W" if run.power_w is not None else "–"
    return [
        Text(name(run), ink(run.governor).terminal), *([Text(run.side)] if sided else []),
        Text(percent(run.cpu_pct), "bold"),
        *(Text(micros(ns / 1e3) if added.count else "–", style) for ns, style in times),
        Text(si(run.lost), "bold red" if run.lost else "green"),
        *([Text(si(run.wakes_per_s)), Text(percent(run.empty_pct)), Text(power)] if wide else []),
        _verdict(run, notes),
        Text("yes", "green") if held else Text("no", "red"),
    ]


def name(run: SimRun) -> str:
    """A governor and its rest, when it has one."""
    return f"{run.governor} {micros(run.rest_ns / 1e3)}" if run.rest_ns else run.governor
