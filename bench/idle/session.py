# SPDX-License-Identifier: BSD-3-Clause
"""Session: one peer on one kind of port, through all rates."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import machine
import peers
import ports
from program import SOURCE, BenchError, Place, Telemetry, pin_others, wait_for

MEMORY_MB = 512
SETTLE_S = 0.5  # governors learn, queues fill
DRAIN_S = 3.0
NS_PER_US = 1000
NS_PER_S = 1_000_000_000
PROOF_PPS = 1000
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
    def spec(self) -> str:
        """For lull-gen."""
        return f"constant:{self.pps}" if self.pps > 0 else "off"


@dataclass(frozen=True)
class Sample:
    """Everything seen of one peer at one rate in one round."""

    ports: str
    peer: str
    rate: str
    round: int
    seconds: float
    cpu_pct: float  # of the polling thread
    waited_pct: float  # it was ready, others had its CPU
    sleeps_per_s: float
    steal_cpu_ms: float  # of the polling CPU
    steal_ms: float  # of all CPUs
    offered: int
    received: int
    lost: int
    rejected: int  # part of lost: the forwarder's ring was full
    duplicates: int
    reordered: int
    offered_pps: float
    received_pps: float
    cpu_ns_per_pkt: float  # 0 without packets
    p50_us: float
    p99_us: float
    p999_us: float
    max_us: float
    sink_gap_p99_us: float  # what the sink may have added: the time between its looks

    @staticmethod
    def of(ports: str, peer: str, rate: str, turn: int, figures: dict[str, Any]) -> Sample:
        """From the figures of a window, or from JSON."""
        return Sample(ports=ports, peer=peer, rate=rate, round=turn, **figures)


@dataclass(frozen=True)
class Plan:
    """What all sessions share."""

    lull_gen: Path
    setup: peers.Setup
    rates: list[Rate]
    seconds: float


class Generator:
    """lull-gen, source and sink on CPU setup.other_cpu."""

    def __init__(self, place: Place, wire: ports.Wire, plan: Plan) -> None:
        cpu = plan.setup.other_cpu
        arguments = [f"--vdev={vdev}" for vdev in wire.generator_vdevs]
        arguments += [f"--cpus={cpu}", f"--ring={ports.RING_PKTS}", "--traffic=off", "--stats=0"]
        arguments += [f"--eal=--no-huge --no-shconf -m {MEMORY_MB}", "--link-wait=20s"]
        self.cpu = cpu
        self.program = place.start(SOURCE, "lull-gen", [str(plan.lull_gen), *arguments])
        self.telemetry = Telemetry(self.program, place.dpdk_socket(f"lull-gen-{self.program.pid}"))
        self.loop = ""

    def ready(self) -> None:
        """Wait until both ports work."""
        self.loop = self.telemetry.ready()[0]
        pin_others(self.program.pid, 0, self.cpu)

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


def measure(
    generator: Generator, running: peers.Running, rate: Rate, plan: Plan
) -> dict[str, float]:
    """One window at one rate."""
    cpu = plan.setup.cpu
    generator.send(rate)
    time.sleep(SETTLE_S)
    generator.mark()
    first, steal, steal_cpu = generator.traffic(), machine.steal_ms(), machine.steal_ms(cpu)
    begin = machine.read_thread(running.program.pid, running.tid)
    time.sleep(plan.seconds)
    end = machine.read_thread(running.program.pid, running.tid)
    last = generator.traffic()
    steal, steal_cpu = machine.steal_ms() - steal, machine.steal_ms(cpu) - steal_cpu
    final = generator.drain()
    running.program.check_alive()
    wall_ns = end.at_ns - begin.at_ns
    cpu_share = (end.cpu_ns - begin.cpu_ns) / wall_ns
    traffic_ns = last["now_ns"] - first["now_ns"]
    received = last["received"] - first["received"]
    return {
        "seconds": wall_ns / NS_PER_S,
        "cpu_pct": 100 * cpu_share,
        "waited_pct": 100 * (end.waited_ns - begin.waited_ns) / wall_ns,
        "sleeps_per_s": (end.sleeps - begin.sleeps) * NS_PER_S / wall_ns,
        "steal_cpu_ms": steal_cpu,
        "steal_ms": steal,
        **{name: final[name] for name in COUNTS},
        "offered_pps": (last["offered"] - first["offered"]) * NS_PER_S / traffic_ns,
        "received_pps": received * NS_PER_S / traffic_ns,
        "cpu_ns_per_pkt": cpu_share * traffic_ns / received if received else 0.0,
        **{ours: final[theirs] / NS_PER_US for ours, theirs in TIMES.items()},
    }


def prove_path(generator: Generator) -> None:
    """Packets get through before anything is measured; switches learn their flows."""
    generator.send(Rate("", PROOF_PPS))
    wait_for("the first packet comes back", lambda: generator.traffic()["received"])
    generator.drain()


def run(place: Place, plan: Plan, kind: str, peer: peers.Peer, turn: int) -> Iterator[Sample]:
    """All rates for one peer; leaves nothing running."""
    wire = ports.KINDS[kind](place)
    try:
        generator = Generator(place, wire, plan)
        wire.generator_listens()
        running = peers.start(peer, plan.setup, place, wire)
        generator.ready()
        prove_path(generator)
        for rate in plan.rates:
            figures = measure(generator, running, rate, plan)
            yield Sample.of(kind, peer.name, rate.label, turn, figures)
    except OSError as error:  # a socket of a program that ended
        for program in place.programs:
            program.check_alive()
        raise BenchError(str(error)) from error
    finally:
        place.stop_all()
        ports.close(place, wire)
