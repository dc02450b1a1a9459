#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What dispatch loses, moves and reorders, in virtual time: lull-flow-sim over all traffic.

Four questions, each a table; --only picks some:
  loads    largest load without loss, cold and warm, by bisection over several seeds
  shares   at load 0.7: loss, moves, packets late at workers and output, waits, partial records
  drain    packets finished late under --order drain, over very many packets
  figures  loss against load with one and two workers that everything hashes to, and what the
           threshold does to the odds of a loss: Fig. 4, 5 and Table 1 of the Subflow paper

    bench/flow/simulate.py --build build --seeds 5 --json simulated.json

That is the full run: 4 and 8 workers, 1 M packets, 100 M for drain; 20 minutes of one CPU, --jobs
takes more of them. A short one: --workers 4 --seeds 1 --packets 200000 --drain-packets 10000000.

"one queue" among the loads is no scheduler but what none can pass: all workers take from one queue
with the room of all their rings, and no flow is identified twice.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TRAFFICS = {
    "uniform": ["--zipf", "0"],
    "Zipf(1.1)": ["--zipf", "1.1"],
    "50 % elephant": ["--elephant", "50"],
    "all to one": ["--target", "1"],
    "all to two": ["--target", "2"],
}
SCHEDULERS = ["rr-packet", "crc32", "hrw", "subflow-paper", "subflow", "jsq", "sticky"]
ONE_QUEUE = "one queue"
FIGURE_LOADS = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
FIGURE_SCHEDULERS = ["crc32", "hrw", "subflow-paper", "subflow", "sticky"]
THRESHOLDS = [75, 50, 25]
DRAIN_SHARE = ["--elephant", "20", "--stall", "5ms:500us"]

Row = dict[str, Any]


class BenchError(Exception):
    """The simulator did not do what was asked."""


@dataclass(frozen=True)
class Bench:
    """The program, and what all its runs have in common."""

    program: Path
    jobs: int
    seed: int
    seeds: int
    pkts: int

    def call(self, words: Iterable[str]) -> Row:
        command = [str(self.program), "--seed", str(self.seed), *words, "--json", "-"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BenchError(f"{' '.join(command)}: {done.stderr.strip()}")
        result: Row = json.loads(done.stdout)
        return result

    def all(self, cases: list[list[str]]) -> list[Row]:
        """One result per case, several at a time."""
        with ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(self.call, cases))

    def sampled(self) -> list[str]:
        return ["--packets", str(self.pkts), "--seeds", str(self.seeds)]


def table(title: str, head: list[str], rows: list[list[str]]) -> None:
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    print(f"\n{title}")
    for row in [head, *rows]:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join(cells).rstrip())
    sys.stdout.flush()


# ---- loads ----


def ratio(part: float, whole: float) -> str:
    return f"{part / whole:.2f}" if whole > 0 else "-"


def one_queue(bench: Bench, workers: int, step: float, traffic: list[str]) -> list[str]:
    """One worker as fast as all; whole ns make it differ from that by up to 2 %."""
    words = ["--bisect", "--bisect-step", str(step), "--scheduler", "hrw", "--workers", "1"]
    words += ["--service", f"{300 // workers}ns", "--identify", f"{1300 // workers}ns"]
    words += ["--ring", str(1024 * workers), *bench.sampled()]
    return [*words, *(traffic if "--target" not in traffic else [])]


def loads(bench: Bench, workers: int, step: float) -> Row:
    """Largest load without loss."""
    names = list(TRAFFICS)
    words = ["--bisect", "--bisect-step", str(step), "--scheduler", ",".join(SCHEDULERS)]
    words += ["--workers", str(workers), *bench.sampled()]
    results = bench.all([[*words, *TRAFFICS[name]] for name in names])
    bounds = bench.all([one_queue(bench, workers, step, TRAFFICS[name]) for name in names])
    found: Row = {}
    for name, result, bound in zip(names, results, bounds, strict=True):
        for row in result["bisections"]:
            found.setdefault(row["start"], {}).setdefault(row["scheduler"], {})[name] = row["load"]
        for row in bound["bisections"]:
            found.setdefault(row["start"], {}).setdefault(ONE_QUEUE, {})[name] = row["load"]
    for start, policies in found.items():
        rows = [
            [policy, *(f"{policies[policy][name]:.3f}" for name in names)]
            for policy in [*SCHEDULERS, ONE_QUEUE]
        ]
        for peer in ("hrw", "crc32", ONE_QUEUE):
            pairs = [(policies["sticky"][name], policies[peer][name]) for name in names]
            rows.append([f"sticky / {peer}", *(ratio(ours, theirs) for ours, theirs in pairs)])
        title = f"Largest load without loss, {workers} workers, {start} start"
        table(f"{title}, {bench.seeds} seeds of {bench.pkts} packets", ["scheduler", *names], rows)
    return found


# ---- shares ----


def shares(bench: Bench, workers: int) -> Row:
    """At load 0.7, medians over the seeds: where packets went, and how."""
    orders = ["none", "drain", "resequence"]
    cases = [(name, order) for name in TRAFFICS for order in orders]
    words = ["--load", "0.7", "--workers", str(workers), *bench.sampled()]
    some = ["--scheduler", ",".join(SCHEDULERS)]
    only = ["--scheduler", "subflow,sticky"]
    results = bench.all(
        [
            [*words, *TRAFFICS[name], "--order", order, *(some if order == "none" else only)]
            for name, order in cases
        ]
    )
    found: Row = {}
    for (name, order), result in zip(cases, results, strict=True):
        groups: dict[tuple[str, str], list[Row]] = {}
        for run in result["runs"]:
            groups.setdefault((run["scheduler"], run["start"]), []).append(run)
        rows = [
            [f"{policy}, {start}", *shares_row(runs)] for (policy, start), runs in groups.items()
        ]
        head = ["scheduler", "loss %", "moves/1k", "late %", "output %", "parts", "wait p99 us"]
        table(f"Load 0.7, {name}, {workers} workers, order {order}", head, rows)
        found.setdefault(name, {})[order] = {
            f"{policy} {start}": runs for (policy, start), runs in groups.items()
        }
    return found


def shares_row(runs: list[Row]) -> list[str]:
    def median(read: Callable[[Row], float]) -> float:
        return statistics.median(read(run) for run in runs)

    return [
        f"{median(lambda run: run['loss_ppm']) / 1e4:.4f}",
        f"{median(lambda run: run['moves_per_1000']):.3f}",
        f"{median(lambda run: run['reordered_pct']):.3f}",
        f"{median(lambda run: run['reordered_output_pct']):.4f}",
        f"{median(lambda run: run['partials_per_flow']):.3f}",
        f"{median(lambda run: run['wait_ns']['p99']) / 1e3:.1f}",
    ]


# ---- drain ----


def drain(bench: Bench, pkts: int) -> Row:
    """Nothing may be late, however many packets."""
    words = ["--order", "drain", "--start", "cold", "--packets", str(pkts), *DRAIN_SHARE]
    names = ["sticky", "subflow"]
    results = bench.all([[*words, "--scheduler", name] for name in names])
    rows = []
    for name, result in zip(names, results, strict=True):
        run = result["runs"][0]
        speed = result["simulated_pkts"] / result["duration_s"] / 1e6
        rows.append(
            [
                name,
                str(run["delivered"]),
                str(run["dispatch"]["moves"]),
                str(run["reordered"]),
                f"{run['loss_ppm'] / 1e4:.4f}",
                f"{speed:.1f}",
            ]
        )
    head = ["scheduler", "delivered", "moves", "late", "loss %", "M packets/s simulated"]
    table("Order drain, load 0.7, a worker that stalls", head, rows)
    return dict(zip(names, (result["runs"][0] for result in results), strict=True))


# ---- figures ----


def figures(bench: Bench) -> Row:
    """The paper's special cases, with its bursts of 144 for subflow-paper."""
    found: Row = {}
    loads_text = ",".join(str(load) for load in FIGURE_LOADS)
    words = ["--start", "warm", "--load", loads_text, "--packets", str(bench.pkts)]
    words += ["--scheduler", ",".join(FIGURE_SCHEDULERS), "--burst", "144", "--flush-burst", "144"]
    for target, figure in ((1, "Fig. 4"), (2, "Fig. 5")):
        runs = bench.call([*words, "--target", str(target)])["runs"]
        rows = []
        for name in FIGURE_SCHEDULERS:
            losses = [run["loss_ppm"] / 1e4 for run in runs if run["scheduler"] == name]
            rows.append([name, *(f"{loss:.3f}" for loss in losses)])
        title = f"{figure}: loss %, everything hashes to {target} of 4 workers, by load"
        table(title, ["scheduler", *(str(load) for load in FIGURE_LOADS)], rows)
        found[figure] = runs
    rows = []
    words = ["--scheduler", "subflow-paper", "--start", "cold", "--target", "1", "--load", "0.7"]
    words += ["--burst", "144", "--flush-burst", "144", "--watch", "144"]
    words += ["--packets", str(bench.pkts)]
    for threshold in THRESHOLDS:
        run = bench.call([*words, "--threshold", str(threshold)])["runs"][0]
        found[f"threshold {threshold}"] = run
        odds = f"{run['watched_lost_pct']:.1f}"
        rows.append([f"{threshold} %", str(run["watched"]), odds, f"{run['loss_ppm'] / 1e4:.3f}"])
    head = ["threshold", "packets above it", "one of the next 144 lost %", "loss %"]
    table("Odds of a loss when a packet meets a ring filled above the threshold", head, rows)
    return found


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=Path, default=Path("build"), help="build directory")
    parser.add_argument("--only", default="loads,shares,drain,figures", help="which tables")
    parser.add_argument("--workers", default="4,8", help="for loads; the others take the first")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--packets", type=int, default=1_000_000)
    parser.add_argument("--drain-packets", type=int, default=100_000_000)
    parser.add_argument("--step", type=float, default=1, help="of the bisection, percent")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--json", type=Path, help="write all figures here as well")
    return parser.parse_args()


def main() -> None:
    args = arguments()
    program = args.build / "apps/lull-flow-sim/lull-flow-sim"
    bench = Bench(program, args.jobs, args.seed, args.seeds, args.packets)
    only = args.only.split(",")
    counts = [int(text) for text in args.workers.split(",")]
    found: Row = {"seed": args.seed, "seeds": args.seeds, "packets": args.packets}
    begin = time.monotonic()
    if "loads" in only:
        found["loads"] = {str(count): loads(bench, count, args.step) for count in counts}
    if "shares" in only:
        found["shares"] = shares(bench, counts[0])
    if "drain" in only:
        found["drain"] = drain(bench, args.drain_packets)
    if "figures" in only:
        found["figures"] = figures(bench)
    print(f"\nseeds {args.seed}..{args.seed + args.seeds - 1}, {time.monotonic() - begin:.0f} s")
    if args.json is not None:
        args.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except (BenchError, OSError) as error:
        sys.exit(f"simulate: {error}")
