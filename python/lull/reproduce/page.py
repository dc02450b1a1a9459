# SPDX-License-Identifier: BSD-3-Clause
"""Reproduction page: every figure and table with its verdicts, as HTML, JSON and pictures."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure as Picture

from lull import atomic, drawing, page
from lull.document import Document
from lull.program.machine import Machine
from lull.quantities import digits
from lull.reproduce.reproduction import (
    ASSUMED,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    REPRODUCED,
    Curves,
    Judged,
    Row,
)


@dataclass(frozen=True)
class Part:
    """One figure or table, ready to be shown."""

    name: str
    title: str
    rows: list[Row]
    picture: Picture | None = None
    note: str = ""
    command: str = ""  # that makes these rows alone
    data: dict[str, Any] = field(default_factory=dict)


class Counts(Document):
    """How many statements have which verdict."""

    reproduced: int = 0
    not_reproduced: int = 0
    assumed: int = 0
    not_testable: int = 0


def count(judged: Sequence[Judged]) -> Counts:
    """Of one half of rows."""
    def of(verdict: str) -> int:
        return sum(one.verdict == verdict for one in judged)

    return Counts(reproduced=of(REPRODUCED), not_reproduced=of(NOT_REPRODUCED),
                  assumed=of(ASSUMED), not_testable=of(NOT_TESTABLE))


def curve_data(curves: Curves | None) -> dict[str, Any]:
    """Lines for JSON."""
    return {name: [{"x": x, **seen.model_dump()} for x, seen in curve]
            for name, curve in (curves or {}).items()}


@dataclass(frozen=True)
class Head:
    """What a page says besides its parts."""

    program: str   # lull reproduce sleep
    template: str
    version: str
    command: str
    machine: Machine
    live: bool
    bench: Any     # a dataclass: what the text leaves open, chosen


def save(parts: Sequence[Part], head: Head, out: Path) -> None:
    """Write reproduce.json, reproduce.html and a picture per figure."""
    shown = [_drawn(part, out) for part in parts]
    every = [row for part in parts for row in part.rows]
    simulated, lived = (count([getattr(row, name) for row in every])
                        for name in ("simulated", "live"))
    atomic.write(out / "reproduce.html", page.fill(
        head.template, {"figure": figure_text, "spread": spread_text}, parts=shown,
        bench=head.bench, machine=head.machine, live=head.live, version=head.version,
        command=head.command, program=head.program, simulated=simulated, lived=lived))
    atomic.write(out / "reproduce.json", json.dumps({
        "program": head.program, "version": head.version, "machine": head.machine.model_dump(),
        "bench": asdict(head.bench), "simulated": simulated.model_dump(),
        "live": lived.model_dump() if head.live else None,
        "figures": [{"name": part.name, "title": part.title, "note": part.note,
                     "command": part.command, "rows": [row.model_dump() for row in part.rows],
                     **part.data}
                    for part in parts]}, indent=1, ensure_ascii=False) + "\n")


def _drawn(part: Part, out: Path) -> dict[str, Any]:
    png = ""
    if part.picture is not None:
        name = re.sub(r"[^a-z0-9]+", "-", part.name.lower()).strip("-")
        drawing.save(part.picture, out / f"{name}.png")
        png = drawing.to_base64(part.picture)
    return {"name": part.name, "title": part.title, "rows": part.rows, "note": part.note,
            "png": png, "command": part.command}


def figure_text(value: float | None, unit: str) -> str:
    """A figure with its unit."""
    # Too little to be shown has no sign either.
    return "–" if value is None else f"{digits(value) if abs(value) >= 0.005 else 0} {unit}".strip()


def spread_text(judged: Judged, unit: str) -> str:
    """From the least to the most of several runs; empty where they are the same, or one."""
    if judged.low is None or judged.high is None:
        return ""
    low, high = (figure_text(one, "") for one in (judged.low, judged.high))
    return f"{low} to {high} {unit}".strip() if low != high else ""
