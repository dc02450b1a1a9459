# SPDX-License-Identifier: BSD-3-Clause
"""aravis' camera in software, under control of lull-cam, into every back end: nothing may lack.

Its pictures follow from their block id, by rules that were read off them; that for mono8 holds for
captures that lull had no part in. The camera begins with block 65401: ids wrap during the test.

interop_aravis.py LULL_CAM
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from interop import JUMBO, SENDER, Receiver, Wire, WrongPixels, difference, needs, wire
from verdict import check
from world import main

CAMERA = "arv-fake-gv-camera-0.8"
WIDTH, HEIGHT, PIXELS, PERIOD_US = 0x100, 0x104, 0x128, 0x138  # its registers
STEPS = 255  # of the ramp along the diagonals


class Case(NamedTuple):
    name: str
    pixel: str
    code: int  # of the GenICam pixel format
    width: int
    height: int
    packet: int
    frames: int
    period_us: int


CASES = [
    Case("whole sensor", "mono8", 0x01080001, 2048, 2048, 8980, 8, 60_000),
    Case("bursts", "mono8", 0x01080001, 512, 512, 8980, 44, 10_000),
    Case("mono8", "mono8", 0x01080001, 333, 77, 1400, 4, 20_000),
    Case("mono16", "mono16", 0x01100007, 1023, 77, 1400, 4, 20_000),
    Case("rgb8", "rgb8", 0x02180014, 321, 101, 8980, 4, 20_000),
    Case("bayer-rg8", "bayer-rg8", 0x01080009, 335, 99, 1400, 4, 20_000),
    Case("bayer-gb8", "bayer-gb8", 0x0108000A, 64, 65, 576, 4, 20_000),
]
UNDER_XDP = [
    Case("bursts", "mono8", 0x01080001, 512, 512, 1400, 20, 20_000),
    Case("rgb8", "rgb8", 0x02180014, 321, 101, 1400, 4, 20_000),
]
# what this camera sends under the name: red and blue have changed places
MOSAICS = {"bayer-rg8": "bggr", "bayer-gb8": "gbrg"}


def clip(value: int) -> int:
    return max(0, min(255, value))


def color(step: int) -> tuple[int, int, int]:
    """From blue over green to red; each rises and falls by 4 a step."""
    red = min(clip(4 * step - 380), clip(1148 - 4 * step))
    green = min(clip(4 * step - 124), clip(892 - 4 * step))
    blue = min(clip(4 * step + 132), clip(636 - 4 * step))
    return red, green, blue


def ramp_of(pixel: str, count: int, row: int) -> bytes:
    """Pixels of steps 0, 1, 2 ... as a row of this number has them."""
    colors = [color(step) for step in range(STEPS)]
    if pixel == "mono8":
        steps = bytes(range(STEPS))
    elif pixel == "rgb8":
        steps = b"".join(bytes(rgb) for rgb in colors)
    else:
        # 255 is odd: the two colours of a row change places with each round
        pair = MOSAICS[pixel][2 * (row % 2) :][:2]
        steps = bytes(
            colors[step % STEPS]["rgb".index(pair[step % 2])] for step in range(2 * STEPS)
        )
    return steps * (count // STEPS + 2)


def picture_of(case: Case, block: int) -> bytes:
    width, height = case.width, case.height
    if case.pixel == "mono16":
        steps = range(block, block + width + height)
        ramp = b"".join((256 * step % 65535).to_bytes(2, "little") for step in steps)
        return b"".join(ramp[2 * y :][: 2 * width] for y in range(height))
    out = bytearray()
    size = 3 if case.pixel == "rgb8" else 1
    ramps = [ramp_of(case.pixel, width + 2 * STEPS, row) for row in (0, 1)]
    for y in range(height):
        first = (y + block) % STEPS
        if case.pixel in MOSAICS and first % 2 == 1:
            first += STEPS  # columns begin with the first colour of the row
        out += ramps[y % 2][first * size :][: width * size]
    return bytes(out)


@contextmanager
def camera(link: Wire) -> Iterator[None]:
    command = ["ip", "netns", "exec", link.sender, CAMERA, "-i", "v0"]
    with link.world.path("camera.log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.kill()
            process.wait()


def configure(link: Wire, case: Case) -> None:
    values = {
        WIDTH: case.width,
        HEIGHT: case.height,
        PIXELS: case.code,
        PERIOD_US: case.period_us,
    }
    script = Path(__file__).parent / "registers.py"
    words = [f"{register:#x}={value:#x}" for register, value in values.items()]
    link.call(link.receiver, sys.executable, str(script), SENDER, *words)


def compare(receiver: Receiver, frames: list[dict[str, Any]], case: Case) -> None:
    for frame in frames:
        block = frame["key"] & 0xFFFF
        if frame["reason"] != "complete":
            continue
        shape = (frame["width"], frame["height"], frame["pixel"])
        check(shape == (case.width, case.height, case.pixel), "what the leader says", shape)
        seen, sent = receiver.picture(frame), picture_of(case, block)
        if seen != sent:
            raise WrongPixels(f"{case.name}, block {block}: {difference(seen, sent)}")


def receive(link: Wire, lull_cam: str, backend: str, case: Case) -> None:
    configure(link, case)
    # the camera shares this CPU: it may pause within a picture
    spec = f"protocol=gvsp,control={SENDER},packet-bytes={case.packet},buffers=16,deadline=2s"
    receiver = Receiver(link, lull_cam, backend, [spec], case.frames)
    frames = receiver.frames()
    compare(receiver, frames, case)
    complete = sum(frame["reason"] == "complete" for frame in frames)
    print(
        f"| {CAMERA} | {case.name} | {case.pixel} | {case.width} x {case.height} | "
        f"{case.packet} | {backend.removesuffix('=v1').removesuffix(':v1')} | "
        f"{case.frames} | {complete} | {complete} |",
        flush=True,
    )
    check(complete == len(frames) == case.frames, f"{backend}: {case.name} is whole", complete)
    blocks = [frame["key"] & 0xFFFF for frame in frames]
    follows = all(b == a % 65535 + 1 for a, b in itertools.pairwise(blocks))
    check(follows, f"{backend}: no block of {case.name} lacks", blocks)


def nothing_lacks(binaries: list[str]) -> None:
    with wire(JUMBO) as link, camera(link):
        for backend in ("kernel:v1", "dpdk:af_packet=v1"):
            for case in CASES:
                receive(link, binaries[0], backend, case)


def nothing_lacks_xdp(binaries: list[str]) -> None:
    """Control stays with the kernel there, too."""
    with wire(1500) as link, camera(link):
        for case in UNDER_XDP:
            receive(link, binaries[0], "dpdk:af_xdp=v1", case)


if __name__ == "__main__":
    needs(CAMERA)
    main([nothing_lacks, nothing_lacks_xdp], need="root")
