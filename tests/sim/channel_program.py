# SPDX-License-Identifier: BSD-3-Clause
"""lull-channel-sim from its command line to its result: what it refuses, and what it writes."""

from __future__ import annotations

import re
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
QUICK = ["--time", "100ms", "--warmup", "50ms", "--message", "100k"]
WHOLE = {"program", "version", "settings", "digest", "world", "scenarios", "duration_s"}
WORLD = {
    "goodput_per_s", "sum_per_s", "share_pct", "jain", "measured_ns", "rest_ns", "messages_sent",
    "messages_received", "messages_failed", "connections_ended", "wire_pkts", "wire_lost_pkts",
    "queue_dropped_pkts", "ring_dropped_pkts", "latency_ns", "traffic", "nodes", "paths",
    "counters",
}  # fmt: skip
TRAFFIC = {"tx_pkts", "resent_pkts", "dropped_pkts", "ring_dropped_pkts"}
NODE = {"node", "cpu_pct", "empty_pct", "rest_ns", "rests", "rest_requested_mean_ns"}
PATH = {
    "node", "peer", "rail", "remote_rail", "state", "base_rtt_ns", "srtt_ns", "rttvar_ns",
    "rate_per_s", "window_pkts", "credit_pkts", "counters",
}  # fmt: skip
SEEDS = 100  # as channel_seeds_test.c has it


def helps(command: Command) -> None:
    for option, pattern in (("--help", "--rails"), ("--man", r"\.TP"), ("--version", r"\d")):
        command.shows(option, pattern)


def refuses(command: Command) -> None:
    for words, pattern in (
        ("--rails 100", "10k"),
        ("--rails 1M,fast", "'fast'"),
        ("--rails " + ",".join(["1M"] * 17), "16 rails"),
        ("--wire loss=1", "'loss=1'"),
        ("--wire speed=1%", "KEY=VALUE"),
        ("--kill 1", "RAIL@TIME"),
        ("--kill 2@1s", "rail 2"),
        ("--speed 0@1s", "RAIL:RATE@TIME"),
        ("--spread best", "pull"),
        ("--control none", "delay"),
        ("--nodes 3", "incast"),
        ("--job incast", "3 or more"),
        ("--message 5M", "message"),
        ("--under-way 4097", "under-way"),
        ("--governor best", "kalman"),
        ("--heedless", "governor"),
        ("--event-rests --governor phase", "no governor decides"),
        ("--governor phase --rest 500ns", "1 us"),
        ("--nonsense", "nonsense"),
    ):
        command.refused(words, pattern)


def has_every_member(command: Command) -> None:
    result = command.result(*QUICK, "--rails", "200M,100M", "--curve")
    check(result.keys() == WHOLE, "members", result.keys() ^ WHOLE)
    world = result["world"]
    check(world.keys() == WORLD | {"delivered_bytes_by_ms"}, "world", world.keys() ^ WORLD)
    check(result["scenarios"] is None, "no scenarios", result["scenarios"])
    check(len(world["paths"]) == 4, "two paths, seen from both ends", world["paths"])
    check(world["traffic"].keys() == TRAFFIC, "traffic", world["traffic"])
    check([node["node"] for node in world["nodes"]] == [0, 1], "nodes", world["nodes"])
    for node in world["nodes"]:
        check(node.keys() == NODE, "members of a node", node.keys() ^ NODE)
        check(node["cpu_pct"] == 100 and node["rests"] == 0, "it polls", node)
    for path in world["paths"]:
        check(path.keys() == PATH, "members of a path", path.keys() ^ PATH)
        check(path["state"] == "up", "up", path)
    check(len(world["delivered_bytes_by_ms"]) == 150, "a value each ms", world)
    delivered = sum(world["delivered_bytes_by_ms"][50:])
    check(abs(delivered * 80 - world["goodput_per_s"]) < 1, "the curve is the goodput", delivered)
    check(90 < world["share_pct"] < 97, "share", world["share_pct"])
    check(world["messages_sent"] == world["messages_received"], "all arrive", world)
    check(world["counters"]["forged"] == 0, "nothing forged", world["counters"])


def jobs(command: Command) -> None:
    latency = command.result("--job", "latency", "--time", "50ms")["world"]
    check(latency["latency_ns"]["count"] > 500, "answers", latency["latency_ns"])
    check(latency["latency_ns"]["p50"] < 100_000, "half a round trip", latency["latency_ns"])
    incast = command.result("--job", "incast", "--nodes", "5", *QUICK)["world"]
    check(0.25 < incast["jain"] <= 1, "fairness", incast["jain"])
    check(len(incast["paths"]) == 16, "each with node 0 alone", len(incast["paths"]))
    periodic = command.result("--job", "periodic", "--rest", "1ms", *QUICK)["world"]
    check(periodic["rest_ns"] > 0 and periodic["ring_dropped_pkts"] == 0, "rests", periodic)


def governors(command: Command) -> None:
    """What --governor, --heedless, --announce and --rail-credit do to a node that is sent to."""
    words = ["--rails", "1G,1G", "--message", "500", "--under-way", "256", "--machine", "paper",
             "--time", "100ms", "--warmup", "100ms"]  # fmt: skip
    spin = command.result(*words, "--governor", "spin", "--rest", "1ms")["world"]
    check(spin["nodes"][1]["cpu_pct"] == 100, "spins", spin["nodes"])
    published = command.result(
        *words, "--governor", "kalman", "--rest", "10ms", "--heedless", "--announce=no",
        "--rail-credit=no", "--control", "fixed", "--window", "1024",
    )["world"]  # fmt: skip
    for node in published["nodes"]:
        check(node["cpu_pct"] < 20 and node["rests"] > 10, "rests under full load", node)
        check(node["empty_pct"] < 5, "and hardly looks in vain", node)
    check(published["goodput_per_s"] < spin["goodput_per_s"], "at a price", published)
    ours = command.result(*words, "--governor", "phase", "--rest", "1ms")["world"]
    check(ours["goodput_per_s"] > 0.99 * spin["goodput_per_s"], "no rest, no price", ours)
    credit = ["--nodes", "5", "--job", "incast", "--rails", "1G", "--message", "100", "--under-way",
              "512", "--wire", "queue=4M", "--control", "fixed", "--window", "1024", "--governor",
              "fixed", "--rest", "4ms", "--heedless", "--time", "60ms"]  # fmt: skip
    check(command.result(*credit)["world"]["traffic"]["ring_dropped_pkts"] == 0, "rail credit")
    lossy = command.result(*credit, "--rail-credit=no")["world"]
    check(lossy["traffic"]["ring_dropped_pkts"] > 100, "without", lossy["traffic"])
    check(lossy["traffic"]["ring_dropped_pkts"] <= lossy["ring_dropped_pkts"], "of all", lossy)
    check(lossy["messages_sent"] == lossy["messages_received"], "no message is lost", lossy)


def faults_of_rails(command: Command) -> None:
    words = [*QUICK, "--rails", "100M,100M", "--curve"]
    whole = command.result(*words)["world"]
    half = command.result(*words, "--kill", "1@20ms")["world"]
    check(half["goodput_per_s"] < 0.6 * whole["goodput_per_s"], "one rail less", half)
    again = command.result(*words, "--kill", "1@20ms", "--return", "1@30ms")["world"]
    check(again["messages_failed"] == 0, "no message lost", again)
    slow = command.result(*words, "--speed", "0:10M@0ms,1:10M@0ms")["world"]
    check(slow["goodput_per_s"] < 20e6, "slower", slow["goodput_per_s"])
    lossy = command.result(*words, "--wire", "loss=1%,delay=100us")["world"]
    check(lossy["wire_lost_pkts"] > 0, "loss", lossy)


def same_seed_same_result(command: Command) -> None:
    words = [*QUICK, "--wire", "loss=1%,reorder=1%"]
    first, again = (command.result(*words) for _ in range(2))
    check(first["world"] == again["world"] and first["digest"] == again["digest"], "the same")
    other = command.result(*words, "--seed", "2")
    check(first["digest"] != other["digest"], "another seed, another run")


def scenarios(command: Command) -> None:
    result = command.result("--scenarios", "50", "--seed", "7")
    found = result["scenarios"]
    check(result["world"] is None and found["count"] == 50, "scenarios", result)
    check(found["messages_received"] > 100 and found["wire_pkts"] > 1000, "much happens", found)


def same_digest_in_every_build(command: Command) -> None:
    checked = subprocess.run(
        [sys.argv[2], "scenario__the_first_ones"],
        capture_output=True, text=True, timeout=TIMEOUT_S, check=True,
    )  # fmt: skip
    match = re.search(r"digest ([0-9a-f]{16})", checked.stdout)
    found = command.result("--scenarios", str(SEEDS), "--seed", "1")["digest"]
    check(match is not None and match[1] == found, "with and without sanitizers", found)


def prints_a_table(command: Command) -> None:
    run = command.call(*QUICK)
    check(run.returncode == 0 and len(run.stdout.splitlines()) == 6, "a table", run.stdout)
    run = command.call("--scenarios", "3")
    check("every promise kept" in run.stdout, "one line", run.stdout)


def ends_by_signal(command: Command) -> None:
    words = [command.program, "--time", "1000", "--json", "never.json"]
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
    jobs,
    governors,
    faults_of_rails,
    same_seed_same_result,
    scenarios,
    same_digest_in_every_build,
    prints_a_table,
    ends_by_signal,
)


def main() -> None:
    for number, test in enumerate(TESTS, 1):
        with tempfile.TemporaryDirectory() as scratch:
            test(Command(sys.argv[1], scratch))
        print(f"ok {number} {test.__name__}", flush=True)


main()
