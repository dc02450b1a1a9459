# SPDX-License-Identifier: BSD-3-Clause
"""What lull-cam --view shows: pictures, what is missing of them, statistics, and to whom.

view_socket.py LULL-CAM LULL-CAM-SOURCE
"""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from lull_cam import TIMEOUT_S, Pair, Running
from verdict import check, free_ports

WIDTH, HEIGHT = 320, 240
PACKET = 1000
IMAGE = {
    "type", "stream", "number", "key", "reason", "damaged", "width", "height", "pixel",
    "view_width", "view_height", "bytes", "bytes_there", "missing", "missing_more", "latency_us",
}  # fmt: skip
STATISTICS = {
    "type", "t", "streams", "cpu_percent", "steal_percent", "pkts_s", "missed", "latency_from",
}  # fmt: skip
STREAM = {
    "index", "frames", "partial", "fps", "mbit_s", "duplicates", "late", "missing_bytes",
    "latency_us", "latency_bins",
}  # fmt: skip
Header = dict[str, Any]


def jpeg_size(picture: bytes) -> tuple[int, int]:
    """Width and height, from the header of the first frame of the picture."""
    check(picture[:2] == b"\xff\xd8" and picture[-2:] == b"\xff\xd9", "a JPEG", picture[:4])
    at = 2
    while picture[at + 1] not in (0xC0, 0xC2):
        at += 2 + int.from_bytes(picture[at + 2 : at + 4], "big")
    height, width = struct.unpack_from("!HH", picture, at + 5)
    return width, height


class Viewer:
    """One who looks on."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(TIMEOUT_S)
        self.socket.connect(str(path))
        self.file = self.socket.makefile("rb")

    def message(self) -> tuple[Header, bytes]:
        """The next one; an empty header at the end."""
        lengths = self.file.read(8)
        if len(lengths) < 8:
            return {}, b""
        head, body = struct.unpack("!II", lengths)
        header: Header = json.loads(self.file.read(head))
        return header, self.file.read(body)

    def next(self, kind: str, good: Callable[[Header], bool] = bool) -> tuple[Header, bytes]:
        """The next one of this kind of which that is true."""
        end = time.monotonic() + TIMEOUT_S
        while time.monotonic() < end:
            header, body = self.message()
            check(header != {}, "the view goes on until there is a", kind)
            if header["type"] == kind and good(header):
                return header, body
        sys.exit(f"view_socket: waited in vain for a {kind}")

    def say(self, line: str) -> None:
        self.socket.sendall(line.encode() + b"\n")

    def close(self) -> None:
        self.file.close()
        self.socket.close()


class Place(Pair):
    """Both programs, and an empty directory with a socket in it."""

    def __init__(self, program: str, source: str, scratch: str) -> None:
        super().__init__(program, source, scratch)
        self.path = self.scratch / "view"

    def receive(self, pixel: str, port: int, *words: str) -> Running:
        stream = f"protocol=rfc4175,port={port},width={WIDTH},height={HEIGHT},pixel={pixel}"
        return self.start(
            *("--backend", "kernel:lo", "--unchecked", "--view", "view"),
            *("--stream", f"{stream},deadline=200ms,buffers=64", *words),
        )

    def send(self, pixel: str, port: int, *words: object) -> AbstractContextManager[object]:
        """On one CPU: loopback keeps the order of packets only there. Ends with the test."""
        command = [
            self.source, "--to", f"127.0.0.1:{port}", "--width", WIDTH, "--height", HEIGHT,
            "--pixel", pixel, "--packet", PACKET, "--cpus", min(os.sched_getaffinity(0)),
            "--stats", 0, "--duration", TIMEOUT_S, *words,
        ]  # fmt: skip
        return Sending(list(map(str, command)), self.scratch)


class Sending(subprocess.Popen[str]):
    """Ends when it is no longer needed."""

    def __init__(self, command: list[str], scratch: Path) -> None:
        super().__init__(command, cwd=scratch, text=True)

    def __exit__(self, *reason: Any) -> None:
        self.terminate()
        super().__exit__(*reason)


def stop(run: Running) -> None:
    run.process.send_signal(signal.SIGTERM)
    run.sums_up()


# ---- tests ----


def shows(place: Place) -> None:
    port = free_ports(1)
    run = place.receive("uyvy8", port)
    check(stat.S_IMODE(place.path.stat().st_mode) == 0o600, "the owner's", place.path.stat())
    with place.send("uyvy8", port, "--pattern", "bars", "--rate", 50):
        viewer = Viewer(place.path)
        hello, body = viewer.message()
        check(hello["type"] == "hello" and hello["version"] == 1 and body == b"", "hello", hello)
        check(hello["program"].startswith("lull-cam ") and hello["backend"] == "kernel:lo", "who")
        check(hello["streams"] == [{"index": 0, "name": "cam0", "protocol": "rfc4175"}], "streams")
        image, picture = viewer.next("image", lambda header: header["reason"] == "complete")
        check(image.keys() == IMAGE, "members of an image", image.keys() ^ IMAGE)
        check((image["width"], image["height"], image["pixel"]) == (WIDTH, HEIGHT, "uyvy8"), "size")
        check(jpeg_size(picture) == (WIDTH, HEIGHT), "the picture", jpeg_size(picture))
        check(image["bytes"] == image["bytes_there"] == 2 * WIDTH * HEIGHT, "bytes", image)
        check(image["missing"] == [] and not image["missing_more"], "whole", image)
        check(0 <= image["latency_us"] < 1e6 * TIMEOUT_S, "latency", image)
        viewer.say('{"width":100,"rate":1000}')
        image, picture = viewer.next("image", lambda header: header["view_width"] < WIDTH)
        # the largest whole part of the picture that is 100 wide at most
        size = (image["view_width"], image["view_height"])
        check(size == (80, 60) == jpeg_size(picture), "smaller", size)
        numbers = [viewer.next("image")[0]["number"] for _ in range(20)]
        check(numbers == sorted(set(numbers)), "each shown once", numbers)
        figures, body = viewer.next("statistics", lambda header: header["pkts_s"] > 0)
        check(figures.keys() == STATISTICS and body == b"", "members", figures.keys() ^ STATISTICS)
        check(figures["latency_from"] == "kernel", "whose stamp", figures["latency_from"])
        (stream,) = figures["streams"]
        check(stream.keys() == STREAM, "members of a stream", stream.keys() ^ STREAM)
        check(stream["frames"] > 0 and stream["fps"] > 0 and stream["mbit_s"] > 0, "goes on")
        bins = stream["latency_bins"]
        check(bins == sorted(bins) and sum(count for _, count in bins) > 0, "bins", bins)
        latency = stream["latency_us"]
        check(0 < latency["p50"] <= latency["p99"] <= latency["max"], "latency", latency)
        later, _ = viewer.next("statistics")
        check(0.4 < later["t"] - figures["t"] < TIMEOUT_S, "twice a second", later["t"])
        viewer.say('{"rate":0}')
        # what was under way comes before; after two statistics nothing is
        viewer.next("statistics")
        viewer.next("statistics")
        kinds = {viewer.message()[0]["type"] for _ in range(2)}
        check(kinds == {"statistics"}, "no previews", kinds)
    stop(run)
    check(viewer.message() == ({}, b""), "its end is the end")
    viewer.close()
    check(not place.path.exists(), "the socket is gone")


def pixels_missing(line: Header, columns: int, group_bytes: int) -> set[tuple[int, int]]:
    """(column of groups, row) whose bytes are not all there."""
    groups = WIDTH // columns
    missing = set()
    for offset, count in line["missing"]:
        for group in range(offset // group_bytes, (offset + count - 1) // group_bytes + 1):
            missing.add((group % groups, group // groups))
    return missing


def shows_what_is_missing(place: Place) -> None:
    for pixel, columns, group_bytes in (("uyvy10", 2, 5), ("rgb8", 1, 3)):
        port = free_ports(1)
        run = place.receive(pixel, port, "--missing", "missing.jsonl")
        viewer = Viewer(place.path)
        viewer.next("hello")
        viewer.say('{"rate":1000}')
        shown: dict[int, Header] = {}
        with place.send(pixel, port, "--rate", 50, "--lose", 20000):
            while len(shown) < 10:
                image, picture = viewer.next("image", lambda header: bool(header["missing"]))
                check(jpeg_size(picture) == (WIDTH, HEIGHT), "a picture all the same")
                shown[image["number"]] = image
        stop(run)
        viewer.close()
        lines = {line["number"]: line for line in place.lines("missing.jsonl")}
        for number, image in shown.items():
            line = lines[number]
            check(image["reason"] == line["reason"] and image["key"] == line["key"], "which", image)
            check(image["bytes_there"] == line["bytes_there"], "how much", image)
            drawn = set()
            for x, y, width, height in image["missing"]:
                inside = x + width <= WIDTH and y + height <= HEIGHT and width * height > 0
                check(inside and x % columns == width % columns == 0, "a rectangle", image)
                drawn |= {(column // columns, row) for row in range(y, y + height)
                          for column in range(x, x + width, columns)}  # fmt: skip
            check(drawn == pixels_missing(line, columns, group_bytes), f"{pixel}", (image, line))


def answers_lines(place: Place) -> None:
    port = free_ports(1)
    run = place.receive("uyvy8", port)
    viewer = Viewer(place.path)
    for line, said in (
        ("nonsense", "object"),
        ("[1]", "object"),
        ('{"width":4}', "width: .*16..65535"),
        ('{"width":"wide"}', "width"),
        ('{"quality":101}', "quality: .*1..100"),
        ('{"rate":-1}', "rate: a number"),
        ('{"colour":1}', "'colour' is unknown"),
        ('{"width":200,"rate":true}', "rate"),
        (" " * 5000, "too long"),
    ):
        viewer.say(line)
        error, _ = viewer.next("error")
        check(all(part in error["text"] for part in said.split(".*")), f"says {said}", error)
    # a wrong line changes nothing, good ones in one piece or two do
    viewer.socket.sendall(b'{"quality":10}\n{"wid')
    viewer.say('th":160}')
    with place.send("uyvy8", port, "--rate", 50):
        image, _ = viewer.next("image")
        check(image["view_width"] == 160, "the width of the last good line", image)
    viewer.close()
    stop(run)


def waits_for_nobody(place: Place) -> None:
    """Some who never read, and one who goes in the middle, cost no frame."""
    port, frames = free_ports(1), 150
    run = place.receive("uyvy8", port, "--frames", str(frames))
    idle = [Viewer(place.path) for _ in range(3)]
    for viewer in idle:
        viewer.say('{"width":4000,"rate":1000,"quality":100}')
    gone = Viewer(place.path)
    gone.say('{"rate":1000}')
    with place.send("uyvy8", port, "--rate", 100, "--pattern", "noise"):
        gone.next("image")
        gone.close()
        run.sums_up()
    (stream,) = place.written()["streams"]
    counters = stream["counters"]
    check(counters["fetched"] >= frames, "all frames", counters)
    check(counters["fetched"] == counters["put"], "all put back", counters)
    check(stream["assembler"]["frames_dropped"] == 0, "none dropped", stream["assembler"])
    for viewer in idle:
        kinds, (header, _) = [], viewer.message()
        while header != {}:
            kinds.append(header["type"])
            header, _ = viewer.message()
        check(kinds[0] == "hello" and kinds.count("image") < frames, "fewer pictures", kinds)
        viewer.close()


def keeps_its_place(place: Place) -> None:
    """A socket in use and other files stay; one that was left behind does not."""
    ports = free_ports(2)
    place.path.write_text("precious")
    words = (
        *("--backend", "kernel:lo", "--unchecked", "--stream"),
        f"protocol=rfc4175,port={ports + 1},width=64,height=48,pixel=rgb8",
    )
    place.refused(" ".join((*words, "--view", "view")), "view: cannot listen at 'view'", 1)
    check(place.path.read_text() == "precious", "other files stay")
    place.path.unlink()
    first = place.receive("uyvy8", ports)
    place.refused(" ".join((*words, "--view", "view")), "view: cannot listen at 'view'", 1)
    check(place.path.exists(), "who listens is left alone")
    first.process.kill()
    first.process.wait()
    check(place.path.exists(), "left behind")
    second = place.receive("uyvy8", ports)
    viewer = Viewer(place.path)
    viewer.next("hello")
    stop(second)
    viewer.close()
    place.refused(" ".join((*words, "--view", "v" * 200)), "too long", 1)


def main() -> None:
    for test in (shows, shows_what_is_missing, answers_lines, waits_for_nobody, keeps_its_place):
        with tempfile.TemporaryDirectory() as scratch:
            test(Place(sys.argv[1], sys.argv[2], scratch))
        print(f"view_socket: {test.__name__}: ok", flush=True)


main()
