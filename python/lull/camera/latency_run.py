# SPDX-License-Identifier: BSD-3-Clause
"""Camera latency, its runs: sender and receiver on CPUs of their own, receivers taking turns."""

import contextlib
import os
import tempfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lull.camera.latency import RECEIVERS, Round, Settings
from lull.camera.latency_reply import CamReply, SourceReply, read
from lull.camera.latency_wire import INTERFACE, RECEIVER, SENDER
from lull.errors import LullError
from lull.program.child import START_TIMEOUT_S, Child
from lull.program.pace import Pace
from lull.program.runqueue import waited_ns
from lull.program.tree import CpuTime, Tree

PORT = 20202
STEP_S = 0.05  # we look from the sender's CPU: not too often
CATCH_UP_S = 2.0  # after the last packet was sent: for a frame that will never come
THREAD = "lull-camera"
IP_UDP_BYTES = 28
READY = "lull-cam: receiving "


class Ends(Protocol):
    """The two ends of a wire."""

    def sender(self) -> list[str]:
        """What makes a command run at the sender's end."""

    def receiver(self) -> list[str]:
        """What makes a command run at the receiver's end."""


@dataclass(frozen=True)
class Programs:
    """Where they lie."""

    cam: Path
    source: Path


@dataclass
class Bench:
    """Runs rounds; remembers which DPDK the receiver is built with."""

    settings: Settings
    programs: Programs
    ends: Ends
    pace: Pace
    tree: Tree
    cpus: frozenset[int]  # all that we may use
    dpdk: str = field(default="", init=False)

    def rounds(self, advance: Callable[[str], None]) -> Iterator[Round]:
        """Receivers take turns, so that the host's moods meet all of them."""
        for number in range(1, self.settings.rounds + 1):
            for cameras in self.settings.cameras:
                for receiver in self.settings.receivers:
                    yield self.one(receiver, cameras, number)
                    advance(f"{cameras} x {RECEIVERS[receiver].title}")

    def one(self, receiver: str, cameras: int, number: int) -> Round:
        """The receiver first; it ends when it has all frames, or when no more will come."""
        with tempfile.TemporaryDirectory(prefix="lull-camera-") as scratch:
            received, sent = Path(scratch, "cam.json"), Path(scratch, "source.json")
            before = self.tree.cpu_times()
            with self._cam(receiver, cameras, received) as cam:
                self._wait_ready(cam)
                watch = Watch(cam.pid, self.tree, RECEIVERS[receiver].direct)
                watch.watch_cpus(self.cpus_used())
                with self._source(cameras, sent) as source:
                    waited_send_ns = self._follow(source, cam, watch)
                self._end(cam, watch)
            reply = read(received, CamReply, "lull-cam")
            source_reply = read(sent, SourceReply, "lull-cam-source")
        self.dpdk = reply.machine.dpdk or self.dpdk  # over sockets there is none
        totals = reply.totals
        return Round(
            receiver=receiver, cameras=cameras, number=number, sent=source_reply.sent(),
            complete=reply.complete(), partial=reply.partial(), missed=totals.missed,
            picture_bytes=reply.picture_bytes(), cpu_s=totals.cpu_ns / 1e9,
            wall_s=totals.wall_ns / 1e9, waited_s=watch.waited_s(),
            waited_send_s=waited_send_ns / 1e9, late=reply.late(),
            steal_pct=100 * totals.steal_ns / max(1, totals.wall_ns),
            steal_send_pct=_stolen_pct(before, self.tree.cpu_times(), self.settings.send_cpu),
            gaps_late=totals.gaps_late, done=reply.done(), fetched=reply.fetched(),
            arrived=reply.arrived(),
            gap=reply.gap_ns, notes=reply.notes())

    def cpus_used(self) -> set[int]:
        """CPUs for what is not measured: neither of the two, else the sender's."""
        others = set(self.cpus) - {self.settings.receive_cpu}
        return others - {self.settings.send_cpu} or others

    def _child(self, program: Path, words: list[str], namespace: list[str]) -> Child:
        """Each may use both CPUs, whatever this process keeps to, and pins its own threads."""
        chosen = self.settings
        prefix = [*namespace, "taskset", "-c", ",".join(map(str, sorted(self.cpus)))]
        if chosen.nice:
            prefix += ["nice", "-n", str(chosen.nice)]
        child = Child(program, words, self.pace, prefix)
        if chosen.nice:
            # A session of its own may be a group of its own, within which alone nice(1) counts.
            with contextlib.suppress(OSError):
                self.tree.path(f"/proc/{child.pid}/autogroup").write_text(str(chosen.nice))
        return child

    def _cam(self, receiver: str, cameras: int, result: Path) -> Child:
        chosen, kind = self.settings, RECEIVERS[receiver]
        stream = (f"protocol={chosen.protocol},port={PORT},width={chosen.width},"
                  f"height={chosen.height},pixel={chosen.pixel}")
        if chosen.protocol == "gvsp":
            stream += f",packet-bytes={chosen.packet + IP_UDP_BYTES}"
        words = ["--backend", kind.backend.format(INTERFACE), "--stream", stream,
                 "--cameras", str(cameras), "--cpu", str(chosen.receive_cpu), "--sent-stamp",
                 "--frames", str(chosen.frames() * cameras), "--stats", "0",
                 "--json", str(result)]
        if kind.direct:
            words.append("--direct")
        if kind.governor:
            words += ["--governor", kind.governor]
        return self._child(self.programs.cam, words, self.ends.receiver())

    def _source(self, cameras: int, result: Path) -> Child:
        chosen = self.settings
        # One that cannot keep the rate must end, too.
        limit_ms = round(1000 * (2 * chosen.seconds + CATCH_UP_S))
        words = ["--protocol", chosen.protocol, "--bind", SENDER, "--to", f"{RECEIVER}:{PORT}",
                 "--cameras", str(cameras), "--width", str(chosen.width),
                 "--height", str(chosen.height), "--pixel", chosen.pixel,
                 "--packet", str(chosen.packet), "--rate", f"{chosen.rate:g}",
                 "--pace", chosen.pace, "--stagger", chosen.stagger, "--seed", str(chosen.seed),
                 "--cpus", str(chosen.send_cpu), "--sent-stamp", "--segment",
                 "--frames", str(chosen.frames()), "--duration", f"{limit_ms}ms",
                 "--linger", "0", "--stats", "0", "--json", str(result)]
        return self._child(self.programs.source, words, self.ends.sender())

    def _wait_ready(self, cam: Child) -> None:
        deadline = self.pace.now() + START_TIMEOUT_S
        while not any(line.startswith(READY) for line in cam.said()):
            cam.check()
            if self.pace.now() >= deadline:
                raise LullError(f"lull-cam (pid {cam.pid}) is not ready after "
                                f"{START_TIMEOUT_S:g} s: {cam.last_words() or 'it says nothing'}")
            self.pace.sleep(STEP_S)

    def _follow(self, source: Child, cam: Child, watch: "Watch") -> int:
        """Until the sender has ended; the receiver may have done so by then. How long the sender
        waited for its CPU, in ns.
        """
        waited = 0
        while (status := source.ended()) is None:
            if cam.ended() not in (None, 0):
                cam.check()
            watch.look()
            waited = max(waited, waited_ns(self.tree, source.pid))
            self.pace.sleep(STEP_S)
        if status != 0:
            raise source.failure(status)
        return waited

    def _end(self, cam: Child, watch: "Watch") -> None:
        deadline = self.pace.now() + CATCH_UP_S
        while cam.ended() is None and self.pace.now() < deadline:
            watch.look()
            self.pace.sleep(STEP_S)
        status = cam.stop()
        if status != 0:
            raise cam.failure(status)


class Watch:
    """The receiving thread, from outside."""

    def __init__(self, pid: int, tree: Tree, direct: bool) -> None:
        self._tree = tree
        names = {int(path.name): tree.text(f"/proc/{pid}/task/{path.name}/comm")
                 for path in tree.glob(f"/proc/{pid}/task/*")}
        self._others = {tid for tid, name in names.items()
                        if (tid != pid if direct else name != THREAD)}
        self._receiving = set(names) - self._others
        self._begin_ns = self._end_ns = self._waited_ns()

    def look(self) -> None:
        """Read once more; a thread that is gone tells nothing new."""
        self._end_ns = max(self._end_ns, self._waited_ns())

    def waited_s(self) -> float:
        """How long it was ready to run, but did not."""
        return (self._end_ns - self._begin_ns) / 1e9

    def watch_cpus(self, cpus: Collection[int]) -> None:
        """Keep the other threads of the program off its CPU: the application, DPDK's own."""
        for tid in self._others:
            with contextlib.suppress(OSError):
                os.sched_setaffinity(tid, cpus)

    def _waited_ns(self) -> int:
        return sum(waited_ns(self._tree, tid) for tid in self._receiving)


@contextlib.contextmanager
def aside(cpus: Collection[int]) -> Iterator[None]:
    """Keep this process to these CPUs."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _stolen_pct(before: dict[int, CpuTime], after: dict[int, CpuTime], cpu: int) -> float:
    if cpu not in before or cpu not in after:
        return 0.0
    passed = after[cpu].total_s - before[cpu].total_s
    return 100 * (after[cpu].steal_s - before[cpu].steal_s) / passed if passed > 0 else 0.0
