# SPDX-License-Identifier: BSD-3-Clause
"""lull-model over rings: packets add up whatever the sides do when they have nothing to do."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from verdict import Failure, check

TIMEOUT_S = 60
TRIES = 3
SLEEPS = ("none", "block:50us", "usleep:0", "usleep:100us", "nanosleep:70us", "sleep:100us",
          "objective", "kalman", "kalman-guarded", "fixed:80us")
BAD = {
    "--send-rest usleep": "usleep needs a time",
    "--send-rest usleep:500ns": "nanosleep:500ns takes it",
    "--receive-rest nap:3": "is not one of none (spin)",
    "--receive-rest fixed:0": "a governor cannot rest 0",
    "--link 5k": "too slow",
    "--side send": "takes one port, not 0",
    "--vdev net_null0": "side both takes no port (rings) or two",
    "--burst-cost --side send --vdev net_null0": "leave out side",
    "--burst 100 --ring 64": "raise ring",
    "--size 20": "64..1518",
    "--cpus 0": "for 2 measured threads",
    "--kalman-row 0": "1..1437",
}


def measured(model: str, options: str) -> dict[str, Any]:
    command = [model, *options.split(), "--json", "-"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    check(run.returncode == 0, " ".join(command), run.stderr)
    result: dict[str, Any] = json.loads(run.stdout)
    return result


def check_result(result: dict[str, Any], what: str) -> None:
    sender, receiver, consumer = result["sender"], result["receiver"], result["consumer"]
    check(result["producer"]["pkts"] == sender["rx_pkts"] == sender["tx_pkts"], what, result)
    check(receiver["rx_pkts"] == consumer["received"] + receiver["tx_drops"], what, result)
    check(result["lost"] == sender["tx_pkts"] - receiver["rx_pkts"] >= 0, what, result)
    check(result["lost"] == result["link"]["missed"] == receiver["missed"], what, result)
    check(consumer["gaps"] <= result["lost"] + receiver["tx_drops"], what, result)
    check(consumer["foreign"] == consumer["duplicates"] == consumer["reordered"] == 0, what)
    for side in (sender, receiver):
        check(side["pkts"] > 0, f"{what}: packets flow", side)
        for key in ("empty_pct", "usage_pct", "empty_requested_pct", "usage_requested_pct"):
            check(0 <= side[key] <= 100, f"{what}: {key}", side[key])
        slept = side["rest"] not in ("none", "objective", "kalman", "kalman-guarded")
        check(not slept or side["rests"] > 0, f"{what}: rests", side)
        check(not slept or side["rest_mean_ns"] > 0.99 * side["rest_requested_mean_ns"],
              f"{what}: rests as long as asked", side)


def sleeps_and_adds_up(model: str) -> None:
    for rest in SLEEPS:
        result = measured(model, f"--rate 20k --send-rest {rest} --receive-rest {rest} "
                                 "--warmup 50ms --duration 300ms")
        check_result(result, rest)
        check(result["end"] == "duration", "ends by itself", result["end"])


def sleeping_uses_less_than_spinning(model: str) -> None:
    result = measured(model, "--rate 5k --send-rest block:500us --receive-rest usleep:500us "
                             "--duration 1")
    check_result(result, "block and usleep")
    check(result["receiver"]["cpu_pct"] < result["sender"]["cpu_pct"] / 2, "a wide margin", result)


def full_link_holds_up_the_sender(model: str) -> None:
    result = measured(model, "--link 10M --size 1518 --duration 1 --receive-rest usleep:50us")
    check_result(result, "a full link")
    check(result["producer"]["held_up"] > 0, "the producer waits", result["producer"])
    # 10M / ((1518 + 20) * 8) is 813; rings and all that hold some more at the beginning
    check(result["receiver"]["packets_per_s"] <= 900, "no faster than the link", result["receiver"])


def costs(model: str) -> None:
    rows = measured(model, "--burst-cost")["burst_cost"]
    check(len(rows) == 49 and rows[0]["burst"] == 0, "every burst and size", rows)
    check(all(row["samples"] > 0 and row["rx_ns"] > 0 and row["tx_ns"] > 0 for row in rows),
          "all measured", rows)


def bad_options_name_the_fix(model: str) -> None:
    for options, words in BAD.items():
        run = subprocess.run([model, *options.split()], capture_output=True, text=True,
                             timeout=TIMEOUT_S, check=False)
        check(run.returncode == 2 and words in run.stderr and run.stderr.count("\n") == 1,
              f"{options} says '{words}'", run.stderr)


def ends_by_signal(model: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        command = [model, "--rate", "10k", "--json", "-"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as run:
            time.sleep(1.5)  # either before or while it measures
            run.send_signal(number)
            stdout, stderr = run.communicate(timeout=TIMEOUT_S)
        if run.returncode == -number:
            continue  # it came before the program took signals
        check(run.returncode == 0, f"ends well by {number.name}", stderr)
        result = json.loads(stdout)
        check(result["end"] == "signal", "says why", result["end"])
        check(result["producer"]["pkts"] == result["sender"]["rx_pkts"], "drains", result)


def main() -> None:
    for test in (sleeps_and_adds_up, sleeping_uses_less_than_spinning,
                 full_link_holds_up_the_sender, costs, bad_options_name_the_fix, ends_by_signal):
        said = []
        for _ in range(TRIES):  # a fault of ours fails each time; a host that stood still does not
            try:
                test(sys.argv[1])
                break
            except Failure as failure:
                said.append(str(failure))
        else:
            sys.exit(f"{test.__name__}: {said[-1]}")
        print(f"{test.__name__}: ok {'; '.join(said)}")


main()
