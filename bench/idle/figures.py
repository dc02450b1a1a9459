# SPDX-License-Identifier: BSD-3-Clause
"""Figures: medians over rounds, and ratios of pairs taken in the same round."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Protocol

from session import Sample


@dataclass(frozen=True)
class Cell:
    """One peer at one rate on one kind of port, over all rounds."""

    ports: str
    peer: str
    rate: str
    rounds: int
    medians: dict[str, float]  # by field of Sample
    ratios: dict[str, float]  # to the baseline; only where both sides are there and not 0
    lowest: dict[str, float]
    highest: dict[str, float]
    verdicts: dict[str, str]  # each state that was seen, and its latest reason


# All other fields are figures.
KEYS = ("ports", "peer", "rate", "round", "seconds", "verdict", "verdict_text")
MEDIANS = [field.name for field in fields(Sample) if field.name not in KEYS]
RATIOS = ("cpu_pct", "p50_us", "p99_us", "received_pps", "cpu_ns_per_pkt")


class InRound(Protocol):
    """What pairs are made of."""

    @property
    def round(self) -> int:
        """Time through all peers."""


def value(sample: InRound, name: str) -> float:
    """A field by its name."""
    return float(getattr(sample, name))


def median_ratio(ours: Iterable[InRound], theirs: Mapping[int, InRound], name: str) -> float | None:
    """Median over rounds of ours / theirs."""
    pairs = [
        value(sample, name) / value(theirs[sample.round], name)
        for sample in ours
        if sample.round in theirs and value(theirs[sample.round], name) > 0
    ]
    return statistics.median(pairs) if pairs else None


def cells(samples: Iterable[Sample], baseline: str) -> list[Cell]:
    """One cell for each combination, in the order of their first appearance."""
    groups: dict[tuple[str, str, str], list[Sample]] = {}
    for sample in samples:
        groups.setdefault((sample.ports, sample.rate, sample.peer), []).append(sample)
    found = []
    for (ports, rate, peer), group in groups.items():
        base = {sample.round: sample for sample in groups.get((ports, rate, baseline), [])}
        ratios = {name: median_ratio(group, base, name) for name in RATIOS if peer != baseline}
        columns = {name: [value(sample, name) for sample in group] for name in MEDIANS}
        found.append(
            Cell(
                ports,
                peer,
                rate,
                len(group),
                {name: statistics.median(column) for name, column in columns.items()},
                {name: ratio for name, ratio in ratios.items() if ratio is not None},
                {name: min(column) for name, column in columns.items()},
                {name: max(column) for name, column in columns.items()},
                {sample.verdict: sample.verdict_text for sample in group if sample.verdict},
            )
        )
    return found


def by_rate(found: list[Cell]) -> dict[tuple[str, str], list[Cell]]:
    """Cells that stand side by side: same ports, same rate."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in found:
        groups.setdefault((cell.ports, cell.rate), []).append(cell)
    return groups
