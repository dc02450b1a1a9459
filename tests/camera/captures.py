# SPDX-License-Identifier: BSD-3-Clause
"""Captures written by hand: packets of cameras, without any code of lull."""

from __future__ import annotations

import struct
from pathlib import Path

UDP_PORT = 20202
MAC = bytes((2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 1))


def udp(payload: bytes, port: int = UDP_PORT) -> bytes:
    """An Ethernet frame."""
    head = struct.pack("!HHHH", 4000, port, 8 + len(payload), 0)
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 28 + len(payload), 0, 0, 64, 17, 0)
    return MAC + b"\x08\x00" + ip + bytes((192, 0, 2, 1, 192, 0, 2, 9)) + head + payload


def ethernet(ether_type: int, payload: bytes) -> bytes:
    return MAC + ether_type.to_bytes(2, "big") + payload


def write(path: Path, frames: list[bytes], snap: int = 65535, cut_end: int = 0) -> str:
    """A pcap file of frames that follow each other by 1 ms; its last bytes may be cut off."""
    content = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, snap, 1)
    for number, frame in enumerate(frames):
        held = frame[:snap]
        content += struct.pack("<IIII", 1, 1000 * number, len(held), len(frame)) + held
    path.write_bytes(content[: len(content) - cut_end])
    return f"pcap:{path}"


def gvsp(block: int, code: int, width: int, height: int, pixels: bytes, size: int) -> list[bytes]:
    """The packets of one block: leader, payload of at most size bytes, trailer."""
    leader = struct.pack("!IQIIIIIHH", 1, block * 1000, code, width, height, 0, 0, 0, 0)
    parts = [pixels[at : at + size] for at in range(0, len(pixels), size)]
    bodies = [(1, leader), *((3, part) for part in parts), (2, struct.pack("!II", 1, height))]
    return [
        struct.pack("!HHI", 0, block, kind << 24 | number) + body
        for number, (kind, body) in enumerate(bodies)
    ]


def rvf(depth: int, layout: int, colour: int, width: int, rows: list[bytes]) -> list[bytes]:
    """One packet of IEEE 1722 RVF for each row."""
    packets = []
    for number, row in enumerate(rows):
        end = 0x10 if number + 1 == len(rows) else 0
        head = struct.pack("!BBBBQIHHH", 7, 0x80, number, 0, 5, 0, width, len(rows), len(row) + 8)
        head += bytes((0x80 | end, 0, 0, depth << 4 | layout, 0, colour << 4 | 1, 0, 0))
        packets.append(head + (number + 1).to_bytes(2, "big") + row)
    return packets
