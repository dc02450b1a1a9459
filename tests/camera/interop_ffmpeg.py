# SPDX-License-Identifier: BSD-3-Clause
"""ffmpeg's RTP output into every back end: 8 and 10 bit 4:2:2, RGB, odd sizes, jumbo, wraps.

Its 4:2:0 is left out: planar memory cut into lines, which is not RFC 4175's.

interop_ffmpeg.py LULL_CAM
"""

from __future__ import annotations

import array
import random
from pathlib import Path
from typing import NamedTuple

from interop import JUMBO, RECEIVER, Stream, Wire, needs, receive, wire
from layouts import yuv422p10
from verdict import check
from world import main

PICTURES = 6
RATE = 20
SEED = 20261122
# ffmpeg's name -> encoder, name here, bytes of a pixel in memory
KINDS = {
    "uyvy422": ("rawvideo", "uyvy8", 2),
    "yuv422p10le": ("bitpacked", "uyvy10", 4),
    "rgb24": ("rawvideo", "rgb8", 3),
    "bgr24": ("rawvideo", "bgr8", 3),
}


class Case(NamedTuple):
    name: str
    kind: str
    width: int
    height: int
    packet: int = 1400
    first: int = 65533
    pattern: str = ""  # of lavfi; else random samples


USUAL = [
    Case("uyvy", "uyvy422", 320, 120, first=65500),
    Case("uyvy-region", "uyvy422", 34, 61),
    Case("uyvy10", "yuv422p10le", 162, 51),
    Case("uyvy10-region", "yuv422p10le", 14, 99, first=65535),
    Case("rgb", "rgb24", 161, 51),
    Case("rgb-region", "rgb24", 9, 101, first=65535),
    Case("bgr", "bgr24", 63, 47, packet=1399),
    Case("test", "uyvy422", 320, 240, pattern="testsrc2"),
]
JUMBOS = [
    Case("uyvy-jumbo", "uyvy422", 640, 240, packet=8900, first=65520),
    Case("uyvy10-jumbo", "yuv422p10le", 322, 121, packet=8900, first=65528),
    Case("rgb-jumbo", "rgb24", 319, 121, packet=8900, first=65528),
    Case("bgr-lines", "bgr24", 5, 900, packet=8900, first=65535),
    Case("test-jumbo", "yuv422p10le", 640, 480, packet=8900, pattern="testsrc2"),
]


def lavfi_of(case: Case) -> str:
    return f"-f lavfi -i {case.pattern}=size={case.width}x{case.height}:rate={RATE}"


def picture_file(link: Wire, case: Case) -> Path:
    """The pictures as ffmpeg keeps them; the n-th of a pattern is always the same one."""
    file = link.world.path(f"{case.name}.memory")
    draw = random.Random(f"{SEED} {case.name}")
    size = PICTURES * case.width * case.height * KINDS[case.kind][2]
    if case.pattern:
        words = f"ffmpeg -v error {lavfi_of(case)} -frames:v {PICTURES} -pix_fmt {case.kind}"
        link.send(*words.split(), "-f", "rawvideo", str(file))
    elif case.kind == "yuv422p10le":
        samples = array.array("H", (draw.getrandbits(10) for _ in range(size // 2)))
        file.write_bytes(samples.tobytes())
    else:
        file.write_bytes(draw.randbytes(size))
    check(file.stat().st_size == size, f"pictures of {case.name}", file.stat().st_size)
    return file


def source_of(case: Case, file: Path) -> str:
    if case.pattern:
        return f"-re {lavfi_of(case)}"
    return (
        f"-re -f rawvideo -pixel_format {case.kind} -video_size {case.width}x{case.height} "
        f"-framerate {RATE} -i {file}"
    )


def output_of(case: Case, index: int, port: int) -> str:
    return (
        f"-map {index} -frames:v {PICTURES} -pix_fmt {case.kind} -c:v {KINDS[case.kind][0]} "
        f"-f rtp -seq {case.first} -rtpflags skip_rtcp "
        f"rtp://{RECEIVER}:{port}?pkt_size={case.packet}"
    )


def stream_of(case: Case, file: Path, port: int) -> Stream:
    content = file.read_bytes()
    size = len(content) // PICTURES
    pictures = [content[i * size :][:size] for i in range(PICTURES)]
    if case.kind == "yuv422p10le":
        pictures = [yuv422p10(picture, case.width, case.height) for picture in pictures]
    pixel = KINDS[case.kind][1]
    return Stream(case.name, pixel, case.width, case.height, case.packet, pictures, port=port)


def send_into(lull_cam: str, backends: tuple[str, ...], mtu: int, cases: list[Case]) -> None:
    with wire(mtu) as link:
        inputs, outputs, streams = "", "", []
        for i, case in enumerate(cases):
            file, port = picture_file(link, case), 5000 + 2 * i
            inputs += " " + source_of(case, file)
            outputs += " " + output_of(case, i, port)
            streams.append(stream_of(case, file, port))
        command = f"ffmpeg -v error{inputs}{outputs}".split()
        for backend in backends:
            receive(link, lull_cam, backend, streams, command)


def formats_and_regions(binaries: list[str]) -> None:
    send_into(binaries[0], ("kernel:v1", "dpdk:af_packet=v1", "dpdk:af_xdp=v1"), 1500, USUAL)


def jumbo_packets(binaries: list[str]) -> None:
    send_into(binaries[0], ("kernel:v1", "dpdk:af_packet=v1"), JUMBO, JUMBOS)


if __name__ == "__main__":
    needs("ffmpeg")
    main([formats_and_regions, jumbo_packets], need="root")
