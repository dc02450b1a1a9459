# SPDX-License-Identifier: BSD-3-Clause
"""Programs: find the lull programs that run on this machine by their telemetry sockets."""

import os
from dataclasses import dataclass
from pathlib import Path

from lull.errors import LullError
from lull.program.replies import Info
from lull.program.telemetry import Telemetry, TelemetryError

SOCKET_PATTERN = "*/dpdk_telemetry.v2*"
SCAN_TIMEOUT_S = 1.0


@dataclass(frozen=True)
class Choice:
    """Which program the user means; empty: the only one there is."""

    pid: int | None = None
    socket: Path | None = None
    program: str | None = None


@dataclass(frozen=True)
class Running:
    """A lull program that answers."""

    socket: Path
    info: Info


def runtime_dirs() -> list[Path]:
    """Where DPDK puts its runtime directories: for root, for users, without XDG."""
    candidates = [Path("/var/run/dpdk")]
    for variable in ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"):
        if os.environ.get(variable):
            candidates.append(Path(os.environ[variable]) / "dpdk")
    candidates.append(Path("/tmp/dpdk"))  # noqa: S108 - DPDK's own last resort
    return list(dict.fromkeys(candidates))


def sockets(dirs: list[Path] | None = None) -> list[Path]:
    """Telemetry sockets, alive or not."""
    found: list[Path] = []
    for directory in runtime_dirs() if dirs is None else dirs:
        try:
            found += sorted(directory.glob(SOCKET_PATTERN))
        except OSError:
            continue
    return found


def scan(dirs: list[Path] | None = None) -> tuple[list[Running], list[TelemetryError]]:
    """Lull programs that answer, and what went wrong with the sockets that did not."""
    running: list[Running] = []
    errors: list[TelemetryError] = []
    for path in sockets(dirs):
        try:
            with Telemetry(path, SCAN_TIMEOUT_S) as telemetry:
                if telemetry.ask("/lull/info") is not None:
                    running.append(Running(path, telemetry.info()))
        except TelemetryError as error:
            errors.append(error)
    return running, errors


def connect(choice: Choice, dirs: list[Path] | None = None) -> Telemetry:
    """Connection to the program the user means."""
    if choice.socket is not None:
        return Telemetry(choice.socket)
    running, errors = scan(dirs)
    matching = [one for one in running
                if choice.pid in (None, one.info.pid)
                and choice.program in (None, one.info.program)]
    if len(matching) == 1:
        return Telemetry(matching[0].socket)
    if matching:
        raise LullError(f"{len(matching)} programs run ({names(matching)}): choose one with --pid")
    if running:
        raise LullError(f"no such program; these run: {names(running)}")
    denied = [error for error in errors if "permission denied" in str(error)]
    if denied:
        raise denied[0]
    looked = ", ".join(str(path) for path in (runtime_dirs() if dirs is None else dirs))
    raise LullError(f"no lull program is running (looked in {looked}): "
                    "start one with 'lull demo', 'lull run CONFIG' or 'lull wrap -- COMMAND'")


def connect_started(pid: int, dirs: list[Path] | None = None) -> Telemetry | None:
    """Connection to a program that we started, or that what we started has started."""
    for path in sockets(dirs):
        try:
            telemetry = Telemetry(path, SCAN_TIMEOUT_S)
        except TelemetryError:
            continue
        try:
            if (_is_below(telemetry.greeting.pid, pid)
                    and telemetry.ask("/lull/info") is not None):
                return telemetry
        except TelemetryError:
            pass
        telemetry.close()
    return None


def _is_below(pid: int, ancestor: int) -> bool:
    """Is it the same process, or a child of its children?"""
    while pid not in (0, 1, ancestor):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        except OSError:
            return False
        pid = int(stat.rpartition(")")[2].split()[1])
    return pid == ancestor


def names(running: list[Running]) -> str:
    """The programs in a few words."""
    return ", ".join(f"{one.info.program} --pid {one.info.pid}" for one in running)
