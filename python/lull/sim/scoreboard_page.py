# SPDX-License-Identifier: BSD-3-Clause
"""Scoreboard page: everything on one HTML page that needs nothing else, and as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from lull import atomic, drawing, page
from lull.quantities import digits, si
from lull.sim.scoreboard import NEAR_POINTS, Score, standings, statements
from lull.sim.scoreboard_cells import FIXED_US, Setup, ring
from lull.sim.scoreboard_plot import picture


def save(found: Sequence[Score], setup: Setup, version: str, command: str, out: Path) -> None:
    """Write scoreboard.json, scoreboard.html and scoreboard.png."""
    made = picture(found)
    drawing.save(made, out / "scoreboard.png")
    atomic.write(out / "scoreboard.json", to_json(found, setup, version))
    atomic.write(out / "scoreboard.html", page.fill(
        "sim/scoreboard.html.j2", {"digits": digits, "si": si}, ring=ring(setup), scores=found,
        setup=setup, version=version, command=command, fixed_us=FIXED_US,
        statements=statements(found), standings=standings(found), near_points=NEAR_POINTS,
        png=drawing.to_base64(made, 120)))


def to_json(found: Sequence[Score], setup: Setup, version: str) -> str:
    """For other programs."""
    return json.dumps({
        "program": "lull scoreboard", "version": version, "setup": asdict(setup),
        "statements": [one.model_dump() for one in statements(found)],
        "governors": [one.model_dump() for one in standings(found)],
        "cells": [{**score.model_dump(), "feasible": score.feasible(),
                   "above_oracle_points": round(score.above(), 3)} for score in found],
    }, indent=1, ensure_ascii=False) + "\n"
