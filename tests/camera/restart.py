# SPDX-License-Identifier: BSD-3-Clause
"""Senders that begin anew, with the ids of before: each picture is there, none is mixed.

restart.py LULL-CAM LULL-CAM-SOURCE
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from lull_cam import TIMEOUT_S, Pair
from rights import take
from verdict import check, free_ports, wait_for

SIZE = "width=128,height=96"
RUNS, ACQUISITIONS = 6, 10
APART_S = 0.15  # senders that cannot tell otherwise are silent for so long
# what lull-cam and lull-cam-source are told
PROTOCOLS = (
    ("rfc4175", f"{SIZE},pixel=rgb8", ("--pixel", "rgb8")),
    ("gvsp", "", ("--pixel", "bayer-rg12p")),
    ("gvsp", "", ("--pixel", "bayer-rg12p", "--extended")),
    ("cmp", f"{SIZE},pixel=raw12-csi", ("--interface", "lo")),
    ("rvf", f"{SIZE},pixel=mono8", ("--interface", "lo")),
)


class Restarting(Pair):
    def command(self, *words: object) -> list[str]:
        """On one CPU: loopback keeps the order of packets only there."""
        return [
            self.source, "--width", "128", "--height", "96", "--packet", "1000", "--rate", "100",
            "--cpus", str(min(os.sched_getaffinity(0))), "--stats", "0", *map(str, words),
        ]  # fmt: skip

    def send(self, *words: object) -> None:
        sender = subprocess.run(
            self.command(*words), cwd=self.scratch,
            capture_output=True, text=True, check=False, timeout=TIMEOUT_S,
        )  # fmt: skip
        check(sender.returncode == 0, "the sender ends well", sender.stderr)


def assembler(result: dict[str, Any]) -> dict[str, int]:
    counters: dict[str, int] = result["streams"][0]["assembler"]
    return counters


def each_run_is_seen(stand: Restarting) -> None:
    """Runs of one frame, then acquisitions of some: the ids are those of before each time."""
    for protocol, known, words in PROTOCOLS:
        udp = "--interface" not in words
        if not udp and os.geteuid() != 0:
            print(f"restart: {protocol}: needs root")
            continue
        port = free_ports(1)
        stream = f"protocol={protocol},{known},buffers=64,deadline=1h".replace(",,", ",")
        stream += f",port={port}" * udp
        total = RUNS + 3 * ACQUISITIONS
        run = stand.start("--backend", "kernel:lo", "--unchecked", "--frames", str(total),
                          "--stream", stream)  # fmt: skip
        to = ("--to", f"127.0.0.1:{port}", "--bind", stand.camera) if udp else ()
        for frames in [1] * RUNS + [3] * ACQUISITIONS:
            stand.send("--protocol", protocol, *words, "--frames", frames, *to)
            time.sleep(APART_S)
        run.sums_up()
        result = stand.written()
        counters = assembler(result)
        # on lo each packet comes twice over a packet socket, but not before it was sent
        check(result["fetched"] == total, f"{protocol}: {total} of {total}", counters)
        check(result["fetched_partial"] == 0, f"{protocol}: none is partial", counters)
        expected = 0 if protocol == "rvf" else RUNS + ACQUISITIONS - 1
        check(counters["restarts"] == expected, f"{protocol}: restarts", counters)


def holes_stay_holes(stand: Restarting) -> None:
    """A frame lacks a packet when the sender begins anew, at once: it ends partial as it is."""
    port = free_ports(1)
    run = stand.start(
        *("--backend", "kernel:lo", "--unchecked", "--frames", "2", "--record", "pictures"),
        *("--stream", f"protocol=gvsp,port={port},deadline=1h"),
    )
    to = ("--protocol", "gvsp", "--to", f"127.0.0.1:{port}", "--bind", stand.camera)
    stand.send(*to, "--frames", 1, "--pattern", "noise", "--seed", 1, "--lose", "0/5")
    stand.send(*to, "--frames", 1, "--pattern", "noise", "--seed", 2)
    run.sums_up()
    counters = assembler(stand.written())
    first, second = stand.lines("pictures/frames.jsonl")
    check(first["reason"] == "restart" and len(first["missing"]) == 1, "the old one", first)
    check(second["reason"] == "complete", "the new one", second)
    check(counters["restarts"] == 1 and counters["duplicates"] == 0, "counted", counters)
    one, two = ((stand.scratch / "pictures" / f["file"]).read_bytes() for f in (first, second))
    offset, size = first["missing"][0]
    check(one[offset : offset + size] != two[offset : offset + size], "nothing was filled")


def controller_was_killed(stand: Restarting) -> None:
    """It left the camera streaming; the next one receives pictures all the same."""
    camera = subprocess.Popen(
        stand.command("--protocol", "gvsp", "--bind", stand.camera, "--packet", 1400),
        cwd=stand.scratch, text=True, stderr=subprocess.PIPE,
    )  # fmt: skip
    words = ("--backend", "kernel:lo", "--unchecked", "--control", stand.camera)
    try:
        run = stand.start(*words)
        run.process.send_signal(signal.SIGKILL)
        run.process.wait(timeout=TIMEOUT_S)
        said = []

        def takes() -> bool:
            """The camera keeps its controller for as long as a heartbeat may be missing."""
            ran = stand.call(*words, "--frames", "5", "--duration", "3s", "--json", "result.json")
            said.append(ran.stderr)
            return ran.returncode == 0

        wait_for("the camera is free", takes)
        check("5 frames" in said[-1], "pictures", said)
    finally:
        camera.kill()
        camera.communicate()


def main() -> None:
    take("namespaces", wish=True)  # for frames on lo
    for test in (each_run_is_seen, holes_stay_holes, controller_was_killed):
        with tempfile.TemporaryDirectory() as scratch:
            test(Restarting(sys.argv[1], sys.argv[2], scratch))
        print(f"restart: {test.__name__}: ok", flush=True)


main()
