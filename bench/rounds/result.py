# SPDX-License-Identifier: BSD-3-Clause
"""Result: all rounds, medians of the valid ones, tables for the terminal and for documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from scene import WORK, Scene

Table = tuple[str, list[str], list[list[str]]]  # title, head, rows


@dataclass
class Round:
    """One peer in one scene, once."""

    scene: str
    peer: str
    number: int
    figures: dict[str, float]
    flaw: str  # why it does not count; nothing: it does
    error: str  # why there are no figures
    commands: list[str]
    curve: dict[str, Any] | None = None


@dataclass
class Cell:
    """A peer in a scene: medians of the valid rounds, of all where none is."""

    scene: Scene
    peer: str
    valid: int
    rounds: int
    medians: dict[str, float]
    error: str
    remark: str


@dataclass
class Result:
    """What the JSON file holds."""

    machine: dict[str, str]
    settings: dict[str, Any]
    remarks: dict[str, str]  # by peer
    rounds: list[Round] = field(default_factory=list)
    scenes: Sequence[Scene] = ()  # in the order of the tables; not in the file

    def cells(self) -> Iterator[Cell]:
        """In the order of scenes and peers."""
        for where in self.scenes:
            peers = dict.fromkeys(one.peer for one in self.rounds if one.scene == where.name)
            for peer in peers:
                found = [one for one in self.rounds if (one.scene, one.peer) == (where.name, peer)]
                ran = [one for one in found if not one.error]
                valid = [one for one in ran if not one.flaw]
                good = valid or ran  # which the row says
                keys = dict.fromkeys(key for one in good for key in one.figures)
                # A time that never came in most rounds is none.
                medians = {key: median(values) for key in keys
                           if 2 * len(values := [one.figures[key] for one in good
                                                 if key in one.figures]) > len(good)}  # fmt: skip
                error = next((one.error for one in found if one.error), "") if not good else ""
                yield Cell(where, peer, len(valid), len(found), medians, error,
                           self.remarks.get(peer, ""))  # fmt: skip

    def as_json(self) -> dict[str, Any]:
        """Rounds, and what follows from them."""
        own = {"machine": self.machine, "settings": self.settings, "remarks": self.remarks,
               "rounds": [asdict(one) for one in self.rounds]}  # fmt: skip
        cells = [{**vars(cell), "scene": {"name": cell.scene.name, "rails": cell.scene.rails,
                                          "what": cell.scene.what.word}}
                 for cell in self.cells()]  # fmt: skip
        return {**own, "cells": cells}

    @staticmethod
    def from_json(data: dict[str, Any], scenes: Sequence[Scene]) -> Result:
        """Of an earlier run."""
        return Result(data["machine"], data["settings"], data["remarks"],
                      [Round(**one) for one in data["rounds"]], scenes)  # fmt: skip


def tables(result: Result) -> Iterator[Table]:
    """Title, head and rows of each scene."""
    cells = list(result.cells())
    for where in dict.fromkeys(cell.scene for cell in cells):
        mine = [cell for cell in cells if cell.scene == where]
        columns = [column for column in [*where.what.columns, *WORK]
                   if any(column[0] in cell.medians for cell in mine)]  # fmt: skip
        head = ["peer", *(title for _, title, _ in columns), "rounds", "remark"]
        rows = [[cell.peer, *(_number(cell.medians, key, factor) for key, _, factor in columns),
                 f"{cell.valid}/{cell.rounds}", cell.error or _doubt(cell) or cell.remark]
                for cell in mine]  # fmt: skip
        yield where.title(), head, rows


def _doubt(cell: Cell) -> str:
    return "" if cell.valid else "all rounds INVALID: of no use but to see that it runs"


def _number(medians: dict[str, float], key: str, factor: float) -> str:
    return number(medians[key] * factor) if key in medians else "-"


def number(value: float) -> str:
    """Three digits, or all of those before the point."""
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else (
        f"{value:.2f}")  # fmt: skip


def captions(result: Result) -> list[str]:
    """Where and how it was measured."""
    machine, settings = result.machine, result.settings
    flawed = sum(bool(one.flaw) for one in result.rounds)
    more = f", {settings['versions']}" if "versions" in settings else ""
    return [
        f"{machine['cpu']}, {machine['cpus']} CPUs, hypervisor {machine['hypervisor']}, kernel "
        f"{machine['kernel']}, DPDK {machine['dpdk']}{more}; commit {machine['commit']}, "
        f"{machine['date']}, load at start {machine['load']}.",
        f"Medians of the valid ones of {settings['rounds']} rounds of {settings['seconds']:g} s, "
        f"in which peers take turns; both nodes, the switch and the kernel share these CPUs. "
        f"INVALID, as the host or other programs had the CPUs for more than 1 %, were {flawed} of "
        f"{len(result.rounds)} rounds. CPU % is that of all programs of a node, 100 is one CPU.",
    ]  # fmt: skip


def text(result: Result, more: Sequence[Table] = ()) -> str:
    """For the terminal; @p more tables come first."""
    lines = captions(result)
    for title, head, rows in [*more, *tables(result)]:
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
        lines += ["", title]
        lines += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
                  .rstrip() for row in [head, *rows]]  # fmt: skip
    return "\n".join([*lines, "", "commands:", *_commands(result)])


def markdown(result: Result, plot: str, more: Sequence[Table] = (),
             shows: str = "Channel and its peers") -> str:  # fmt: skip
    """For docs/measurements.md; @p more tables come first."""
    lines = ["```", str(result.settings["command"]), "```", "", *_spaced(captions(result))]
    if plot:
        lines += [f"![{shows}]({plot})", ""]
    for title, head, rows in [*more, *tables(result)]:
        lines += [f"### {title}", "", f"| {' | '.join(head)} |",
                  f"|---|{'---:|' * (len(head) - 2)}---|"]  # fmt: skip
        lines += [f"| {' | '.join(row)} |" for row in rows] + [""]
    return "\n".join([*lines, "Commands, by node of the bed:", "", "```", *_commands(result),
                      "```"]) + "\n"  # fmt: skip


def _spaced(lines: list[str]) -> list[str]:
    return [each for line in lines for each in (line, "")]


def _commands(result: Result) -> list[str]:
    """Of each peer, in the first scene of each kind that it took part in."""
    kinds = {where.name: where.what.word for where in result.scenes}
    seen: dict[tuple[str, str], Round] = {}
    for one in result.rounds:
        if one.commands:
            seen.setdefault((one.peer, kinds[one.scene]), one)
    return [line for (peer, kind), one in seen.items()
            for line in [f"# {peer}, {kind}: {one.scene}", *one.commands]]  # fmt: skip
