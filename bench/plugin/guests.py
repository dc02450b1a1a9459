#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Open vSwitch between two guests, beside a port without packets, on one CPU or on two.

As it is, with its own pmd-maxsleep, with the plugin, and with the patch of
examples/openvswitch, all at the same limit, in turn, round after round: CPU of the
polling thread, packets, latency, and how long a guest that takes the place of another one
waits for its first packet. The guests are a lull-gen on virtio_user. Prints a table and
writes OUT/guests.json and .md. Judges nothing. Needs root.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import statistics
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "idle"))

import compare
import generator
import machine
import peers
import session

from program import BenchError, Place

SPURTS = "2ms of 20"
HEAD = (
    "threads",
    "Open vSwitch",
    "packets/s",
    "CPU %",
    "received/s",
    "of as it is",
    "p50 us",
    "p99 us",
    "lost",
    "others had its CPU %",
)


@dataclass(frozen=True)
class Spurts(generator.Rate):
    """Packets at this rate for 2 ms, silence for 18."""

    @property
    def spec(self) -> str:
        """For lull-gen."""
        return f"onoff:{self.pps},2ms,18ms"


@dataclass(frozen=True)
class Restart:
    """How long a new guest waited for its first packet, with its own start."""

    peer: str
    threads: int
    round: int
    seconds: float


def options() -> argparse.ArgumentParser:
    """What the user may say."""
    parser = compare.common(argparse.ArgumentParser(description=__doc__))
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("--rates", default="0,1k,5k,200k,spurts,sat", help="packets/s [%(default)s]")
    add("--threads", default="1,2", help="PMD threads [%(default)s]")
    add("--nice", type=int, default=0, help="of switch and generator, -20..19 [0]")
    add("--vswitchd", type=Path, help="of examples/openvswitch/build; without: three columns")
    parser.set_defaults(max_latency="100", rounds=3, seconds=3.0)
    return parser


def rates(wanted: str) -> list[generator.Rate]:
    """Read --rates."""
    plain = compare.rates(",".join(r for r in wanted.split(",") if r != "spurts"), "20M")
    if "spurts" not in wanted.split(","):
        return plain
    at = wanted.split(",").index("spurts")
    return [*plain[:at], Spurts(SPURTS, 200_000), *plain[at:]]


def switches(chosen: argparse.Namespace) -> list[peers.Peer]:
    """All that are measured, the one as it is first."""
    limit = chosen.max_latency
    found = [
        peers.Peer("as it is", "ovs", "0"),
        peers.Peer(f"pmd-maxsleep {limit}", "ovs", limit),
        peers.Peer(f"plugin {limit}", "ovs", "0", plugin=True),
    ]
    if chosen.vswitchd:
        if not chosen.vswitchd.is_file():
            raise BenchError(f"there is no {chosen.vswitchd}: run examples/openvswitch/build")
        found.append(peers.Peer(f"pmd-objective {limit}", "ovs", "0", objective_us=int(limit)))
    return found


def measure(
    place: Place, plan: generator.Plan, peer: peers.Peer, turn: int
) -> Iterator[session.Sample | Restart]:
    """All rates, then another guest."""
    with session.opened(place, plan, "vhost", peer) as (wire, source, running):
        for rate in plan.rates:
            figures = session.measure(source, running, rate, plan)
            yield session.Sample.of("vhost", peer.name, rate.label, turn, figures)
        place.programs[-1 if peer.plugin else 0].check_alive()
        assert isinstance(source, generator.Generator)
        source.program.stop()
        for vdev in wire.generator_vdevs:
            Path(re.findall(r"path=([^,]*)", vdev)[0]).unlink(missing_ok=True)
        began = time.monotonic()
        other = generator.open_source(place, wire, plan)
        other.ready(running)
        seconds = time.monotonic() - began
        yield Restart(peer.name, plan.setup.ovs_threads, turn, seconds)


def number(figure: float) -> str:
    """Three digits that count."""
    return f"{figure:.0f}" if figure >= 100 else f"{figure:.1f}"


Found = dict[int, list[session.Sample | Restart]]  # by number of threads


def rows(found: Found) -> Iterator[list[str]]:
    """One for each number of threads, rate and switch: medians; ratios within a round."""
    for threads, all_of_it in found.items():
        samples = [one for one in all_of_it if isinstance(one, session.Sample)]
        names = list(dict.fromkeys(one.peer for one in samples))
        for rate in dict.fromkeys(one.rate for one in samples):
            bare = {s.round: s for s in samples if (s.peer, s.rate) == (names[0], rate)}
            for name in names:
                here = [s for s in samples if (s.peer, s.rate) == (name, rate)]
                ratio = [
                    s.received_pps / bare[s.round].received_pps
                    for s in here
                    if s.round in bare and bare[s.round].received_pps > 0
                ]
                figures = [
                    number(statistics.median(getattr(s, field) for s in here))
                    for field in ("cpu_pct", "received_pps", "p50_us", "p99_us", "lost")
                ]
                figures.insert(2, f"{statistics.median(ratio):.3f}" if ratio else "")
                waited = number(statistics.median(s.waited_pct for s in here))
                yield [str(threads), name, rate, *figures, waited]


def restarts(found: Found) -> str:
    """A sentence for each number of threads."""
    said = []
    for threads, all_of_it in found.items():
        seconds: dict[str, list[float]] = {}
        for one in all_of_it:
            if isinstance(one, Restart):
                seconds.setdefault(one.peer, []).append(one.seconds)
        each = ", ".join(f"{name} {statistics.median(s):.2f} s" for name, s in seconds.items())
        said.append(f"A new guest's first packet, {threads} threads: {each}.")
    return "\n".join(said)


def table(found: Found) -> str:
    """Markdown."""
    lines = [HEAD, ["---", "---", "---", *["---:"] * (len(HEAD) - 3)], *rows(found)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def plan_for(chosen: argparse.Namespace, plugin: Path | None, threads: int) -> generator.Plan:
    """With the idle port."""
    chosen.plugin = plugin
    plan = compare.plan(argparse.Namespace(**{**vars(chosen), "rates": "0"}))
    setup = dataclasses.replace(
        plan.setup, vswitchd=chosen.vswitchd, idle_port=True, ovs_threads=threads
    )
    return dataclasses.replace(plan, setup=setup, rates=rates(chosen.rates))


def run(chosen: argparse.Namespace) -> dict[str, Any]:
    """Measure, and say under which conditions."""
    about, found, left_out = machine.describe(compare.TREE), Found(), {}
    wanted = switches(chosen)
    with compare.plugin_of(chosen.build) as plugin, Place() as place:
        for turn in range(1, chosen.rounds + 1):
            for threads in map(int, chosen.threads.split(",")):
                plan = plan_for(chosen, plugin, threads)
                for peer in wanted:
                    try:
                        for one in measure(place, plan, peer, turn):
                            found.setdefault(threads, []).append(one)
                            print(".", end="", file=sys.stderr, flush=True)
                    except BenchError as error:
                        left_out[f"{peer.name}, {threads} threads, round {turn}"] = str(error)
    print(file=sys.stderr)
    text = (
        f"{about['cpu']}, hypervisor {about['hypervisor']}, kernel {about['kernel']}, DPDK"
        f" {about['dpdk']}; commit {about['commit']}, {about['date']}, load at start"
        f" {about['load']}. Medians of {chosen.rounds} interleaved rounds of {chosen.seconds} s."
        f"\n\n{table(found)}\n\n{restarts(found)}\n"
    )
    text += "".join(f"Left out: {what}: {why}\n" for what, why in left_out.items())
    samples = {
        str(threads): [asdict(one) for one in all_of_it] for threads, all_of_it in found.items()
    }
    return {"machine": about, "command": compare.command(), "samples": samples, "text": text}


def main() -> None:
    """Measure."""
    chosen = options().parse_args()
    if chosen.earlier:
        print(json.loads(chosen.earlier.read_text(encoding="utf-8"))["text"])
        return
    result = run(chosen)
    chosen.out.mkdir(parents=True, exist_ok=True)
    (chosen.out / "guests.json").write_text(json.dumps(result, indent=1), encoding="utf-8")
    (chosen.out / "guests.md").write_text(result["text"], encoding="utf-8")
    print(result["text"])


if __name__ == "__main__":
    try:
        main()
    except BenchError as error:
        sys.exit(f"guests: {error}")
