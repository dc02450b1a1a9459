#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ours beside what others do by a number of microseconds, at an equal measured p99.

In each round: the program with our objective; the same program with its peer's sleep at
the objective (untuned); and with the longest sleep that keeps the bound here and now,
found by bisection (tuned). Open vSwitch by its own pmd-maxsleep; lull-fwd and testpmd
by the ramp that Open vSwitch uses, testpmd having no sleep of its own. --noise 30 adds a
program to each CPU that runs 30 % of the time, some ms at a time. Prints a table and
writes OUT/tuned.json and .md (tuned-noise with --noise). Needs root.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "idle"))

import compare
import competitor
import generator
import machine
import openvswitch
import peers
import session
import sharing
from figures import median_ratio
from knob import Knob, tune
from report import number
from sample import NOBODY, Limits, Sample, Surroundings, kept
from session import Meter
from trial import UNTUNED_X, Trial

from program import BenchError, Place, Telemetry

PROBES = 8
QUICK = {"rounds": 1, "seconds": 0.5, "settle": 0.3, "probe_seconds": 0.3}
# Ours, its peer, and the peer's option that is turned; none: by ovs-vsctl.
PAIRS = {
    "lull-fwd": ("lull-objective", "lull-ramp", "max-rest"),
    "testpmd": ("testpmd-io+plugin", "testpmd-io+plugin:governor=ramp", "max-rest"),
    "ovs": ("ovs-0+plugin", "ovs-{knob}", ""),
}
HEAD = (
    "program",
    "packets/s",
    "CPU % ours",
    "untuned",
    "tuned",
    "x",
    "p99 us ours",
    "untuned",
    "tuned",
    "tuned to us",
    "CPU at most theirs",
    "p99 worse",
    "p99 higher",
    "counted",
)
HEAD_BEFORE = ("CPU % ours before", "p99 us ours before")


@dataclass(frozen=True)
class Result:
    """Everything that is known of a run."""

    machine: dict[str, str]
    settings: dict[str, Any]
    left_out: dict[str, str]
    trials: list[Trial]

    def as_json(self) -> dict[str, Any]:
        """For the file."""
        return {**vars(self), "trials": [trial.as_json() for trial in self.trials]}

    @staticmethod
    def load(path: Path | None) -> Result | None:
        """An earlier run."""
        if path is None:
            return None
        data = json.loads(path.read_text(encoding="utf-8"))
        return Result(**{**data, "trials": [Trial.of(trial) for trial in data["trials"]]})


class Bench:
    """One program at work, with the noise, and windows measured on it."""

    def __init__(
        self, plan: generator.Plan, source: generator.Source, running: peers.Running, about: Sample
    ) -> None:
        self.plan = plan
        self.source = source
        self.running = running
        self.about = about
        self.meters: list[Meter] = [Surroundings(running, source.thread, plan.setup.cpu)]

    def window(self, rate: generator.Rate, seconds: float) -> Sample:
        """One of so many seconds."""
        plan = replace(self.plan, seconds=seconds)
        figures = session.measure(self.source, self.running, rate, plan, self.meters)
        return Sample.of({**vars(self.about), **figures, "rate": rate.label})


class Tuning:
    """The run itself."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self.chosen = chosen
        self.plan = compare.plan(chosen)
        self.bound_us = float(chosen.max_latency) + chosen.margin
        self.left_out: dict[str, str] = {}
        # Silence has no p99: it comes last, with the knob of the rate before it.
        self.rates = sorted(self.plan.rates, key=lambda rate: (rate.pps == 0, rate.pps))

    @contextmanager
    def bench(self, place: Place, name: str, turn: int) -> Iterator[Bench]:
        """A program while the block runs."""
        if self.chosen.sched_policy and (name.startswith("lull") or "+plugin" in name):
            name += f":{sharing.POLICY}={self.chosen.sched_policy}"
        peer, _ = sharing.started_as(
            peers.parse(name), sharing.knows_policy(self.plan.setup.lull_fwd)
        )
        reason = peers.missing(peer, self.plan.setup)
        if reason:
            raise BenchError(reason)
        noise = self.chosen.noise

        def join(_running: peers.Running) -> None:
            for cpu in (self.plan.setup.cpu, self.plan.setup.other_cpu) if noise else ():
                competitor.Competitor(place, f"duty:{noise:g}", cpu)

        with session.opened(place, self.plan, "veth", peer, join) as (_, source, running):
            other = f"duty:{noise:g}" if noise else NOBODY
            about = Sample("veth", other, name, "", turn, 0)
            yield Bench(self.plan, source, running, about)

    def ours(self, place: Place, name: str, turn: int) -> dict[str, Sample]:
        """By rate."""
        with self.bench(place, name, turn) as bench:
            return {rate.label: bench.window(rate, self.plan.seconds) for rate in self.rates}

    def theirs(
        self, place: Place, name: str, option: str, turn: int
    ) -> dict[str, tuple[Sample, Sample | None, int]]:
        """By rate: untuned, tuned, and to what."""
        untuned_us = round(float(self.chosen.max_latency))
        found: dict[str, tuple[Sample, Sample | None, int]] = {}
        tuned_us: int | None = None
        with self.bench(place, name.format(knob=untuned_us), turn) as bench:
            turned = self.turner(place, bench, option)
            for rate in self.rates:
                turned(untuned_us)
                untuned = bench.window(rate, self.plan.seconds)
                if rate.pps > 0:
                    tuned_us = self.tuned(bench, rate, turned, untuned_us)
                tuned = None
                if tuned_us is not None:
                    turned(tuned_us)
                    tuned = bench.window(rate, self.plan.seconds)
                found[rate.label] = untuned, tuned, tuned_us or 0
        return found

    def turner(self, place: Place, bench: Bench, option: str) -> Callable[[int], None]:
        """How the peer's knob is turned while it runs."""
        if not option:
            return lambda knob_us: openvswitch.set_maxsleep(place, knob_us)
        telemetry = Telemetry(bench.running.program, bench.running.socket)
        return lambda knob_us: telemetry.set(f"{option}={knob_us}")

    def tuned(
        self, bench: Bench, rate: generator.Rate, turned: Callable[[int], None], first: int
    ) -> int | None:
        """The longest sleep that keeps the bound."""

        def keeps(knob_us: int) -> bool:
            turned(knob_us)
            seen = bench.window(rate, self.chosen.probe_seconds)
            print(f"    {knob_us} us: p99 {seen.p99_us:.0f} us", file=sys.stderr, flush=True)
            return kept(seen, self.bound_us)

        return tune(Knob(first, 2 * first, max(2, first // 20), PROBES), keeps)

    def trials(self, place: Place) -> Iterator[Trial]:
        """All rounds; who begins changes."""
        for turn in range(1, self.chosen.rounds + 1):
            for program in self.chosen.programs.split(","):
                ours_name, peer_name, option = PAIRS[program]
                try:
                    first = self.ours(place, ours_name, turn) if turn % 2 else {}
                    theirs = self.theirs(place, peer_name, option, turn)
                    ours = first or self.ours(place, ours_name, turn)
                except BenchError as error:
                    self.left_out[f"{program}, round {turn}"] = str(error).partition("\n")[0]
                    print(f"left out: {program}, round {turn}: {error}", file=sys.stderr)
                    continue
                untuned_us = round(float(self.chosen.max_latency))
                for label, (untuned, tuned, knob) in theirs.items():
                    trial = Trial(
                        program, label, turn, ours[label], untuned, tuned, untuned_us, knob
                    )
                    tell(trial)
                    yield trial

    def result(self) -> Result:
        """Measure, and say under which conditions."""
        about = machine.describe(compare.tree_of(self.chosen.build))
        begin = time.monotonic()
        with Place() as place:
            trials = list(self.trials(place))
        settings = {
            "command": compare.command(),
            "rounds": self.chosen.rounds,
            "seconds": self.chosen.seconds,
            "max_latency_us": float(self.chosen.max_latency),
            "bound_us": self.bound_us,
            "noise": self.chosen.noise,
            "minutes": round((time.monotonic() - begin) / 60, 1),
        }
        return Result(about, settings, self.left_out, trials)


def tell(trial: Trial) -> None:
    """One line for each trial."""
    tuned = trial.tuned
    print(
        f"round {trial.round} {trial.pair:8} {trial.rate:>4}: ours {trial.ours.cpu_pct:.1f} %,"
        f" {trial.ours.p99_us:.0f} us; {trial.untuned_us} us: {trial.untuned.cpu_pct:.1f} %,"
        f" {trial.untuned.p99_us:.0f} us; "
        + (
            f"tuned to {trial.tuned_us} us: {tuned.cpu_pct:.1f} %, {tuned.p99_us:.0f} us"
            if tuned
            else "no setting keeps the bound"
        ),
        file=sys.stderr,
        flush=True,
    )


# ---- report ----


def middle(samples: Sequence[Sample], name: str) -> str:
    """A median for the table."""
    return number(statistics.median(getattr(one, name) for one in samples)) if samples else "-"


def row(group: Sequence[Trial], bound_us: float, before: Sequence[Trial] | None) -> list[str]:
    """One program at one rate."""
    limits = Limits()
    use = [trial for trial in group if not trial.disturbed(limits)] or list(group)
    ours = [trial.ours for trial in use]
    untuned = [trial.untuned for trial in use]
    tuned = [trial.tuned for trial in use if trial.tuned]
    best = {t.round: t.tuned if t.tuned_keeps(bound_us) and t.tuned else t.untuned for t in use}
    ratio = median_ratio(ours, best, "cpu_pct")
    silent = ours[0].offered == 0
    higher = sum(t.tuned is not None and t.ours.p99_us > t.tuned.p99_us for t in use)
    knobs = [trial.tuned_us for trial in use if trial.tuned]
    none = len(use) - len(knobs)
    cells = [
        use[0].pair,
        use[0].rate,
        middle(ours, "cpu_pct"),
        middle(untuned, "cpu_pct"),
        middle(tuned, "cpu_pct"),
        f"{ratio:.2f}" if ratio is not None else "",
        "-" if silent else middle(ours, "p99_us"),
        "-" if silent else middle(untuned, "p99_us"),
        "-" if silent else middle(tuned, "p99_us"),
        (f"{statistics.median(knobs):.0f}" if knobs else "") + (f" (none: {none})" if none else ""),
        f"{sum(trial.cheaper(bound_us) for trial in use)}/{len(use)}",
        "-" if silent else f"{sum(trial.worse(bound_us) for trial in use)}/{len(use)}",
        "-" if silent else f"{higher}/{len(use)}",
        f"{sum(not trial.disturbed(limits) for trial in group)}/{len(group)}",
    ]
    if before is not None:
        cells += [middle([t.ours for t in before], name) for name in ("cpu_pct", "p99_us")]
    return cells


def cells(result: Result) -> dict[tuple[str, str], list[Trial]]:
    """All rounds of a program at a rate."""
    found: dict[tuple[str, str], list[Trial]] = {}
    for trial in result.trials:
        found.setdefault((trial.pair, trial.rate), []).append(trial)
    return found


def markdown(result: Result, before: Result | None) -> str:
    """A section for docs/measurements.md."""
    about, settings = result.machine, result.settings
    earlier = cells(before) if before else {}
    noise = settings["noise"]
    around = f"a program of {noise:g} % duty on each CPU" if noise else "nothing else running"
    head = [*HEAD, *(HEAD_BEFORE if before else ())]
    lines = [
        f"```\n{settings['command']}\n```\n",
        f"{about['cpu']}, {about['cpus']} CPUs, hypervisor {about['hypervisor']}, kernel"
        f" {about['kernel']}, DPDK {about['dpdk']}, Open vSwitch {about['openvswitch']}; commit"
        f" {about['commit']}, {about['date']}, load at start {about['load']}.\n",
        f"veth, {around}; {settings['rounds']} rounds of {settings['seconds']:g} s,"
        f" {settings['minutes']:g} minutes. Objective {settings['max_latency_us']:g} us; the bound"
        f" for all, end to end: nothing lost and p99 at most {settings['bound_us']:g} us."
        " Untuned: the peer sleeps as long as the objective; tuned: the longest sleep that kept"
        " the bound in probes in the same round. x: our CPU divided by that of the tuned peer; if"
        " no setting keeps the bound, by that of the untuned peer, and x may then be up to"
        f" {UNTUNED_X:g}. *p99 worse*: rounds in which ours broke a bound that the tuned peer"
        " kept. *counted*: rounds without disturbance. Medians are of these rounds, or of all"
        " rounds if none counts.\n",
        *(f"Left out: {who}: {why}\n" for who, why in result.left_out.items()),
        *([f"Before: commit {before.machine['commit']}.\n"] if before else []),
        "| " + " | ".join(head) + " |",
        "|---|---:" + "|---:" * (len(head) - 2) + "|",
    ]
    for key, group in cells(result).items():
        old = earlier.get(key, []) if before else None
        lines.append("| " + " | ".join(row(group, settings["bound_us"], old)) + " |")
    said = {
        f"{trial.pair} at {trial.rate} in some round": trial.ours.verdict_text
        for trial in result.trials
        if trial.ours.verdict not in ("", "none", "feasible")
    }
    lines += ["", *(f"- {who}: {text}" for who, text in said.items())]
    return "\n".join(lines).rstrip() + "\n"


def options() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--programs", default=",".join(PAIRS), help="[%(default)s]")
    add("--rates", default="0,1k,20k", help="packets/s [%(default)s]")
    add("--noise", type=float, default=0.0, metavar="PERCENT", help="of a program on each CPU [0]")
    add("--margin", type=float, default=10.0, help="us p99 may lie above the objective [10]")
    add("--settle", type=float, default=1.0, help="seconds before a measurement [1]")
    add("--probe-seconds", type=float, default=1.0, help="of a probe of the knob [1]")
    add("--sched-policy", default="", help="of lull-fwd and the plugin [their own defaults]")
    add("--nice", type=int, default=0, help="of the forwarder, -20..19 [0]")
    add("--generator-nice", type=int, default=-10, help="of source and sink [-10]")
    add("--before", type=Path, metavar="JSON", help="an earlier run, set beside this one")
    add("--quick", action="store_true", help="smoke test: one round, short")
    compare.common(parser).set_defaults(max_latency="100")
    return parser


def main() -> None:
    """Measure, or show an earlier run."""
    chosen = options().parse_args()
    if chosen.quick:
        vars(chosen).update(QUICK)
    result = Result.load(chosen.earlier)
    if result is None:
        compare.prepare()
        with compare.plugin_of(chosen.build) as chosen.plugin:
            result = Tuning(chosen).result()
    if not result.trials:
        raise BenchError("nothing could be measured")
    text = markdown(result, Result.load(chosen.before))
    print(text)
    chosen.out.mkdir(parents=True, exist_ok=True)
    path = chosen.out / ("tuned-noise.json" if result.settings["noise"] else "tuned.json")
    path.write_text(json.dumps(result.as_json(), indent=1) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    if chosen.docs:
        compare.update_docs(path.with_suffix(".md"))


if __name__ == "__main__":
    try:
        main()
    except BenchError as error:
        sys.exit(f"tuned: {error}")
