# SPDX-License-Identifier: BSD-3-Clause
"""A packet with a wrong checksum is in no picture but in its map, whichever back end brings it.

sums.py LULL-CAM LULL-CAM-SOURCE
"""

from __future__ import annotations

import json
import socket
import struct
from pathlib import Path

import captures
from camera_world import CAMERA, HOST, Link, checksum, inside
from verdict import check
from world import Skip, World, main, run, world

PORT, WIDTH = 5004, 64
ROW_BYTES = WIDTH * 3
ETH_IP = 0x0800
GOOD, WRONG, NONE = range(3)
# The rows of each picture, a packet each; the order is kept.
PICTURES = (
    (GOOD, NONE, GOOD),
    (GOOD, WRONG, GOOD),
    (NONE, GOOD, WRONG),
    (WRONG, WRONG, NONE),
    (GOOD, GOOD, GOOD),
    (WRONG, GOOD, WRONG),
    (GOOD, GOOD, NONE),
    (NONE, GOOD, GOOD),
)
HEIGHT = len(PICTURES[0])
WRONGS = sum(rows.count(WRONG) for rows in PICTURES)
# Newer pictures end a partial one, not the time that a busy machine takes.
VIDEO = (f"protocol=rfc4175,port={PORT},width={WIDTH},height={HEIGHT},pixel=rgb8,"
         "deadline=20s,open=2")  # fmt: skip


def packets(mac: str) -> list[bytes]:
    return [
        packet(number, row, kind, mac)
        for number, rows in enumerate(PICTURES)
        for row, kind in enumerate(rows)
    ]


def holes(rows: tuple[int, ...]) -> list[list[int]]:
    """The map: offset and length of ranges that do not touch."""
    ranges: list[list[int]] = []
    for row, kind in enumerate(rows):
        begin = row * ROW_BYTES
        if kind == WRONG and ranges and sum(ranges[-1]) == begin:
            ranges[-1][1] += ROW_BYTES
        elif kind == WRONG:
            ranges.append([begin, ROW_BYTES])
    return ranges


def pixels_of(number: int, row: int) -> bytes:
    return bytes((number * 7 + row * 31 + at) & 0xFF for at in range(ROW_BYTES))


def packet(number: int, row: int, kind: int, mac: str) -> bytes:
    """RFC 4175: one row in one packet. A wrong one has one bit of a pixel turned."""
    pixels = bytearray(pixels_of(number, row))
    marker = 0x80 if row == HEIGHT - 1 else 0
    sequence = number * HEIGHT + row
    rtp = struct.pack("!BBHIIH", 0x80, marker | 96, sequence, 3000 * number, 4711, 0)
    head = rtp + struct.pack("!HHH", len(pixels), row, 0)
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
        for frame in packets(mac):
            end.send(frame)


def options(here: World) -> str:
    return f"--stream {VIDEO} --frames {len(PICTURES)} --record {here.path('pictures')}"


def judge(here: World, totals: dict[str, int], backend: str, counter: str) -> None:
    """Rows of wrong packets are missing, and all others are as they were sent."""
    folder = here.path("pictures")
    frames = [json.loads(line) for line in (folder / "frames.jsonl").read_text().splitlines()]
    maps = [frame["missing"] for frame in frames]
    check(maps == [holes(rows) for rows in PICTURES], f"{backend}: map", maps)
    for number, (frame, rows) in enumerate(zip(frames, PICTURES, strict=True)):
        check((frame["reason"] == "complete") == (WRONG not in rows), f"{backend}: reason", frame)
        seen = (folder / frame["file"]).read_bytes()
        for row, kind in enumerate(rows):
            same = seen[row * ROW_BYTES :][:ROW_BYTES] == pixels_of(number, row)
            check(same or kind == WRONG, f"{backend}: row {row}", frame)
    check(totals[counter] == WRONGS, f"{backend}: {counter}", totals)


def over_veth(here: World, binaries: list[str], backend: str, counter: str) -> None:
    link = Link(here, binaries)
    link.address_host()
    receiver = link.receive(f"--backend {backend} {options(here)}")
    send(link.camera, "v0", link.look(link.host, "v1")["address"])
    judge(here, receiver.finish()["totals"], backend, counter)


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
        receiver = link.receive(f"--backend dpdk:tap=dtap0 {options(here)}")
        send(link.host, "dtap0", "02:00:00:00:00:09")
        judge(here, receiver.finish()["totals"], "tap", "wrong_sum")


def capture(binaries: list[str]) -> None:
    with world() as here:
        backend = captures.write(here.path("sums.pcap"), packets("02:00:00:00:00:02"))
        out = here.path("result.json")
        run(binaries[0], "--backend", backend, *options(here).split(), "--json", str(out))
        judge(here, json.loads(out.read_text())["totals"], "pcap", "wrong_sum")


main([kernel, af_packet, af_xdp, tap, capture], need="root")
