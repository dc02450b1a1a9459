# SPDX-License-Identifier: BSD-3-Clause
"""Program: processes in network namespaces of their own, and all that goes away with them.

Everything started or written belongs to a Place and ends with it: at the end,
on an error, on a signal. The place never looks outside its namespaces and
its temporary directory.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import machine

TIMEOUT_S = 30.0
GRACE_S = 5.0
PREFIX = "lull-idle-"  # of what must not outlive us: PREFIX, process id, a dash, anything
SOURCE, FORWARDER = "source", "forwarder"  # sides of a place
PR_SET_PDEATHSIG = 1
LOG_TAIL_LINES = 12
REPLY_BYTES = 1 << 16
# ENTER ROOT PATH... -- COMMAND...: in the Debian in ROOT, each PATH being that of this machine. All
# mounts are in a namespace that ends with the command, which keeps the process's number.
ENTER = """set -e
for name in proc sys dev; do mount --rbind "/$name" "$0/$name"; done
mount -t tmpfs -o mode=755 tmpfs "$0/run"
mount -t tmpfs -o mode=1777 tmpfs "$0/tmp"
while [ "$1" != -- ]; do
	mkdir -p "$0$1"
	mount --bind "$1" "$0$1"
	shift
done
shift
exec chroot "$0" "$@"
"""

libc = ctypes.CDLL(None, use_errno=True)
Answer = TypeVar("Answer")


class BenchError(Exception):
    """One sentence for the user: what cannot be measured, and why."""


def run(*command: str, env: dict[str, str] | None = None) -> str:
    """Run a command to its end; what it printed, or BenchError with what it complained about."""
    try:
        done = subprocess.run(
            command, env=env, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
        )
    except FileNotFoundError:
        raise BenchError(f"{command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise BenchError(f"{' '.join(command)}: no end after {TIMEOUT_S:.0f} s") from None
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def wait_for(
    what: str, condition: Callable[[], Answer | None], timeout_s: float = TIMEOUT_S
) -> Answer:
    """Ask until there is an answer."""
    end = time.monotonic() + timeout_s
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > end:
            raise BenchError(f"waited {timeout_s:.0f} s in vain: {what}")
        time.sleep(0.01)


def _end_with_parent() -> None:
    """Run in the child: should the benchmark be killed, its programs follow."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Program:
    """A process of a place."""

    def __init__(
        self, place: Place, side: str, name: str, argv: list[str], cpu: int | None = None
    ) -> None:
        self.name = name
        self.place = place
        self.log_path = place.path(f"{name}.log")
        # ip(8), sh(1) and taskset(1) replace themselves, so the pid is the program's.
        command = []
        if side in place.within:  # before ip(8), which hides the control groups
            command += ["sh", "-c", 'echo $$ >"$0" && exec "$@"', str(place.within[side])]
        command += ["ip", "netns", "exec", place.namespaces[side]]
        if cpu is not None:
            command += ["taskset", "--cpu-list", str(cpu)]
        with self.log_path.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, *argv],
                stdin=subprocess.PIPE,  # testpmd ends at the end of its input
                stdout=log,
                stderr=log,
                env=place.env,
                start_new_session=True,  # Ctrl-C is for the benchmark, which ends them in order
                preexec_fn=_end_with_parent,  # noqa: PLW1509, RUF100 - there are no threads here
            )

    @property
    def pid(self) -> int:
        """Of the program itself."""
        return self.process.pid

    def log_tail(self) -> str:
        """The last lines it wrote."""
        lines = self.log_path.read_text(encoding="utf-8", errors="replace").split("\n")
        return "\n".join(lines[-LOG_TAIL_LINES:]).strip()

    def check_alive(self) -> None:
        """Raise when it ended by itself."""
        status = self.process.poll()
        if status is not None:
            raise BenchError(f"{self.name} ended with {status}: {self.log_tail()}")

    def stop(self) -> None:
        """Ask it to end, and end it when it does not listen."""
        for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is not None:
                break
            self.process.send_signal(sign)
            try:
                self.process.wait(GRACE_S)
            except subprocess.TimeoutExpired:
                continue
        if self.process.stdin:
            self.process.stdin.close()


class Telemetry:
    """Questions to a lull program over its telemetry socket."""

    def __init__(self, program: Program, path: Path) -> None:
        self.program = program
        self.path = path

    def ask(self, command: str) -> Any:  # noqa: ANN401, RUF100 - JSON is anything
        """The value under the command's name; BenchError when there is none."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.settimeout(TIMEOUT_S)
            client.connect(str(self.path))
            client.recv(REPLY_BYTES)  # greeting
            client.send(command.encode())
            reply = json.loads(client.recv(REPLY_BYTES))
        value = reply.get(command.partition(",")[0])
        if value is None:
            raise BenchError(f"{self.program.name} has no answer to {command}")
        return value

    def ready(self) -> list[str]:
        """Wait until it answers; names of its loops."""

        def loops() -> list[str] | None:
            self.program.check_alive()
            try:
                return list(self.ask("/lull/info")["loops"])
            except (OSError, BenchError, KeyError, ValueError):
                return None

        return wait_for(f"{self.program.name} answers", loops)

    def set(self, assignment: str) -> None:
        """Change a setting."""
        reply = self.ask(f"/lull/set,{assignment}")
        if reply.get("ok") != 1:
            raise BenchError(f"{self.program.name}: {reply.get('error', assignment)}")


class Place:
    """Network namespaces, a directory, and the programs that run there.

    One for each side, because DPDK's af_packet names its fanout groups by process and
    interface number, and two programs in one namespace may hit the same name.
    """

    def __init__(self, *more: str) -> None:
        sides = (SOURCE, FORWARDER, *more)
        self.namespaces = {side: f"{PREFIX}{os.getpid()}-{side}" for side in sides}
        self.within: dict[str, Path] = {}  # by side: cgroup.procs of the group its programs enter
        self.directory = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        self.programs: list[Program] = []
        self.root: Path | None = None  # a Debian that the forwarder comes from; None: this machine
        self.shown: list[Path] = []  # folders of this machine that are there in it, too
        self.env = dict(os.environ, RUNTIME_DIRECTORY=str(self.directory))

    def __enter__(self) -> Place:
        try:
            self._open()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def _open(self) -> None:
        remove_left_over()
        for side, name in self.namespaces.items():
            run("ip", "netns", "add", name)
            for scope in ("all", "default"):  # no neighbour discovery between the packets
                setting = f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6"
                self.run(side, "sh", "-c", f"[ ! -e {setting} ] || echo 1 >{setting}")

    def _close(self) -> None:
        self.stop_all()
        for name in self.namespaces.values():
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.directory, ignore_errors=True)

    def path(self, name: str) -> Path:
        """A file of this place."""
        return self.directory / name

    def run(self, side: str, *command: str) -> str:
        """Run a command in one of the namespaces to its end."""
        return run("ip", "netns", "exec", self.namespaces[side], *command, env=self.env)

    def inside(self, *command: str) -> list[str]:
        """The command as it runs in the Debian that is chosen."""
        if self.root is None:
            return [*command]
        shown = [str(path) for path in (self.directory, *self.shown)]
        return ["unshare", "--mount", "sh", "-c", ENTER, str(self.root), *shown, "--", *command]

    def file(self, path: Path) -> Path:
        """Where a file of that Debian is to be found from here."""
        return path if self.root is None else self.root / path.relative_to("/")

    def start(self, side: str, name: str, argv: list[str], cpu: int | None = None) -> Program:
        """Start a program, tied to one CPU if given."""
        program = Program(self, side, name, argv, cpu)
        self.programs.append(program)
        return program

    def stop_all(self) -> None:
        """End all programs, the last one started first."""
        while self.programs:
            self.programs[-1].stop()
            self.programs.pop()

    def dpdk_socket(self, prefix: str) -> Path:
        """Where a DPDK program with this file prefix listens."""
        return self.directory / "dpdk" / prefix / "dpdk_telemetry.v2"


def _ownerless(name: str) -> bool:
    """Made by a benchmark that is no more."""
    owner = name.removeprefix(PREFIX).partition("-")[0]
    return name.startswith(PREFIX) and owner.isdigit() and not (machine.PROC / owner).exists()


def left_over(folder: Path) -> list[Path]:
    """What benchmarks left there that were killed."""
    return [path for path in folder.glob(f"{PREFIX}*") if _ownerless(path.name)]


def remove_left_over() -> None:
    """Remove what benchmarks left that were killed."""
    for name in filter(_ownerless, run("ip", "netns", "list").split()):
        run("ip", "netns", "del", name)
    for path in left_over(Path(tempfile.gettempdir())):
        shutil.rmtree(path, ignore_errors=True)


def place_threads(pid: int, polling_tid: int, other_cpu: int, nice: int) -> None:
    """Keep every thread but the polling one on one CPU; all with the same priority."""
    group = machine.PROC / str(pid) / "autogroup"
    if group.exists() and nice != 0:  # the kernel shares CPU time by session first
        group.write_text(str(nice), encoding="utf-8")
    for tid in machine.threads(pid):
        try:
            if tid != polling_tid:
                os.sched_setaffinity(tid, {other_cpu})
            os.setpriority(os.PRIO_PROCESS, tid, nice)
        except OSError:
            continue  # ended meanwhile
