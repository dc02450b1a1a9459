# SPDX-License-Identifier: BSD-3-Clause
"""Simulation: many runs of lull-sim side by side; none outlives us."""

import os
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from lull.errors import LullError
from lull.program.child import die_with_parent

STOP_TIMEOUT_S = 3.0


@dataclass
class Running:
    """A simulation under way."""

    index: int
    process: subprocess.Popen[bytes]
    output: IO[bytes]
    errors: IO[bytes]
    pidfd: int

    def close(self) -> None:
        """Give the descriptors back."""
        os.close(self.pidfd)
        self.output.close()
        self.errors.close()


class Pool:
    """Runs simulations, as many at a time as there are cores; leaving the block ends them."""

    def __init__(self, executable: Path, workers: int | None = None) -> None:
        self._executable = executable
        self._workers = workers or len(os.sched_getaffinity(0))
        self._running: dict[int, Running] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.stop()

    def run(self, jobs: Sequence[Sequence[str]]) -> Iterator[tuple[int, str]]:
        """Position and standard output of each job, in the order in which they end."""
        waiting = list(enumerate(jobs))
        waiting.reverse()
        with selectors.DefaultSelector() as selector:
            while waiting or self._running:
                while waiting and len(self._running) < self._workers:
                    started = self._start(*waiting.pop())
                    selector.register(started.pidfd, selectors.EVENT_READ, started)
                for key, _ in selector.select():
                    ended: Running = key.data
                    selector.unregister(ended.pidfd)
                    yield ended.index, self._collect(ended)

    def one(self, arguments: Sequence[str]) -> str:
        """Standard output of a single run."""
        return next(text for _, text in self.run([arguments]))

    def stop(self) -> None:
        """End whatever still runs."""
        for running in self._running.values():
            running.process.terminate()
        for running in self._running.values():
            try:
                running.process.wait(STOP_TIMEOUT_S)
            except subprocess.TimeoutExpired:
                running.process.kill()
                running.process.wait()
            running.close()
        self._running.clear()

    def _start(self, index: int, arguments: Sequence[str]) -> Running:
        output, errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        try:
            # A session of its own: Ctrl-C reaches us first, and we end it in order.
            process = subprocess.Popen(
                [str(self._executable), *arguments], stdin=subprocess.DEVNULL, stdout=output,
                stderr=errors, start_new_session=True,
                preexec_fn=die_with_parent)  # noqa: PLW1509 - prctl() needs no lock
        except OSError as error:
            output.close()
            errors.close()
            raise LullError(f"{self._executable}: cannot start ({error.strerror}): "
                            "build it again with 'make build'") from None
        running = Running(index, process, output, errors, os.pidfd_open(process.pid))
        self._running[index] = running
        return running

    def _collect(self, running: Running) -> str:
        status = running.process.wait()
        del self._running[running.index]
        running.output.seek(0)
        running.errors.seek(0)
        text = running.output.read().decode(errors="replace")
        words = running.errors.read().decode(errors="replace")
        running.close()
        if status != 0:
            raise _failure(self._executable.name, status, words)
        return text


def _failure(name: str, status: int, words: str) -> LullError:
    """Its own last sentence; usage errors stay usage errors."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    if status < 0:
        return LullError(f"{name} was ended by signal {-status}"
                         + (f": {lines[-1]}" if lines else ""))
    said = lines[-1] if lines else f"it ended with status {status} and gave no reason"
    return LullError(said if said.startswith(name) else f"{name}: {said}", 2 if status == 2 else 1)


def progress_bar(total: int, what: str) -> tuple[Progress, TaskID]:
    """A bar on standard error where somebody watches it; begin it with `with`."""
    progress = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
        TimeRemainingColumn(), TextColumn("{task.fields[detail]}", style="dim"),
        # rich before 14 ends a disabled bar with an empty line, unless it is quiet.
        console=Console(file=sys.stderr, highlight=False, quiet=not sys.stderr.isatty()),
        transient=True, disable=not sys.stderr.isatty())
    return progress, progress.add_task(what, total=total, detail="")
