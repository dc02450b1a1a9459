# SPDX-License-Identifier: BSD-3-Clause
"""traffic.py FILE PACKETS: a capture of ordinary traffic, the same bytes each time.

Web over TLS and HTTP, DNS, QUIC, NTP, bulk transfers, pings, some of it over IPv6.

Sizes are bimodal as on real links (acknowledgments and full frames, 350 bytes on average), TCP
connections have their handshakes and ends, and what nDPI looks at is well-formed.
"""

from __future__ import annotations

import random
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SEED = 19
BEGIN_US = 1_700_000_000 * 10**6
SPAN_US = 60 * 10**6
SNAP_BYTES = 65535
SEGMENT_BYTES = 1400
FIN, SYN, PSH, ACK = 1, 2, 8, 16
NAMES = ("www.example.com", "cdn.example.net", "mail.example.org", "api.example.com",
         "static.example.net", "news.example.org", "video.example.com")  # fmt: skip
NOISE = random.Random(SEED).randbytes(1 << 16)

Packet = tuple[int, bytes]  # microseconds, frame


@dataclass
class Pair:
    """Two hosts, and what their headers have in common."""

    version: int
    addresses: tuple[bytes, bytes]
    ports: tuple[int, int]
    proto: int

    def frame(self, side: int, transport: bytes) -> bytes:
        macs = (b"\x02\x00\x00\x00\x00\x01", b"\x02\x00\x00\x00\x00\x02")
        here, there = self.addresses[side], self.addresses[1 - side]
        if self.version == 4:
            head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(transport), 0, 0x4000, 64,
                               self.proto, 0) + here + there  # fmt: skip
            total = sum(struct.unpack("!10H", head))
            total = (total & 0xFFFF) + (total >> 16)
            total = (total & 0xFFFF) + (total >> 16)
            head = head[:10] + struct.pack("!H", 0xFFFF - total) + head[12:]
            kind = b"\x08\x00"
        else:
            head = struct.pack("!IHBB", 6 << 28, len(transport), self.proto, 64) + here + there
            kind = b"\x86\xdd"
        return b"".join((macs[1 - side], macs[side], kind, head, transport)).ljust(60, b"\0")

    def udp(self, side: int, payload: bytes) -> bytes:
        head = struct.pack("!HHHH", self.ports[side], self.ports[1 - side], 8 + len(payload), 0)
        return self.frame(side, head + payload)


class Connection:
    """The two sides of a TCP connection."""

    def __init__(self, pair: Pair, chance: random.Random) -> None:
        self.pair = pair
        self.sequence = [chance.getrandbits(32), chance.getrandbits(32)]

    def segment(self, side: int, flags: int, payload: bytes = b"") -> bytes:
        options = b"\x02\x04\x05\xb4\x01\x03\x03\x07" if flags & SYN else b""
        head = struct.pack(
            "!HHIIBBHHH", self.pair.ports[side], self.pair.ports[1 - side], self.sequence[side],
            self.sequence[1 - side] if flags & ACK else 0, (20 + len(options)) << 2, flags, 64240,
            0, 0)  # fmt: skip
        used = len(payload) + (1 if flags & (SYN | FIN) else 0)
        self.sequence[side] = (self.sequence[side] + used) & 0xFFFFFFFF
        return self.pair.frame(side, head + options + payload)


def noise(chance: random.Random, size: int) -> bytes:
    begin = chance.randrange(len(NOISE) - size)
    return NOISE[begin : begin + size]


# ---- what is said ----


def client_hello(chance: random.Random, name: str) -> bytes:
    host = name.encode()
    server_name = struct.pack("!HHHBH", 0, len(host) + 5, len(host) + 3, 0, len(host)) + host
    groups = struct.pack("!HHHHH", 10, 6, 4, 29, 23)
    versions = struct.pack("!HHBHH", 43, 5, 4, 0x0304, 0x0303)
    extensions = server_name + groups + versions
    ciphers = struct.pack("!HHHHH", 8, 0x1301, 0x1302, 0xC02F, 0xC030)
    body = b"".join((b"\x03\x03", noise(chance, 32), b"\x20", noise(chance, 32), ciphers,
                     b"\x01\x00", struct.pack("!H", len(extensions)), extensions))  # fmt: skip
    return record(22, b"\x01" + struct.pack("!I", len(body))[1:] + body, 0x0301)


def server_hello(chance: random.Random) -> bytes:
    versions = struct.pack("!HHH", 43, 2, 0x0304)
    body = b"".join((b"\x03\x03", noise(chance, 32), b"\x20", noise(chance, 32), b"\x13\x01\x00",
                     struct.pack("!H", len(versions)), versions))  # fmt: skip
    return record(22, b"\x02" + struct.pack("!I", len(body))[1:] + body) + record(
        23, noise(chance, 900))  # fmt: skip


def record(kind: int, body: bytes, version: int = 0x0303) -> bytes:
    return struct.pack("!BHH", kind, version, len(body)) + body


def dns(number: int, name: str, answer: bytes) -> bytes:
    labels = b"".join(bytes((len(part),)) + part.encode() for part in name.split("."))
    head = struct.pack("!HHHHHH", number, 0x8180 if answer else 0x0100, 1, 1 if answer else 0, 0, 0)
    asked = labels + b"\0" + struct.pack("!HH", 1, 1)
    told = struct.pack("!HHHIH", 0xC00C, 1, 1, 300, 4) + answer if answer else b""
    return head + asked + told


# ---- flows: delays in microseconds before each packet ----


def flow_of_tcp(pair: Pair, chance: random.Random, trip_us: int, size: int) -> Iterator[Packet]:
    peers = Connection(pair, chance)
    yield 0, peers.segment(0, SYN)
    yield trip_us, peers.segment(1, SYN | ACK)
    yield trip_us, peers.segment(0, ACK)
    name = chance.choice(NAMES)
    if pair.ports[1] == 443:
        yield 50, peers.segment(0, PSH | ACK, client_hello(chance, name))
        yield trip_us, peers.segment(1, PSH | ACK, server_hello(chance))
        yield trip_us, peers.segment(0, PSH | ACK, record(20, b"\x01") + record(
            23, noise(chance, 120)))  # fmt: skip
    else:
        yield 50, peers.segment(0, PSH | ACK, f"GET /{size} HTTP/1.1\r\nHost: {name}\r\n"
                                f"User-Agent: curl/8\r\nAccept: */*\r\n\r\n".encode())  # fmt: skip
        yield trip_us, peers.segment(1, PSH | ACK, f"HTTP/1.1 200 OK\r\nServer: nginx\r\n"
                                     f"Content-Length: {size}\r\n\r\n".encode())  # fmt: skip
    side = 1 if chance.random() < 0.85 else 0
    for i in range(max(1, size // SEGMENT_BYTES)):
        full = chance.random() < 0.35
        bytes_ = SEGMENT_BYTES if full else chance.choice((0, 0, 40, 90, 200))
        yield chance.randrange(20, 4000), peers.segment(side, ACK, noise(chance, bytes_))
        if i % 2 == 1:
            yield 30, peers.segment(1 - side, ACK)
    yield 100, peers.segment(0, FIN | ACK)
    yield trip_us, peers.segment(1, FIN | ACK)
    yield trip_us, peers.segment(0, ACK)


def flow_of_dns(pair: Pair, chance: random.Random, trip_us: int, _: int) -> Iterator[Packet]:
    number, name = chance.getrandbits(16), chance.choice(NAMES)
    yield 0, pair.udp(0, dns(number, name, b""))
    yield trip_us, pair.udp(1, dns(number, name, noise(chance, 4)))


def flow_of_ntp(pair: Pair, chance: random.Random, trip_us: int, _: int) -> Iterator[Packet]:
    yield 0, pair.udp(0, b"\x23" + bytes(39) + noise(chance, 8))
    yield trip_us, pair.udp(1, b"\x24\x01" + noise(chance, 46))


def flow_of_quic(pair: Pair, chance: random.Random, trip_us: int, size: int) -> Iterator[Packet]:
    first = b"\xc3\x00\x00\x00\x01\x08" + noise(chance, 8)
    yield 0, pair.udp(0, (first + b"\x00\x00\x44\x96" + noise(chance, 1174))[:1200])
    yield trip_us, pair.udp(1, (first + b"\x08" + noise(chance, 1190))[:1200])
    for _i in range(max(2, size // SEGMENT_BYTES)):
        full = chance.random() < 0.3
        side = 1 if full or chance.random() < 0.4 else 0
        bytes_ = 1250 if full else chance.randrange(30, 90)
        yield chance.randrange(20, 4000), pair.udp(side, b"\x45" + noise(chance, bytes_))


def flow_of_ping(pair: Pair, chance: random.Random, trip_us: int, _: int) -> Iterator[Packet]:
    number = chance.getrandbits(16)
    for i in range(4):
        echo = struct.pack("!HHH", 0, number, i) + noise(chance, 56)
        yield 10**6 if i else 0, pair.frame(0, b"\x08\x00" + echo)
        yield trip_us, pair.frame(1, b"\x00\x00" + echo)


KINDS = (  # share of flows, protocol, port, bytes of the flow on average
    (0.30, flow_of_tcp, 6, 443, 36_000), (0.10, flow_of_tcp, 6, 80, 24_000),
    (0.36, flow_of_dns, 17, 53, 0), (0.05, flow_of_ntp, 17, 123, 0),
    (0.15, flow_of_quic, 17, 443, 45_000), (0.04, flow_of_ping, 1, 0, 0),
)  # fmt: skip


def flow(chance: random.Random) -> Iterator[Packet]:
    """Packets of a flow, with times since its begin."""
    (_, make, proto, port, mean), = chance.choices(KINDS, [kind[0] for kind in KINDS])
    version = 6 if proto != 1 and chance.random() < 0.2 else 4
    if version == 4:
        ends = (bytes((10, chance.randrange(4), chance.randrange(256), chance.randrange(1, 255))),
                bytes((198, 18 + chance.randrange(2), chance.randrange(64), chance.randrange(256))))
    else:
        ends = (b"\x20\x01\x0d\xb8" + bytes(10) + chance.randbytes(2),
                b"\x20\x01\x0d\xb8\x00\x01" + bytes(8) + chance.randbytes(2))
    # A few flows have most of the bytes.
    size = int(min(mean * chance.paretovariate(1.2) / 4, 4_000_000)) if mean else 0
    pair = Pair(version, ends, (chance.randrange(32768, 61000), port), proto)
    at_us = 0
    for delay_us, frame in make(pair, chance, chance.randrange(500, 60_000), size):
        at_us += delay_us
        yield at_us, frame


def write(path: Path, packets: int) -> None:
    """Write a capture of so many packets; it is there only when it is whole."""
    chance = random.Random(SEED)
    made: list[Packet] = []
    while len(made) < packets:
        begin_us = chance.randrange(SPAN_US)
        made.extend((begin_us + at_us, frame) for at_us, frame in flow(chance))
    made.sort(key=lambda packet: packet[0])
    del made[packets:]
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, SNAP_BYTES, 1))
        for at_us, frame in made:
            seconds, rest_us = divmod(BEGIN_US + at_us, 10**6)
            file.write(struct.pack("<IIII", seconds, rest_us, len(frame), len(frame)) + frame)
    part.replace(path)


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
