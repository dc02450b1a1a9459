# SPDX-License-Identifier: BSD-3-Clause
"""lull-flow-sim from its command line to its result: what it refuses, and what it writes."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from command import Command, await_signals
from verdict import check

TIMEOUT_S = 60
QUICK = ["--packets", "20k", "--lead", "20k"]
WHOLE = {"program", "version", "settings", "runs", "bisections", "simulated_pkts", "duration_s"}
RUN = {
    "scheduler", "order", "start", "workers", "load", "seed", "capacity_per_s", "offered_per_s",
    "offered", "delivered", "lost", "lost_rx_ring", "lost_worker_ring", "loss_ppm", "watched",
    "watched_lost", "watched_lost_pct", "reordered", "reordered_pct", "reordered_output",
    "reordered_output_pct", "moves_per_1000", "moves_inflight_per_1000", "identified", "flows",
    "partials", "partials_per_flow", "span_ns", "io_busy_pct", "worker", "latency_ns", "wait_ns",
    "dispatch", "resequence",
}  # fmt: skip


def helps(command: Command) -> None:
    for option, pattern in (("--help", "--scheduler"), ("--man", r"\.TP"), ("--version", r"\d")):
        command.shows(option, pattern)


def refuses(command: Command) -> None:
    for words, pattern in (
        ("--scheduler best", "rr-packet.*sticky"),
        ("--load 0", "load of"),
        ("--load 0.5,5", "'5'"),
        ("--workers 33", "1..32"),
        ("--target 5", "target_count"),
        ("--stall 1ms", "EVERY:TIME"),
        ("--stall 0ms:1ms", "EVERY:TIME"),
        ("--order fifo", "none.*drain.*resequence"),
        ("--packets 0", "packets"),
        ("--zipf 5", "0..4"),
        ("--nonsense", "nonsense"),
    ):
        command.refused(words, pattern)


def has_every_member(command: Command) -> None:
    result = command.result(*QUICK, "--scheduler", "hrw,sticky", "--load", "0.5,0.9")
    check(result.keys() == WHOLE, "members", result.keys() ^ WHOLE)
    runs = result["runs"]
    check(len(runs) == 8, "two schedulers, starts, loads", len(runs))
    check(result["bisections"] == [], "no search", result["bisections"])
    # four cold runs of 20k, four with a lead of as many
    check(result["simulated_pkts"] == 4 * 20_000 + 4 * 40_000, "packets", result["simulated_pkts"])
    for run in runs:
        check(run.keys() == RUN, "members of a run", run.keys() ^ RUN)
        check(run["offered"] == 20_000, "offered", run)
        check(run["offered"] == run["delivered"] + run["lost"], "conserved", run)
        check(len(run["worker"]) == 4, "workers", run["worker"])
        packets = sum(worker["packets"] for worker in run["worker"])
        check(packets == run["delivered"] == run["latency_ns"]["count"], "by worker", run)
        check(abs(run["offered_per_s"] - run["load"] * run["capacity_per_s"]) < 1, "load", run)


def same_seed_same_result(command: Command) -> None:
    words = [*QUICK, "--scheduler", "all", "--churn", "1000", "--order", "resequence"]
    first, again = (command.result(*words)["runs"] for _ in range(2))
    check(first == again, "the same")
    other = command.result(*words, "--seed", "2")["runs"]
    check(first != other, "another seed, another result")
    both = command.result(*words, "--seeds", "2")["runs"]
    check(sorted(map(str, both)) == sorted(map(str, first + other)), "seeds follow each other")


def bisects(command: Command) -> None:
    words = [*QUICK, "--start", "cold", "--scheduler", "hrw"]
    found = command.result(*words, "--bisect")
    check(found["runs"] == [] and len(found["bisections"]) == 1, "a search", found)
    load = found["bisections"][0]["load"]
    check(0 < load < 1.2, "a load", load)
    lost = [
        command.result(*words, "--load", f"{tried:.2f}")["runs"][0]["lost"]
        for tried in (load, load + 0.01)
    ]
    check(lost[0] == 0 and lost[1] > 0, "none lost there, some lost above", lost)


def prints_a_table(command: Command) -> None:
    run = command.call(*QUICK, "--scheduler", "hrw,sticky")
    check(run.returncode == 0 and len(run.stdout.splitlines()) == 5, "a table", run.stdout)


def ends_by_signal(command: Command) -> None:
    words = [command.program, "--packets", "1000G", "--json", "never.json"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=command.scratch
    ) as run:
        await_signals(run, signal.SIGINT)
        run.send_signal(signal.SIGINT)
        stdout, stderr = run.communicate(timeout=TIMEOUT_S)
    check(run.returncode == 1 and stdout == "", "ends", f"{run.returncode} {stderr}")
    check("signal" in stderr and len(stderr.splitlines()) == 1, "says why", stderr)
    check(not list(command.scratch.iterdir()), "leaves no file")


TESTS: tuple[Callable[[Command], None], ...] = (
    helps,
    refuses,
    has_every_member,
    same_seed_same_result,
    bisects,
    prints_a_table,
    ends_by_signal,
)


def main() -> None:
    for number, test in enumerate(TESTS, 1):
        with tempfile.TemporaryDirectory() as scratch:
            test(Command(sys.argv[1], scratch))
        print(f"ok {number} {test.__name__}", flush=True)


main()
