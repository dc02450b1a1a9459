# SPDX-License-Identifier: BSD-3-Clause
"""Wrap: any DPDK program, unmodified, started with the plugin.

Without a live view the program takes the place of this process, so that
signals, terminal and exit status are its own.
"""

import os
import shutil
import signal
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from lull.errors import LullError

PACKAGE_HOME = Path(__file__).resolve().parents[2]
NOT_EXECUTABLE, NOT_FOUND = 126, 127  # exit statuses, as shells have them
# What Python ignores for itself, and programs that it starts should not.
PYTHON_IGNORES = (signal.SIGPIPE, signal.SIGXFSZ)
# Commands that start another: its arguments come later than theirs.
LAUNCHERS = frozenset((
    "bash", "chroot", "chrt", "dash", "env", "gdb", "ionice", "ip", "ltrace", "nice",
    "nohup", "nsenter", "numactl", "perf", "setpriv", "setsid", "sh", "strace", "stdbuf", "sudo",
    "systemd-run", "taskset", "time", "timeout", "unshare", "valgrind", "xargs"))
# Programs whose EAL arguments do not come from the command line, and where they come from.
ELSEWHERE = {
    "ovs-vswitchd": "takes them from its database: "
                    "'ovs-vsctl --no-wait set Open_vSwitch . other_config:dpdk-extra=\"-d {}\"'",
    "suricata": "takes them from suricata.yaml: 'd: {}' below dpdk.eal-params",
}


@dataclass(frozen=True)
class Wrapped:
    """Everything that starting the program takes."""

    executable: Path
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    ignored: Collection[signal.Signals]  # signals that were ignored when lull was started


def resolve(command: str) -> Path:
    """The file that a shell would run."""
    found = shutil.which(command)
    if found:
        return Path(found)
    if "/" in command and Path(command).exists():
        raise LullError(f"{command} is not an executable file", NOT_EXECUTABLE)
    where = "there is no such file" if "/" in command else "not found on the PATH"
    raise LullError(f"{command}: {where}", NOT_FOUND)


def refuse_launcher(command: Sequence[str]) -> None:
    """Which DPDK it is about, and where its arguments stand, a launcher does not tell."""
    name = Path(command[0]).name
    if name in LAUNCHERS:
        raise LullError(
            f"{name} starts another program, whose arguments come later: say "
            f"'{name} ... lull wrap -- PROGRAM', or give the program '-d PLUGIN' yourself "
            "(lull-plugin(7) says where it is) and wrap all of it with --no-place", 2)


def place(command: Sequence[str], plugin: Path, memory: Sequence[str] = ()) -> tuple[str, ...]:
    """The command with the plugin and what its memory needs as its first arguments.

    Those of EAL come before the program's own.
    """
    name = Path(command[0]).name
    if name in ELSEWHERE:
        raise LullError(f"{name} has no DPDK arguments on its command line, it "
                        f"{ELSEWHERE[name].format(plugin)}; then wrap it with --no-place", 2)
    return (command[0], "-d", str(plugin), *memory, *command[1:])


def own_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without what the launcher of lull put there for lull itself."""
    own = dict(environment)
    first, colon, others = own.get("PYTHONPATH", "").partition(":")
    if first and Path(first).resolve() == PACKAGE_HOME:
        if colon:
            own["PYTHONPATH"] = others
        else:
            del own["PYTHONPATH"]
    return own


def give_back_signals(ignored: Collection[signal.Signals]) -> None:
    """Before the program starts: let signals do to it what they would have done without us."""
    for number in PYTHON_IGNORES:
        signal.signal(number, signal.SIG_DFL)
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


def become(wrapped: Wrapped) -> NoReturn:
    """Turn this process into the program."""
    sys.stdout.flush()
    sys.stderr.flush()
    give_back_signals(wrapped.ignored)
    try:
        os.execve(wrapped.executable, wrapped.arguments, wrapped.environment)  # noqa: S606
    except OSError as error:
        raise cannot_start(wrapped, error) from None


def cannot_start(wrapped: Wrapped, error: OSError) -> LullError:
    """The kernel does not want to run it."""
    return LullError(f"{wrapped.executable}: cannot start ({error.strerror})", NOT_EXECUTABLE)
