# SPDX-License-Identifier: BSD-3-Clause
"""Report: the same table for the terminal and for docs/measurements.md."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from figures import Cell, by_rate, cells
from session import Sample


@dataclass(frozen=True)
class Result:
    """Everything that is known of a run; what the JSON file holds."""

    machine: dict[str, str]
    settings: dict[str, Any]
    left_out: dict[str, str]  # peers that could not take part, and why
    samples: list[Sample]

    @property
    def baseline(self) -> str:
        """Peer that ratios refer to."""
        return str(self.settings["baseline"])

    def cells(self) -> list[Cell]:
        """Medians and ratios."""
        return cells(self.samples, self.baseline)

    def as_json(self) -> dict[str, Any]:
        """Samples and what follows from them."""
        return {**asdict(self), "cells": [asdict(cell) for cell in self.cells()]}

    @staticmethod
    def from_json(data: dict[str, Any]) -> Result:
        """Of an earlier run."""
        samples = [Sample(**sample) for sample in data["samples"]]
        return Result(data["machine"], data["settings"], data["left_out"], samples)


WAITED_PCT = 2.0  # of the time; less is what any machine does
HEAD = (
    "peer",
    "CPU %",
    "x",
    "p50 us",
    "p99 us",
    "x",
    "lost",
    "kpps",
    "x",
    "ns/pkt",
    "x",
    "sleeps/s",
    "steal ms",
)


def number(figure: float) -> str:
    """Three digits that count."""
    if figure >= 100:
        return f"{figure:.0f}"
    return f"{figure:.1f}" if figure >= 10 else f"{figure:.2f}"


def percent(part: float, whole: float) -> str:
    """A share of packets; 0 only when none was lost."""
    if part <= 0 or whole <= 0:
        return "0"
    share = 100 * part / whole
    return f"{share:.1f} %" if share >= 0.1 else f"{part:.0f} pkts"


def _row(cell: Cell) -> list[str]:
    medians, traffic = cell.medians, cell.medians["offered"] > 0
    judged = traffic and cell.ports != "null"

    def ratio(name: str) -> str:
        return f"{cell.ratios[name]:.2f}" if name in cell.ratios else ""

    def when(condition: bool, text: str) -> str:
        return text if condition else "-"

    return [
        cell.peer,
        number(medians["cpu_pct"]),
        ratio("cpu_pct"),
        when(judged, number(medians["p50_us"])),
        when(judged, number(medians["p99_us"])),
        ratio("p99_us"),
        when(judged, percent(medians["lost"], medians["offered"])),
        when(traffic, number(medians["received_pps"] / 1000)),
        ratio("received_pps"),
        when(traffic, number(medians["cpu_ns_per_pkt"])),
        ratio("cpu_ns_per_pkt"),
        number(medians["sleeps_per_s"]),
        number(medians["steal_ms"]),
    ]


def _title(ports: str, rate: str, group: list[Cell]) -> str:
    offered = group[0].medians["offered_pps"]
    if ports == "null":
        return "null, saturated (the driver makes packets and drops them)"
    if rate == "sat":
        return f"{ports}, saturated ({offered / 1000:.0f} kpps offered)"
    return f"{ports}, {rate} packets/s"


def captions(result: Result) -> list[str]:
    """What was measured, where and how."""
    machine, settings = result.machine, result.settings
    lines = [
        f"{machine['cpu']}, {machine['cpus']} CPUs, hypervisor {machine['hypervisor']},"
        f" kernel {machine['kernel']}, DPDK {machine['dpdk']}"
        + (f", Open vSwitch {machine['openvswitch']}" if machine["openvswitch"] else "")
        + f"; commit {machine['commit']}, {machine['date']}, load at start {machine['load']}.",
        f"Medians of {settings['rounds']} interleaved rounds of {settings['seconds']:g} s;"
        " CPU % and ns/pkt: CPU time of the polling thread alone, by time and by packet;"
        f" x is the median of the ratios to {result.baseline} in the same round."
        f" Polling thread on CPU {settings['cpu']}, everything else on CPU"
        f" {settings['other_cpu']}, nice {settings['nice']}. lull: {settings['lull_options']}.",
    ]
    lines += [f"Left out: {peer}: {reason}" for peer, reason in result.left_out.items()]
    return lines


def _listed(what: str, peers: dict[str, str]) -> list[str]:
    """One line for all peers it is true of."""
    return [what + ": " + ", ".join(f"{p} {t}".strip() for p, t in peers.items())] if peers else []


def _unsaturated(cell: Cell) -> bool:
    lost, offered = cell.medians["lost"], cell.medians["offered"]
    return cell.rate == "sat" and cell.ports != "null" and lost < 0.01 * offered


def _notes(where: str, group: list[Cell]) -> list[str]:
    waited = {
        cell.peer: f"{cell.medians['waited_pct']:.1f} %"
        for cell in group
        if cell.medians["waited_pct"] > WAITED_PCT
    }
    sink = {
        cell.peer: f"{number(cell.medians['sink_gap_p99_us'])} us"
        for cell in group
        if cell.rate != "sat" and cell.medians["sink_gap_p99_us"] > cell.medians["p99_us"] / 2 > 0
    }
    all_taken = {cell.peer: "" for cell in group if _unsaturated(cell)}
    lines = [
        *_listed(f"{where}: waited for its CPU, which other programs used", waited),
        *_listed(f"{where}: the sink contributes to the p99, at most", sink),
        *_listed(f"{where}: took everything that was sent, its capacity is higher", all_taken),
    ]
    for cell in group:
        for state, reason in cell.verdicts.items():
            if state not in ("none", "feasible"):
                lines.append(f"{where}: {cell.peer} in some round: {reason}")
    return lines


def notes(found: list[Cell]) -> list[str]:
    """What the figures cannot say."""
    groups = by_rate(found).items()
    return [line for (ports, rate), group in groups for line in _notes(f"{ports}, {rate}", group)]


def text(result: Result) -> str:
    """For the terminal."""
    found = result.cells()
    lines = [*captions(result)]
    for (ports, rate), group in by_rate(found).items():
        rows = [list(HEAD), *(_row(cell) for cell in group)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(HEAD))]
        lines += ["", _title(ports, rate, group)]
        for row in rows:
            cells_ = [row[0].ljust(widths[0])]
            cells_ += [item.rjust(width) for item, width in zip(row[1:], widths[1:], strict=True)]
            lines.append("  " + "  ".join(cells_))
    return "\n".join([*lines, "", *notes(found)]).rstrip()


def markdown(result: Result, command: str, plot: str) -> str:
    """A section for docs/measurements.md."""
    found = result.cells()
    lines = ["```", command, "```", ""]
    for line in captions(result):
        lines += [line, ""]
    if plot:
        lines += [f"![CPU and latency by load]({plot})", ""]
    for (ports, rate), group in by_rate(found).items():
        lines += [f"### {_title(ports, rate, group)}", ""]
        lines += ["| " + " | ".join(HEAD) + " |", "|---" + "|---:" * (len(HEAD) - 1) + "|"]
        lines += ["| " + " | ".join(_row(cell)) + " |" for cell in group]
        lines.append("")
    for note in notes(found):
        lines += [f"- {note}"]
    return "\n".join(lines).rstrip() + "\n"
