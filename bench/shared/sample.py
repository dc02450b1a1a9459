# SPDX-License-Identifier: BSD-3-Clause
"""Sample: one window of a polling thread that shares its CPU, and what may have disturbed it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import machine
import peers

from program import BenchError

NOBODY = "nobody"  # shares the CPU
ALONE = "(alone)"  # the other program without a polling thread
NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class Limits:
    """What others may take of a window that still counts, in percent of it."""

    steal_pct: float = 0.5  # of either CPU, by the hypervisor; it is counted in steps of 10 ms
    generator_pct: float = 0.5  # that the generator waited for its CPU
    foreign_pct: float = 3.0  # of the polling thread's CPU, by programs that are not ours


@dataclass(frozen=True)
class Sample:
    """A peer at one rate beside one other program in one round."""

    ports: str
    other: str
    peer: str
    rate: str
    round: int
    seconds: float
    cpu_pct: float = 0  # of the polling thread
    waited_pct: float = 0
    sleeps_per_s: float = 0
    steal_cpu_ms: float = 0
    steal_ms: float = 0
    offered: int = 0
    received: int = 0
    lost: int = 0
    rejected: int = 0
    offered_pps: float = 0
    received_pps: float = 0
    p50_us: float = 0
    p99_us: float = 0
    p999_us: float = 0
    max_us: float = 0
    sink_gap_p99_us: float = 0
    verdict: str = ""
    verdict_text: str = ""
    sched_class: str = ""  # as the kernel says, at both ends of the window
    sched_changes: int = 0  # within it, as the loop says; 0 where it says nothing
    generator_waited_pct: float = 0
    kernel_pct: float = 0  # ksoftirqd of that CPU
    other_pct: float = 0  # CPU the other program got
    other_per_s: float = 0  # pieces of work it did
    other_alone_per_s: float = 0  # the same without a polling thread, in the same round
    stall_ms: float = 0  # longest piece of its work

    @staticmethod
    def of(figures: dict[str, Any]) -> Sample:
        """From all that was seen; other figures are left out."""
        known = {field.name for field in fields(Sample)}
        return Sample(**{name: value for name, value in figures.items() if name in known})

    @property
    def of_left_pct(self) -> float:
        """What the other program got of what the polling thread left."""
        return share(self.other_pct, 100 - self.cpu_pct)

    @property
    def work_pct(self) -> float:
        """Work it did, of what it does alone."""
        return share(self.other_per_s, self.other_alone_per_s)

    @property
    def foreign_pct(self) -> float:
        """Of the CPU, by neither of the two, their kernel thread nor the hypervisor."""
        if self.other == NOBODY:  # then the CPU is idle most of the time: what was waited for
            return max(0.0, self.waited_pct - self.kernel_pct)
        if self.other.startswith("duty"):  # theirs and ours cannot be told apart
            return 0.0
        steal_pct = self.steal_cpu_ms / 10 / self.seconds
        return max(0.0, 100 - self.cpu_pct - self.other_pct - self.kernel_pct - steal_pct)


def share(part: float, whole: float) -> float:
    """In percent; of nothing, nothing."""
    return 100 * part / whole if whole > 0 else 0.0


def disturbances(sample: Sample, limits: Limits) -> list[str]:
    """Why a window says more of the machine than of the peers; empty: it counts."""
    found = []
    steal_rest_ms = sample.steal_ms - sample.steal_cpu_ms
    for where, steal_ms in (("its", sample.steal_cpu_ms), ("another", steal_rest_ms)):
        if steal_ms / 10 / sample.seconds > limits.steal_pct:
            found.append(f"the hypervisor took {steal_ms:.0f} ms of {where} CPU")
    if sample.generator_waited_pct > limits.generator_pct:
        found.append(f"the generator waited {sample.generator_waited_pct:.1f} % of the time")
    if sample.foreign_pct > limits.foreign_pct:
        found.append(f"other programs had {sample.foreign_pct:.1f} % of its CPU")
    return found


def undisturbed(samples: Iterable[Sample], limits: Limits) -> list[Sample]:
    """Those that count."""
    return [sample for sample in samples if not disturbances(sample, limits)]


def kept(sample: Sample, bound_us: float) -> bool:
    """Nothing lost, and p99 within the bound; silence keeps anything."""
    return sample.lost == 0 and (sample.offered == 0 or sample.p99_us <= bound_us)


class Surroundings:
    """A meter: how the threads beside the polling one fared, and its class."""

    def __init__(
        self, running: peers.Running, generator: tuple[int, int] | None, cpu: int
    ) -> None:
        self.running = running
        self.generator = generator
        self.kernel = machine.thread_named(f"ksoftirqd/{cpu}")
        self.before: dict[str, int] = {}
        self.at_ns = 0

    def _look(self) -> dict[str, int]:
        waited = machine.read_thread(*self.generator).waited_ns if self.generator else 0
        kernel = machine.read_thread(self.kernel, self.kernel).cpu_ns if self.kernel else 0
        return {"waited": waited, "kernel": kernel, "changes": self._changes()}

    def _changes(self) -> int:
        if not self.running.explains:
            return 0
        try:
            telemetry, loop = peers.loop_of(self.running)
            return int(telemetry.ask(f"/lull/loop,{loop}").get("sched_changes", 0))
        except (BenchError, OSError):
            return 0

    def begin(self) -> None:
        """The window begins."""
        self.begin_class = machine.sched_class(self.running.tid)
        self.before = self._look()
        self.at_ns = machine.now_ns()

    def end(self) -> dict[str, Any]:
        """Differences."""
        wall_ns = machine.now_ns() - self.at_ns
        now = self._look()
        end_class = machine.sched_class(self.running.tid)
        both = dict.fromkeys((self.begin_class, end_class))
        return {
            "generator_waited_pct": share(now["waited"] - self.before["waited"], wall_ns),
            "kernel_pct": share(now["kernel"] - self.before["kernel"], wall_ns),
            "sched_changes": now["changes"] - self.before["changes"],
            "sched_class": "/".join(both),
        }
