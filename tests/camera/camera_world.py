# SPDX-License-Identifier: BSD-3-Clause
"""A camera and a host, wired by veth, and what else goes over the same wire."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from verdict import TIMEOUT_S, check, wait_for
from world import Program, World, run

CAMERA, HOST = "10.9.0.1", "10.9.0.2"
PROBE = "10.9.0.4"  # the host's too: asked for anew while the camera sends to the other
CLONE_NEWNET = 0x40000000
SIOCETHTOOL, ETHTOOL_STXCSUM = 0x8946, 0x17
ICMP_REPLY, ICMP_UNREACHABLE, ICMP_ECHO = 0, 3, 8
SOL_RAW, ICMP_FILTER = 255, 1
LIBC = ctypes.CDLL(None, use_errno=True)


@contextmanager
def inside(namespace: str) -> Iterator[None]:
    """Sockets made by this thread meanwhile belong to the namespace."""
    with open("/proc/thread-self/ns/net", "rb") as home, \
            open(f"/run/netns/{namespace}", "rb") as there:  # fmt: skip
        enter(there.fileno())
        try:
            yield
        finally:
            enter(home.fileno())


def enter(namespace_fd: int) -> None:
    if LIBC.setns(namespace_fd, CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "setns")


class Link:
    """Namespaces with v0 (camera) and v1 (host); packets of the programs and of others."""

    def __init__(self, world: World, binaries: list[str], mtu: int = 1500, queues: int = 1) -> None:
        self.world, self.binaries = world, binaries
        self.camera, self.host = world.namespace("camera"), world.namespace("host")
        world.veth((self.camera, "v0"), (self.host, "v1"), queues)
        for namespace, name in ((self.camera, "v0"), (self.host, "v1")):
            run("ip", "-n", namespace, "link", "set", name, "arp", "on", "mtu", str(mtu))
            run("ip", "-n", namespace, "link", "set", "lo", "up")
        run("ip", "-n", self.camera, "addr", "add", f"{CAMERA}/24", "dev", "v0")
        self.programs = 0

    def address_host(self, name: str = "v1") -> None:
        for address in (HOST, PROBE):
            run("ip", "-n", self.host, "addr", "add", f"{address}/24", "dev", name)

    def look(self, namespace: str, name: str) -> dict[str, Any]:
        shown = subprocess.run(["ip", "-n", namespace, "-d", "-j", "link", "show", name],
                               check=True, capture_output=True, text=True)  # fmt: skip
        link: dict[str, Any] = json.loads(shown.stdout)[0]
        return link

    def xdp(self) -> str:
        """Name of the XDP program on the host's interface; "": none."""
        link = self.look(self.host, "v1")
        if "xdp" not in link:
            return ""
        return str(link["xdp"].get("prog", {}).get("name", "unnamed"))

    def receive(self, options: str) -> Program:
        """lull-cam, which is ready to receive."""
        self.programs += 1
        program = self.world.start(f"receiver{self.programs}", self.binaries[0],
                                   f"{options} --stats 0", self.host)  # fmt: skip

        def receiving() -> bool:
            check(program.process.poll() is None, "lull-cam runs", program.stderr())
            return "lull-cam: receiving" in program.stderr()

        wait_for("lull-cam receives", receiving)
        return program

    def send(self, options: str, namespace: str = "") -> Program:
        self.programs += 1
        return self.world.start(f"source{self.programs}", self.binaries[1],
                                f"{options} --stats 0", namespace or self.camera)  # fmt: skip

    def call(self, namespace: str, *command: str) -> str:
        """What a program that ends by itself prints."""
        shown = subprocess.run(["ip", "netns", "exec", namespace, *command], check=False,
                               capture_output=True, text=True, timeout=TIMEOUT_S)  # fmt: skip
        check(shown.returncode == 0, " ".join(command), shown.stderr)
        return shown.stdout

    def check_itself(self, options: str) -> list[str]:
        """What `lull-cam --check` says."""
        shown = subprocess.run(
            ["ip", "netns", "exec", self.host, self.binaries[0], *options.split(), "--check"],
            check=False, capture_output=True, text=True, env=self.world.env, timeout=TIMEOUT_S,
        )  # fmt: skip
        return (shown.stdout + shown.stderr).splitlines()


def macvlan(link: Link, name: str, mtu: int = 1500) -> None:
    """An interface of the host above v1, which filters MAC addresses as a NIC does."""
    run("ip", "-n", link.host, "link", "add", "link", "v1", "name", name, "mtu", str(mtu), "type",
        "macvlan", "mode", "bridge")  # fmt: skip
    run("ip", "-n", link.host, "link", "set", name, "up")
    link.address_host(name)


# ---- what else there is on the wire ----


def checksum(data: bytes) -> int:
    words: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    words = (words >> 16) + (words & 0xFFFF)
    return ~(words + (words >> 16)) & 0xFFFF


def ping(link: Link, number: int, address: str = PROBE) -> None:
    """ARP anew, then ICMP echo from the camera's side to the host."""
    run("ip", "-n", link.camera, "neigh", "flush", "to", address, "dev", "v0")
    with inside(link.camera):
        end = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    with end:
        end.settimeout(1.0)
        body = struct.pack("!HH", os.getpid() & 0xFFFF, number) + bytes(56)
        echo = bytes((ICMP_ECHO, 0)) + struct.pack(
            "!H", checksum(bytes((ICMP_ECHO, 0, 0, 0)) + body))  # fmt: skip

        def answered() -> bool:
            end.sendto(echo + body, (address, 0))
            try:
                while True:
                    reply = end.recv(2048)[20:]
                    if reply[0] == ICMP_REPLY and reply[4:] == body:
                        return True
            except TimeoutError:
                return False

        wait_for(f"echo {number} is answered", answered)


def exchange_udp(link: Link, port: int) -> None:
    """A question to another port (that of GVCP, say) and its answer."""
    with inside(link.host):
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.bind((HOST, port))
    with inside(link.camera):
        client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        client.connect((HOST, port))
    server.settimeout(1.0)
    client.settimeout(1.0)

    def answered(question: bytes) -> bool:
        client.send(question)
        try:
            data, sender = server.recvfrom(2048)
            server.sendto(data, sender)
            return client.recv(2048) == question
        except TimeoutError:
            return False  # UDP may lose one

    with server, client:
        for number in range(20):
            wait_for("the answer over UDP", partial(answered, b"question %d" % number))


def exchange_tcp(link: Link, port: int, size: int = 200000) -> None:
    with inside(link.host):
        server = socket.create_server((HOST, port))
    with inside(link.camera):
        client = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    with server, client:
        server.settimeout(TIMEOUT_S)
        client.settimeout(TIMEOUT_S)
        client.connect((HOST, port))
        peer = server.accept()[0]
        thread = threading.Thread(target=client.sendall, args=(bytes(size),))
        thread.start()
        with peer:
            peer.settimeout(TIMEOUT_S)
            got = 0
            while got < size:
                part = peer.recv(65536)
                check(len(part) > 0, "the stream goes on", got)
                got += len(part)
        thread.join(TIMEOUT_S)


class Unreachable:
    """Ports that the host says are closed, as seen by the camera."""

    def __init__(self, link: Link) -> None:
        with inside(link.camera):
            self.end = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
        # Answers to pings, thousands of them, would leave no room.
        self.end.setsockopt(SOL_RAW, ICMP_FILTER, struct.pack("=I", ~(1 << ICMP_UNREACHABLE) &
                                                              0xffffffff))
        self.end.setblocking(False)
        self.ports: set[int] = set()

    def look(self) -> set[int]:
        while True:
            try:
                packet = self.end.recv(2048)
            except BlockingIOError:
                return self.ports
            if packet[20] == ICMP_UNREACHABLE:
                self.ports.add(struct.unpack_from("!H", packet, 28 + 20 + 2)[0])

    def close(self) -> None:
        self.end.close()


def knock(link: Link, port: int) -> None:
    """A datagram to a port that nobody has."""
    with inside(link.camera), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        try:
            end.sendto(b"is anybody there", (HOST, port))
        except OSError as error:
            if error.errno != errno.ECONNREFUSED:
                raise


def whole_checksums(link: Link) -> None:
    """veth leaves checksums to a device that never comes; whoever takes packets off it minds."""
    value = struct.pack("II", ETHTOOL_STXCSUM, 0)
    buffer = ctypes.create_string_buffer(value)
    request = struct.pack("16sP", b"v0", ctypes.addressof(buffer)).ljust(40, b"\0")
    with inside(link.camera), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        fcntl.ioctl(end, SIOCETHTOOL, request)
