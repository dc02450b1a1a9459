#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does the simulator say what live rings say?

One lull-fwd with traffic over rings in its own process, driven through telemetry; then
lull-sim on the same traffic, governor and settings, with costs measured on the live program
and not fitted to the answer (costs.py), and the live instrument added (simulator.py).
Windows in which others held the CPUs are left out. Prints a Markdown table and writes
OUT/sim-vs-live.json and .md. Judges nothing.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import shlex
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "idle"))

import machine
import repeat
from costs import Costs, Meter
from forwarder import GAPS, Forwarder, Quiet, Window
from simulator import Instrument, Simulated, Simulator

from program import BenchError

TREE = Path(__file__).resolve().parent.parent.parent
NAME = "sim-vs-live"
GOVERNORS = "spin,fixed,ramp,kalman,objective"
TRAFFIC = "poisson:20k poisson:100k poisson:300k onoff:500k,5ms,20ms"
# What counts as agreement: points of CPU, and a share of each percentile.
CPU_POINTS = 5.0
LATENCY_SHARE = 0.20
QUICK = {"rounds": 1, "tries": 1, "seconds": 0.3, "settle": 0.3, "cost_rounds": 1}


@dataclass(frozen=True)
class Cell:
    """A governor on one kind of traffic: medians over the rounds that count."""

    governor: str
    traffic: str
    rounds: int  # that count; 0: all were disturbed, and medians are over those
    cpu_pct: float
    p50_ns: float
    p99_ns: float
    rest_ns: float
    lost: int
    state: str
    gaps: dict[str, float]
    simulated: Simulated

    def ratios(self) -> tuple[float, float]:
        """Simulated to live, at p50 and at p99."""
        sim = self.simulated
        return sim.p50_ns / max(1.0, self.p50_ns), sim.p99_ns / max(1.0, self.p99_ns)

    def agrees(self) -> bool:
        """On CPU and on both percentiles?"""
        near = abs(self.simulated.cpu_pct - self.cpu_pct) <= CPU_POINTS
        return near and all(abs(ratio - 1) <= LATENCY_SHARE for ratio in self.ratios())


# ---- live ----


def rounds_of(chosen: argparse.Namespace, forwarder: Forwarder) -> Iterator[Window]:
    """All windows; governors take turns within each kind of traffic."""
    governors = chosen.governors.split(",")
    for number in range(chosen.rounds):
        for traffic in chosen.traffic.split():
            for governor in turned(governors, number):
                windows = forwarder.try_often(
                    quiet(chosen), governor, traffic, chosen.seconds, chosen.settle, chosen.rest
                )
                last = windows[-1]
                print(
                    f"{number + 1} {traffic} {governor}: CPU {last.cpu_pct:.1f} %,"
                    f" p99 {us(last.p99_ns)} us, others held {last.held_pct:.2f} %",
                    file=sys.stderr,
                )
                yield from windows


def quiet(chosen: argparse.Namespace) -> Quiet:
    """Which windows count."""
    return Quiet(chosen.held, chosen.late, chosen.tries)


def turned(names: list[str], number: int) -> list[str]:
    """Another one begins in each round."""
    first = number % len(names)
    return names[first:] + names[:first]


def limits(chosen: argparse.Namespace) -> dict[str, str]:
    """What lull-fwd and lull-sim are both told."""
    return {
        "burst": "32",
        "ring": "1024",
        "max-latency": chosen.max_latency,
        "max-rest": chosen.max_rest,
        "percentile": "99",
        "loss": "zero",
        "pps-max": "learned",
        "traffic-size": chosen.size,
    }


def measure(chosen: argparse.Namespace) -> tuple[Costs, list[Window]]:
    """Costs and windows, each on a process of its own: what one learns of traffic stays in it."""
    program = chosen.build / "apps" / "lull-fwd" / "lull-fwd"
    options = {**limits(chosen), "seed": str(chosen.seed)}
    with Forwarder(program, {**options, "max-rest": "1ms"}, chosen.nice) as forwarder:
        costs = Meter(forwarder, quiet(chosen), chosen.seconds / 2, chosen.cost_rounds).measure()
    with Forwarder(program, options, chosen.nice) as forwarder:
        return costs, list(rounds_of(chosen, forwarder))


# ---- simulated ----


def cell(chosen: argparse.Namespace, costs: Costs, windows: list[Window]) -> Cell:
    """Windows of one governor on one kind of traffic beside the simulator."""
    counted = [w for w in windows if not w.disturbed(quiet(chosen))]
    used = counted or windows
    governor, traffic = used[0].governor, used[0].traffic
    rest_ns = statistics.median(
        w.counts["rest_requested_ns"] / max(1, w.counts["rests"]) for w in used
    )
    gaps = {name: statistics.median(w.gaps[name] for w in used) for name in GAPS}
    options = {
        **limits(chosen),
        **costs.options(rest_ns),
        "governor": f"{governor}:{chosen.rest}" if governor == "fixed" else governor,
        "traffic": traffic,
        "link": "0",
        "held": "0",
        # As long as live: kalman goes on learning, so its figures depend on the time it had.
        "warmup": f"{chosen.settle:g}s",
        "duration": f"{chosen.seconds:g}s",
    }
    program = chosen.build / "apps" / "lull-sim" / "lull-sim"
    simulator = Simulator(program, Instrument.of(used, costs))
    return Cell(
        governor,
        traffic,
        len(counted),
        statistics.median(w.cpu_pct for w in used),
        statistics.median(w.p50_ns for w in used),
        statistics.median(w.p99_ns for w in used),
        rest_ns,
        sum(w.lost for w in used),
        used[-1].state,
        gaps,
        simulator.run(options, range(chosen.seed, chosen.seed + chosen.rounds)),
    )


def cells(chosen: argparse.Namespace, costs: Costs, windows: list[Window]) -> list[Cell]:
    """One for each governor and kind of traffic."""
    return [
        cell(chosen, costs, [w for w in windows if (w.governor, w.traffic) == (governor, traffic)])
        for traffic in chosen.traffic.split()
        for governor in chosen.governors.split(",")
    ]


# ---- what comes of it ----


def us(ns: float) -> str:
    """Three digits that count."""
    value = ns / 1000
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def table(found: list[Cell]) -> str:
    """Live and simulated side by side."""
    lines = [
        "| traffic | governor | CPU % live | sim | points | p50 us live | sim | x | p99 us live"
        " | sim | x | rounds | agree |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for one in found:
        sim, (p50, p99) = one.simulated, one.ratios()
        verdict = "yes" if one.agrees() else "no"
        lines.append(
            f"| {one.traffic} | {one.governor} | {one.cpu_pct:.1f} | {sim.cpu_pct:.1f}"
            f" | {sim.cpu_pct - one.cpu_pct:+.1f} | {us(one.p50_ns)} | {us(sim.p50_ns)}"
            f" | {p50:.2f} | {us(one.p99_ns)} | {us(sim.p99_ns)} | {p99:.2f}"
            f" | {one.rounds or 'none'} | {verdict if one.rounds else 'disturbed'} |"
        )
    return "\n".join(lines)


def cost_lines(costs: Costs) -> str:
    """The machine as measured."""
    burst = ", ".join(f"{ns} ns with {pkts}" for pkts, ns in costs.burst)
    lines = [
        f"Costs: a poll iteration takes {costs.empty_ns:.0f} ns without packets, {burst}; an empty"
        f" iteration of the sink {costs.sink_ns:.0f} ns. One iteration in 200 with a packet takes"
        f" at least {costs.jitter_ns[-1]} ns more than the median. Meanwhile other programs held"
        f" the CPUs for up to {costs.held_pct:.2f} % of the time.",
        "",
        "| sleep asked us | CPU us each | overshoot us: p50 | p99 | p99.9 |",
        "|---:|---:|---:|---:|---:|",
    ]
    for rest in costs.rests:
        late = dict(rest.overshoot)
        lines.append(
            f"| {rest.asked_us} | {us(rest.cost_ns)} | {us(late[50])} | {us(late[99])}"
            f" | {us(late[99.9])} |"
        )
    return "\n".join(lines)


def notes(chosen: argparse.Namespace, found: list[Cell]) -> Iterator[str]:
    """What a reader should know of single cells."""
    counted = [one for one in found if one.rounds]
    yes = sum(one.agrees() for one in counted)
    yield f"{yes} of {len(counted)} undisturbed cells agree; {len(found) - len(counted)} disturbed"
    gap = statistics.median(one.gaps["sink_gap_p99_ns"] for one in found)
    yield f"the sink's gap before a packet was {us(gap)} us at p99 (median of the cells)"
    for one in found:
        where = f"{one.traffic}, {one.governor}"
        if one.state != one.simulated.state:
            yield f"{where}: verdict {one.state} live, {one.simulated.state} simulated"
        if one.lost or one.simulated.lost:
            yield (
                f"{where}: lost {one.lost} packets live in all, {one.simulated.lost:.0f} simulated"
                " in the median run"
            )


def markdown(
    chosen: argparse.Namespace, about: dict[str, str], costs: Costs, found: list[Cell]
) -> str:
    """Everything."""
    command = shlex.join(
        [".venv/bin/python", "bench/sim/live.py", *repeat.portable(sys.argv[1:])]
    )
    return "\n".join(
        [
            f"```\n{command}\n```\n",
            f"{about['cpu']}, {about['cpus']} CPUs, hypervisor {about['hypervisor']}, kernel"
            f" {about['kernel']}, DPDK {about['dpdk']}; commit {about['commit']}, {about['date']},"
            f" load at start {about['load']}.\n",
            f"Frames of {chosen.size} bytes, max-latency {chosen.max_latency}, max-rest"
            f" {chosen.max_rest}, fixed {chosen.rest}. Live: {chosen.rounds} rounds of"
            f" {chosen.seconds:g} s (up to {chosen.tries} tries each); medians of the rounds in"
            f" which other programs held the two CPUs for at most {chosen.held:g} % of the time"
            f" and p99 of the departures was at most {chosen.late:g} us late. Simulated: medians"
            f" of {chosen.rounds} seeds, each as long. x: simulated divided by live. A cell"
            " agrees when CPU is within 5 points, and p50 and p99 within 20 %.\n",
            table(found),
            "",
            *(f"- {note}" for note in notes(chosen, found)),
            "",
            cost_lines(costs),
            "",
        ]
    )


def save(chosen: argparse.Namespace, text: str, data: dict[str, Any]) -> None:
    """JSON and Markdown, and the page that readers see when asked."""
    chosen.out.mkdir(parents=True, exist_ok=True)
    (chosen.out / f"{NAME}.json").write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    (chosen.out / f"{NAME}.md").write_text(text, encoding="utf-8")
    if chosen.docs:
        section = [str(TREE / "bench" / "section"), str(TREE / "docs" / "measurements.md"), NAME]
        subprocess.run(section, input=text, text=True, check=True)


def options() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--governors", default=GOVERNORS, help=f"[{GOVERNORS}]")
    add("--traffic", default=TRAFFIC, help=f"kinds, with blanks between [{TRAFFIC}]")
    add("--size", default="512", help="of a frame with CRC [512]")
    add("--max-latency", default="200us", help="objective [200us]")
    add("--max-rest", default="200us", help="cap for all governors [200us]")
    add("--rest", default="50us", help="of governor fixed [50us]")
    add("--rounds", type=int, default=5, help="times through everything [5]")
    add("--seconds", type=float, default=1.5, help="of a window [1.5]")
    add("--settle", type=float, default=1.0, help="seconds before it [1]")
    add("--cost-rounds", type=int, default=5, help="windows for each cost [5]")
    add("--seed", type=int, default=1, help="the first one [1]")
    add("--held", type=float, default=0.5, help="percent of the time others may hold the CPUs [.5]")
    add("--late", type=float, default=20.0, help="us departures may be late at p99 [20]")
    add("--tries", type=int, default=4, help="at most, until a window is undisturbed [4]")
    add("--nice", type=int, default=0, help="priority of lull-fwd; below 0 needs root [0]")
    add("--quick", action="store_true", help="only to see that it works")
    add("--build", type=Path, default=TREE / "build", help="build folder [build]")
    add("--out", type=Path, default=TREE / "out" / "bench", help="results [out/bench]")
    add("--docs", action="store_true", help="put the figures into docs/measurements.md")
    return parser


def known(chosen: argparse.Namespace) -> str:
    """Of the governors asked for, those that this build has."""
    program = chosen.build / "apps" / "lull-fwd" / "lull-fwd"
    if not os.access(program, os.X_OK):
        raise BenchError(f"{program} is not built: run make build")
    words = subprocess.run([program, "--help"], capture_output=True, text=True, check=True)
    asked = chosen.governors.split(",")
    have = [name for name in asked if f" {name} " in words.stdout.replace("\n", " ")]
    if have != asked:
        print("left out, not in this build:", *(set(asked) - set(have)), file=sys.stderr)
    return ",".join(have)


def main() -> None:
    """Measure, simulate, compare."""
    chosen = options().parse_args()
    if chosen.quick:
        vars(chosen).update(QUICK)
    chosen.governors = known(chosen)
    about = machine.describe(TREE)
    costs, windows = measure(chosen)
    found = cells(chosen, costs, windows)
    text = markdown(chosen, about, costs, found)
    data = {
        "machine": about,
        "settings": {key: str(value) for key, value in vars(chosen).items()},
        "costs": dataclasses.asdict(costs),
        "windows": [dataclasses.asdict(window) for window in windows],
        "cells": [{**dataclasses.asdict(one), "agrees": one.agrees()} for one in found],
    }
    save(chosen, text, data)
    print(text)


if __name__ == "__main__":
    try:
        main()
    except BenchError as error:
        sys.exit(f"live: {error}")
