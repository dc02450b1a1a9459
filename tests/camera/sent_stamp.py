# SPDX-License-Identifier: BSD-3-Clause
"""Time of sending in the picture: lull-cam-source writes it, lull-cam reckons with it.

sent_stamp.py LULL-CAM LULL-CAM-SOURCE
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from lull_cam import FIGURES, TIMEOUT_S, Pair
from rights import take
from verdict import check, free_ports

WIDTH, HEIGHT, FRAMES = 320, 120, 20
SENT = {"sent_done_ns", "sent_fetched_ns"}
SIZE = f"width={WIDTH},height={HEIGHT}"
# what lull-cam and lull-cam-source are told; the pixels differ in how the last bytes are cut
PROTOCOLS = (
    ("rfc4175", f"{SIZE},pixel=uyvy8", ("--pixel", "uyvy8")),
    ("gvsp", "", ("--pixel", "bayer-rg12p")),
    ("cmp", f"{SIZE},pixel=raw12-csi", ("--interface", "lo")),
    ("rvf", f"{SIZE},pixel=mono8", ("--interface", "lo")),
)


class Stamped(Pair):
    def send(self, *words: object) -> subprocess.Popen[str]:
        """On one CPU: loopback keeps the order of packets only there."""
        return subprocess.Popen(
            [self.source, "--width", str(WIDTH), "--height", str(HEIGHT), "--rate", "100",
             "--frames", str(FRAMES), "--sent-stamp", "--pace", "spread:5ms",
             "--cpus", str(min(os.sched_getaffinity(0))), "--log", "log.jsonl", "--log-frames",
             "--stats", "0", *map(str, words)],
            cwd=self.scratch, text=True, stderr=subprocess.PIPE,
        )  # fmt: skip

    def stream(self) -> dict[str, Any]:
        """The one of the result, with the histograms of --sent-stamp."""
        text = (self.scratch / "result.json").read_text()
        stream: dict[str, Any] = json.loads(text)["streams"][0]
        check(stream.keys() >= SENT, "figures", stream.keys())
        return stream


def ends_well(sender: subprocess.Popen[str]) -> None:
    _, errors = sender.communicate(timeout=TIMEOUT_S)
    check(sender.returncode == 0, "the sender ends well", errors)


def stamps_hold(stand: Stamped, protocol: str) -> None:
    """Of each frame: sent when it was sent, and before it was given."""
    frames = [line for line in stand.lines("log.jsonl") if line["event"] == "frame"]
    index = stand.lines("pictures/frames.jsonl")
    stamps = []
    for line in index:
        picture = (stand.scratch / "pictures" / line["file"]).read_bytes()
        check(line["reason"] == "complete", f"{protocol}: complete", line)
        stamps.append(int.from_bytes(picture[-8:], "little"))
        check(stamps[-1] <= line["done_ns"], f"{protocol}: sent before given", line)
    check(len(frames) == len(stamps) == FRAMES, f"{protocol}: frames", (frames, stamps))
    for sent, stamp in zip(frames, stamps, strict=True):
        check(stamp >= sent["first_ns"], f"{protocol}: after the first packet", (sent, stamp))
    check(stamps == sorted(set(stamps)), f"{protocol}: each its own", stamps)
    stream = stand.stream()
    for name in SENT:
        figure = stream[name]
        check(figure.keys() == FIGURES and figure["count"] == FRAMES, name, figure)
    done = [line["done_ns"] - stamp for line, stamp in zip(index, stamps, strict=True)]
    check(stream["sent_done_ns"]["max"] == max(done), "the longest", (stream, done))
    mean, fetched = stream["sent_done_ns"]["mean"], stream["sent_fetched_ns"]["mean"]
    check(abs(mean - sum(done) / FRAMES) <= 1, "the mean", (mean, done))
    check(fetched > mean, "fetched after given", (mean, fetched))


def over_loopback(stand: Stamped) -> None:
    for backend in ("kernel:lo", "kernel-busy:lo"):
        for protocol, known, words in PROTOCOLS:
            udp = "--interface" not in words
            if not udp and os.geteuid() != 0:
                print(f"sent_stamp: {protocol}: needs root")
                continue
            port = free_ports(1)
            stream = f"protocol={protocol},{known},deadline=1h,buffers=64".replace(",,", ",")
            to = ("--to", f"127.0.0.1:{port}") if udp else ()
            bind = ("--bind", stand.camera) if protocol == "gvsp" else ()
            run = stand.start(
                *("--backend", backend, "--unchecked", "--frames", str(FRAMES), "--sent-stamp"),
                *("--stream", stream + f",port={port}" * udp, "--record", "pictures"),
            )
            # sent twice, too: the second one says nothing else
            twice = ("--duplicate", 200000, "--reorder", "20000,3")
            ends_well(stand.send("--protocol", protocol, *words, *to, *bind, *twice))
            run.sums_up()
            stamps_hold(stand, protocol)


def sent_again(stand: Stamped) -> None:
    """The packet that carries it was lost and asked for: it has the time of its first turn."""
    bytes_of_picture = WIDTH * HEIGHT * 3 // 2
    last = -(-bytes_of_picture // (1400 - 36))
    sender = stand.send(
        *("--protocol", "gvsp", "--pixel", "bayer-rg12p", "--bind", stand.camera),
        *("--lose", f"3/{last},7/{last}", "--linger", "1s"),
    )
    run = stand.start(
        *("--backend", "kernel:lo", "--unchecked", "--frames", str(FRAMES), "--sent-stamp"),
        *("--stream", f"protocol=gvsp,control={stand.camera},resend,packet-bytes=1400,deadline=1h"),
        *("--record", "pictures"),
    )
    ends_well(sender)
    run.sums_up()
    stamps_hold(stand, "resent")
    repaired = stand.stream()["counters"]["repaired"]
    check(repaired == 2, "two frames were repaired", repaired)
    asked = [line["packet"] for line in stand.lines("log.jsonl") if line["event"] == "resent"]
    check(last in asked, "sent again", asked)


def is_told(stand: Stamped) -> None:
    """Without the option there is no such figure, and pictures without a stamp give none."""
    for words, figures in (((), set()), (("--sent-stamp",), SENT)):
        port = free_ports(1)
        run = stand.start(
            *("--backend", "kernel:lo", "--unchecked", "--frames", "2", *words),
            *("--stream", f"protocol=rfc4175,{SIZE},pixel=uyvy8,port={port},deadline=1h"),
        )
        sender = subprocess.run(
            [stand.source, "--width", str(WIDTH), "--height", str(HEIGHT), "--frames", "2",
             "--to", f"127.0.0.1:{port}", "--pattern", "bars", "--stats", "0"],
            check=False, capture_output=True, text=True, timeout=TIMEOUT_S,
        )  # fmt: skip
        check(sender.returncode == 0, "the sender ends well", sender.stderr)
        run.sums_up()
        stream = json.loads((stand.scratch / "result.json").read_text())["streams"][0]
        check(stream.keys() & SENT == figures, "figures when asked for", stream.keys())
        for name in figures:
            check(stream[name]["count"] == 0, "no stamp, no figure", stream[name])
    for wrong in ("--row-bytes 8000", "--interlaced", "--width 1 --height 1"):
        refused = subprocess.run(
            [stand.source, "--to", "127.0.0.1:9", "--sent-stamp", *wrong.split()],
            check=False, capture_output=True, text=True, timeout=TIMEOUT_S,
        )  # fmt: skip
        said = refused.returncode == 2 and "sent-stamp: needs" in refused.stderr
        check(said, f"refuses {wrong}", refused.stderr)


def main() -> None:
    take("namespaces", wish=True)  # for frames on lo
    for test in (is_told, over_loopback, sent_again):
        with tempfile.TemporaryDirectory() as scratch:
            test(Stamped(sys.argv[1], sys.argv[2], scratch))
        print(f"sent_stamp: {test.__name__}: ok", flush=True)


main()
