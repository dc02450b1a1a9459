# SPDX-License-Identifier: BSD-3-Clause
"""Generator: where packets come from and who judges what comes back.

Generator: lull-gen at the other end of both wires.
Inside:    lull-fwd's own traffic, over rings in its process.
Endless:   the null driver in the forwarder itself, which never runs out; then
           the forwarder's own port counters are all there is.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import peers
import ports

from program import SOURCE, BenchError, Place, Telemetry, place_threads, wait_for

MEMORY_MB = 512
DRAIN_S = 3.0
PROOF_PPS = 1000
SATURATED = "sat"
COUNTS = ("offered", "received", "lost", "rejected", "duplicates", "reordered")
TIMES = {  # ours in us: lull-gen's in ns
    "p50_us": "latency_p50_ns",
    "p99_us": "latency_p99_ns",
    "p999_us": "latency_p999_ns",
    "max_us": "latency_max_ns",
    "sink_gap_p99_us": "sink_gap_p99_ns",
}


@dataclass(frozen=True)
class Rate:
    """A load: label as the user typed it."""

    label: str
    pps: int  # offered; 0: silence

    @property
    def saturates(self) -> bool:
        """More than gets through."""
        return self.label == SATURATED

    @property
    def spec(self) -> str:
        """For lull-gen."""
        return f"constant:{self.pps}" if self.pps > 0 else "off"


@dataclass(frozen=True)
class Plan:
    """What all sessions share."""

    lull_gen: Path
    setup: peers.Setup
    rates: list[Rate]
    seconds: float
    settle_s: float  # governors learn, queues fill


class Source(Protocol):
    """What a session needs of it."""

    @property
    def thread(self) -> tuple[int, int] | None:
        """Process and thread that send and judge; None where the driver makes the packets."""

    def ready(self, running: peers.Running) -> None:
        """Wait until packets get through; switches learn their flows."""

    def send(self, rate: Rate) -> None:
        """Change the load."""

    def mark(self) -> None:
        """Begin a measurement window."""

    def traffic(self) -> dict[str, int]:
        """Figures of this window: now_ns, offered, received and more."""

    def drain(self) -> dict[str, int]:
        """Stop; the figures once nothing is under way, with all of COUNTS and TIMES."""


class Judge:
    """A traffic loop of a lull program: source and sink in one thread."""

    telemetry: Telemetry
    loop: str
    tid: int

    @property
    def thread(self) -> tuple[int, int] | None:
        """Process and thread of the loop."""
        return self.telemetry.program.pid, self.tid

    def listen(self, telemetry: Telemetry, loop: str) -> None:
        """This loop it is."""
        self.telemetry, self.loop = telemetry, loop
        self.tid = wait_for(  # 0 until it runs
            f"{loop} runs", lambda: int(telemetry.ask(f"/lull/loop,{loop}")["tid"])
        )

    def prove(self) -> None:
        """Wait until a packet comes back."""
        self.send(Rate("", PROOF_PPS))
        wait_for("the first packet comes back", lambda: self.traffic()["received"])
        self.drain()

    def send(self, rate: Rate) -> None:
        """Change the load."""
        self.telemetry.set(f"traffic={rate.spec}")

    def mark(self) -> None:
        """Begin a measurement window and wait for it."""
        window = self.telemetry.ask("/lull/mark")["window"]
        wait_for("a new window", lambda: self.traffic()["window"] >= window)

    def traffic(self) -> dict[str, int]:
        """Figures of this window."""
        answer: dict[str, int] = self.telemetry.ask(f"/lull/traffic,{self.loop}")
        return answer

    def drain(self) -> dict[str, int]:
        """Stop sending; the figures once nothing is under way, or nothing more comes."""
        self.send(Rate("0", 0))
        end = time.monotonic() + DRAIN_S
        before = self.traffic()
        while True:
            time.sleep(0.1)
            now = self.traffic()
            still = now["received"] == before["received"]
            if (still and now["in_flight"] == 0) or time.monotonic() > end:
                return now
            before = now


class Generator(Judge):
    """lull-gen, source and sink on CPU setup.other_cpu."""

    def __init__(self, place: Place, wire: ports.Wire, plan: Plan, *more: str) -> None:
        cpu = plan.setup.other_cpu
        arguments = [f"--vdev={vdev}" for vdev in wire.generator_vdevs]
        arguments += [f"--cpus={cpu}", f"--ring={ports.RING_PKTS}", "--traffic=off", "--stats=0"]
        arguments += [f"--eal=--no-huge --no-shconf -m {MEMORY_MB}", "--link-wait=20s", *more]
        self.cpu = cpu
        self.nice = plan.setup.nice_of_generator
        self.program = place.start(SOURCE, "lull-gen", [str(plan.lull_gen), *arguments])
        self.telemetry = Telemetry(self.program, place.dpdk_socket(f"lull-gen-{self.program.pid}"))

    def ready(self, running: peers.Running) -> None:
        """Wait until a packet comes back."""
        running.program.check_alive()
        self.listen(self.telemetry, self.telemetry.ready()[0])
        place_threads(self.program.pid, 0, self.cpu, 0)
        self.prove()
        # Only now: until then the forwarder's main thread sets its ports up on this CPU, too.
        place_threads(self.program.pid, 0, self.cpu, self.nice)


class Counted(Generator):
    """It only sends; what both ports have counted, between two times of silence, is the judge."""

    def __init__(self, place: Place, wire: ports.Wire, plan: Plan) -> None:
        super().__init__(place, wire, plan, "--tx-only")
        self.receiver = self.telemetry  # until there is one
        self.base = (0, 0)

    def ready(self, running: peers.Running) -> None:
        """Wait until the first packet is counted."""
        self.receiver = Telemetry(running.program, running.socket)
        self.listen(self.telemetry, self.telemetry.ready()[0])
        place_threads(self.program.pid, 0, self.cpu, 0)

        def counts() -> bool:
            running.program.check_alive()
            return running.socket.exists() and self._counts()[1] >= 0

        wait_for("the receiver answers", counts)
        before = self._counts()[1]
        super().send(Rate("", PROOF_PPS))
        wait_for("the first packet comes in", lambda: self._counts()[1] > before)
        self.drain()
        place_threads(self.program.pid, 0, self.cpu, self.nice)

    def _counts(self) -> tuple[int, int]:
        sent = self.telemetry.ask("/ethdev/stats,0")["opackets"]
        return int(sent), int(self.receiver.ask("/ethdev/stats,0")["ipackets"])

    def send(self, rate: Rate) -> None:
        """Change the load; it is silent now, so all that is sent has been counted."""
        self.base = self._counts()
        super().send(rate)

    def mark(self) -> None:
        """All since the silence counts: what is under way now belongs to neither side's window."""

    def traffic(self) -> dict[str, int]:
        """Since the silence."""
        sent, received = (now - then for now, then in zip(self._counts(), self.base, strict=True))
        return {"now_ns": time.monotonic_ns(), "offered": sent, "received": received}

    def drain(self) -> dict[str, int]:
        """Stop; the figures once all has come in, or nothing more does."""
        super().send(Rate("0", 0))
        end = time.monotonic() + DRAIN_S
        seen = self.traffic()
        while time.monotonic() < end:
            time.sleep(0.1)
            before, seen = seen, self.traffic()
            if seen["offered"] == before["offered"] == seen["received"]:
                break
        lost = max(0, seen["offered"] - seen["received"])
        return {**dict.fromkeys((*COUNTS, *TIMES.values()), 0), **seen, "lost": lost}


class Inside(Judge):
    """The traffic loop of lull-fwd itself."""

    def __init__(self, plan: Plan) -> None:
        self.nice = plan.setup.nice_of_generator

    def ready(self, running: peers.Running) -> None:
        """Find it, wait until a packet comes back."""
        telemetry = Telemetry(running.program, running.socket)
        for loop in telemetry.ready():
            if telemetry.ask(f"/lull/loop,{loop}")["kind"] == "traffic":
                self.listen(telemetry, loop)
                self.prove()
                os.setpriority(os.PRIO_PROCESS, self.tid, self.nice)
                return
        raise BenchError(f"{running.program.name} makes no traffic of its own")


class Endless:
    """Null ports of the forwarder: every receive is full, every send succeeds."""

    thread: tuple[int, int] | None = None

    def __init__(self) -> None:
        self.telemetry: Telemetry | None = None
        self.sent_before = 0

    def ready(self, running: peers.Running) -> None:
        """Wait until packets flow."""
        self.telemetry = Telemetry(running.program, running.socket)

        def flow() -> bool:
            running.program.check_alive()
            return running.socket.exists() and self._sent() > 0

        wait_for("packets flow", flow)

    def _sent(self) -> int:
        assert self.telemetry is not None
        ports_stats: list[dict[str, Any]] = [
            self.telemetry.ask(f"/ethdev/stats,{port}")
            for port in self.telemetry.ask("/ethdev/list")
        ]
        return sum(int(stats["opackets"]) for stats in ports_stats)

    def send(self, rate: Rate) -> None:
        """Nothing to change."""

    def mark(self) -> None:
        """Count from here."""
        self.sent_before = self._sent()

    def traffic(self) -> dict[str, int]:
        """What left the ports."""
        sent, now_ns = self._sent() - self.sent_before, time.monotonic_ns()
        return {"now_ns": now_ns, "offered": sent, "received": sent}

    def drain(self) -> dict[str, int]:
        """Nothing is ever under way, or lost, or timed."""
        return {**dict.fromkeys((*COUNTS, *TIMES.values()), 0), **self.traffic()}


def open_source(place: Place, wire: ports.Wire, plan: Plan) -> Source:
    """Start what the wire asks for."""
    if wire.inside:
        return Inside(plan)
    if wire.one_way:
        return Counted(place, wire, plan)
    return Generator(place, wire, plan) if wire.generator_vdevs else Endless()
