# SPDX-License-Identifier: BSD-3-Clause
"""A packet with a wrong checksum is in no picture, whichever back end brings it, and is counted.

sums.py LULL-CAM LULL-CAM-SOURCE
"""

from __future__ import annotations

import json
import socket
import struct
from pathlib import Path
from typing import Any

from camera_world import CAMERA, HOST, Link, checksum, inside
from verdict import check
from world import Skip, World, main, run, world

PORT, WIDTH = 5004, 64
VIDEO = f"protocol=rfc4175,port={PORT},width={WIDTH},height=1,pixel=rgb8"
ETH_IP = 0x0800
GOOD, WRONG, NONE = range(3)
# A whole picture each; the order is kept.
SENT = (GOOD, WRONG, GOOD, WRONG, WRONG, NONE)
KEPT = SENT.count(GOOD) + SENT.count(NONE)


def packet(number: int, kind: int, mac: str) -> bytes:
    """RFC 4175: one row in one packet. A wrong one has one bit of a pixel turned."""
    pixels = bytearray((number * 7 + at) & 0xFF for at in range(WIDTH * 3))
    rtp = struct.pack("!BBHIIH", 0x80, 0x80 | 96, number, 3000 * number, 4711, 0)
    head = rtp + struct.pack("!HHH", len(pixels), 0, 0)
    size = 8 + len(head) + len(pixels)
    pseudo = socket.inet_aton(CAMERA) + socket.inet_aton(HOST) + struct.pack("!HH", 17, size)
    udp = struct.pack("!HHHH", 4000, PORT, size, 0)
    total = 0 if kind == NONE else checksum(pseudo + udp + head + bytes(pixels))
    if kind == WRONG:
        pixels[10] ^= 4
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + size, 0, 0x4000, 64, 17, 0,
                     socket.inet_aton(CAMERA), socket.inet_aton(HOST))  # fmt: skip
    ip = ip[:10] + struct.pack("!H", checksum(ip)) + ip[12:]
    ether = bytes.fromhex(mac.replace(":", "")) + bytes.fromhex("020000000001")
    return (ether + struct.pack("!H", ETH_IP) + ip + udp[:6] + struct.pack("!H", total) + head +
            bytes(pixels))  # fmt: skip


def send(namespace: str, name: str, mac: str) -> None:
    with inside(namespace), socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as end:
        end.bind((name, 0))
        for number, kind in enumerate(SENT):
            end.send(packet(number, kind, mac))


def judge(result: dict[str, Any], backend: str, counter: str) -> None:
    totals = result["totals"]
    seen = (totals, result["streams"][0]["reasons"])
    check(result["fetched"] == KEPT and result["fetched_partial"] == 0, f"{backend}: whole", seen)
    check(totals[counter] == SENT.count(WRONG), f"{backend}: {counter}", seen)


def over_veth(here: World, binaries: list[str], backend: str, counter: str) -> None:
    link = Link(here, binaries)
    link.address_host()
    receiver = link.receive(f"--backend {backend} --stream {VIDEO} --frames {KEPT}")
    send(link.camera, "v0", link.look(link.host, "v1")["address"])
    judge(receiver.finish(), backend, counter)


def kernel(binaries: list[str]) -> None:
    """The kernel looks, and says no more than that they were lost."""
    for backend in ("kernel:v1", "kernel-busy:v1"):
        with world() as here:
            over_veth(here, binaries, backend, "missed")


def af_packet(binaries: list[str]) -> None:
    with world() as here:
        over_veth(here, binaries, "dpdk:af_packet=v1", "wrong_sum")


def af_xdp(binaries: list[str]) -> None:
    with world() as here:
        over_veth(here, binaries, "dpdk:af_xdp=v1", "wrong_sum")


def tap(binaries: list[str]) -> None:
    """Its driver looks at checksums."""
    if not Path("/dev/net/tun").exists():
        raise Skip("needs TAP")
    with world() as here:
        link = Link(here, binaries)
        receiver = link.receive(f"--backend dpdk:tap=dtap0 --stream {VIDEO} --frames {KEPT}")
        send(link.host, "dtap0", "02:00:00:00:00:09")
        judge(receiver.finish(), "tap", "wrong_sum")


def capture(binaries: list[str]) -> None:
    with world() as here:
        path, out = here.path("sums.pcap"), here.path("sums.json")
        with path.open("wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
            for number, kind in enumerate(SENT):
                frame = packet(number, kind, "02:00:00:00:00:02")
                file.write(struct.pack("<IIII", number, 0, len(frame), len(frame)) + frame)
        run(binaries[0], "--backend", f"pcap:{path}", "--stream", VIDEO, "--json", str(out))
        judge(json.loads(out.read_text()), "pcap", "wrong_sum")


main([kernel, af_packet, af_xdp, tap, capture], need="root")
