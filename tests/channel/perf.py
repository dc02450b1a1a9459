# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of lull-channel-perf between nodes: both sides tell the same, and figures add up.

Rates are bounded from above by shaped rails, and by nothing from below: the machine decides them.

perf.py LULL-CHANNEL-PERF
"""

from __future__ import annotations

import os
import signal
import subprocess
from functools import partial
from typing import Any

from two_nodes import RAILS, Nodes, nodes
from verdict import check, wait_for
from world import Program, main, run

MBPS = 100
SLACK = 1.25  # a token bucket begins full, and rounds
UNDER_WAY = 64  # of what comes before a job: a few small messages, probes
BRIEF = ("--duration", "600ms")


def consistent(peer: dict[str, Any]) -> None:
    """One session, as the caller tells it."""
    far = peer["far"]
    for key in ("messages", "bytes"):
        check(peer[key] == far[key], f"{key}: both sides", (peer[key], far[key]))
    check(peer["bytes"] == peer["messages"] * peer["message_bytes"], "bytes", peer)
    check(peer["messages"] > 0, "something was sent", peer)
    for side in (peer, far):
        check(side["bad_messages"] == side["misordered_messages"] == 0, "whole, in order", side)
        check(0 < side["busy_ns"] <= side["wall_ns"], "times", side)
        check(0 <= side["cpu_pct"] <= 100 * (os.cpu_count() or 1), "CPU", side)
        rate = side["bytes"] * 8e9 / side["busy_ns"]
        check(abs(side["goodput_bits_per_s"] - rate) <= 1e-6 * rate, "goodput", side)
    paths = peer["paths"]
    check(len(paths) == RAILS, "a path per rail", paths)
    check(abs(sum(path["share_pct"] for path in paths) - 100) < 0.01, "shares", paths)
    for path in paths:
        # What was under way when the job began is acknowledged within it.
        tracked = path["acked_pkts"] + path["lost_pkts"]
        check(tracked <= path["tx_pkts"] + path["late_pkts"] + UNDER_WAY, "packets", path)


def figures(histogram: dict[str, Any], count: int) -> None:
    check(histogram["count"] == count, "each message is in the histogram", histogram)
    order = [histogram[key] for key in ("min", "p50", "p90", "p99", "p999", "max")]
    check(order == sorted(order) and order[0] > 0, "quantiles", histogram)
    check(sum(histogram["bins"][1::2]) == count, "bins", histogram)


def streams(binaries: list[str]) -> None:
    perf = binaries[0]
    with nodes() as here:
        here.shape("a", MBPS)
        listener = here.listen(perf, "b", "")
        for words in (("--job", "bandwidth"), ("--verify",), ("--security", "signed"),
                      ("--own-loop",), ("--spread", "turn", "--control", "fixed")):  # fmt: skip
            if "--security" in words:
                listener.finish(signal.SIGTERM)
                listener = here.listen(perf, "b", "--security signed", "signed")
            elif "--own-loop" in words:
                listener.finish(signal.SIGTERM)
                listener = here.listen(perf, "b", "--own-loop", "own-loop")
            result = here.result(perf, "a", "--to", "b", "--message", "64k", *words, *BRIEF)
            (peer,) = result["peers"]
            consistent(peer)
            check(result["bytes"] == peer["bytes"], "the whole is its only part", result)
            delivered = sum(path["delivered_bytes"] for path in peer["paths"])
            check(delivered >= peer["bytes"], "the paths delivered it", (delivered, peer["bytes"]))
            rate = peer["goodput_bits_per_s"]
            check(rate < RAILS * MBPS * 1e6 * SLACK, "not faster than its rails", rate)
        listener.finish(signal.SIGTERM)


def last_job(binaries: list[str]) -> None:
    """A listener that ends at once takes nothing of the caller's figures along."""
    perf = binaries[0]
    with nodes() as here:
        for turn in range(5):
            listener = here.listen(perf, "b", "--jobs 1", f"once-{turn}")
            result = here.result(perf, "a", "--to", "b", "--count", 3, "--duration", 0)
            consistent(result["peers"][0])
            listener.finish()


def counts(binaries: list[str]) -> None:
    """--count is exact, --jobs ends the listener, lengths are any."""
    perf = binaries[0]
    with nodes() as here:
        lengths = (1, 1447, 1448, 65537, 3_000_001)
        listener = here.listen(perf, "b", f"--jobs {2 * len(lengths)}")
        for length in lengths:
            for job in ("bandwidth", "request"):
                result = here.result(perf, "a", "--to", "b", "--job", job, "--message", length,
                                     "--count", 9, "--duration", 0, "--window", 4,
                                     "--verify")  # fmt: skip
                consistent(result["peers"][0])
                check(result["messages"] == 9, f"{job} of {length} bytes", result["messages"])
        said = listener.finish()
        check(said["jobs"] == 2 * len(lengths) and said["broken_jobs"] == 0, "jobs", said["jobs"])
        check([peer["role"] for peer in said["peers"][:2]] == ["sink", "echo"], "roles", said)
        check(all(peer["messages"] == 9 for peer in said["peers"]), "messages", said["peers"])


def exchanges(binaries: list[str]) -> None:
    perf = binaries[0]
    with nodes() as here:
        listener = here.listen(perf, "b", "")
        for job, key in (("latency", "half_round_trip_ns"), ("request", "round_trip_ns")):
            result = here.result(perf, "a", "--to", "b", "--job", job, *BRIEF)
            (peer,) = result["peers"]
            consistent(peer)
            figures(peer[key], peer["messages"])
            # With one under way, the whole time is the sum of the round trips.
            if job == "latency":
                check(2 * peer[key]["mean"] * peer["messages"] <= 1.01 * peer["wall_ns"],
                      "round trips fit into the time", peer)  # fmt: skip
        result = here.result(perf, "a", "--to", "b", "--job", "latency", "--pause", "100ms",
                             "--count", 5, "--duration", 0)  # fmt: skip
        (peer,) = result["peers"]
        consistent(peer)
        figures(peer["half_round_trip_ns"], 5)
        check(peer["wall_ns"] > 4 * 100e6, "it waits before each message", peer["wall_ns"])
        check(peer["half_round_trip_ns"]["max"] < 100e6, "which is not measured", peer)
        done = here.call(perf, "a", "--to", "b", "--pause", "1ms")
        check(done.returncode == 2 and b"pause: for --job latency" in done.stderr, "alone", done)
        result = here.result(perf, "a", "--to", "b", "--job", "latency", "--pause", "10s",
                             "--duration", "300ms")  # fmt: skip
        check(result["messages"] == 0, "the end does not wait for a pause", result["messages"])
        listener.finish(signal.SIGTERM)


def bursts(binaries: list[str]) -> None:
    perf = binaries[0]
    with nodes() as here:
        here.shape("a", MBPS)
        listener = here.listen(perf, "b", "")
        result = here.result(perf, "a", "--to", "b", "--job", "periodic", "--period", "60ms",
                             "--burst", "6ms", "--message", "8k", *BRIEF)  # fmt: skip
        (peer,) = result["peers"]
        consistent(peer)
        check(1 <= peer["bursts"] <= 11, "bursts in 600 ms", peer["bursts"])
        check(peer["busy_ns"] < peer["wall_ns"], "it rests between them", peer)
        listener.finish(signal.SIGTERM)


def incast(binaries: list[str]) -> None:
    perf = binaries[0]
    senders = ("b", "c", "d")
    with nodes(*senders) as here:
        for name in senders:
            here.shape(name, MBPS // 2)
        listeners = [here.listen(perf, name, "") for name in senders]
        words = [word for name in senders for word in ("--to", name)]
        result = here.result(perf, "a", "--job", "incast", *words, "--message", "16k",
                             "--duration", "1s")  # fmt: skip
        check([peer["name"] for peer in result["peers"]] == list(senders), "senders", result)
        for peer in result["peers"]:
            check(peer["role"] == "sink", "they send to us", peer["role"])
            consistent(peer)
        check(result["bytes"] == sum(peer["bytes"] for peer in result["peers"]), "sum", result)
        check(1 / len(senders) < result["jain"] <= 1.0000001, "fairness", result["jain"])
        for listener in listeners:
            listener.finish(signal.SIGTERM)


def says(program: Program, text: str) -> bool:
    return text in program.stderr()


def running(here: Nodes, perf: str, label: str, words: str) -> Program:
    """A caller in the middle of its job."""
    caller = here.world.start(label, perf, f"--to b --stats 100ms {words} "
                              f"{' '.join(here.options('a'))}", here.spaces["a"])  # fmt: skip
    wait_for("the job runs", lambda: "Mb/s" in caller.stderr() or caller.process.poll() is not None)
    check(caller.process.poll() is None, "it runs", caller.stderr())
    return caller


def ends(binaries: list[str]) -> None:
    """A signal ends a job in order; a side that is killed does not take the other along."""
    perf = binaries[0]
    with nodes() as here:
        here.shape("a", MBPS)
        here.shape("b", MBPS)
        listener = here.listen(perf, "b", "")
        for job in ("bandwidth", "incast", "latency", "periodic"):
            caller = running(here, perf, f"call-{job}", f"--job {job} --message 4k --duration 0")
            result = caller.finish(signal.SIGINT)
            check(result["end"] == "signal", "the end", result["end"])
            consistent(result["peers"][0])
        caller = running(here, perf, "killed", "--duration 0 --message 64k")
        caller.process.kill()
        caller.process.wait()
        wait_for("the listener sees it", partial(says, listener, "broke off"))
        consistent(here.result(perf, "a", "--to", "b", "--message", "64k", *BRIEF)["peers"][0])
        caller = running(here, perf, "left", "--duration 0 --message 64k")
        listener.process.kill()
        listener.process.wait()
        check(caller.wait() == 1, "the caller ends", caller.stderr())
        last = caller.stderr().splitlines()[-1]
        check("b has ended, or began anew" in last, "and says why", last)
        again = here.listen(perf, "b", "", "again")
        consistent(here.result(perf, "a", "--to", "b", "--message", "64k", *BRIEF)["peers"][0])
        said = again.finish(signal.SIGTERM)
        check(said["jobs"] == 1, "a restart works at once", said["jobs"])


def refusals(binaries: list[str]) -> None:
    perf = binaries[0]
    with nodes() as here:
        def said(*words: object) -> str:
            done = here.call(perf, "a", "--to", "b", *words)
            lines: list[str] = done.stderr.decode().splitlines()
            check(done.returncode == 1 and len(lines) == 1, "one line", (done.returncode, lines))
            return lines[0]

        check("did not answer within 0.3 s" in said("--wait", "300ms"), "nobody is there")
        listener = here.listen(perf, "b", "--endpoint 3")
        check("endpoint 0" in said("--wait", "500ms"), "nobody at this endpoint")
        result = here.result(perf, "a", "--to", "b", "--endpoint", 3, *BRIEF)
        consistent(result["peers"][0])
        listener.finish(signal.SIGTERM)


def telemetry(binaries: list[str]) -> None:
    """What runs can be looked at and changed."""
    perf = binaries[0]
    with nodes() as here:
        listener = here.listen(perf, "b", "")
        caller = running(here, perf, "look", "--duration 0 --message 64k")
        for program in (listener, caller):
            info = program.ask("/lull/info")
            check(info["program"] == "lull-channel-perf", "its name", info)
            look = program.ask("/lull/channel")
            check(look, "its channel", look)
            program.set("max-latency=300us")
            program.set("governor=objective")
            settings = program.ask("/lull/settings")
            check(settings["max_latency"] == "300us", "changed", settings)
            check(settings["governor"] == "objective", "changed", settings)
            refused = program.ask("/lull/set,spread=turn")
            check("ok" not in refused or refused["ok"] != 1, "not this one", refused)
        caller.finish(signal.SIGINT)
        listener.finish(signal.SIGINT)
        here.world.check_clean()


def self_check(binaries: list[str]) -> None:
    perf = binaries[0]
    with nodes() as here:
        done = here.call(perf, "a", "--check")
        text = done.stdout.decode()
        check(done.returncode == 0, "nothing is wrong", text + done.stderr.decode())
        check("kernel:v0" in text and "kernel:v1" in text, "each rail", text)
        subprocess.run(["ip", "-n", here.spaces["a"], "link", "set", "v1", "down"], check=True)
        done = here.call(perf, "a", "--check")
        text = done.stdout.decode()
        check("v1" in text and "-> " in text, "a rail that is down has a remedy", text)
        run("ip", "-n", here.spaces["a"], "link", "set", "v1", "mtu", "1200", "up")
        done = here.call(perf, "a", "--check")
        text = done.stdout.decode()
        check(done.returncode == 1, "a rail that is too small is wrong", text)
        check("WRONG  MTU: kernel:v1: 1200 bytes" in text, "it is named", text)
        check("unequal MTU: kernel:v1 takes packets of" in text, "beside the other", text)


def busy_core(binaries: list[str]) -> None:
    """A program that may use one CPU, which another one has all the time."""
    perf = binaries[0]
    (cpu, *_) = os.sched_getaffinity(0)
    with nodes() as here:
        spin = ["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"]
        with subprocess.Popen(spin) as hog:
            try:
                words = ["taskset", "-c", str(cpu), *here.command(perf, "a", "--check")]
                done = subprocess.run(words, capture_output=True, text=True, env=here.world.env,
                                      timeout=60, check=False)  # fmt: skip
            finally:
                hog.kill()
        check("shared core: no CPU of this process is free" in done.stdout, "it is named",
              done.stdout + done.stderr)  # fmt: skip
        check(done.returncode == 0, "and nothing is wrong", done.stderr)


main([streams, last_job, counts, exchanges, bursts, incast, ends, refusals, telemetry,
      self_check, busy_core])  # fmt: skip
