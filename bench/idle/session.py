# SPDX-License-Identifier: BSD-3-Clause
"""Session: one peer on one kind of port, through all rates."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import machine
import peers
import ports
from generator import COUNTS, TIMES, Plan, Rate, Source, open_source

from program import BenchError, Place

NS_PER_US = 1000
NS_PER_S = 1_000_000_000


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
    verdict: str  # of a lull governor under this load, "" of others
    verdict_text: str

    @staticmethod
    def of(ports: str, peer: str, rate: str, turn: int, figures: dict[str, Any]) -> Sample:
        """From the figures of a window, or from JSON."""
        return Sample(ports=ports, peer=peer, rate=rate, round=turn, **figures)


class Meter(Protocol):
    """Something else that is looked at at both ends of a window."""

    def begin(self) -> None:
        """The window begins."""

    def end(self) -> dict[str, Any]:
        """It ends; figures by name."""


def measure(
    source: Source,
    running: peers.Running,
    rate: Rate,
    plan: Plan,
    meters: Sequence[Meter] = (),
) -> dict[str, Any]:
    """One window at one rate."""
    cpu = plan.setup.cpu
    source.send(rate)
    time.sleep(plan.settle_s)
    source.mark()
    first, steal, steal_cpu = source.traffic(), machine.steal_ms(), machine.steal_ms(cpu)
    for meter in meters:
        meter.begin()
    begin = machine.read_thread(running.program.pid, running.tid)
    time.sleep(plan.seconds)
    end = machine.read_thread(running.program.pid, running.tid)
    more = [meter.end() for meter in meters]
    last, verdict = source.traffic(), peers.verdict(running)
    steal, steal_cpu = machine.steal_ms() - steal, machine.steal_ms(cpu) - steal_cpu
    final = source.drain()
    running.program.check_alive()
    wall_ns = end.at_ns - begin.at_ns
    cpu_share = (end.cpu_ns - begin.cpu_ns) / wall_ns
    traffic_ns = last["now_ns"] - first["now_ns"]
    received = last["received"] - first["received"]
    figures: dict[str, Any] = {
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
        "verdict": verdict[0],
        "verdict_text": verdict[1],
    }
    for others in more:
        figures.update(others)
    return figures


@contextmanager
def opened(
    place: Place,
    plan: Plan,
    kind: str,
    peer: peers.Peer,
    joined: Callable[[peers.Running], None] | None = None,
) -> Iterator[tuple[ports.Wire, Source, peers.Running]]:
    """A peer at work between generator and sink, with what joins it; leaves nothing running."""
    wire = ports.KINDS[kind](place)
    try:
        source = open_source(place, wire, plan)
        wire.generator_listens()
        running = peers.start(peer, plan.setup, place, wire)
        if joined:
            joined(running)
        source.ready(running)
        yield wire, source, running
    except OSError as error:  # a socket of a program that ended
        for program in place.programs:
            program.check_alive()
        raise BenchError(str(error)) from error
    finally:
        place.stop_all()
        ports.close(place, wire)


def run(place: Place, plan: Plan, kind: str, peer: peers.Peer, turn: int) -> Iterator[Sample]:
    """All rates for one peer."""
    with opened(place, plan, kind, peer) as (wire, source, running):
        for rate in plan.rates:
            if wire.endless and not rate.saturates:
                continue
            figures = measure(source, running, rate, plan)
            yield Sample.of(kind, peer.name, rate.label, turn, figures)
