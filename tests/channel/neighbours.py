# SPDX-License-Identifier: BSD-3-Clause
"""Neighbours: processes of one node that exchange packets directly, and what may go wrong.

neighbours.py NODE-PROCESS LULL-CHANNEL-NODE
"""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from node_bed import KERNEL, RAILS, RING_PKTS, SLOT_AT, Attached, Bed, Lane, bed, counters
from processes import Node
from verdict import check, wait_for
from world import Program, main


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


WHILE = (300, 200000)  # nothing shapes what goes directly: it takes a second or so


def reached(program: Program, counter: str, least: int) -> None:
    wait_for(f"{counter} {least}", lambda: counters(program)[counter] >= least)


def attached(program: Program, count: int) -> None:
    wait_for(f"{count} attached", lambda: counters(program)["ports"] == count)


def kill(process: subprocess.Popen[Any]) -> None:
    process.kill()
    process.wait()


def program_killed(binaries: list[str]) -> None:
    """Neighbours go on while there is no program."""
    with bed(binaries, KERNEL) as here:
        program = here.serve("a").ready()
        pair = here.pair(("alpha", "beta"), WHILE, "aa")
        reached(program, "meetings", RAILS)
        kill(program.process)
        direct = here.well(pair, "without the program")
        check(min(direct) > 10000, "packets went directly", direct)


def program_again(binaries: list[str]) -> None:
    """They attach to the next one beside what they exchange, and others meet there."""
    with bed(binaries, KERNEL) as here:
        program = here.serve("a").ready()
        pair = here.pair(("alpha", "beta"), (3 * WHILE[0], WHILE[1]), "aa")
        reached(program, "meetings", RAILS)
        for _ in range(3):
            attached(program, 2 * RAILS)
            kill(program.process)
            program = here.serve("a").ready()
        attached(program, 2 * RAILS)
        here.well(here.pair(("gamma", "delta"), where="aa"), "others meet as well")
        here.well(pair, "after three restarts")


def neighbour_killed(binaries: list[str]) -> None:
    """One of two neighbours dies, again and again, then the other; those beside them go on."""
    with bed(binaries, KERNEL) as here:
        program = here.serve("a").ready()
        stays = here.pair(("alpha", "beta"), (3 * WHILE[0], WHILE[1]), "aa")
        for turn in range(4):
            dies = here.pair(("gamma", "delta"), WHILE, "aa")
            reached(program, "meetings", RAILS * (2 + turn))
            for node in dies[turn % 2:] + dies[:turn % 2]:
                kill(node.process)
            attached(program, 2 * RAILS)
        here.well(here.pair(("gamma", "delta"), where="aa"), "the same names again")
        direct = here.well(stays, "beside those that died")
        check(min(direct) > 10000, "packets went directly", direct)
        result = program.finish(signal.SIGTERM)
        check(result["nonsense"] == 0, "nobody is blamed", result)


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
        for _ in range(2):  # who attaches now is served after who met before
            Attached(here.socket("a")).link.close()
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


def meet_who_asks(here: Bed, peer: Program) -> tuple[Node, Lane]:
    """A process that asks for a node by name, heard by all, and the lane to it of one by hand."""
    wrong = Attached(here.socket("a"))
    asks = here.start("a", "gamma", "nobody")
    wait_for("it asks", lambda: wrong.lane.received() > 0 or peer.process.poll() is not None)
    wrong.lane.send(wrong.lane.address(0), b"who is there?")
    return asks, wrong.meet()[1]


def neighbour_hostile(binaries: list[str]) -> None:
    """A neighbour that writes nonsense loses the lane it wrote into, and nobody else does."""
    with bed(binaries, KERNEL) as here:
        program = here.serve("a").ready()
        stays = here.pair(("alpha", "beta"), (3 * WHILE[0], WHILE[1]), "aa")
        reached(program, "meetings", RAILS)
        for writes in (
            [(0, RING_PKTS + 1)],  # as in the ring to the program
            [(0, 0x80000000)],
            [(SLOT_AT, 0), (0, 1)],
            [(SLOT_AT, 65536), (0, 1)],
            [(SLOT_AT, 100, 21), (0, 1)],
        ):
            asks, lane = meet_who_asks(here, program)
            for at, *words in writes:
                lane.write(at, *words)
            lane.ring()
            check(lane.ended(), "it is hung up on", writes)
            check(asks.process.poll() is None, "the other goes on", writes)
            kill(asks.process)
        asks, lane = meet_who_asks(here, program)
        for _ in range(3 * RING_PKTS):  # packets that say they come from others
            lane.send(os.urandom(8), os.urandom(100))
        check(asks.process.poll() is None, "nobody cares")
        kill(asks.process)
        direct = here.well(stays, "beside nonsense")
        check(min(direct) > 10000, "packets went directly", direct)
        result = program.finish(signal.SIGTERM)
        check(result["nonsense"] == 0, "none of it went into the program", result)


if __name__ == "__main__":
    main([together, through, neither, program_killed, program_again, neighbour_killed, meeting,
          neighbour_hostile], need="root")
