# SPDX-License-Identifier: BSD-3-Clause
"""Frames of known flows, and a process that puts them on an interface or takes them off.

    frames.py send INTERFACE FILE          every frame of FILE, in order
    frames.py take INTERFACE FILE COUNT    says "ready", then so many frames into FILE

Frames in a file: length in two bytes, then the frame. Flow f of a round has an address and a port
of its own and is UDP or TCP by turns; packets carry their number within the flow.
"""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from verdict import check

ETHERNET = bytes([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1])
IPV4 = b"\x08\x00"
ARP = b"\x08\x06"
HEADERS = 14 + 20
TCP, UDP = 6, 17
SERVER = "198.51.100.7"
SERVER_PORT = 4000
ALL_PROTOCOLS = 3
RECEIVE_BYTES = 64 << 20
SO_RCVBUFFORCE = 33
PACKET_OUTGOING = 4
TIMEOUT_S = 60


class Sent(NamedTuple):
    """What was sent of a flow, from its client and back."""

    packets: int
    bytes: int
    packets_rev: int
    bytes_rev: int


def client(flow: int) -> str:
    return f"10.{flow >> 16 & 255}.{flow >> 8 & 255}.{flow & 255}"


def frame(flow: int, number: int, back: bool, payload: int) -> bytes:
    ends = [(socket.inet_aton(client(flow)), 1024 + flow),
            (socket.inet_aton(SERVER), SERVER_PORT)]
    if back:
        ends.reverse()
    body = struct.pack("!I", number) + bytes(payload)
    ports = struct.pack("!HH", ends[0][1], ends[1][1])
    if flow % 2 == 0:
        proto, transport = UDP, ports + struct.pack("!HH", 8 + len(body), 0)
    else:
        proto, transport = TCP, ports + struct.pack("!IIBBHHH", number, 0, 0x50, 0x10, 512, 0, 0)
    size = 20 + len(transport) + len(body)
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, size, number & 0xFFFF, 0, 64, proto, 0,
                         ends[0][0], ends[1][0])
    return ETHERNET + IPV4 + header + transport + body


def number_of(data: bytes) -> tuple[tuple[bytes, bytes], int]:
    """The flow, by its addresses and ports in one order, and the number within it."""
    addresses, proto = data[26:34], data[23]
    transport = 8 if proto == UDP else 20
    ports = data[HEADERS : HEADERS + 4]
    ends = sorted([addresses[:4] + ports[:2], addresses[4:] + ports[2:]])
    at = HEADERS + transport
    return (ends[0], ends[1]), int(struct.unpack("!I", data[at : at + 4])[0])


class Traffic:
    """Frames in the order in which they are to be sent, and what they come to."""

    def __init__(self) -> None:
        self.sent: dict[str, Sent] = {}
        self.numbers: dict[int, int] = {}

    def make(self, flow: int, back: bool = False) -> bytes:
        number = self.numbers.get(flow, 0)
        self.numbers[flow] = number + 1
        data = frame(flow, number, back, payload=(flow * 7 + number) % 100)
        before = self.sent.get(client(flow), Sent(0, 0, 0, 0))
        size = len(data) - len(ETHERNET) - len(IPV4)
        if back:
            after = before._replace(packets_rev=before.packets_rev + 1,
                                    bytes_rev=before.bytes_rev + size)
        else:
            after = before._replace(packets=before.packets + 1, bytes=before.bytes + size)
        self.sent[client(flow)] = after
        return data

    def mix(self, flows: int, count: int) -> list[bytes]:
        """Some flows are heavier; the first packet of each is its client's."""
        order = [(i * i + i // flows) % flows for i in range(count)]
        return [self.make(flow, back=self.numbers.get(flow, 0) % 3 == 2) for flow in order]


def write(path: Path, frames: list[bytes]) -> Path:
    path.write_bytes(b"".join(struct.pack("!H", len(data)) + data for data in frames))
    return path


def read(path: Path) -> list[bytes]:
    data, frames, at = path.read_bytes(), [], 0
    while at < len(data):
        (size,) = struct.unpack_from("!H", data, at)
        frames.append(data[at + 2 : at + 2 + size])
        at += 2 + size
    return frames


def sums(records: list[dict[str, Any]]) -> dict[str, Sent]:
    """By client, whoever sent the first packet that came here."""
    found: dict[str, Sent] = {}
    for record in records:
        one = Sent(*(record[name] for name in Sent._fields))
        name = record["src_ip"]
        if name == SERVER:
            name, one = record["dst_ip"], Sent(*one[2:], *one[:2])
        before = found.get(name, Sent(0, 0, 0, 0))
        found[name] = Sent(*(a + b for a, b in zip(before, one, strict=True)))
    return found


def packet_socket(interface: str) -> socket.socket:
    raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
    raw.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BYTES)
    raw.bind((interface, 0))
    raw.settimeout(TIMEOUT_S)
    return raw


def send(interface: str, path: Path) -> None:
    with packet_socket(interface) as raw:
        for data in read(path):
            raw.send(data)


def send_from(namespace: str, interface: str, path: Path) -> None:
    """The same in a network namespace, by a process of its own."""
    command = ["ip", "netns", "exec", namespace, sys.executable, __file__, "send", interface,
               str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    check(done.returncode == 0, "sends", done.stderr)


def take(interface: str, path: Path, count: int) -> None:
    frames: list[bytes] = []
    with packet_socket(interface) as raw:
        print("ready", flush=True)
        while len(frames) < count:
            data, address = raw.recvfrom(65536)
            if address[2] != PACKET_OUTGOING:
                frames.append(data)
    write(path, frames)


if __name__ == "__main__":
    if sys.argv[1] == "send":
        send(sys.argv[2], Path(sys.argv[3]))
    else:
        take(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
