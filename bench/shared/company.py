# SPDX-License-Identifier: BSD-3-Clause
"""Company: who shares the polling thread's CPU, and how that is arranged.

    nobody
    hog, xz, compile, udp, duty:N    a program of work.py; @19 after it: so nice
    loop                             a second lull-fwd that rests, without packets
    chain                            a second one, after the first in the packets' way
    quota:N                          a hog; it and the forwarder together have N percent
                                     of a CPU, by a control group
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import competitor
import machine
import peers
import ports
from sample import NOBODY
from session import Meter

from program import FORWARDER, PREFIX, SOURCE, BenchError, Place, left_over

SECOND = "second"  # side of a place
CGROUPS = Path("/sys/fs/cgroup")
PERIOD_US = 100_000
IDLE_VDEVS = ["net_null0,no-rx=1", "net_null1,no-rx=1"]


def open_chain(place: Place) -> ports.Wire:
    """As veth, with a second forwarder between the first one and the generator's port 1."""
    forwarder, second = place.namespaces[FORWARDER], place.namespaces[SECOND]
    place.run(SOURCE, *f"ip link add g0 type veth peer name f0 netns {forwarder}".split())
    place.run(SOURCE, *f"ip link add g1 type veth peer name s1 netns {second}".split())
    place.run(FORWARDER, *f"ip link add f1 type veth peer name s0 netns {second}".split())
    sides = {SOURCE: ("g0", "g1"), FORWARDER: ("f0", "f1"), SECOND: ("s0", "s1")}
    for side, interfaces in sides.items():
        for interface in interfaces:
            place.run(side, "ip", "link", "set", interface, "arp", "off", "up")
    return ports.Wire(
        kind="veth",
        generator_vdevs=[ports.vdev(index, f"g{index}") for index in (0, 1)],
        forwarder_vdevs=[ports.vdev(index, f"f{index}") for index in (0, 1)],
        devargs=[],
        open_vswitch_type="dpdk",
        generator_listens=ports.nothing,
        interfaces=((SOURCE, "g0"), (SOURCE, "g1"), (FORWARDER, "f1")),
    )


ports.KINDS["chain"] = open_chain


class SecondLoop:
    """A meter: another lull-fwd on the same CPU, its CPU time, rests and longest rest."""

    def __init__(self, running: peers.Running) -> None:
        self.running = running
        self.before = machine.read_thread(running.program.pid, running.tid)

    def begin(self) -> None:
        """The window begins."""
        peers.loop_of(self.running)[0].ask("/lull/mark")
        self.before = machine.read_thread(self.running.program.pid, self.running.tid)

    def end(self) -> dict[str, Any]:
        """What it had."""
        now = machine.read_thread(self.running.program.pid, self.running.tid)
        telemetry, loop = peers.loop_of(self.running)
        wall_ns = now.at_ns - self.before.at_ns
        return {
            "other_pct": 100 * (now.cpu_ns - self.before.cpu_ns) / wall_ns,
            "other_per_s": (now.sleeps - self.before.sleeps) * 1e9 / wall_ns,
            "stall_ms": telemetry.ask(f"/lull/loop,{loop}")["rest_max_ns"] / 1e6,
        }


def second_forwarder(place: Place, setup: peers.Setup, peer: peers.Peer, chain: bool) -> SecondLoop:
    """A lull-fwd like the first, on the same CPU."""
    vdevs = [ports.vdev(index, f"s{index}") for index in (0, 1)] if chain else IDLE_VDEVS
    wire = ports.Wire("veth", [], vdevs, [], "", ports.nothing, side=SECOND)
    return SecondLoop(peers.start(peer, setup, place, wire))


def join(place: Place, spec: str, setup: peers.Setup, peer: peers.Peer) -> list[Meter]:
    """Start the company of a running peer; meters of what it gets."""
    if spec == NOBODY:
        return []
    if spec in ("loop", "chain"):
        if peer.family != "lull":
            raise BenchError("the second loop is a lull-fwd: so must be the first")
        return [second_forwarder(place, setup, peer, spec == "chain")]
    kind, _, nice = ("hog" if spec.startswith("quota:") else spec).partition("@")
    return [competitor.Competitor(place, kind, setup.cpu, int(nice or 0))]


# ---- control group ----


def quota_files(version: int, percent: float) -> dict[str, str]:
    """What is written into a group so that it has so much of a CPU."""
    quota_us = round(PERIOD_US * percent / 100)
    if version == 1:
        return {"cpu.cfs_period_us": str(PERIOD_US), "cpu.cfs_quota_us": str(quota_us)}
    return {"cpu.max": f"{quota_us} {PERIOD_US}"}


def _controller() -> tuple[int, Path]:
    """Version, and where groups can be made that the CPU is shared by."""
    for version, folder in ((1, CGROUPS / "cpu"), (1, CGROUPS / "cpu,cpuacct"), (2, CGROUPS)):
        marker = "cpu.cfs_quota_us" if version == 1 else "cgroup.subtree_control"
        if (folder / marker).exists() or (version == 1 and (folder / "cgroup.procs").exists()):
            return version, folder
    raise BenchError("no control group shares the CPU here")


@contextmanager
def group_of(place: Place, spec: str) -> Iterator[None]:
    """The forwarder's side in a group with a quota, if the company says so."""
    if not spec.startswith("quota:"):
        yield
        return
    version, folder = _controller()
    for path in left_over(folder):
        path.rmdir()
    group = folder / f"{PREFIX}{os.getpid()}-quota"
    try:
        if version == 2:
            (folder / "cgroup.subtree_control").write_text("+cpu", encoding="ascii")
        group.mkdir()
        for name, text in quota_files(version, float(spec.partition(":")[2])).items():
            (group / name).write_text(text, encoding="ascii")
        place.within[FORWARDER] = group / "cgroup.procs"
        yield
    except OSError as error:
        raise BenchError(f"no control group with a quota: {error}") from error
    finally:
        place.within.pop(FORWARDER, None)
        place.stop_all()
        if group.exists():
            group.rmdir()
