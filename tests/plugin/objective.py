# SPDX-License-Identifier: BSD-3-Clause
"""Open vSwitch with examples/openvswitch: PMD threads that rest by an objective, without plugin.

LULL_OVS names the ovs-vswitchd that examples/openvswitch/build has made.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import statistics
import time
from functools import partial
from pathlib import Path

from guests import KEPT_LEAST, LOAD_S, PAIRS, Stand, pass_all, received
from rights import skip
from stand import Files, main, spins
from verdict import check, wait_for
from world import Program, World

VSWITCHD = Path(os.environ.get("LULL_OVS", ""))
OBJECTIVE = "200"


def started(here: World, files: Files) -> Stand:
    stand = Stand(here, files, vswitchd=VSWITCHD, config={"pmd-objective": OBJECTIVE})
    stand.start({})
    return stand


def rests(stand: Stand) -> int:
    """Iterations that ended with a rest, as the switch counts them."""
    assert stand.switch is not None
    said = stand.switch.appctl("dpif-netdev/pmd-perf-show")
    return sum(int(found) for found in re.findall(r"sleep iterations: +(\d+)", said))


def rested_more(stand: Stand, before: int) -> bool:
    return rests(stand) > before + 10


def set_objective(stand: Stand, value: str) -> None:
    assert stand.switch is not None
    stand.switch.vsctl("set", "Open_vSwitch", ".", f'other_config:pmd-objective="{value}"')


def rests_by_objective(here: World, files: Files) -> str:
    """It rests while guests are silent and while they send now and then, not with objective 0."""
    stand = started(here, files)
    assert stand.switch is not None
    wait_for("it rests", partial(rested_more, stand, rests(stand)))
    for rate, count in (("poisson:1k", 500), ("onoff:20k,2ms,18ms", 2000), ("poisson:5k", 2000)):
        before = rests(stand)
        pass_all(stand.guests[0], rate, count)
        check(rests(stand) > before, f"rests at {rate}")
    set_objective(stand, "0")
    spins(stand.switch.host, stand.switch.pmd())
    before = rests(stand)
    time.sleep(0.5)
    check(rests(stand) == before, "no rest with objective 0", rests(stand) - before)
    set_objective(stand, "300")
    wait_for("it rests again", partial(rested_more, stand, before))
    result = stand.guests[0].finish(signal.SIGTERM)
    check(result["received"] == result["sent"], "each packet is back", result)
    check(result["duplicates"] == 0 and result["reordered"] == 0, "once and in order", result)
    said = stand.end()
    check("PMD latency objective is 200 usecs." in said, "it says what it is told", said[-900:])
    check("PMD latency objective is 0 usecs, no rests." in said, "and the change", said[-900:])
    states = re.findall(r"Core 1: (feasible|infeasible|suspended)", said)
    check(bool(states), "it says whether the objective holds", said[-900:])
    return f"{result['received']} packets; {states}"


def busy_guests(here: World, files: Files) -> str:
    """Saturated, as many packets pass as with objective 0."""
    stand = started(here, files)
    guest = stand.guests[0]
    ratios, remarks = [], []

    def passed(objective: str) -> int:
        set_objective(stand, objective)
        guest.set("traffic=constant:20M")
        time.sleep(0.3)
        before = received(guest)
        time.sleep(LOAD_S)
        kept = received(guest) - before
        guest.set("traffic=off")
        return kept

    for _ in range(PAIRS):
        kept, bare = passed(OBJECTIVE), passed("0")
        ratios.append(kept / max(bare, 1))
        remarks.append(f"{kept}/{bare}")
        if statistics.median(ratios) >= KEPT_LEAST and len(ratios) >= 2:
            break
    check(statistics.median(ratios) >= KEPT_LEAST, "packets with rests, and without", remarks)
    guest.finish(signal.SIGTERM)
    stand.end()
    return ", ".join(remarks)


def gone(guest: Program) -> None:
    guest.process.kill()
    guest.wait()


def guests_restart(here: World, files: Files) -> str:
    """A guest that comes is served within the time that Open vSwitch itself takes."""
    stand = started(here, files)
    passed = []
    for turn in range(3):
        guest = stand.guests[-1]
        passed.append(pass_all(guest, "poisson:5k", 1000))
        if turn < 2:
            gone(guest)
            before = rests(stand)
            for path in stand.sockets(0):
                here.path(path).unlink(missing_ok=True)
            wait_for("rests without guests", partial(rested_more, stand, before))
            stand.guest().ready()
    result = stand.guests[-1].finish(signal.SIGTERM)
    check(result["received"] == result["sent"], "the last guest has all of its packets", result)
    stand.end()
    return f"{passed} packets"


if __name__ == "__main__":
    if not VSWITCHD.is_file() or shutil.which("ovsdb-tool") is None:
        skip("needs LULL_OVS, an ovs-vswitchd that examples/openvswitch/build made")
    main([rests_by_objective, busy_guests, guests_restart], need="rings")
