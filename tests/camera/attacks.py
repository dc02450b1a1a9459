# SPDX-License-Identifier: BSD-3-Clause
"""What lull-cam-source can do to receivers, done to lull-cam: no picture has bytes of another.

attacks.py LULL-CAM LULL-CAM-SOURCE
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from lull_cam import TIMEOUT_S, Pair
from rights import take
from verdict import check, free_ports

FRAMES = 24
AT = 9  # the frame of the attack, from 0
WIDTH, HEIGHT = 128, 100
ROW = {"rfc4175": 2 * WIDTH, "gvsp": WIDTH, "cmp": WIDTH * 3 // 2, "rvf": WIDTH}
PIXEL = {"rfc4175": "uyvy8", "gvsp": "mono8", "cmp": "raw12-csi", "rvf": "mono8"}
TOLD = f"width={WIDTH},height={HEIGHT}"


class Case(NamedTuple):
    protocol: str
    attack: str
    whole: int  # frames that are complete at the end
    counter: str = ""  # of the assembler or the stream, that counts it
    keys: str = ""  # of the stream
    words: tuple[str, ...] = ()  # for the sender


CASES = (
    Case("gvsp", "none", FRAMES),
    *(Case(protocol, "packet-size", FRAMES) for protocol in ("rfc4175", "gvsp", "cmp", "rvf")),
    Case("gvsp", "region", FRAMES),
    # the leader that tells of the new region is lost: that frame is nobody's
    Case("gvsp", "region", FRAMES - 1, "frames_unsized", "", ("--lose", f"{AT}/0")),
    Case("rvf", "region", FRAMES),
    Case("gvsp", "restart", FRAMES, "restarts"),
    Case("cmp", "restart", FRAMES, "restarts"),
    Case("gvsp", "forged-leader", FRAMES, "oversize", ",memory=64M"),
    Case("gvsp", "stale", FRAMES, "late"),
    Case("rfc4175", "mixed-fields", FRAMES - 2, "", ",interlaced", ("--interlaced",)),
    Case("rfc4175", "truncated", FRAMES - 1, "malformed"),
    Case("rvf", "truncated", FRAMES - 1, "malformed"),
    Case("gvsp", "unknown-format", FRAMES),
)


def send(stand: Stand, case: Case, port: int, attack: str) -> None:
    ethernet = case.protocol in ("cmp", "rvf")
    where = ["--interface", "lo"] if ethernet else ["--to", f"127.0.0.1:{port}"]
    where += [] if case.protocol != "gvsp" else ["--bind", stand.camera]
    command = [
        stand.source, "--protocol", case.protocol, *where, "--width", WIDTH, "--height", HEIGHT,
        "--pixel", PIXEL[case.protocol], "--packet", 8900 if case.protocol == "gvsp" else 1400,
        "--rate", 60, "--frames", FRAMES, "--pattern", "noise", "--attack", attack, "--stats", 0,
        "--linger", "0", "--cpus", min(os.sched_getaffinity(0)), *case.words,
    ]  # fmt: skip
    sender = subprocess.run(
        list(map(str, command)), cwd=stand.scratch, capture_output=True, text=True, check=False,
        timeout=TIMEOUT_S,
    )  # fmt: skip
    check(sender.returncode == 0, "the sender ends well", sender.stderr)


def received(stand: Stand, case: Case, attack: str, folder: str) -> list[dict[str, Any]]:
    port = free_ports(1)
    told = f",{TOLD},pixel={PIXEL[case.protocol]}" if case.protocol in ("rfc4175", "cmp") else ""
    # a pause of the sender on a busy machine ends no frame
    stream = f"protocol={case.protocol}{told}{case.keys},deadline=20s"
    stream += f",port={port}" if case.protocol in ("rfc4175", "gvsp") else ""
    run = stand.start("--backend", "kernel:lo", "--unchecked", "--stream", stream,
                      "--record", folder, "--duration", f"{TIMEOUT_S}s")  # fmt: skip
    send(stand, case, port, attack)
    stand.settle(run)
    return stand.lines(f"{folder}/frames.jsonl")


class Stand(Pair):
    def settle(self, run: Any) -> None:
        """All that was sent has been received: nothing more comes in half a second."""
        folder_old = -1
        while folder_old != (count := self.recorded()):
            folder_old = count
            try:
                run.process.wait(timeout=0.5)
            except subprocess.TimeoutExpired:
                continue
        run.process.terminate()
        run.end()

    def recorded(self) -> int:
        return sum(1 for _ in self.scratch.glob("*/cam0-*"))

    def picture(self, folder: str, line: dict[str, Any]) -> bytes:
        file: Path = self.scratch / folder / line["file"]
        return file.read_bytes()


def check_case(case: Case) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        stand = Stand(sys.argv[1], sys.argv[2], scratch)
        clean = Case(case.protocol, "none", FRAMES, "", case.keys,
                     tuple(word for word in case.words if word == "--interlaced"))  # fmt: skip
        known = {
            stand.picture("clean", line) for line in received(stand, clean, "none", "clean")
        }
        check(len(known) == FRAMES, "as many pictures as were sent", len(known))
        attack = "none" if case.attack == "none" else f"{case.attack}@{AT}"
        lines = received(stand, case, attack, "attacked")
        whole = [line for line in lines if line["reason"] == "complete"]
        (stream,) = stand.written()["streams"]
        check(len(whole) == case.whole, f"{case}: whole", (len(whole), stream))
        for line in whole:
            pixels = stand.picture("attacked", line)
            same = any(picture.startswith(pixels) for picture in known)
            check(same and len(pixels) % ROW[case.protocol] == 0, f"{case}: one picture", line)
        counts = {**stream["assembler"], **stream["counters"]}
        if case.counter:
            check(counts[case.counter] > 0, f"{case}: counted", counts)


def refuses() -> None:
    rtp, gvsp = "--protocol rfc4175 --to 127.0.0.1:5004", "--protocol gvsp --bind 127.0.0.1"
    for words, why in (
        (f"{rtp} --attack region@3", "packets of rfc4175 do not tell the size"),
        (f"{rtp} --attack mixed-fields@3", "mixed-fields is for rfc4175 and interlaced"),
        (f"{rtp} --attack forged-leader@3", "forged-leader is for gvsp"),
        (f"{gvsp} --attack stale", "'stale' is not none or KIND@FRAME"),
        (f"{gvsp} --attack nothing@3", "'nothing@3' is not none or KIND@FRAME"),
        (f"{gvsp} --attack restart@x", "'restart@x' is not none or KIND@FRAME"),
    ):
        ran = subprocess.run([sys.argv[2], *words.split()], capture_output=True, text=True,
                             check=False, timeout=TIMEOUT_S)  # fmt: skip
        check(ran.returncode == 2 and why in ran.stderr, words, (ran.returncode, ran.stderr))


def main() -> None:
    refuses()
    take("namespaces")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for case in CASES:
        check_case(case)
        print(f"attacks: {case.protocol} {case.attack} {' '.join(case.words)}: ok", flush=True)


main()
