# SPDX-License-Identifier: BSD-3-Clause
"""Scoreboard page: everything on one HTML page that needs nothing else, and as JSON."""

import base64
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from lull import atomic, drawing
from lull.quantities import digits, si
from lull.scoreboard import NEAR_POINTS, Score, standings, statements
from lull.scoreboard_cells import FIXED_US, Setup, ring
from lull.scoreboard_plot import picture


def save(found: Sequence[Score], setup: Setup, version: str, command: str, out: Path) -> None:
    """Write scoreboard.json, scoreboard.html and scoreboard.png."""
    made = picture(found)
    drawing.save(made, out / "scoreboard.png")
    atomic.write(out / "scoreboard.json", to_json(found, setup, version))
    data = io.BytesIO()
    made.savefig(data, format="png", dpi=120)
    environment = Environment(loader=PackageLoader("lull", "."), autoescape=True,
                              undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(digits=digits, si=si)
    atomic.write(out / "scoreboard.html", environment.get_template("scoreboard.html.j2").render(
        ring=ring(setup), scores=found, setup=setup, version=version, command=command,
        fixed_us=FIXED_US,
        statements=statements(found), standings=standings(found), near_points=NEAR_POINTS,
        png=base64.b64encode(data.getvalue()).decode()))


def to_json(found: Sequence[Score], setup: Setup, version: str) -> str:
    """For other programs."""
    return json.dumps({
        "program": "lull scoreboard", "version": version, "setup": asdict(setup),
        "statements": [one.model_dump() for one in statements(found)],
        "governors": [one.model_dump() for one in standings(found)],
        "cells": [{**score.model_dump(), "feasible": score.feasible(),
                   "above_oracle_points": round(score.above(), 3)} for score in found],
    }, indent=1, ensure_ascii=False) + "\n"
