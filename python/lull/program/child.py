# SPDX-License-Identifier: BSD-3-Clause
"""Child: a lull program started by us, and ended by us whatever happens."""

import ctypes
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from lull.errors import LullError
from lull.program.pace import Pace
from lull.program.programs import runtime_dirs
from lull.program.telemetry import Telemetry, TelemetryError

CHECKOUT = Path(__file__).resolve().parents[3]
START_TIMEOUT_S = 20.0
STOP_TIMEOUT_S = 5.0
POLL_S = 0.05
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Ask a process to end, and end it by force when it does not listen."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def find_program(name: str, folder: str = "") -> Path:
    """The executable: below $LULL_BUILD, in the build directory of the checkout, or on the PATH.
    Programs lie in a folder of their own below apps/, or in the one given.
    """
    inside = Path(folder or f"apps/{name}") / name
    chosen = os.environ.get("LULL_BUILD")
    if chosen:
        path = Path(chosen).expanduser().resolve() / inside
        if os.access(path, os.X_OK):
            return path
        raise LullError(f"{path} is missing: build it, or unset LULL_BUILD")
    path = CHECKOUT / "build" / inside
    if os.access(path, os.X_OK):
        return path
    found = shutil.which(name)
    if found:
        return Path(found)
    if (CHECKOUT / "meson.build").exists():
        raise LullError(f"{path} is missing and {name} is not on the PATH: run 'make build' "
                        f"in {CHECKOUT}, or set LULL_BUILD to a build directory")
    raise LullError(f"{name} is not on the PATH: install it, or set LULL_BUILD "
                    "to a build directory")


def die_with_parent() -> None:
    """Runs in a child before its program: should we be killed, it gets a signal."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


class Child:
    """A running program; leaving the `with` block ends it and tidies up after it."""

    def __init__(self, executable: Path, arguments: Sequence[str], pace: Pace,
                 prefix: Sequence[str] = ()) -> None:
        """Start it, by a prefix that becomes it in the end, as `ip netns exec NAME` does."""
        self.name = executable.name
        self._pace = pace
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in __exit__
        try:
            # A session of its own: Ctrl-C reaches us first, and we end it in order.
            self._process = subprocess.Popen(
                [*prefix, str(executable), *arguments], stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=self._errors, start_new_session=True,
                preexec_fn=die_with_parent)  # noqa: PLW1509 - prctl() needs no lock
        except OSError as error:
            self._errors.close()
            raise LullError(f"{executable}: cannot start ({error.strerror}): "
                            "build it again with 'make build'") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.stop()
        self._errors.close()

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def ended(self, within_s: float = 0.0) -> int | None:
        """Exit status, or None while it runs: still, after that time."""
        try:
            return self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            return None

    def connect(self, timeout_s: float = START_TIMEOUT_S) -> Telemetry:
        """Wait until the program answers by telemetry."""
        deadline = self._pace.now() + timeout_s
        while True:
            self.check()
            telemetry = self._try_connect()
            if telemetry is not None:
                return telemetry
            if self._pace.now() >= deadline:
                raise LullError(f"{self.name} (pid {self.pid}) does not answer by telemetry after "
                                f"{timeout_s:g} s (looked in "
                                f"{', '.join(map(str, self._directories()))}): run 'lull doctor'")
            self._pace.sleep(POLL_S)

    def check(self) -> None:
        """Complain if the program has ended."""
        status = self.ended()
        if status is not None:
            raise self.failure(status)

    def failure(self, status: int) -> LullError:
        """Why the program ended, in its own words if it left any."""
        how = f"with status {status}" if status >= 0 else f"by {signal.Signals(-status).name}"
        words = self.last_words()
        if not words:
            words = "it printed no reason; run 'lull doctor'"
        return LullError(f"{self.name} ended {how}: {words.removeprefix(self.name + ': ')}")

    def last_words(self) -> str:
        """Last line that the program wrote to its standard error."""
        return next(reversed(self.said()), "")

    def said(self) -> list[str]:
        """All lines of it that are not empty. The program writes where we would seek: we do not."""
        size = os.fstat(self._errors.fileno()).st_size
        text = os.pread(self._errors.fileno(), size, 0).decode(errors="replace")
        return [line for line in map(str.strip, text.splitlines()) if line]

    def stop(self) -> int:
        """End the program, by force if it does not listen; returns its exit status."""
        # A second Ctrl-C must not leave it running.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        try:
            return self._end()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _end(self) -> int:
        end_process(self._process)
        self._tidy()
        return self._process.returncode

    def _directories(self) -> list[Path]:
        return [directory / f"{self.name}-{self.pid}" for directory in runtime_dirs()]

    def _try_connect(self) -> Telemetry | None:
        for directory in self._directories():
            try:
                paths = sorted(directory.glob("dpdk_telemetry.v2*"))
            except OSError:  # that of root, which others may not even look into
                continue
            for path in paths:
                try:
                    telemetry = Telemetry(path)
                except TelemetryError:
                    continue
                try:
                    ready = telemetry.ask("/lull/info") is not None
                except TelemetryError:
                    ready = False
                if ready:
                    return telemetry
                telemetry.close()
        return None

    def _tidy(self) -> None:
        """A program that was killed leaves its runtime directory; the pid says that it is ours."""
        for directory in self._directories():
            shutil.rmtree(directory, ignore_errors=True)
