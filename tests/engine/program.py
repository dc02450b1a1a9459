# SPDX-License-Identifier: BSD-3-Clause
"""lull-fwd from its command line to its result, as root and as anybody, until told to end."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from verdict import check

NOBODY_ID = 65534
NOBODY = ["setpriv", f"--reuid={NOBODY_ID}", f"--regid={NOBODY_ID}", "--clear-groups"]
NULL_PORTS = ["--vdev", "net_null0", "--vdev", "net_null1"]
TIMEOUT_S = 30


def finished(command: list[str], json_path: str) -> dict[str, Any]:
    run = subprocess.run([*command, "--json", json_path], capture_output=True, text=True,
                         timeout=TIMEOUT_S, check=False)
    check(run.returncode == 0, " ".join(command), run.stderr)
    text = run.stdout if json_path == "-" else Path(json_path).read_text(encoding="utf-8")
    result: dict[str, Any] = json.loads(text)
    return result


def check_flood(result: dict[str, Any]) -> None:
    loop = result["loops"][0]
    check(result["end"] == "duration", "ends by itself", result["end"])
    check(len(result["ports"]) == 2, "two ports", result["ports"])
    check(loop["pkts"] > 0 and loop["rx_pkts"] == loop["tx_pkts"], "forwards all", loop)
    check(loop["verdict"]["text"] != "", "says why it rests or not")
    check(result["traffic"] is None, "makes no traffic")


def floods(fwd: str, scratch: str) -> None:
    command = [fwd, *NULL_PORTS, "--duration", "0.3"]
    check_flood(finished(command, f"{scratch}/flood.json"))
    if os.getuid() == 0 and subprocess.run([*NOBODY, fwd, "--version"], check=False,
                                           capture_output=True).returncode == 0:
        with tempfile.TemporaryDirectory() as runtime:  # not /tmp/dpdk, which others may need
            os.chown(runtime, NOBODY_ID, NOBODY_ID)
            check_flood(finished([*NOBODY, "env", f"XDG_RUNTIME_DIR={runtime}", *command], "-"))


def makes_traffic(fwd: str, scratch: str) -> None:
    command = [fwd, "--traffic", "poisson:20k", "--duration", "1"]
    result = finished(command, f"{scratch}/traffic.json")
    traffic = result["traffic"]
    check(traffic["received"] > 0, "traffic comes back", traffic)
    check(traffic["offered"] == traffic["received"] + traffic["lost"], "all accounted", traffic)
    check(traffic["duplicates"] == 0 and traffic["reordered"] == 0, "each once, in order", traffic)
    loop = result["loops"][0]  # a full ring, where the traffic loop was held up, drops
    check(loop["pkts"] - loop["tx_drops"] == traffic["rx_pkts"], "forwarded what came back", result)


def shares_queues(fwd: str, scratch: str) -> None:
    """Three threads at one queue: all comes back in order, and each says how it went."""
    command = [fwd, "--traffic", "poisson:20k", "--duration", "1", "--threads", "3",
               "--share-queues", "--governor", "metronome", "--rest", "100us"]
    result = finished(command, f"{scratch}/shared.json")
    traffic, loops = result["traffic"], result["loops"]
    check(traffic["received"] > 0, "traffic comes back", traffic)
    check(traffic["offered"] == traffic["received"] + traffic["lost"], "all accounted", traffic)
    check(traffic["duplicates"] == 0 and traffic["reordered"] == 0, "each once, in order", traffic)
    forwarding = [loop for loop in loops if loop["kind"] == "forward"]
    check(len(forwarding) == 3, "three threads", loops)
    check(all("share" not in loop for loop in loops if loop["kind"] != "forward"), "no other")
    for loop in forwarding:
        share = loop["share"]
        taken = share["tries"] - share["tries_failed"]
        check(taken > 0 and taken - share["vacation_ns"]["count"] <= 1, "takes turns", share)
        check(loop["wait_ns"]["count"] == loop["pkts"], "bounds each wait", loop["wait_ns"])
    mean = (sum(loop["share"]["vacation_ns"]["mean"] * loop["share"]["vacation_ns"]["count"]
                for loop in forwarding)
            / sum(loop["share"]["vacation_ns"]["count"] for loop in forwarding))
    check(50_000 < mean < 400_000, "vacations are near 100 us", mean)


REFUSALS = {
    "": "governor: threads with share-queues take metronome; objective has its queues to itself",
    "--governor metronome --threads 1":
        "share-queues: 1 threads for 2 queues in all; with fewer threads than queues one is "
        "polled by nobody",
    "--governor metronome --threads 3 --queues 2":
        "share-queues: 3 threads for 4 queues in all; with fewer threads than queues one is "
        "polled by nobody",
    "--governor metronome --threads 2 --backup-rest 2s":
        "backup-rest",
}


def refuses_what_cannot_be_shared(fwd: str, scratch: str) -> None:
    del scratch
    for words, sentence in REFUSALS.items():
        command = [fwd, *NULL_PORTS, "--share-queues", "--threads", "2", *words.split()]
        run = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S,
                             check=False)
        check(run.returncode == 2 and sentence in run.stderr, " ".join(command), run.stderr)


def ends_by_signal(fwd: str, scratch: str) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        path = Path(scratch, f"{number}.json")
        with subprocess.Popen([fwd, "--vdev", "net_ring0", "--json", str(path)],
                              env={**os.environ, "RUNTIME_DIRECTORY": scratch},
                              stderr=subprocess.PIPE, text=True) as run:
            own = Path(scratch, f"dpdk/lull-fwd-{run.pid}")
            # Its runtime directory appears before its loops run; either is a good moment.
            while not own.exists() and run.poll() is None:
                time.sleep(0.01)
            run.send_signal(number)
            _, stderr = run.communicate(timeout=TIMEOUT_S)
        if run.returncode == -number:
            continue  # it came before the program took signals
        check(run.returncode == 0, f"ends well by {number.name}", stderr)
        check(json.loads(path.read_text(encoding="utf-8"))["end"] == "signal", "says why")
        check(not own.exists(), "leaves nothing behind")


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        for test in (floods, makes_traffic, shares_queues, refuses_what_cannot_be_shared,
                     ends_by_signal):
            test(sys.argv[1], scratch)
            print(f"{test.__name__}: ok")


main()
