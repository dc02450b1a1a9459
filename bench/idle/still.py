#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What does somebody see who tries lull on a machine where nothing happens?

dpdk-testpmd with the plugin between ports without a single packet, and lull-fwd with
even traffic over rings as the README has it, each for so many seconds with its own
defaults: CPU of the polling thread second by second, and how often its verdict changed.
Prints a table and writes OUT/still.json and .md. Judges nothing. Needs root.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import compare
import generator
import machine
import peers
import session

from program import BenchError, Place

LOOKS_PER_S = 4  # at the verdict
# What it is, the peer, its ports, packets/s.
SCENES = {
    "plugin": ("testpmd with the plugin, no packets", "testpmd-io+plugin", "veth", "0"),
    "forward": ("lull-fwd, 50,000 packets/s, even", "lull-objective", "rings", "50k"),
}
HEAD = ("program", "CPU %: least", "median", "most", "verdicts", "changes", "in the end")


@dataclass(frozen=True)
class Watch:
    """One program for a while."""

    scene: str
    cpu_pct: list[float]  # of the polling thread, by second
    states: list[str]  # of the verdict, each look
    last_text: str
    steal_ms: float

    @property
    def changes(self) -> int:
        """How often the verdict was another than at the look before."""
        return changes(self.states)


def changes(states: list[str]) -> int:
    """How often one differs from the one before."""
    return sum(one != before for before, one in itertools.pairwise(states))


def watch(scene: str, running: peers.Running, seconds: int) -> Watch:
    """Look at it for so many seconds."""
    cpu_pct: list[float] = []
    states: list[str] = []
    text = ""
    steal = machine.steal_ms()
    before = machine.read_thread(running.program.pid, running.tid)
    next_at = time.monotonic()
    for look in range(1, seconds * LOOKS_PER_S + 1):
        next_at += 1 / LOOKS_PER_S
        time.sleep(max(0.0, next_at - time.monotonic()))
        state, text = peers.verdict(running)
        states.append(state)
        if look % LOOKS_PER_S == 0:
            now = machine.read_thread(running.program.pid, running.tid)
            cpu_pct.append(100 * (now.cpu_ns - before.cpu_ns) / (now.at_ns - before.at_ns))
            before = now
            print(f"{scene}: CPU {cpu_pct[-1]:5.1f} %, {state}", file=sys.stderr, flush=True)
    return Watch(scene, cpu_pct, states, text, machine.steal_ms() - steal)


def measure(chosen: argparse.Namespace) -> list[Watch]:
    """Scene by scene."""
    watches = []
    plan = compare.plan(chosen)
    # The defaults of the plugin and of the program: nothing is set but what is asked for.
    options = {"max-latency": chosen.max_latency} if chosen.max_latency else {}
    plan = replace(plan, setup=replace(plan.setup, lull_options=options))
    with Place() as place:
        for scene in chosen.scenes.split(","):
            _, name, kind, rate = SCENES[scene]
            peer = peers.parse(name)
            reason = peers.missing(peer, plan.setup)
            if reason:
                print(f"left out: {scene}: {reason}", file=sys.stderr)
                continue
            with session.opened(place, plan, kind, peer) as (_, source, running):
                pps = compare.packets_per_second(rate)
                if pps == 0 and isinstance(source, generator.Generator):
                    source.program.stop()  # nothing else shall run
                else:
                    source.send(generator.Rate(rate, pps))
                watches.append(watch(scene, running, chosen.watch))
    return watches


def row(seen: Watch) -> list[str]:
    """For the table."""
    looks = len(seen.states)
    shares = [
        f"{state} {100 * seen.states.count(state) / looks:.0f} %"
        for state in dict.fromkeys(seen.states)
    ]
    return [
        SCENES[seen.scene][0],
        f"{min(seen.cpu_pct):.1f}",
        f"{statistics.median(seen.cpu_pct):.1f}",
        f"{max(seen.cpu_pct):.1f}",
        ", ".join(shares),
        str(seen.changes),
        seen.last_text,
    ]


def markdown(data: dict[str, Any], before: dict[str, Any] | None) -> str:
    """A section for docs/measurements.md."""
    about = data["machine"]
    head = ["when", *HEAD] if before else list(HEAD)
    lines = [
        f"```\n{data['command']}\n```\n",
        f"{about['cpu']}, {about['cpus']} CPUs, hypervisor {about['hypervisor']}, kernel"
        f" {about['kernel']}, DPDK {about['dpdk']}; commit {about['commit']}, {about['date']},"
        f" load at start {about['load']}. {data['seconds']} s each, the verdict read"
        f" {LOOKS_PER_S} times a second."
        + (f" Before: commit {before['machine']['commit']}." if before else "")
        + "\n",
        "| " + " | ".join(head) + " |",
        "|---" * (2 if before else 1) + "|---:" * 3 + "|---|---:|---|",
    ]
    for scene in SCENES:
        for when, run in (("before", before), ("now", data)):
            for seen in run["watches"] if run else ():
                if seen["scene"] == scene:
                    cells = row(Watch(**seen))
                    lines.append("| " + " | ".join([when, *cells] if before else cells) + " |")
    return "\n".join(lines) + "\n"


def options() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--watch", type=int, default=60, metavar="SECONDS", help="of each program [60]")
    add("--scenes", default=",".join(SCENES), help="[%(default)s]")
    add("--nice", type=int, default=0, help="of forwarder and generator, -20..19 [0]")
    add("--before", type=Path, metavar="JSON", help="an earlier run, set beside this one")
    compare.common(parser).set_defaults(rates="0", max_latency="")
    return parser


def main() -> None:
    """Watch, or show an earlier run."""
    chosen = options().parse_args()
    if chosen.earlier:
        data = json.loads(chosen.earlier.read_text(encoding="utf-8"))
    else:
        compare.prepare()
        data = {
            "machine": machine.describe(compare.tree_of(chosen.build)),
            "command": compare.command(),
            "seconds": chosen.watch,
        }
        with compare.plugin_of(chosen.build) as chosen.plugin:
            data["watches"] = [asdict(seen) for seen in measure(chosen)]
    before = json.loads(chosen.before.read_text(encoding="utf-8")) if chosen.before else None
    text = markdown(data, before)
    print(text)
    chosen.out.mkdir(parents=True, exist_ok=True)
    path = chosen.out / "still.json"
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    if chosen.docs:
        compare.update_docs(path.with_suffix(".md"))


if __name__ == "__main__":
    try:
        main()
    except BenchError as error:
        sys.exit(f"still: {error}")
