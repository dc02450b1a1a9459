# SPDX-License-Identifier: BSD-3-Clause
"""GStreamer's rtpvrawpay into every back end: nine formats, odd sizes, jumbo, wraps.

interop_gstreamer.py LULL_CAM
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path
from typing import NamedTuple

from interop import JUMBO, RECEIVER, Stream, Wire, needs, receive, wire
from layouts import MEMORY_BYTES, WIRE
from rights import skip
from verdict import check
from world import main

PICTURES = 6
RATE = 10  # pictures of a stream per second
SEED = 20261122
PIXELS = {
    "uyvy": "uyvy8",
    "uyvp": "uyvy10",
    "rgb": "rgb8",
    "bgr": "bgr8",
    "rgba": "rgba8",
    "bgra": "bgra8",
    "ayuv": "yuv444",
    "i420": "yuv420",
    "y41b": "yuv411",
}


class Case(NamedTuple):
    """A stream; the first sequence numbers let 16 bits wrap within the first picture."""

    name: str
    kind: str
    width: int
    height: int
    packet: int = 1400
    chunks: int = 10  # of a picture, which no packet spans
    first: int = 65533
    pattern: str = ""  # of videotestsrc; else random bytes: every one counts
    interlaced: bool = False


USUAL = [
    Case("uyvy", "uyvy", 320, 120, first=65500),
    Case("uyvp", "uyvp", 162, 50),
    Case("rgb", "rgb", 161, 51),
    Case("bgr", "bgr", 63, 47, packet=1399),
    Case("rgba", "rgba", 33, 101),
    Case("bgra", "bgra", 127, 49, packet=1300),
    Case("ayuv", "ayuv", 65, 49),
    Case("i420", "i420", 64, 48),
    Case("y41b", "y41b", 64, 48),
    # rows so short that a packet has 14 line headers and more
    Case("uyvy-region", "uyvy", 32, 61, chunks=1, first=65534),
    Case("uyvp-region", "uyvp", 14, 99, chunks=1, first=65535),
    Case("i420-region", "i420", 26, 47, chunks=1, first=65535),
    Case("y41b-region", "y41b", 20, 90, chunks=1, first=65534),
    # widths that are no whole number of groups
    Case("uyvy-cut", "uyvy", 63, 47),
    Case("uyvp-cut", "uyvp", 35, 41, chunks=1, first=65535),
    Case("bars", "uyvy", 320, 240, pattern="smpte"),
]
JUMBOS = [
    Case("uyvy-jumbo", "uyvy", 640, 240, packet=8900, first=65520),
    Case("uyvp-jumbo", "uyvp", 322, 241, packet=8900, first=65525),
    Case("rgba-jumbo", "rgba", 319, 121, packet=8900, first=65530),
    Case("i420-jumbo", "i420", 320, 240, packet=8900, first=65530),
    Case("uyvy-lines", "uyvy", 100, 480, packet=8900),
    Case("rgb-lines", "rgb", 5, 900, packet=8900, chunks=1, first=65535),
    Case("uyvy-cut-lines", "uyvy", 21, 480, packet=8900, chunks=1, first=65534),
    Case("bars-jumbo", "uyvy", 1920, 1080, packet=8900, pattern="smpte"),
    Case("plate-jumbo", "i420", 640, 480, packet=8900, pattern="chroma-zone-plate"),
    Case("uyvy-fields", "uyvy", 64, 48, interlaced=True),
    Case("rgb-region", "rgb", 9, 101, chunks=1, first=65535),
    Case("rgb-tiny", "rgb", 21, 20, packet=100, first=65500),
    Case("rgb-one", "rgb", 8, 8),
]




def drawn_cases() -> list[Case]:
    """Sizes, packets and cuts that nobody chose."""
    draw, cases = random.Random(SEED), []
    for i in range(16):
        kind = draw.choice(list(PIXELS))
        # GStreamer writes beyond its packets at other widths of these
        step = {"i420": 2, "y41b": 4}.get(kind, 1)
        case = Case(
            name=f"{kind}-drawn{i}",
            kind=kind,
            width=step * draw.randint(1, 1 + draw.choice((30, 400)) // step),
            height=2 * draw.randint(1, 80),
            packet=draw.choice((draw.randint(100, 1400), draw.randint(1400, 8900))),
            chunks=draw.choice((1, 2, 7, 10)),
            first=draw.randint(65500, 65535),
            interlaced=kind != "i420" and draw.random() < 0.2,
        )
        cases.append(case)
    return cases


def pattern_of(case: Case) -> str:
    """The n-th picture of a pattern is always the same one."""
    return (
        f"videotestsrc pattern={case.pattern} kx2=20 ky2=20 kt=3 num-buffers={PICTURES} ! "
        f"video/x-raw,format={case.kind.upper()},width={case.width},height={case.height},"
        f"framerate={RATE}/1"
    )


def picture_file(link: Wire, case: Case) -> Path:
    """The pictures as GStreamer keeps them."""
    file = link.world.path(f"{case.name}.memory")
    if case.pattern:
        words = f"gst-launch-1.0 -q {pattern_of(case)} ! filesink location={file}"
        link.send(*words.split())
    else:
        draw = random.Random(f"{SEED} {case.name}")
        size = MEMORY_BYTES[case.kind](case.width, case.height)
        file.write_bytes(draw.randbytes(PICTURES * size))
    return file


def branch(case: Case, file: Path, port: int) -> str:
    fields = "interlaced=true top-field-first=true" if case.interlaced else ""
    source = (
        f"filesrc location={file} ! rawvideoparse format={case.kind} width={case.width} "
        f"height={case.height} framerate={RATE}/1 {fields}"
    )
    return (
        f"{pattern_of(case) if case.pattern else source} ! "
        f"rtpvrawpay mtu={case.packet} chunks-per-frame={case.chunks} "
        f"seqnum-offset={case.first} ! udpsink host={RECEIVER} port={port}"
    )


def stream_of(case: Case, file: Path, port: int) -> Stream:
    content = file.read_bytes()
    size = MEMORY_BYTES[case.kind](case.width, case.height)
    check(len(content) == PICTURES * size, f"pictures of {case.name}", len(content))
    return Stream(
        name=case.name,
        pixel=PIXELS[case.kind],
        width=case.width,
        height=case.height,
        packet=case.packet,
        pictures=[
            WIRE[case.kind](content[i * size :][:size], case.width, case.height)
            for i in range(PICTURES)
        ],
        port=port,
        more=",interlaced=yes" if case.interlaced else "",
    )


def send_into(lull_cam: str, backends: tuple[str, ...], mtu: int, cases: list[Case]) -> None:
    with wire(mtu) as link:
        command, streams = "gst-launch-1.0 -q", []
        for i, case in enumerate(cases):
            file, port = picture_file(link, case), 5000 + 2 * i
            command += " " + branch(case, file, port)
            streams.append(stream_of(case, file, port))
        for backend in backends:
            receive(link, lull_cam, backend, streams, command.split())


def formats_and_regions(binaries: list[str]) -> None:
    send_into(binaries[0], ("kernel:v1", "dpdk:af_packet=v1", "dpdk:af_xdp=v1"), 1500, USUAL)


def jumbo_packets(binaries: list[str]) -> None:
    send_into(binaries[0], ("kernel:v1", "dpdk:af_packet=v1"), JUMBO, JUMBOS)


def has_elements() -> bool:
    return all(
        subprocess.run(["gst-inspect-1.0", "--exists", element], check=False).returncode == 0
        for element in ("rtpvrawpay", "rawvideoparse")
    )


def drawn_shapes(binaries: list[str]) -> None:
    send_into(binaries[0], ("kernel:v1", "dpdk:af_packet=v1"), JUMBO, drawn_cases())


if __name__ == "__main__":
    needs("gst-launch-1.0")
    if not has_elements():
        skip("needs GStreamer's base and good plugins")
    main([formats_and_regions, jumbo_packets, drawn_shapes], need="root")
