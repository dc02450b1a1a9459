# SPDX-License-Identifier: BSD-3-Clause
"""Training: the example that sums up a gradient with all ranks, periodically."""

from __future__ import annotations

import functools
import subprocess
import time
from pathlib import Path

from mpi_jobs import TREE, Job, last_json
from scene import Scene
from station import Figures, PeerError, Station

EXAMPLE = TREE / "examples" / "mpi" / "training_step.py"
PYTHON = "/usr/bin/python3"  # the one that Debian's mpi4py is for
START_S = 2.0
SIZE_MIB, PERIOD_S, STEPS_MIN = 8, 0.6, 4  # one rail of 200 Mb/s takes 0.35 s for it
MODULES = {"mpi4py": "python3-mpi4py", "numpy": "python3-numpy"}


class Training(Job):
    """In each period all ranks add up a gradient; until the next one they wait in MPI."""

    def missing(self) -> str:
        """The example, and the modules that it imports."""
        if not EXAMPLE.exists():
            return f"{EXAMPLE.relative_to(TREE)} is not in this checkout"
        return absent_module()

    def command(self, station: Station, where: Scene, folder: Path) -> list[str]:
        """By Debian's Python, for about the seconds wanted, after those in which it starts."""
        begins_s = time.monotonic() + START_S
        station.begun = lambda: time.monotonic() > begins_s
        steps = max(STEPS_MIN, round((START_S + station.seconds) / PERIOD_S))
        return [PYTHON, str(EXAMPLE), "--json", "--size", str(SIZE_MIB), "--period",
                str(PERIOD_S), "--steps", str(steps)]  # fmt: skip

    def figures(self, out: str, wall_s: float) -> Figures:
        """From the JSON of rank 0. Goodput: what each rank has to send, by any algorithm."""
        found = last_json(out)
        try:
            figures = {"goodput_bps": float(found["link_bps"]),
                       "step_ms": 1e3 * float(found["allreduce_s"]["median"])}  # fmt: skip
            if found["cpu_rest_pct"] is not None:
                figures["rest_cpu_pct"] = float(found["cpu_rest_pct"])
        except (KeyError, TypeError, ValueError):
            raise PeerError(f"{EXAMPLE.name} --json has no figures that are known here") from None
        return figures


@functools.cache
def absent_module() -> str:
    """What Debian's Python lacks."""
    for module, package in MODULES.items():
        done = subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False)
        if done.returncode != 0:
            return f"{PYTHON} has no {module}: apt-get install {package}"
    return ""
