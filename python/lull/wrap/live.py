# SPDX-License-Identifier: BSD-3-Clause
"""Wrap, live: the program as a child in front of whom we show its loops.

The child has our terminal, so what one types there reaches it: keys, and the
signals that the terminal makes of some of them. Signals that somebody sends
to us are passed on.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from types import TracebackType
from typing import IO, Self, TextIO

from lull.errors import LullError
from lull.program import loops_view
from lull.program.child import PR_SET_PDEATHSIG, end_process
from lull.program.programs import connect_started
from lull.wrap.wrap import Wrapped, cannot_start, give_back_signals

PASSED = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGWINCH,
                    signal.SIGUSR1, signal.SIGUSR2})
SEARCH_S = 0.2


class Ended(Exception):  # noqa: N818 - told, not failed
    """The program has ended."""


class Program:
    """The running program. A pace too: time that passes is spent passing signals on."""

    def __init__(self, wrapped: Wrapped, output: IO[bytes] | None) -> None:
        self.name = wrapped.executable.name
        self._before = signal.pthread_sigmask(signal.SIG_BLOCK, PASSED | {signal.SIGCHLD})
        libc = ctypes.CDLL(None)

        def prepare() -> None:
            give_back_signals(wrapped.ignored)
            signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

        try:
            self._process = subprocess.Popen(
                wrapped.arguments, executable=wrapped.executable, env=wrapped.environment,
                stdout=output if sys.stdout.isatty() else None,
                stderr=output if sys.stderr.isatty() else None,
                preexec_fn=prepare)  # noqa: PLW1509 - neither call needs a lock
        except OSError as error:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
            raise cannot_start(wrapped, error) from None
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        end_process(self._process)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)

    @property
    def status(self) -> int:
        """Exit status as a shell tells it."""
        status = self._process.returncode
        return status if status >= 0 else 128 - status

    def now(self) -> float:
        """Monotonic seconds."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait, and pass signals on meanwhile."""
        deadline = self.now() + seconds
        while True:
            if self._process.poll() is not None:
                raise Ended
            found = signal.sigtimedwait(PASSED | {signal.SIGCHLD}, max(0, deadline - self.now()))
            if found is None:
                return
            # What comes from the kernel comes from the terminal, which has told the program too.
            if found.si_signo != signal.SIGCHLD and found.si_code <= 0:
                self._process.send_signal(found.si_signo)


class Viewer:
    """Shows the program's loops whenever it has some."""

    def __init__(self, program: Program, file: TextIO, interval_s: float) -> None:
        self._program = program
        self._file = file
        self._interval_s = interval_s
        self.trouble = f"{program.name} showed no loops by telemetry"

    def show(self) -> None:
        """Look on until the program ends, or nobody looks any more."""
        while True:
            telemetry = connect_started(self._program.pid)
            if telemetry is not None:
                with telemetry:
                    try:
                        telemetry.loops()
                        self.trouble = ""
                        loops_view.watch(telemetry, self._program, self._file, self._interval_s)
                    except LullError as error:  # as a rule: it is about to end
                        self.trouble = self.trouble and str(error)
                    except OSError:
                        os.dup2(os.open(os.devnull, os.O_WRONLY), self._file.fileno())
                        return
            self._program.sleep(SEARCH_S)


def run(wrapped: Wrapped, interval_s: float) -> int:
    """Run the program to its end with its loops in view; returns its exit status.

    The view goes to the terminal. What the program itself prints there
    appears when the view is over.
    """
    file = sys.stdout if sys.stdout.isatty() else sys.stderr
    with tempfile.TemporaryFile() if file.isatty() else contextlib.nullcontext() as output:
        with Program(wrapped, output) as program:
            viewer = Viewer(program, file, interval_s)
            with contextlib.suppress(Ended):
                viewer.show()
                while True:
                    program.sleep(1)
        if output is not None:
            output.seek(0)
            shutil.copyfileobj(output, file.buffer)
            file.flush()
    if viewer.trouble:
        print(f"lull: no live view: {viewer.trouble}", file=sys.stderr)
    return program.status
