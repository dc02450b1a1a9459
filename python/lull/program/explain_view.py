# SPDX-License-Identifier: BSD-3-Clause
"""Explain view: why a loop rests as it does."""

import math

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lull.demo.result_table import verdict_text
from lull.program.replies import UINT64_MAX, Explain, Loop
from lull.quantities import micros, percent, si

MEANING = {
    "binding": "the limit that decides",
    "idle_state": "how the loop rests now",
    "rest_ns": "rest asked for now",
    "latency_bound_ns": "longest real rest that the percentile allows",
    "ring_bound_ns": "longest rest that the Rx ring allows",
    "break_even_ns": "shortest rest that saves CPU",
    "predicted_ns": "added wait at the percentile with this rest",
    "predicted_cpu_ppm": "share of the core with this rest",
    "overshoot_p50_ns": "overshoot of a rest: median",
    "overshoot_p99_ns": "overshoot of a rest: p99",
    "overshoot_p9999_ns": "overshoot of a rest: p99.99",
    "cost_ns": "CPU time of one rest",
    "load_ppm": "share of the time in which packets are processed",
    "resting_ppm": "share of the packets that arrive during a rest",
    "arrival_pps": "packets per second that arrive",
    "envelope": "where the arrival limit comes from",
    "pps_max": "arrival limit behind the ring bound",
    "iteration_ns": "longest poll iteration that the ring bound allows for",
    "outrun": "1: packets at that limit come faster than polling takes them",
    "interrupt_late_ns": "how late an interrupt ends a rest: p99.99",
    "calibration_count": "rests measured",
    "late_ppm": "share of this window's packets that waited longer than the objective",
    "stall_ppm": "share of the packets that stalls make late",
    "stall_rate": "stalls of half a millisecond or more, per 1000 s",
    "stall_ns": "longest stall",
}
# What stands in words above the table.
SAID = ("state", "text", "text_more", "sched_text", "sched_text_more",
        "cpu_latency_text", "cpu_latency_text_more", "arrival_pkts", "remedies", "remedy_fits",
        "remedy_rest_ns", "remedy_cpu_ppm")
WAY = "way_"  # each idle state: how this loop rests in it
BAR_WIDTH = 40
BLOCKING = "kernel"  # the thread sleeps until the kernel wakes it: there is nothing to choose


def value_text(name: str, value: object) -> str:
    """A member of the verdict in its unit, which its name tells."""
    if not isinstance(value, int):
        return str(value)
    if value == UINT64_MAX:
        return "any"
    if name.endswith("_ns"):
        return micros(value / 1e3)
    if name.endswith("_ppm"):
        return percent(value / 1e4)
    return si(value) + ("/s" if "pps" in name else "")


def curve_rows(pkts: list[int]) -> list[tuple[str, str, str]]:
    """The arrival curve: a window, the most packets in it, and a bar of their logarithm."""
    most = max(pkts, default=0)
    if most == 0:
        return []
    return [(micros(float(2 ** scale)), str(count),
             "█" * round(BAR_WIDTH * math.log2(1 + count) / math.log2(1 + most)))
            for scale, count in enumerate(pkts)]


def remedy_rows(explain: Explain) -> list[tuple[str, str, str]]:
    """What would help: in words, the longest rest that it allows, and the CPU then."""
    columns = zip(explain.remedies, explain.remedy_fits, explain.remedy_rest_ns,
                  explain.remedy_cpu_ppm, strict=False)
    return [(text, micros(rest_ns / 1e3) if fits else "", percent(cpu_ppm / 1e4) if fits else "")
            for text, fits, rest_ns, cpu_ppm in columns]


def _print_remedies(explain: Explain, console: Console) -> None:
    rows = remedy_rows(explain)
    if not rows:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="what would help",
                  title_justify="left")
    table.add_column("change")
    table.add_column("rests of", justify="right")
    table.add_column("CPU", justify="right")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _print_curve(pkts: list[int], console: Console) -> None:
    rows = curve_rows(pkts)
    if not rows:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False,
                  title="largest number of packets of one queue in any window",
                  title_justify="left")
    table.add_column("window", justify="right", style="dim")
    table.add_column("packets", justify="right")
    table.add_column("")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def print_explain(loop: Loop, explain: Explain, console: Console) -> None:
    """One loop."""
    thread = f"  thread {loop.thread}" if loop.kind == "plugin" else ""
    console.print(Text.assemble((loop.name, "bold"), f"{thread}  governor {loop.governor}  ",
                                verdict_text(explain.state)))
    sentence = explain.sentence()
    if sentence:
        console.print(sentence, highlight=False)
    for way, words in explain.ways().items():
        console.print(f"{way}: {words}", style="dim", highlight=False)
    if explain.c_states():
        console.print(explain.c_states(), style="dim", highlight=False)
    members = explain.model_dump()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column(justify="right")
    table.add_column(style="dim")
    for name, value in members.items():
        if name in SAID or name.startswith(WAY) or value in ("", None):
            continue
        table.add_row(name, value_text(name, value), MEANING.get(name, ""))
    if loop.mode in ("off", "passive"):
        return
    if explain.state != "none":
        console.print(table)
        _print_remedies(explain, console)
        _print_curve(explain.arrival_pkts, console)
    elif loop.shares():
        console.print(f"{loop.governor} has no objective and makes no promise; its threads share "
                      "queues, which objective cannot", style="dim")
    elif loop.governor != BLOCKING:
        console.print(f"{loop.governor} has no objective and makes no promise; try 'lull set "
                      "objective max-latency=200'", style="dim")
