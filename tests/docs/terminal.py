# SPDX-License-Identifier: BSD-3-Clause
"""Commands typed into a shell one after the other, and programs that run until Ctrl-C."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from blocks import Step, missing
from place import Place

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from verdict import Failure, check, wait_for

MARK = "-- status "
TIMEOUT_S = 120.0


class Shell:
    """One shell, as a terminal has it: its jobs and variables stay from command to command."""

    def __init__(self, place: Place, root: bool = False) -> None:
        self.log = place.home.parent / f"shell-{time.monotonic_ns()}.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                place.command(["bash", "--norc", "--noprofile"], root),
                stdin=subprocess.PIPE, stdout=log, stderr=log, text=True, start_new_session=True)
        self._marks = 0
        self._write("set -m")

    def __enter__(self) -> Shell:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def _write(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def type(self, command: str, status: int = 0, timeout_s: float = TIMEOUT_S) -> str:
        """A command to its end with this exit status; what came on the terminal meanwhile."""
        before = len(self.said())
        self._marks += 1
        mark = f"{MARK}{self._marks}: "
        self._write(command)
        self._write(f'printf "\\n{mark}%s\\n" $?')

        def ended() -> re.Match[str] | None:
            check(self.process.poll() is None, f"the shell lives after {command}", self.said())
            return re.search(rf"^{mark}(\d+)$", self.said()[before:], re.MULTILINE)

        found = wait_for(f"{command} ends", ended, timeout_s)
        said = self.said()[before:][: found.start()]
        check(int(found[1]) == status, f"{command}: ends with {status}", f"{found[1]}: {said}")
        return said

    def does(self, step: Step) -> str:
        """A command of a page: exit status 0, and what the page shows."""
        said = self.type(step.command)
        lacks = missing(step.shown, said) if step.shown else ""
        check(not lacks, f"{step.command}: says {lacks}", said)
        return said

    def says(self, shown: str, what: str) -> None:
        """It comes by and by."""
        wait_for(f"{what}: {missing(shown, self.said())}",
                 lambda: not missing(f"...{shown}...", self.said()))


class Running:
    """A program that does not end by itself."""

    def __init__(self, place: Place, command: str, root: bool) -> None:
        self.command = command
        self.log = place.home.parent / f"running-{time.monotonic_ns()}.log"
        self._terminal, end = pty.openpty()
        with self.log.open("wb") as log:
            # It gives Ctrl-C and nothing else: testpmd would end at a line.
            self.process = subprocess.Popen(
                place.command(["bash", "-c", command], root), stdin=subprocess.PIPE, stdout=log,
                stderr=log, start_new_session=True,
                preexec_fn=lambda: fcntl.ioctl(end, termios.TIOCSCTTY, 0))
        os.close(end)

    def close(self) -> None:
        """Its end whatever happens."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        os.close(self._terminal)

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def until(self, what: str, condition: Callable[[], Any], timeout_s: float = 60.0) -> Any:
        """Wait for it while the program lives."""

        def look() -> Any:
            status = self.process.poll()
            if status is not None:
                raise Failure(f"{self.command}: ended with {status} before {what}: {self.said()}")
            return condition()

        try:
            return wait_for(f"{self.command}: {what}", look, timeout_s)
        except Failure as failure:
            raise Failure(f"{failure}: {self.said()[-3000:]}") from None

    def until_said(self, pattern: str) -> re.Match[str]:
        found: re.Match[str] = self.until(f"says {pattern}",
                                          lambda: re.search(pattern, self.said()))
        return found

    def interrupt(self, statuses: tuple[int, ...] = (0,)) -> str:
        """Ctrl-C. Sent by kill(2) it would come twice: sudo passes on what no terminal sent."""
        os.write(self._terminal, b"\x03")
        try:
            status = self.process.wait(60)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.command}: does not end at Ctrl-C: {self.said()}") from None
        check(status in statuses, f"{self.command}: ends with {statuses} at Ctrl-C",
              f"{status}: {self.said()}")
        check("Traceback" not in self.said(), f"{self.command}: no traceback", self.said())
        return self.said()


@contextmanager
def running(place: Place, command: str, root: bool = False) -> Iterator[Running]:
    program = Running(place, command, root)
    try:
        yield program
    finally:
        program.close()
