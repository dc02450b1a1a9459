# SPDX-License-Identifier: BSD-3-Clause
"""MPI jobs: the program that all ranks run, and what its words mean."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scene import CHANGE, GOODPUT, LATENCY, SILENCE, SILENT, WAIT, Kind, Scene
from station import Figures, PeerError, Station

TREE = Path(__file__).resolve().parent.parent.parent
SOURCES = (Path(__file__).with_name("pingpong.c"),)
CONFORM_SOURCES = tuple(sorted((TREE / "tests" / "mpi").glob("conform*.c")))
CURVE = "PINGPONG_CURVE"  # pingpong writes to this file how many bytes came so far
WORDS: dict[Kind, str] = {
    **dict.fromkeys((GOODPUT, SILENCE, SILENT, CHANGE), "bandwidth"), LATENCY: "latency",
    WAIT: "wait"}  # fmt: skip


class Job:
    """What is done in a scene; the class of its kind."""

    ranks = 2
    times = 1  # it runs in a measurement; more: it is short, and figures are medians

    def missing(self) -> str:
        """Why it cannot be done on this machine; nothing: it can."""
        return ""

    def command(self, station: Station, where: Scene, folder: Path) -> list[str]:
        """Of every rank."""
        raise NotImplementedError

    def environment(self, station: Station, folder: Path) -> dict[str, str]:
        """Of every rank."""
        return {}

    def figures(self, out: str, wall_s: float) -> Figures:
        """From what the ranks printed."""
        raise NotImplementedError


def last_number(text: str) -> int:
    """Of whole lines; ValueError where there is none yet."""
    whole, newline, _ = text.rpartition("\n")
    return int(whole.rpartition("\n")[2] if newline else "")


class Pingpong(Job):
    """Our program, by the word of its kind."""

    def command(self, station: Station, where: Scene, folder: Path) -> list[str]:
        """Compiled by the compiler of the MPI that is here."""
        return [str(compiled(SOURCES, folder)), WORDS[where.what], f"{station.seconds:g}",
                str(where.bytes)]  # fmt: skip

    def environment(self, station: Station, folder: Path) -> dict[str, str]:
        """A file that tells how far it is; it is there when ranks know each other."""
        curve = folder / "curve"
        station.begun = curve.exists
        station.received = lambda: last_number(curve.read_text(encoding="ascii"))
        return {CURVE: str(curve)}

    def figures(self, out: str, wall_s: float) -> Figures:
        """One line of JSON."""
        return {key: float(value) for key, value in last_json(out).items()}


class Conform(Job):
    """The test that every transport has to pass: how long it takes."""

    ranks = 4
    times = 5

    def command(self, station: Station, where: Scene, folder: Path) -> list[str]:
        """The test's own source."""
        return [str(compiled(CONFORM_SOURCES, folder))]

    def figures(self, out: str, wall_s: float) -> Figures:
        """It says when all holds."""
        if f"{self.ranks} ranks: all holds" not in out:
            raise PeerError(f"conform: {' '.join(out.split()[-20:])}")
        return {"wall_s": wall_s}


def compiled(sources: Sequence[Path], folder: Path) -> Path:
    """A program of ours, by the compiler of the MPI that is here."""
    program = folder / sources[0].stem
    done = subprocess.run(["mpicc", "-O2", "-pthread", "-o", str(program), *map(str, sources)],
                          capture_output=True,
                          text=True, check=False)  # fmt: skip
    if done.returncode != 0:
        raise PeerError(f"mpicc: {' '.join(done.stderr.split()[:20])}")
    return program


def last_json(out: str) -> dict[str, Any]:
    """The last line that is an object."""
    for line in reversed(out.splitlines()):
        if line.startswith("{"):
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict):
                return found
    raise PeerError(f"mpirun: no result, but: {' '.join(out.split()[-20:])}")
