# SPDX-License-Identifier: BSD-3-Clause
"""Pictures read back without lull: PNG files, and GVSP captures for what they lack."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path


def png_filter(kind: int, left: int, up: int, corner: int) -> int:
    if kind == 4:
        guess = left + up - corner
        return min((left, up, corner), key=lambda near: abs(guess - near))
    return (0, left, up, (left + up) // 2)[kind]


def png_pixels(content: bytes) -> tuple[int, int, bytes]:
    """Width, height and the bytes of an 8-bit PNG."""
    if not content.startswith(b"\x89PNG\r\n\x1a\n"):
        raise ValueError("no PNG")
    packed, at = b"", 8
    while at < len(content):
        length, kind = struct.unpack_from("!I4s", content, at)
        body = content[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, color = struct.unpack_from("!IIBB", body)
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    channels = {0: 1, 2: 3}[color]
    if depth != 8:
        raise ValueError(f"{depth} bit")
    raw, size = zlib.decompress(packed), width * channels
    out, before = bytearray(), bytearray(size)
    for row in range(height):
        kind, line = raw[row * (size + 1)], bytearray(raw[row * (size + 1) + 1 :][:size])
        for i in range(size):
            left, corner = (line[i - channels], before[i - channels]) if i >= channels else (0, 0)
            line[i] = (line[i] + png_filter(kind, left, before[i], corner)) & 0xFF
        out += line
        before = line
    return width, height, bytes(out)


def fill(pixels: bytes, others: bytes, spans: list[list[int]]) -> bytes:
    """The picture with these spans of another one."""
    filled = bytearray(pixels)
    for offset, size in spans:
        filled[offset : offset + size] = others[offset : offset + size]
    return bytes(filled)


def capture_payloads(path: Path, port: int) -> Iterator[bytes]:
    """UDP payloads of a pcap file, IPv4 without options, little endian."""
    content, at = path.read_bytes(), 24
    while at < len(content):
        (length,) = struct.unpack_from("<I", content, at + 8)
        packet = content[at + 16 : at + 16 + length]
        at += 16 + length
        udp = packet[12:14] == b"\x08\x00" and packet[23] == 17
        if udp and int.from_bytes(packet[36:38], "big") == port:
            yield packet[42 : 34 + int.from_bytes(packet[38:40], "big")]


def gvsp_missing(path: Path, port: int, picture_bytes: int) -> dict[int, list[list[int]]]:
    """Spans that the payload packets of each block do not cover; only blocks that lack some."""
    blocks: dict[int, dict[int, int]] = {}
    for payload in capture_payloads(path, port):
        block, packet = int.from_bytes(payload[2:4], "big"), int.from_bytes(payload[5:8], "big")
        have = blocks.setdefault(block, {})
        if payload[4] & 0x0F == 3:
            have[packet] = len(payload) - 8
    step = max(size for have in blocks.values() for size in have.values())
    count = -(-picture_bytes // step)
    missing: dict[int, list[list[int]]] = {}
    for block, have in blocks.items():
        spans: list[list[int]] = []
        for packet in range(1, count + 1):
            offset = (packet - 1) * step
            if packet in have:
                continue
            if spans and sum(spans[-1]) == offset:
                spans[-1][1] += min(step, picture_bytes - offset)
            else:
                spans.append([offset, min(step, picture_bytes - offset)])
        if spans:
            missing[block] = spans
    return missing
