# SPDX-License-Identifier: BSD-3-Clause
"""Reproduction page: every figure and table with its verdicts, as HTML, JSON and pictures."""

import base64
import io
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from matplotlib.figure import Figure as Picture
from pydantic import BaseModel

from lull import atomic, drawing
from lull.machine import Machine
from lull.quantities import digits
from lull.reproduction import Curves, Judged, Row
from lull.reproduction_run import Bench


@dataclass(frozen=True)
class Part:
    """One figure or table, ready to be shown."""

    name: str
    title: str
    rows: list[Row]
    picture: Picture | None = None
    note: str = ""
    data: dict[str, Any] = field(default_factory=dict)


class Counts(BaseModel):
    """How many statements came out."""

    matches: int = 0
    differs: int = 0


def count(judged: Sequence[Judged]) -> Counts:
    """Verdicts that are one."""
    return Counts(matches=sum(one.verdict == "matches" for one in judged),
                  differs=sum(one.verdict == "differs" for one in judged))


def curve_data(curves: Curves | None) -> dict[str, Any]:
    """Lines for JSON."""
    return {name: [{"x": x, **seen.model_dump()} for x, seen in curve]
            for name, curve in (curves or {}).items()}


def save(parts: Sequence[Part], bench: Bench, machine: Machine, live: bool, version: str,
         command: str, out: Path) -> None:
    """Write reproduce.json, reproduce.html and a picture per figure."""
    shown = [_drawn(part, out) for part in parts]
    every = [row for part in parts for row in part.rows]
    simulated, lived = (count([getattr(row, name) for row in every])
                        for name in ("simulated", "live"))
    environment = Environment(loader=PackageLoader("lull", "."), autoescape=True,
                              undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(figure=_figure)
    atomic.write(out / "reproduce.html", environment.get_template("reproduction.html.j2").render(
        parts=shown, bench=bench, machine=machine, live=live, version=version, command=command,
        simulated=simulated, lived=lived))
    atomic.write(out / "reproduce.json", json.dumps({
        "program": "lull reproduce sleep", "version": version, "machine": machine.model_dump(),
        "bench": asdict(bench), "simulated": simulated.model_dump(),
        "live": lived.model_dump() if live else None,
        "figures": [{"name": part.name, "title": part.title, "note": part.note,
                     "rows": [row.model_dump() for row in part.rows], **part.data}
                    for part in parts]}, indent=1, ensure_ascii=False) + "\n")


def _drawn(part: Part, out: Path) -> dict[str, Any]:
    png = ""
    if part.picture is not None:
        name = re.sub(r"[^a-z0-9]+", "-", part.name.lower()).strip("-")
        drawing.save(part.picture, out / f"{name}.png")
        data = io.BytesIO()
        part.picture.savefig(data, format="png", dpi=110)
        png = base64.b64encode(data.getvalue()).decode()
    return {"name": part.name, "title": part.title, "rows": part.rows, "note": part.note,
            "png": png}


def _figure(value: float | None, unit: str) -> str:
    # Too little to be shown has no sign either.
    return "–" if value is None else f"{digits(value) if abs(value) >= 0.005 else 0} {unit}".strip()
