# SPDX-License-Identifier: BSD-3-Clause
"""Neighbour: an ordinary busy program on one CPU, which shares it with a loop and ends with us.

One thread that computes without end, in the ordinary class and as nice as we are: what a batch
job would be. However this process ends, so does that one: at the end of its `with` block; by the
kernel when we are killed; and by itself should it have no parent left.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from types import TracebackType
from typing import Protocol, Self

from lull.errors import LullError

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)
# Looks for its parent some thousand times a second, and else does nothing but compute.
PROGRAM = ("import os, sys\nparent = int(sys.argv[1])\n"
           "while os.getppid() == parent:\n for _ in range(10000): pass\n")
SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


class Busy(Protocol):
    """A program that takes what it gets of a CPU."""

    def cpu_ns(self) -> int:
        """CPU time that it has had so far."""
        ...


class Neighbour:
    """The program; leaving the `with` block ends it."""

    def __init__(self, cpu: int) -> None:
        self._cpu = cpu
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        # A signal must not come between its start and our knowing of it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            self._process = self._start(before)
        finally:
            self._unblock(before)
        try:  # it is there already; this is for what is wrong with that
            os.sched_setaffinity(self.pid, {self._cpu})
        except OSError as error:
            self._end()
            raise LullError(f"CPU {self._cpu}: no other program may run there ({error.strerror}): "
                            "leave phase shared out with --phases") from None
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            self._end()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    @property
    def pid(self) -> int:
        """Process id."""
        assert self._process is not None
        return self._process.pid

    def cpu_ns(self) -> int:
        """CPU time that it has had so far, to the ns also while it runs."""
        if self._process is None or self._process.poll() is not None:
            raise LullError(f"the other program (pid {self.pid}) was ended by someone else: "
                            "repeat the demo")
        clock = ctypes.c_int()
        LIBC.clock_getcpuclockid(self.pid, ctypes.byref(clock))
        return time.clock_gettime_ns(clock.value)

    def _start(self, signals: set[int]) -> subprocess.Popen[bytes]:
        def prepare() -> None:
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            with contextlib.suppress(OSError):
                os.sched_setaffinity(0, {self._cpu})
                os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
            signal.pthread_sigmask(signal.SIG_SETMASK, signals)

        try:
            # A session of its own, as our programs have: Ctrl-C reaches us first.
            return subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", PROGRAM, str(os.getpid())],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                start_new_session=True, preexec_fn=prepare)  # noqa: PLW1509 - prctl() needs no lock
        except OSError as error:
            raise LullError(f"{sys.executable}: cannot start ({error.strerror})") from None

    def _unblock(self, signals: set[int]) -> None:
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, signals)
        except BaseException:  # raised by the handler of a signal that came meanwhile
            if self._process is not None:
                self._end()
            raise

    def _end(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()
