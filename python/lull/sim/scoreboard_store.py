# SPDX-License-Identifier: BSD-3-Clause
"""Scoreboard store: results of finished runs, so that an interrupted scoreboard goes on."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lull.errors import LullError
from lull.sim import reply as sim_reply
from lull.sim.reply import SimReply
from lull.sim.scoreboard_cells import Job
from lull.sim.simulation import Pool


def version_of(executable: Path) -> str:
    """Changes whenever the program does, its version number or not."""
    return hashlib.sha256(executable.read_bytes()).hexdigest()[:16]


class Store:
    """One line per finished run, written as soon as it is known."""

    def __init__(self, path: Path, version: str) -> None:
        self._path = path
        self._version = version
        self._known: dict[str, SimReply] = {}
        for line in self._lines():
            self._known[line["key"]] = SimReply.model_validate(line["reply"])

    def _lines(self) -> list[dict[str, Any]]:
        try:
            text = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        found = []
        for line in text.splitlines():
            try:
                one = json.loads(line)
                if one["version"] == self._version and "reply" in one and "key" in one:
                    found.append(one)
            except (ValueError, KeyError, TypeError):
                continue  # torn when it was interrupted: that run is made again
        return found

    def get(self, job: Job) -> SimReply | None:
        """The result of a run, when it is known."""
        return self._known.get(job.key(self._version))

    def known(self, job: Job) -> SimReply:
        """The result of a run that is finished."""
        reply = self.get(job)
        if reply is None:
            raise LullError(f"{self._path}: a result is missing: run it again")
        return reply

    def put(self, job: Job, reply: SimReply) -> None:
        """Keep a result. Counters, which nobody reads here, are left out."""
        reply = reply.model_copy(update={
            "runs": [run.model_copy(update={"counters": {}}) for run in reply.runs]})
        self._known[job.key(self._version)] = reply
        line = json.dumps({"key": job.key(self._version), "version": self._version,
                           "arguments": job.arguments, "reply": reply.model_dump()})
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a+", encoding="utf-8") as file:
                if file.tell() and not self._ends_a_line():
                    file.write("\n")
                file.write(line + "\n")
        except OSError as error:
            raise LullError(f"{self._path}: cannot write ({error.strerror}): "
                            "choose another place with --out") from None

    def _ends_a_line(self) -> bool:
        with self._path.open("rb") as file:
            file.seek(-1, 2)
            return file.read(1) == b"\n"

    def complete(self, pool: Pool, jobs: Sequence[Job], advance: Callable[[], None]) -> None:
        """Make the runs that are not known yet."""
        missing = [job for job in jobs if self.get(job) is None]
        for _ in range(len(jobs) - len(missing)):
            advance()
        for index, text in pool.run([job.arguments for job in missing]):
            self.put(missing[index], sim_reply.parse(text))
            advance()
