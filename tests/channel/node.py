# SPDX-License-Identifier: BSD-3-Clause
"""lull-channel-node: processes of two nodes over the rails that this program owns, and who dies.

node.py NODE-PROCESS LULL-CHANNEL-NODE
"""

from __future__ import annotations

import array
import contextlib
import mmap
import os
import select
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from processes import INSIDE, Node, links
from verdict import TIMEOUT_S, check, wait_for
from world import Program, World, main, run, world

RAILS = 2
KERNEL = [f"kernel:r{i}" for i in range(RAILS)]
DPDK = ["dpdk:af_packet=r0"]
MAGIC, VERSION = 0x4E4C554C, 2
ANSWER_BYTES, ERROR_AT, RAIL_AT = 72, 8, 24
MEETING_BYTES = 16
HEAD_BYTES, RING_PKTS, RESTS_AT, SLOT_AT = 64, 1024, 68, 128


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


def exchange(binaries: list[str], rails: list[str]) -> None:
    """Two processes on each node, at once."""
    with bed(binaries, rails) as here:
        programs = [here.serve("a"), here.serve("b")]
        pairs = here.pair(("alpha", "one")) + here.pair(("beta", "two"))
        here.well(pairs, "exchange")
        for program in programs:
            result = program.finish(signal.SIGTERM)
            check(result["attached"] == 2 * len(rails), "both processes attached", result)
            check(result["rx_pkts"] > 100 and result["tx_pkts"] > 100, "packets were moved", result)
            check(result["nonsense"] == 0 and result["refused"] == 0, "nobody is blamed", result)
        here.world.check_clean()


def kernel(binaries: list[str]) -> None:
    exchange(binaries, KERNEL)


def dpdk(binaries: list[str]) -> None:
    exchange(binaries, DPDK)


def mixed(binaries: list[str]) -> None:
    """A process with rails of its own reaches those behind a program, by either end's asking."""
    for rails in (KERNEL, DPDK):
        with bed(binaries, rails) as here:
            here.serve("a")
            waiting = here.start("b", "own", "-", rails=rails)
            waiting.ready()
            here.well([waiting, here.start("a", "alpha", "own")], f"{rails}: to an own rail")
            waiting = here.start("a", "alpha", "-")
            waiting.ready()
            here.well([waiting, here.start("b", "own", "alpha", rails=rails)],
                      f"{rails}: from an own rail")


def together(binaries: list[str]) -> None:
    """Processes of one node exchange packets directly; the program only lets them meet."""
    for kind in ("node", "node-busy"):
        with bed(binaries, KERNEL) as here:
            program = here.serve("a")
            direct = here.well(here.pair(("alpha", "beta"), where="aa", kind=kind), kind)
            check(min(direct) > 1000, f"{kind}: packets went directly", direct)
            result = program.finish(signal.SIGTERM)
            check(result["meetings"] == RAILS, f"{kind}: they met on each rail", result)
            check(result["local_pkts"] < 200, f"{kind}: few went through the program", result)
            check(result["tx_pkts"] < 200, f"{kind}: few are on the wire", result)
            here.world.check_clean()


def through(binaries: list[str]) -> None:
    """Without neighbours they meet within the program; nothing of it is on the wire."""
    with bed(binaries, KERNEL) as here:
        program = here.serve("a", "--neighbours 0")
        direct = here.well(here.pair(("alpha", "beta"), where="aa"), "through the program")
        check(direct == [0, 0], "nothing went directly", direct)
        result = program.finish(signal.SIGTERM)
        check(result["local_pkts"] > 1000, "packets went from process to process", result)
        check(result["tx_pkts"] < result["local_pkts"] / 10, "few are on the wire", result)
        check(result["meetings"] == 0, "nobody met", result)


def neither(binaries: list[str]) -> None:
    """A polled process and one that rests in the kernel, in both roles."""
    with bed(binaries, KERNEL) as here:
        here.serve("a")
        for kinds in (("node", "node-busy"), ("node-busy", "node")):
            waiting = here.start("a", "beta", "-", rails=here.rail("a", kinds[0]))
            waiting.ready()
            asking = here.start("a", "alpha", "beta", rails=here.rail("a", kinds[1]))
            direct = here.well([waiting, asking], f"{kinds}")
            check(min(direct) > 1000, f"{kinds}: packets went directly", direct)


LONG = (600, 200000)
MBPS = 200  # of a rail: so it takes seconds


def moved(program: Program, least: int) -> None:
    wait_for("packets are moved", lambda: counters(program)["rx_pkts"] > least)


def program_killed(binaries: list[str]) -> None:
    """Whoever was attached goes on when there is a program again; nothing has to be cleaned."""
    for rails in (KERNEL, DPDK):
        with bed(binaries, rails) as here:
            here.shape()
            programs = {name: here.serve(name).ready() for name in "ab"}
            pair = here.pair(("alpha", "one"), LONG)
            for name in ("a", "b", "a"):
                moved(programs[name], 3000)
                programs[name].process.kill()
                programs[name].process.wait()
                programs[name] = here.serve(name).ready()
            moved(programs["a"], 100)
            check(all(node.process.poll() is None for node in pair), "the exchange was long enough")
            here.well(pair, "after three restarts")


def process_killed(binaries: list[str]) -> None:
    """The other processes of the node go on, and its place is free again."""
    with bed(binaries, KERNEL) as here:
        here.shape()
        programs = {name: here.serve(name).ready() for name in "ab"}
        stays, dies = here.pair(("alpha", "one"), LONG), here.pair(("beta", "two"), LONG)
        moved(programs["a"], 3000)
        for node in dies:
            node.process.kill()
            node.process.wait()
        for program in programs.values():
            wait_for("only the others are attached",
                     partial(lambda program: counters(program)["ports"] == RAILS, program))
        check(all(node.process.poll() is None for node in stays), "the exchange was long enough")
        here.well(here.pair(("beta", "two")), "the same names again")
        here.well(stays, "beside those that died")


def all_killed(binaries: list[str]) -> None:
    """Program and process of a node die at once; both begin anew as if nothing had been."""
    with bed(binaries, KERNEL) as here:
        here.shape()
        programs = {name: here.serve(name).ready() for name in "ab"}
        pair = here.pair(("alpha", "one"), LONG)
        moved(programs["a"], 3000)
        for dead in (programs["a"].process, pair[1].process):
            dead.kill()
            dead.wait()
        here.serve("a")
        here.well(here.pair(("gamma", "three")), "others go on")
        pair[0].process.kill()


def direct_alone(binaries: list[str]) -> None:
    """Neighbours go on while there is no program, and when there is one again."""
    with bed(binaries, KERNEL) as here:
        program = here.serve("a").ready()
        pair = here.pair(("alpha", "beta"), LONG, "aa")
        wait_for("they met", lambda: counters(program)["meetings"] == RAILS)
        program.process.kill()
        program.process.wait()
        direct = here.well(pair, "without the program")
        check(min(direct) > 10000, "packets went directly", direct)
    with bed(binaries, KERNEL) as here:
        program = here.serve("a").ready()
        pair = here.pair(("alpha", "beta"), (4 * LONG[0], LONG[1]), "aa")
        for _ in range(3):
            wait_for("they met", lambda: counters(program)["ports"] == 2 * RAILS)
            program.process.kill()
            program.process.wait()
            program = here.serve("a").ready()
        wait_for("all attach again", lambda: counters(program)["ports"] == 2 * RAILS)
        others = here.pair(("gamma", "delta"), where="aa")
        here.well(others, "others meet as well")
        here.well(pair, "after three restarts")


def neighbour_killed(binaries: list[str]) -> None:
    """One of two neighbours dies, again and again; the other, and others, go on."""
    with bed(binaries, KERNEL) as here:
        program = here.serve("a").ready()
        stays = here.pair(("alpha", "beta"), (6 * LONG[0], LONG[1]), "aa")
        for turn in range(6):
            dies = here.pair(("gamma", "delta"), LONG, "aa")
            meetings = RAILS * (2 + turn)
            wait_for("they met", lambda least=meetings: counters(program)["meetings"] >= least)
            for node in dies[turn % 2:] + dies[:turn % 2]:
                node.process.kill()
                node.process.wait()
            wait_for("only the others are attached",
                     lambda: counters(program)["ports"] == 2 * RAILS)
        here.well(here.pair(("gamma", "delta"), where="aa"), "the same names again")
        direct = here.well(stays, "beside those that died")
        check(min(direct) > 10000, "packets went directly", direct)
        result = program.finish(signal.SIGTERM)
        check(result["nonsense"] == 0, "nobody is blamed", result)


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


def hostile(binaries: list[str]) -> None:
    """Who writes nonsense loses his own attachment, and nobody else's."""
    with bed(binaries, KERNEL) as here:
        here.shape()
        programs = {name: here.serve(name).ready() for name in "ab"}
        pair = here.pair(("alpha", "one"), LONG)
        moved(programs["a"], 1000)
        path = here.socket("a")
        nonsense = 0
        for writes in (
            [(0, RING_PKTS + 1)],  # more packets than slots
            [(0, 0x80000000)],
            [(SLOT_AT, 0), (0, 1)],  # a packet without bytes
            [(SLOT_AT, 65536), (0, 1)],  # a longer one than fits
            [(SLOT_AT, 0xFFFFFFFF), (0, 1)],
            [(SLOT_AT, 100, 21), (0, 1)],  # a longer address than there are
        ):
            wrong = Attached(path)
            check(wrong.error == 0, "it attaches", wrong.error)
            for at, *words in writes:
                wrong.lane.write(at, *words)
            wrong.lane.ring()
            check(wrong.ended(), "it is hung up on", writes)
            nonsense += 1
            check(counters(programs["a"])["nonsense"] == nonsense, "and counted", writes)
        hangs_up = Attached(path)
        hangs_up.lane.bell.shutdown(socket.SHUT_RDWR)
        check(hangs_up.ended(), "who hangs up his bell is hung up on")
        waits = Attached(path)
        waits.lane.bell.setblocking(True)
        for _ in range(1000):  # as if it had rung
            waits.lane.write(RESTS_AT, 0)
        rings_only = Attached(path)
        for _ in range(1000):
            rings_only.lane.ring()
        with contextlib.suppress(OSError):
            os.ftruncate(rings_only.lane.memory_fd, 0)
        check(os.fstat(rings_only.lane.memory_fd).st_size > 0, "the memory cannot shrink")
        check(Attached(path, RAILS).error < 0, "there is no such rail")
        check(all(node.process.poll() is None for node in pair), "the exchange was long enough")
        here.well(pair, "beside nonsense")
        result = programs["a"].finish(signal.SIGTERM)
        check(result["nonsense"] == nonsense, "all of it is counted", result)


def meeting(binaries: list[str]) -> None:
    """Who meets whom: by the first packet, as many as may, anew when one has gone."""
    with bed(binaries, KERNEL) as here:
        program = here.serve("a", "--neighbours 1").ready()
        one, two, three = (Attached(here.socket("a")) for _ in range(3))
        one.lane.send(two.address, b"first")
        wait_for("it is there", lambda: two.lane.received() == 1)
        (to_two, lane), (to_one, back) = one.meet(), two.meet()
        check(two.address.endswith(struct.pack("<H", to_two)), "one meets two", to_two)
        check(one.address.endswith(struct.pack("<H", to_one)), "two meets one", to_one)
        lane.send(b"", b"directly")
        check(back.received() == 1, "it is there at once")
        one.lane.send(two.address, b"second")
        one.lane.send(three.address, b"third")
        wait_for("it is there", lambda: three.lane.received() == 1)
        check(one.quiet() and two.quiet() and three.quiet(), "nobody meets more than he may")
        two.link.close()
        two.lane.bell.close()
        back.bell.close()
        wait_for("two is gone", lambda: counters(program)["ports"] == 2)
        check(lane.ended(), "one hears that two is gone")
        one.lane.send(three.address, b"fourth")
        check(three.address.endswith(struct.pack("<H", one.meet()[0])), "now one meets three")
        three.meet()
        one.lane.send(one.address, b"to itself")
        wait_for("it is there", lambda: one.lane.received() == 1)
        check(one.quiet(), "nobody meets himself")
        result = program.finish(signal.SIGTERM)
        check(result["meetings"] == 2 and result["local_pkts"] == 5, "all are counted", result)


def neighbour_hostile(binaries: list[str]) -> None:
    """A neighbour that writes nonsense loses the lane it wrote into, and nobody else does."""
    with bed(binaries, KERNEL) as here:
        program = here.serve("a").ready()
        stays = here.pair(("alpha", "beta"), (8 * LONG[0], LONG[1]), "aa")
        wait_for("they met", lambda: counters(program)["meetings"] == RAILS)
        # Whoever asks for a node by name is heard by all: its address is what a packet needs.
        for writes in (
            [(0, RING_PKTS + 1)],
            [(0, 0x80000000)],
            [(SLOT_AT, 0), (0, 1)],
            [(SLOT_AT, 65536), (0, 1)],
            [(SLOT_AT, 100, 21), (0, 1)],
        ):
            wrong = Attached(here.socket("a"))
            asks = here.start("a", "gamma", "nobody")
            wait_for("it asks", lambda one=wrong: one.lane.received() > 0)
            wrong.lane.send(wrong.lane.address(0), b"who is there?")
            lane = wrong.meet()[1]
            for at, *words in writes:
                lane.write(at, *words)
            lane.ring()
            check(lane.ended(), "it is hung up on", writes)
            asks.process.kill()
            asks.process.wait()
        wrong = Attached(here.socket("a"))
        asks = here.start("a", "gamma", "nobody")
        wait_for("it asks", lambda: wrong.lane.received() > 0)
        wrong.lane.send(wrong.lane.address(0), b"who is there?")
        lane = wrong.meet()[1]
        for _ in range(3 * RING_PKTS):  # packets that say they come from others
            lane.send(os.urandom(8), os.urandom(100))
        check(asks.process.poll() is None, "nobody cares")
        asks.process.kill()
        asks.process.wait()
        check(all(node.process.poll() is None for node in stays), "the exchange was long enough")
        direct = here.well(stays, "beside nonsense")
        check(min(direct) > 10000, "packets went directly", direct)
        result = program.finish(signal.SIGTERM)
        check(result["nonsense"] == 0, "none of it went into the program", result)


STRANGER = """
import os, socket, sys
os.setgid(65534); os.setuid(65534)
link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
try:
    link.connect(sys.argv[1])
    link.send(bytes(16))
    sys.exit(0 if link.recv(100) == b"" else 1)
except (BrokenPipeError, ConnectionResetError):
    sys.exit(0)
except PermissionError:
    sys.exit(2)
"""


def stranger(binaries: list[str]) -> None:
    """Another user is kept out by the rights of the socket, and by who he is."""
    with bed(binaries, KERNEL) as here:
        program = here.serve("a")
        path = here.socket("a")
        here.world.directory.chmod(0o711)
        command = [sys.executable, "-c", STRANGER, str(path)]
        check(subprocess.run(command, check=False).returncode == 2, "the socket is not his")
        path.chmod(0o666)
        check(subprocess.run(command, check=False).returncode == 0, "he is hung up on")
        result = program.finish(signal.SIGTERM)
        check(result["refused"] == 1 and result["attached"] == 0, "and counted", result)


def refused(binaries: list[str]) -> None:
    """One line that says what to do, and nothing is left behind."""
    with bed(binaries, KERNEL) as here:
        path = here.socket("a")
        nobody = here.start("a", "alpha", "-")
        complaint = nobody.process.communicate(timeout=TIMEOUT_S)[1]
        wanted = f"nobody serves {path}: start lull-channel-node"
        check(wanted in complaint, "no program", complaint)
        program = here.serve("a")
        for words, wanted in (
            (f"--rail kernel:r0 --socket {path}", "another lull-channel-node serves there"),
            ("--rail pair:x", "the node's program owns ports"),
            ("--rail node:", "the node's program owns ports"),
            ("--rail node-busy:", "the node's program owns ports"),
            ("--rail kernel:r0 --neighbours 65", "neighbours"),
            ("--rail kernel:nothing", "kernel:nothing"),
            ("", "no rail: name the ports of this node"),
            (f"--rail kernel:r0 --socket /{'x' * 200}", "socket: more than 107 characters"),
            (f"--rail kernel:r0 --socket {here.world.directory}", "it is another kind of file"),
        ):
            done = subprocess.run([*INSIDE, here.spaces["a"], here.program, *words.split()],
                                  env=here.world.env, capture_output=True, text=True, check=False,
                                  timeout=TIMEOUT_S)
            check(done.returncode != 0 and wanted in done.stderr, words, done.stderr)
            check(len(done.stderr.strip().splitlines()) == 1, f"{words}: one line", done.stderr)
        for rail, wanted in (("rail=2", "the node's program has no such rail"),
                             ("rail=x", "'rail=x' is not rail=N"),
                             ("rail=16", "'rail=16' is not rail=N")):
            wrong = here.start("a", "alpha", "-", rails=[f"node:{path},{rail}"])
            complaint = wrong.process.communicate(timeout=TIMEOUT_S)[1]
            check(wanted in complaint, rail, complaint)
        here.well(here.pair(("alpha", "beta"), where="aa"), "the first program still serves")
        program.finish(signal.SIGTERM)
        check(not path.exists(), "the socket is gone")


def usual(binaries: list[str]) -> None:
    """Without a name the socket is in the runtime directory, and node: is all rails of the node."""
    with bed(binaries, KERNEL) as here:
        words = " ".join(f"--rail {rail}" for rail in here.rails)
        program = here.world.start("usual", here.program, words, here.spaces["a"]).ready()
        os.environ["RUNTIME_DIRECTORY"] = str(here.world.runtime)
        waiting = here.start("a", "beta", "-", rails=["node:"])
        waiting.ready()
        asking = here.start("a", "alpha", "beta", rails=["node:"])
        for node in (waiting, asking):
            node.result("by the usual place")
        result = program.finish(signal.SIGTERM)
        check(result["attached"] == 2 * RAILS, "each attached to all rails", result)


if __name__ == "__main__":
    main([kernel, dpdk, mixed, together, through, neither, program_killed, process_killed,
          all_killed, direct_alone, neighbour_killed, hostile, meeting, neighbour_hostile,
          stranger, refused, usual], need="root")
