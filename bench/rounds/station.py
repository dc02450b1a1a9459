# SPDX-License-Identifier: BSD-3-Clause
"""Station: programs in the nodes of a bed, the CPU they take, and who else took some."""

from __future__ import annotations

import ctypes
import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from lull.channel.bed import Bed
from lull.channel.bed_namespace import inside
from lull.program.runqueue import DISTURBED_PCT, waited_ns
from lull.program.tree import Tree

SETTLE_S = 0.7  # programs have connected by then
TIMEOUT_S = 30.0
READY_S = 10.0
LISTENS = "0A"  # a state in /proc/net/tcp
GRACE_S = 3.0
LINES_TOLD = 3
PR_SET_CHILD_SUBREAPER = 36
PF_KTHREAD = 0x00200000
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PROC = Path("/proc")

Figures = dict[str, float]


class PeerError(Exception):
    """One sentence: why a peer has no figures here."""


@dataclass
class Work:
    """CPU time of the programs of a node in a window, in percent of one CPU."""

    node: str
    cpu_pct: float
    waited_pct: float  # ready, while another thread had the CPU; ours or not


@dataclass
class Ended:
    """A program that has ended well."""

    out: str
    work: list[Work] = field(default_factory=list)


def cpu(ended: Ended) -> Figures:
    """CPU of both sides."""
    return {f"cpu_{one.node}_pct": one.cpu_pct for one in ended.work}


class Station:
    """Leaving the block ends everything that was started."""

    def __init__(self, bed: Bed, seconds: float) -> None:
        self.bed = bed
        self.seconds = seconds
        self.commands: list[str] = []  # as anybody can type them
        self.received: Callable[[], int] | None = None  # bytes that node b's program has so far
        self.begun: Callable[[], bool] | None = None  # whether what is measured has begun
        self.apart: dict[str, int] = {}  # process ids of programs whose CPU is told apart too
        self.said = ""  # all that the last program which failed printed
        self._started: list[subprocess.Popen[str]] = []
        self._ready: set[int] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:  # fmt: skip
        for sign in (signal.SIGTERM, signal.SIGKILL):
            for process in self._started:
                if process.poll() is None:
                    os.killpg(process.pid, sign)
            end_s = time.monotonic() + GRACE_S
            while time.monotonic() < end_s and any(p.poll() is None for p in self._started):
                time.sleep(0.01)
        reap()

    def start(self, node: str, *words: str, environment: dict[str, str] | None = None,
              stdin: int = subprocess.DEVNULL) -> subprocess.Popen[str]:  # fmt: skip
        """A program in a node; told by its command line without the bed."""
        extra = [f"{key}={shlex.quote(value)}" for key, value in (environment or {}).items()]
        self.commands.append(f"{node}$ {' '.join([*extra, shlex.join(words)])}")
        try:
            process = subprocess.Popen(
                self.bed.command(node, *words), stdin=stdin, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, start_new_session=True,
                env={**os.environ, **(environment or {})},
            )  # fmt: skip
        except OSError as error:
            raise PeerError(f"{words[0]}: {error.strerror}") from None
        self._started.append(process)
        return process

    def tell(self, text: str, word: str) -> None:
        """Write commands with a word for what is of this machine alone."""
        self.commands = [line.replace(text, word) for line in self.commands]

    def listens(self, node: str, port: int, process: subprocess.Popen[str]) -> None:
        """Wait until a program takes TCP connections on a port."""

        def there() -> bool:
            text = Path("/proc/thread-self/net/tcp").read_text(encoding="ascii")
            text += Path("/proc/thread-self/net/tcp6").read_text(encoding="ascii")
            rows = [line.split() for line in text.splitlines()]
            return any(row[1].endswith(f":{port:04X}") and row[3] == LISTENS for row in rows)

        end_s = time.monotonic() + TIMEOUT_S
        while not inside(self.bed.namespace(node), there):
            if process.poll() is not None:
                raise PeerError(told(process.args, process.stdout.read() if process.stdout else ""))
            if time.monotonic() > end_s:
                raise PeerError(f"nobody listens on port {port} after {TIMEOUT_S:.0f} s")
            time.sleep(0.02)

    def finish(self, process: subprocess.Popen[str], watched: bool = True) -> Ended:
        """Wait until it ends; meanwhile measure the CPU of both nodes."""
        work: list[Work] = []
        ended = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(work, ended))
        if watched:
            watcher.start()
        try:
            out, _ = process.communicate(timeout=self.seconds + TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise PeerError(f"{name(process.args)} did not end within "
                            f"{self.seconds + TIMEOUT_S:.0f} s") from None  # fmt: skip
        finally:
            ended.set()
            if watched:
                watcher.join()
        if process.returncode != 0:
            self.said = out
            raise PeerError(told(process.args, out))
        return Ended(out, work)

    def _watch(self, work: list[Work], ended: threading.Event) -> None:
        end_s = time.monotonic() + READY_S
        while self.begun and not self.begun() and time.monotonic() < end_s:
            if ended.wait(0.02):
                return
        if ended.wait(min(SETTLE_S, self.seconds / 3)):
            return
        nodes = self.bed.nodes()
        before = self._look(nodes)
        begin = time.monotonic_ns()
        if ended.wait(max(0.1, self.seconds - 2 * SETTLE_S)):
            return  # its threads are gone
        passed = time.monotonic_ns() - begin
        for name, after in self._look(nodes).items():
            both = before[name].keys() & after.keys()
            cpu, waited = (sum(after[tid][i] - before[name][tid][i] for tid in both)
                           for i in (0, 1))  # fmt: skip
            if both:
                work.append(Work(name, 100 * cpu / passed, 100 * waited / passed))

    def _look(self, nodes: list[str]) -> dict[str, dict[int, tuple[int, int]]]:
        """By node, and by program that is told apart."""
        found = {}
        for node in nodes:
            listed = subprocess.run(["ip", "netns", "pids", self.bed.namespace(node)],
                                    capture_output=True, text=True, check=False)  # fmt: skip
            found[node] = self._threads(listed.stdout.split())
        return found | {name: self._threads([str(pid)]) for name, pid in self.apart.items()}

    @staticmethod
    def _threads(pids: list[str]) -> dict[int, tuple[int, int]]:
        """CPU time and run-queue wait of all threads of processes, in ns."""
        found: dict[int, tuple[int, int]] = {}
        tree = Tree(Path("/"))
        for pid in pids:
            for task in (PROC / pid / "task").glob("*/schedstat"):
                try:
                    fields = task.read_text(encoding="ascii").split()
                except OSError:
                    continue  # ended meanwhile
                tid = int(task.parent.name)
                found[tid] = (int(fields[0]), waited_ns(tree, tid))
        return found


def stop(process: subprocess.Popen[str]) -> None:
    """Ask a program to end in order, and wait for it."""
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise PeerError(f"{name(process.args)} did not end when told to") from None


def name(words: object) -> str:
    """The program of a command line that begins with `ip netns exec NODE`, or so and a shell."""
    assert isinstance(words, list)
    first = words.index("sh") + 4 if words[4] == "unshare" else 4  # sh -c SCRIPT sh PROGRAM
    return Path(words[first]).name


def ready(home: Path, process: subprocess.Popen[str], program: str) -> Path:
    """Wait for the telemetry socket of a program of ours, below its RUNTIME_DIRECTORY."""
    return await_path(lambda: list(home.glob("dpdk/*/dpdk_telemetry.v2*")), process, program)


def await_path(look: Callable[[], list[Path]], process: subprocess.Popen[str],
               program: str) -> Path:  # fmt: skip
    """Wait for a file that a program makes."""
    end_s = time.monotonic() + READY_S
    while not (found := look()):
        if process.poll() is not None:
            raise PeerError(told(process.args, process.stdout.read() if process.stdout else ""))
        if time.monotonic() > end_s:
            raise PeerError(f"{program} does not begin within {READY_S:.0f} s")
        time.sleep(0.02)
    return found[0]


def told(words: object, out: str) -> str:
    """What a program that failed said last, as one line."""
    lines = [line.strip(" -*") for line in out.splitlines() if line.strip(" -*=")]
    return f"{name(words)}: {'; '.join(lines[-LINES_TOLD:]) or 'failed and said nothing'}"


# ---- who else had a CPU ----


@dataclass(frozen=True)
class Others:
    """What the host and other programs took, in percent of all CPUs."""

    steal_pct: float
    foreign_pct: float

    def flaw(self) -> str:
        """Why a round does not count; nothing: it does."""
        if self.steal_pct > DISTURBED_PCT:
            return f"INVALID: the host took {self.steal_pct:.1f} % of the CPUs"
        if self.foreign_pct > DISTURBED_PCT:
            return f"INVALID: other programs had {self.foreign_pct:.1f} % of the CPUs"
        return ""


class Company:
    """Looks at the whole machine at both ends of a measurement.

    CPU time of a program includes that of its children which have ended, so short-lived ones
    count as well; programs of this bench and threads of the kernel, which carry its packets,
    do not.
    """

    def __init__(self) -> None:
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # orphans count as ours
        self._begin = time.monotonic()
        self._steal, self._foreign = _steal_s(), _foreign_s()

    def passed(self) -> Others:
        """Since it was made."""
        span = (time.monotonic() - self._begin) * (os.cpu_count() or 1)
        after = _foreign_s()
        # One that has ended is with its parent now; one that is new has all its time since.
        foreign = sum(after.values()) - sum(self._foreign.values())
        return Others(100 * (_steal_s() - self._steal) / span, 100 * max(0.0, foreign) / span)


def reap() -> None:
    """Take the exit status of orphans, so that their CPU time is ours."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return


def _steal_s() -> float:
    return sum(one.steal_s for one in Tree(Path("/")).cpu_times().values())


def _foreign_s() -> dict[int, float]:
    """CPU time of each program that is neither ours nor the kernel's."""
    parents: dict[int, int] = {}
    times: dict[int, float] = {}
    for path in PROC.glob("[0-9]*/stat"):
        try:
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # ended meanwhile
        pid = int(path.parent.name)
        parents[pid] = int(fields[1])
        if not int(fields[6]) & PF_KTHREAD:
            times[pid] = sum(map(int, fields[11:15])) / TICKS_PER_S
    own = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in own} - own:
        own |= more
    return {pid: spent for pid, spent in times.items() if pid not in own}
