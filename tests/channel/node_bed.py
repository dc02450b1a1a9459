# SPDX-License-Identifier: BSD-3-Clause
"""A bed with lull-channel-node on two nodes, and attachments made by hand."""

from __future__ import annotations

import array
import contextlib
import mmap
import select
import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from processes import INSIDE, Node, links
from verdict import TIMEOUT_S, check, wait_for
from world import Program, World, run, world

RAILS = 2
KERNEL = [f"kernel:r{i}" for i in range(RAILS)]
DPDK = ["dpdk:af_packet=r0"]
MAGIC, VERSION = 0x4E4C554C, 2
ANSWER_BYTES, ERROR_AT, RAIL_AT = 72, 8, 24
MEETING_BYTES = 16
HEAD_BYTES, RING_PKTS, RESTS_AT, SLOT_AT = 64, 1024, 68, 128
LONG = (600, 200000)
MBPS = 200  # of a rail: so it takes seconds


class Bed:
    """Nodes a and b with a program each, and processes that attach to it."""

    def __init__(self, here: World, binaries: list[str], rails: list[str]) -> None:
        self.world = here
        self.process, self.program = binaries
        self.spaces = dict(zip("ab", links(here, RAILS), strict=True))
        self.rails = rails
        self.count = 0

    def shape(self) -> None:
        """Rails of a known speed, so that an exchange takes its time."""
        for space in self.spaces.values():
            for i in range(RAILS):
                run("tc", "-n", space, "qdisc", "add", "dev", f"r{i}", "root", "tbf",
                    "rate", f"{MBPS}mbit", "burst", "32kb", "latency", "50ms")

    def socket(self, node: str) -> Path:
        return self.world.path(f"node-{node}")

    def serve(self, node: str, more: str = "") -> Program:
        """The program of a node, from the moment on at which it serves."""
        self.count += 1
        words = " ".join([*(f"--rail {rail}" for rail in self.rails), more])
        program = self.world.start(f"program-{node}{self.count}", self.program,
                                   f"{words} --socket {self.socket(node)} --unchecked",
                                   self.spaces[node])
        wait_for("it serves", lambda: ": serving" in program.stderr() or program.process.poll())
        check(program.process.poll() is None, "it serves", program.stderr())
        return program

    def rail(self, node: str, kind: str = "node") -> list[str]:
        return [f"{kind}:{self.socket(node)},rail={i}" for i in range(len(self.rails))]

    def start(self, node: str, name: str, peer: str, words: tuple[object, ...] = (20, 100000),
              rails: list[str] | None = None) -> Node:
        rails = rails or self.rail(node)
        return Node([*INSIDE, self.spaces[node], self.process, name, peer,
                     *map(str, words), *rails])

    def pair(self, names: tuple[str, str], words: tuple[object, ...] = (20, 100000),
             where: str = "ab", kind: str = "node") -> list[Node]:
        """A process that waits and one that asks for it."""
        waiting = self.start(where[1], names[1], "-", words, self.rail(where[1], kind))
        waiting.ready()
        return [waiting,
                self.start(where[0], names[0], names[1], words, self.rail(where[0], kind))]

    def well(self, nodes: list[Node], what: str) -> list[int]:
        """They end well; how many packets each exchanged directly."""
        results = [node.result(what) for node in nodes]
        for result in results:
            paths = result["paths"]
            check(paths == len(self.rails), f"{what}: all paths are up", paths)
        return [result["direct"] for result in results]


@contextlib.contextmanager
def bed(binaries: list[str], rails: list[str]) -> Iterator[Bed]:
    with world() as here:
        yield Bed(here, binaries, rails)


def counters(program: Program) -> dict[str, Any]:
    """What the program counts."""
    found: dict[str, Any] = program.ask("/lull/loop,node")
    return found


def moved(program: Program, least: int) -> None:
    wait_for("packets are moved", lambda: counters(program)["rx_pkts"] > least)


class Lane:
    """A side of a lane, by hand: side 0 writes the first ring."""

    def __init__(self, fds: list[int], side: int) -> None:
        self.memory = mmap.mmap(fds[0], 0)
        self.memory_fd = fds[0]
        self.bell = socket.socket(fileno=fds[1])
        self.bell.settimeout(TIMEOUT_S)
        half = (len(self.memory) - HEAD_BYTES) // 2
        self.out, self.into = (HEAD_BYTES + ring * half for ring in (side, 1 - side))
        self.slot_bytes = (half - SLOT_AT) // RING_PKTS
        self.sent = 0
        struct.pack_into("<I", self.memory, 4 * side, 1)  # this side is here

    def write(self, at: int, *words: int) -> None:
        """Into the ring that this side writes."""
        struct.pack_into(f"<{len(words)}I", self.memory, self.out + at, *words)

    def send(self, address: bytes, packet: bytes) -> None:
        at = self.out + SLOT_AT + self.sent % RING_PKTS * self.slot_bytes
        self.memory[at:at + 5 + len(address)] = (struct.pack("<IB", len(packet), len(address))
                                                 + address)
        self.memory[at + 32:at + 32 + len(packet)] = packet
        self.sent += 1
        self.write(0, self.sent)
        self.ring()

    def received(self) -> int:
        return int(struct.unpack_from("<I", self.memory, self.into)[0])

    def address(self, packet: int) -> bytes:
        """Where a packet came from, or goes to."""
        at = self.into + SLOT_AT + packet % RING_PKTS * self.slot_bytes + 4
        return self.memory[at + 1:at + 1 + self.memory[at]]

    def ring(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self.bell.send(b"1", socket.MSG_DONTWAIT)

    def ended(self) -> bool:
        """The other side hangs up."""
        with contextlib.suppress(ConnectionResetError):
            while self.bell.recv(100) != b"":
                pass
        return True


class Attached:
    """An attachment by hand, to write whatever comes to mind."""

    def __init__(self, path: Path, rail: int = 0) -> None:
        self.link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.link.settimeout(TIMEOUT_S)
        self.link.connect(str(path))
        self.link.send(struct.pack("<IIII", MAGIC, VERSION, rail, 0))
        answer, fds = self.hear(ANSWER_BYTES)
        self.error = struct.unpack_from("<i", answer, ERROR_AT)[0]
        if self.error != 0:
            return
        length = answer[RAIL_AT + 1]
        self.address = answer[RAIL_AT + 2:RAIL_AT + 2 + length]
        self.lane = Lane(fds, 0)

    def hear(self, size: int) -> tuple[bytes, list[int]]:
        """What the program says, and the descriptors with it."""
        words, ancillary, _, _ = self.link.recvmsg(size, socket.CMSG_SPACE(8))
        fds = array.array("i")
        for _, _, data in ancillary:
            fds.frombytes(data)
        return words, list(fds)

    def meet(self) -> tuple[int, Lane]:
        """The port of the next neighbour, and the lane to it."""
        words, fds = self.hear(MEETING_BYTES)
        _, _, port, side = struct.unpack("<IIII", words)
        return port, Lane(fds, side)

    def quiet(self) -> bool:
        """There is no meeting to hear of."""
        return not select.select([self.link], [], [], 0)[0]

    def ended(self) -> bool:
        return self.link.recv(ANSWER_BYTES) == b""
