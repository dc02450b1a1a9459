# SPDX-License-Identifier: BSD-3-Clause
"""lull-cam-source into GStreamer's rtpvrawdepay: it must make the same pictures of the packets.

interop_source.py LULL_CAM_SOURCE
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from interop import JUMBO, RECEIVER, Wire, needs, wire
from layouts import MEMORY_BYTES, WIRE
from verdict import check, wait_for
from world import main

PICTURES = 4
WINDOW_GROUPS, TWIST = 61, 257  # of the pattern counter


class Case(NamedTuple):
    pixel: str
    kind: str  # GStreamer's format
    sampling: str
    group_samples: int
    width: int
    height: int
    packet: int
    depth: int = 8


CASES = [
    Case("uyvy8", "uyvy", "YCbCr-4:2:2", 4, 320, 240, 1400),
    Case("uyvy10", "uyvp", "YCbCr-4:2:2", 4, 322, 100, 8900, depth=10),
    Case("rgb8", "rgb", "RGB", 3, 161, 51, 1400),
    Case("bgr8", "bgr", "BGR", 3, 5, 300, 1400),
    Case("rgba8", "rgba", "RGBA", 4, 33, 101, 1399),
    Case("bgra8", "bgra", "BGRA", 4, 33, 101, 8900),
    Case("yuv444", "ayuv", "YCbCr-4:4:4", 3, 63, 48, 1400),
    Case("yuv420", "i420", "YCbCr-4:2:0", 6, 64, 48, 1400),
    Case("yuv411", "y41b", "YCbCr-4:1:1", 6, 64, 48, 700),
]


GROUPS = {"YCbCr-4:2:2": (2, 1), "YCbCr-4:2:0": (2, 2), "YCbCr-4:1:1": (4, 1)}


def count(sample: int, depth: int) -> int:
    return (sample + TWIST * (sample >> depth)) & ((1 << depth) - 1)


def picture_of(case: Case, number: int) -> bytes:
    """Samples count up, and begin a little further in each picture."""
    columns, rows = GROUPS.get(case.sampling, (1, 1))
    samples = case.width // columns * (case.height // rows) * case.group_samples
    first = number * WINDOW_GROUPS * case.group_samples
    values = [count(sample, case.depth) for sample in range(first, first + samples)]
    if case.depth == 8:
        return bytes(values)
    out = bytearray()
    for a, b, c, d in zip(*(values[i::4] for i in range(4)), strict=True):
        out += (a << 30 | b << 20 | c << 10 | d).to_bytes(5, "big")
    return bytes(out)


def branch(case: Case, file: Path, port: int) -> str:
    caps = (
        "application/x-rtp,media=(string)video,clock-rate=(int)90000,encoding-name=(string)RAW,"
        f"sampling=(string){case.sampling},depth=(string){case.depth},"
        f"width=(string){case.width},height=(string){case.height}"
    )
    return (
        f"udpsrc port={port} buffer-size=4000000 caps={caps} ! rtpvrawdepay ! "
        f"filesink location={file} buffer-mode=unbuffered async=false sync=false"
    )


@contextmanager
def gstreamer(link: Wire, command: str, ports: set[int]) -> Iterator[None]:
    """Receivers on all these ports."""
    inside = ["ip", "netns", "exec", link.receiver]

    def bound() -> bool:
        check(process.poll() is None, "gst-launch-1.0", link.world.path("gst.log").read_text())
        table = subprocess.run([*inside, "cat", "/proc/net/udp"], capture_output=True, text=True,
                               check=True).stdout  # fmt: skip
        lines = [line.split() for line in table.splitlines()[1:]]
        return ports <= {int(words[1].split(":")[1], 16) for words in lines}

    with link.world.path("gst.log").open("wb") as log:
        process = subprocess.Popen([*inside, *command.split()], stdout=log, stderr=log)
    try:
        wait_for("GStreamer receives", bound)
        yield
    finally:
        process.kill()
        process.wait()


def judge(case: Case, content: bytes) -> None:
    size = MEMORY_BYTES[case.kind](case.width, case.height)
    for number in range(PICTURES):
        memory = content[number * size :][:size]
        seen = WIRE[case.kind](memory, case.width, case.height)
        check(seen == picture_of(case, number), f"picture {number} of {case.pixel}")


def same_pictures(binaries: list[str]) -> None:
    with wire(JUMBO) as link:
        files = [link.world.path(f"{case.pixel}.memory") for case in CASES]
        ports = [5000 + 2 * i for i in range(len(CASES))]
        streams = list(zip(CASES, files, ports, strict=True))
        command = "gst-launch-1.0 -q " + " ".join(branch(*stream) for stream in streams)
        with gstreamer(link, command, set(ports)):
            for case, file, port in streams:
                words = (
                    f"{binaries[0]} --protocol rfc4175 --to {RECEIVER}:{port} --pixel {case.pixel} "
                    f"--width {case.width} --height {case.height} --packet {case.packet} "
                    f"--pattern counter --rate 50 --frames {PICTURES}"
                )
                link.send(*words.split())
                size = PICTURES * MEMORY_BYTES[case.kind](case.width, case.height)

                def written(file: Path = file, size: int = size) -> bool:
                    return file.exists() and file.stat().st_size >= size

                wait_for(f"pictures of {case.pixel}", written)
                judge(case, file.read_bytes())


if __name__ == "__main__":
    needs("gst-launch-1.0")
    main([same_pictures])
