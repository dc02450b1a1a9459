# SPDX-License-Identifier: BSD-3-Clause
"""Goal: what a row is to reach in a comparison, and whether it did."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from result import Cell, Result, Table, number


@dataclass(frozen=True)
class Goal:
    """A figure of a row, and its bound: a number, or a multiple of another row's figure."""

    number: int
    what: str
    scene: str
    peer: str
    figure: str
    least: bool  # the bound is the least, else the most
    bound: float
    beside: tuple[str, str] | None = None  # peer and figure of which the bound is a multiple
    there: str = ""  # the scene of that figure, where it is another one


@dataclass(frozen=True)
class Verdict:
    """What became of a goal."""

    goal: Goal
    limit: float | None
    found: float | None
    said: str  # "met", "not met", or why nothing can be said

    @property
    def ratio(self) -> float | None:
        """Found by limit."""
        return None if not self.limit or self.found is None else self.found / self.limit


def verdicts(result: Result, goals: Iterable[Goal]) -> list[Verdict]:
    """Of all goals whose row was measured."""
    cells = {(cell.scene.name, cell.peer): cell for cell in result.cells()}
    return [_judged(goal, cells) for goal in goals if (goal.scene, goal.peer) in cells]


def _judged(goal: Goal, cells: dict[tuple[str, str], Cell]) -> Verdict:
    cell = cells[goal.scene, goal.peer]
    found = cell.medians.get(goal.figure)
    limit: float | None = goal.bound
    other = None
    if goal.beside is not None:
        other = cells.get((goal.there or goal.scene, goal.beside[0]))
        reference = other.medians.get(goal.beside[1]) if other else None
        limit = None if reference is None else goal.bound * reference
    return Verdict(goal, limit, found, _said(goal, cell, other, found, limit))


def _said(goal: Goal, cell: Cell, other: Cell | None, found: float | None,
          limit: float | None) -> str:  # fmt: skip
    if cell.error:
        return f"not met: {cell.error}"
    if not cell.valid or (other is not None and not other.valid):
        return "no valid round"
    if limit is None:
        return f"no figure of {goal.beside[0] if goal.beside else 'it'}"
    if found is None:  # a time that never came
        return "not met: never"
    return "met" if (found >= limit if goal.least else found <= limit) else "not met"


def table(result: Result, goals: Iterable[Goal]) -> Table | None:
    """For documents; None: nothing that was measured has a goal."""
    found = verdicts(result, goals)
    if not found:
        return None
    met = sum(one.said == "met" for one in found)
    rows = [[str(one.goal.number), one.goal.scene, one.goal.peer, one.goal.what, _wanted(one),
             "-" if one.found is None else number(one.found),
             "-" if one.ratio is None else f"{one.ratio:.2f}", one.said] for one in found]
    head = ["goal", "scene", "row", "figure", "wanted", "found", "found / wanted", "verdict"]
    return f"Goals: {met} of {len(found)} met", head, rows


def _wanted(one: Verdict) -> str:
    sign = "at least" if one.goal.least else "at most"
    limit = "-" if one.limit is None else number(one.limit)
    if one.goal.beside is None:
        return f"{sign} {limit}"
    place = f", {one.goal.there}" * bool(one.goal.there)
    return f"{sign} {limit}: {one.goal.bound:g} x {one.goal.beside[0]}{place}"
