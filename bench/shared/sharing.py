# SPDX-License-Identifier: BSD-3-Clause
"""Sharing: rounds of peers beside other programs on one CPU."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import company
import compare
import competitor
import machine
import peers
import session
from sample import ALONE, NOBODY, Limits, Sample, Surroundings
from session import Meter

from program import BenchError, Place, wait_for

TREE = compare.TREE
POLICY = "sched-policy"
NICE = "nice"
CLASS_S = 10.0  # until a thread has the class it was asked for


@dataclass(frozen=True)
class Result:
    """Everything that is known of a run; what the JSON file holds."""

    machine: dict[str, str]
    settings: dict[str, Any]
    left_out: dict[str, str]
    samples: list[Sample]

    def as_json(self) -> dict[str, Any]:
        """For the file."""
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Result:
        """Of an earlier run."""
        samples = [Sample.of(sample) for sample in data["samples"]]
        return Result(data["machine"], data["settings"], data["left_out"], samples)


def knows_policy(lull_fwd: Path) -> bool:
    """Has this build scheduling classes?"""
    done = subprocess.run([str(lull_fwd), "--help"], capture_output=True, text=True, check=False)
    return f"--{POLICY} " in done.stdout


def started_as(peer: peers.Peer, knows: bool) -> tuple[peers.Peer, int]:
    """The peer without what its program does not take, and its nice; BenchError if it cannot be."""
    options = dict(peer.options)
    nice = int(options.pop(NICE, "0"))
    if not knows and options.pop(POLICY, "other") != "other":
        raise BenchError("this build has no scheduling classes")
    return replace(peer, options=options), nice


def check_class(peer: peers.Peer, tid: int, timeout_s: float = CLASS_S) -> None:
    """A class that was asked for by name and not given is no figure of it."""
    wanted = peer.options.get(POLICY, "auto")
    if wanted != "auto":  # it is entered when the thread first rests
        wait_for(f"class {wanted}", lambda: machine.sched_class(tid) == wanted, timeout_s)


def progress(sample: Sample) -> None:
    """One line for each measurement."""
    print(
        f"round {sample.round} {sample.ports:5} {sample.other:9} {sample.peer:40}"
        f" {sample.rate:>4}: {sample.sched_class:8} CPU {sample.cpu_pct:5.1f} %, p99"
        f" {sample.p99_us:8.1f} us, lost {sample.lost}, other {sample.other_pct:5.1f} %"
        f" ({sample.of_left_pct:5.1f} % of what was left, work {sample.work_pct:5.1f} %)",
        file=sys.stderr,
        flush=True,
    )


class Sharing:
    """The run itself: who takes part, who had to be left out."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self.chosen = chosen
        self.plan = compare.plan(chosen)
        self.others = chosen.others.split(",")
        self.kinds = chosen.ports.split(",")
        self.left_out: dict[str, str] = {}
        self.knows = knows_policy(self.plan.setup.lull_fwd)
        self.peers = []
        for peer in [peers.parse(name) for name in chosen.peers.split(",")]:
            reason = peers.missing(peer, self.plan.setup)
            try:
                started_as(peer, self.knows)
            except BenchError as error:
                reason = str(error)
            if reason:
                self.leave_out(peer.name, reason)
            else:
                self.peers.append(peer)

    def leave_out(self, where: str, reason: str) -> None:
        """Go on without it."""
        self.left_out[where] = reason.partition("\n")[0]
        print(f"left out: {where}: {reason}", file=sys.stderr, flush=True)

    def places(self) -> Iterator[tuple[str, str]]:
        """Ports and company that go together."""
        for other in self.others:
            for kind in ["chain"] if other == "chain" else self.kinds:
                yield kind, other

    def alone(self, place: Place, other: str, turn: int) -> Sample | None:
        """What the other program does without a polling thread."""
        kind, _, nice = other.partition("@")
        if kind.partition(":")[0] not in competitor.KINDS:
            return None
        meter = competitor.Competitor(place, kind, self.plan.setup.cpu, int(nice or 0))
        steal = machine.steal_ms(self.plan.setup.cpu)
        meter.begin()
        time.sleep(self.plan.seconds)
        figures = meter.end()
        steal = machine.steal_ms(self.plan.setup.cpu) - steal
        place.stop_all()
        seconds = self.plan.seconds
        return Sample("", other, ALONE, "", turn, seconds, steal_cpu_ms=steal, **figures)

    def session(
        self, place: Place, kind: str, other: str, peer: peers.Peer, alone: Sample | None, turn: int
    ) -> Iterator[Sample]:
        """One peer beside one other program, at all rates."""
        started, nice = started_as(peer, self.knows)
        setup = replace(self.plan.setup, nice=nice) if nice else self.plan.setup
        plan = replace(self.plan, setup=setup)
        meters: list[Meter] = []

        def join(running: peers.Running) -> None:
            if self.knows:
                check_class(started, running.tid)
            meters.extend(company.join(place, other, setup, started))

        about: dict[str, Any] = {"ports": kind, "other": other, "peer": peer.name, "round": turn}
        about["other_alone_per_s"] = alone.other_per_s if alone else 0.0
        with (
            company.group_of(place, other),
            session.opened(place, plan, kind, started, join) as (_, source, running),
        ):
            meters.append(Surroundings(running, source.thread, setup.cpu))
            for rate in plan.rates:
                figures = session.measure(source, running, rate, plan, meters)
                sample = Sample.of({**figures, **about, "rate": rate.label})
                progress(sample)
                yield sample

    def tried(self, where: str, session_of: Callable[[], Iterator[Sample]]) -> list[Sample]:
        """A session, once more where it failed; what fails again is left out from now on."""
        for again in (True, False):
            try:
                return list(session_of())
            except BenchError as error:
                if again:
                    print(f"once more: {where}: {error}", file=sys.stderr, flush=True)
                else:
                    self.leave_out(where, str(error))
        return []

    def measure(self, place: Place) -> Iterator[Sample]:
        """All rounds: A B C A B C ..."""
        for turn in range(1, self.chosen.rounds + 1):
            alone: dict[str, Sample | None] = {}
            for other in self.others:
                alone[other] = self.alone(place, other, turn)
            yield from filter(None, alone.values())
            for kind, other in self.places():
                for peer in self.peers:
                    if kind == "rings" and peer.family != "lull":
                        continue  # it makes no traffic of its own
                    where = f"{peer.name} beside {other} on {kind}"
                    if where in self.left_out:
                        continue
                    yield from self.tried(
                        where, partial(self.session, place, kind, other, peer, alone[other], turn)
                    )

    def result(self) -> Result:
        """Measure, and say under which conditions."""
        about = machine.describe(compare.tree_of(self.chosen.build))
        samples: list[Sample] = []
        begin = time.monotonic()
        with Place(company.SECOND) as place:
            samples.extend(self.measure(place))
        setup = self.plan.setup
        settings = {
            "command": compare.command(),
            "rounds": self.chosen.rounds,
            "seconds": self.chosen.seconds,
            "settle": self.chosen.settle,
            "cpu": setup.cpu,
            "other_cpu": setup.other_cpu,
            "max_latency_us": float(self.chosen.max_latency),
            "margin_us": self.chosen.margin,
            "limits": asdict(Limits()),
            "minutes": round((time.monotonic() - begin) / 60, 1),
        }
        return Result(about, settings, self.left_out, samples)


def options(description: str, **defaults: str) -> argparse.ArgumentParser:
    """What share.py and classes.py take."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--ports", help="kinds of ports [%(default)s]")
    add("--others", help=f"{NOBODY} and other programs [%(default)s]")
    add("--peers", help="forwarders [%(default)s]")
    add("--rates", help="packets/s [%(default)s]")
    add("--margin", type=float, default=10.0, help="us p99 may lie above the objective [10]")
    add("--settle", type=float, default=2.0, help="seconds before a measurement [2]")
    add("--nice", type=int, default=0, help="of the forwarder, -20..19 [0]")
    add("--generator-nice", type=int, default=-10, help="of source and sink [-10]")
    add("--before", type=Path, metavar="JSON", help="an earlier run, set beside this one")
    add("--quick", action="store_true", help="smoke test: one round, short")
    parser.set_defaults(**defaults)
    return compare.common(parser)


QUICK = {"rounds": 1, "seconds": 0.5, "settle": 0.3}
