# SPDX-License-Identifier: BSD-3-Clause
"""lull-channel-node: processes of two nodes over the rails that this program owns, and who dies.

node.py NODE-PROCESS LULL-CHANNEL-NODE
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from node_bed import (
    DPDK,
    KERNEL,
    LONG,
    RAILS,
    RESTS_AT,
    RING_PKTS,
    SLOT_AT,
    Attached,
    bed,
    counters,
    moved,
)
from processes import INSIDE
from verdict import TIMEOUT_S, check, wait_for
from world import main


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
    main([kernel, dpdk, mixed, program_killed, process_killed, all_killed, hostile, stranger,
          refused, usual], need="root")
