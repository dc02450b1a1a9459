# SPDX-License-Identifier: BSD-3-Clause
"""Ethernet protocols and a multicast group over each back end, to the last pixel.

The host's interface is a macvlan: it filters groups as a NIC does, while over veth all arrives.
AF_XDP takes no macvlan.

protocols.py LULL-CAM LULL-CAM-SOURCE
"""

from __future__ import annotations

import json
import signal
import socket
import struct
from pathlib import Path
from typing import Any

from camera_world import Link, inside, macvlan
from verdict import TIMEOUT_S, check, wait_for
from world import main, run, world

WIDTH, HEIGHT, FRAMES, RATE = 320, 240, 20, 20
GROUP, PORT = "239.77.1.2", 5004
CMP_GROUP, RVF_GROUP = "01:0e:f0:00:fe:01", "91:e0:f0:00:fe:02"
CMP_TYPE = 0x99FE
WINDOWS, GROUPS_STEP, TWIST = 1024, 61, 257  # of the source's counter pattern
SIZE = f"width={WIDTH},height={HEIGHT},deadline=1s"
# name: the stream, the source, bytes and samples of a group of pixels
CAMERAS = {
    "cmp": (
        f"protocol=cmp,pixel=raw12-csi,address={CMP_GROUP}",
        f"--protocol cmp --interface v0 --to {CMP_GROUP}",
        3,
        2,
    ),
    # No address: all groups.
    "rvf": (
        "protocol=rvf,pixel=mono8",
        f"--protocol rvf --interface v0 --to {RVF_GROUP}",
        1,
        1,
    ),
    "group": (
        f"protocol=rfc4175,pixel=rgb8,port={PORT},address={GROUP}",
        f"--protocol rfc4175 --pixel rgb8 --to {GROUP}:{PORT}",
        3,
        3,
    ),
}


def counted(samples: int, depth: int) -> list[int]:
    return [(s + TWIST * (s >> depth)) & ((1 << depth) - 1) for s in range(samples)]


def pattern(name: str) -> bytes:
    """What the source cuts its pictures from."""
    _, _, group_bytes, group = CAMERAS[name]
    size = WIDTH * HEIGHT * 3 + WINDOWS * GROUPS_STEP * group_bytes
    if name != "cmp":
        return bytes(counted(size, 8))
    values = counted(size // group_bytes * group, 12)
    packed = bytearray()
    for one, other in zip(values[::2], values[1::2], strict=True):
        packed += bytes((one >> 4, other >> 4, (other & 15) << 4 | (one & 15)))
    return bytes(packed)


def check_pictures(folder: Path, name: str, lines: list[dict[str, Any]]) -> None:
    whole, step = pattern(name), GROUPS_STEP * CAMERAS[name][2]
    mine = [line for line in lines if line["stream"] == name]
    check(len(mine) == FRAMES, f"{name}: pictures", len(mine))
    for number, line in enumerate(mine):
        seen = (folder / line["file"]).read_bytes()
        at = number % WINDOWS * step
        check(len(seen) > WIDTH * HEIGHT - 1, f"{name}: a picture's size", len(seen))
        check(seen == whole[at : at + len(seen)], f"{name}: pixels of picture {number}", line)


def filters(link: Link, name: str) -> None:
    """Without a receiver a frame to a group does not get through, and one to all does."""
    def frame(to: str) -> bytes:
        return bytes.fromhex(to.replace(":", "")) + bytes(6) + struct.pack("!H", CMP_TYPE)

    with inside(link.host):
        end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(CMP_TYPE))
        end.bind((name, CMP_TYPE))
    with inside(link.camera):
        camera = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        camera.bind(("v0", 0))
    with end, camera:
        end.settimeout(TIMEOUT_S)
        camera.send(frame(CMP_GROUP) + bytes(60))
        camera.send(frame("ff:ff:ff:ff:ff:ff") + bytes(60))
        check(end.recv(100)[:6] == b"\xff" * 6, "a group is kept back", name)


def receive(binaries: list[str], backend: str, name: str = "m1") -> None:
    with world() as here:
        link = Link(here, binaries)
        if name == "m1":
            macvlan(link, name)
            filters(link, name)
        else:
            link.address_host()
        run("ip", "-n", link.camera, "route", "add", "239.0.0.0/8", "dev", "v0")
        streams = " ".join(
            f"--stream {stream},{SIZE},name={name}" for name, (stream, *_) in CAMERAS.items()
        )
        folder = here.path("pictures")
        receiver = link.receive(f"--backend {backend} {streams} --record {folder}")
        groups = link.call(link.host, "ip", "maddr", "show", "dev", name)
        check(GROUP in groups, f"{backend}: joined", groups)
        check(CMP_GROUP in groups, f"{backend}: in the interface's filter", groups)
        sources = [
            link.send(f"{source} --width {WIDTH} --height {HEIGHT} --frames {FRAMES} --rate {RATE}")
            for _, source, *_ in CAMERAS.values()
        ]
        for source in sources:
            source.finish()
        wait_for(
            f"{backend}: all pictures are recorded",
            lambda: len(list(folder.glob("*.raw"))) >= FRAMES * len(CAMERAS),
        )
        result = receiver.finish(signal.SIGTERM)
        for stream in result["streams"]:
            check(stream["reasons"]["complete"] == FRAMES, f"{backend}: whole", stream["reasons"])
        index = (folder / "frames.jsonl").read_text()
        lines = [json.loads(line) for line in index.splitlines()]
        for name in CAMERAS:
            check_pictures(folder, name, lines)
        groups = link.call(link.host, "ip", "maddr", "show", "dev", name)
        check(GROUP not in groups, f"{backend}: left again", groups)
        check(CMP_GROUP not in groups, f"{backend}: nothing stays in the filter", groups)


def kernel(binaries: list[str]) -> None:
    receive(binaries, "kernel:m1")


def af_packet(binaries: list[str]) -> None:
    receive(binaries, "dpdk:af_packet=m1")


def af_xdp(binaries: list[str]) -> None:
    receive(binaries, "dpdk:af_xdp=v1", "v1")


main([kernel, af_packet, af_xdp], need="root")
