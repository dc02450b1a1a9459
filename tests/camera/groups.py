# SPDX-License-Identifier: BSD-3-Clause
"""Groups of IPv4 on a port that no kernel serves: lull speaks IGMP, and this is the router.

groups.py LULL-CAM LULL-CAM-SOURCE
"""

from __future__ import annotations

import signal
import socket
import struct
from collections.abc import Callable
from pathlib import Path

from camera_world import Link, checksum, inside
from verdict import TIMEOUT_S, check, wait_for
from world import Skip, main, world

GROUP, OWN = "239.77.1.2", "10.9.0.9"
VIDEO = f"protocol=rfc4175,port=5004,width=64,height=48,pixel=uyvy8,address={GROUP}"
ETH_IP, IGMP = 0x0800, 2
QUERY, REPORT_2, REPORT_3, LEAVE_2 = 0x11, 0x16, 0x22, 0x17
IS_ALL, TO_NONE, TO_ALL = 2, 3, 4
ALERT = bytes((0x94, 4, 0, 0))


class Router:
    """What it hears of groups, and what it asks."""

    def __init__(self, link: Link, name: str) -> None:
        self.name = name
        with inside(link.host):  # the interface is still to come
            self.end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_IP))
        self.end.setblocking(False)
        self.heard: list[bytes] = []

    def look(self) -> list[bytes]:
        while True:
            try:
                frame = self.end.recv(2048)
            except OSError:  # nothing more, or the interface has gone
                return self.heard
            if len(frame) >= 46 and frame[14 + 9] == IGMP and frame[14 + 24] != QUERY:
                check(checksum(frame[14 : 14 + 24]) == 0, "the sum of the header", frame)
                total = struct.unpack_from("!H", frame, 16)[0]
                check(checksum(frame[14 + 24 : 14 + total]) == 0, "the sum of the message", frame)
                check(frame[14 + 12 : 14 + 16] == socket.inet_aton(OWN), "its address", frame)
                self.heard.append(frame[14 + 24 : 14 + total])

    def ask(self, version: int) -> None:
        message = struct.pack("!BBH4s", QUERY, 1, 0, bytes(4)) + bytes(4 if version == 3 else 0)
        message = message[:2] + struct.pack("!H", checksum(message)) + message[4:]
        head = struct.pack("!BBHHHBBH4s4s", 0x46, 0xC0, 24 + len(message), 0, 0, 1, IGMP, 0,
                           socket.inet_aton("10.9.0.1"), socket.inet_aton("224.0.0.1")) + ALERT
        head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
        ether = bytes.fromhex("01005e000001" "020000000001") + struct.pack("!H", ETH_IP)
        self.end.sendto((ether + head + message).ljust(60, b"\0"), (self.name, ETH_IP))

    def hears(self, what: str, wanted: Callable[[bytes], bool], times: int = 1) -> None:
        """It forgets then what came before."""
        wait_for(what, lambda: sum(map(wanted, self.look())) >= times)
        self.heard.clear()


def record(kind: int) -> Callable[[bytes], bool]:
    wanted = struct.pack("!BBH4s", kind, 0, 0, socket.inet_aton(GROUP))
    return lambda message: message[0] == REPORT_3 and message[8:16] == wanted


def older(kind: int) -> Callable[[bytes], bool]:
    return lambda message: (message[0] == kind and len(message) == 8 and
                            message[4:] == socket.inet_aton(GROUP))  # fmt: skip


def over_tap(binaries: list[str]) -> None:
    if not Path("/dev/net/tun").exists():
        raise Skip("needs TAP")
    for version, answer, leave in ((3, record(IS_ALL), record(TO_NONE)),
                                   (2, older(REPORT_2), older(LEAVE_2))):  # fmt: skip
        with world() as here:
            link = Link(here, binaries)
            router = Router(link, "dtap0")
            receiver = link.receive(f"--backend dpdk:tap=dtap0,ip={OWN} --stream {VIDEO}")
            router.hears("it joins, and says it twice", record(TO_ALL), 2)
            router.ask(version)
            router.hears(f"version {version}: the answer", answer)
            receiver.process.send_signal(signal.SIGTERM)
            router.hears(f"version {version}: it leaves", leave)
            receiver.process.wait(TIMEOUT_S)


main([over_tap], need="root")
