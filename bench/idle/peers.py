# SPDX-License-Identifier: BSD-3-Clause
"""Peers: the forwarders that stand side by side, each started the way its users do.

    lull-GOVERNOR[-macswap][:KEY=VALUE...]   lull-fwd, further options by key
    testpmd-io, testpmd-macswap              polls without end
    ovs-MAXSLEEP                             Open vSwitch with pmd-maxsleep, in us
    testpmd-io+plugin[:KEY=VALUE...]         the same with lull's plugin, its settings by
    ovs-MAXSLEEP+plugin[:KEY=VALUE...]       key; :mode=passive for one that only measures
    suricata, suricata+plugin                takes packets in and forwards none

All have one polling thread on the same CPU, bursts of 32, rings of the same
size, and memory without hugepages, so that no peer gains from its pages.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import machine
import openvswitch
import suricata
from ports import RING_PKTS, Wire

from program import FORWARDER, BenchError, Place, Program, Telemetry, place_threads, wait_for

BURST_PKTS = 32
MEMORY_MB = 512
MBUFS = 16384


@dataclass(frozen=True)
class Peer:
    """A forwarder to measure; name is what the user typed."""

    name: str
    family: str  # lull, testpmd, ovs, suricata
    setting: str  # governor, forward mode, longest sleep
    mode: str = "io"
    plugin: bool = False
    options: dict[str, str] = field(default_factory=dict)
    objective_us: int = 0  # of an Open vSwitch that knows it, in setup.vswitchd

    def option_text(self) -> str:
        """What was set, for the caption."""
        return " ".join(f"{key}={value}" for key, value in self.options.items())


@dataclass(frozen=True)
class Setup:
    """What all peers of a run share."""

    lull_fwd: Path
    cpu: int  # of the polling thread
    other_cpu: int  # of everything else
    nice: int  # of forwarder and generator
    lull_options: dict[str, str]  # max-latency and the like
    plugin: Path | None = None  # where EAL loads it from
    generator_nice: int | None = None  # where it differs
    vswitchd: Path | None = None  # built with examples/openvswitch, for peers with an objective
    idle_port: bool = False  # Open vSwitch polls one port more
    ovs_threads: int = 1

    @property
    def nice_of_generator(self) -> int:
        """Priority of source and sink."""
        return self.nice if self.generator_nice is None else self.generator_nice


@dataclass
class Running:
    """A forwarder at work."""

    program: Program
    tid: int  # polling thread
    thread_name: str
    socket: Path  # of DPDK's telemetry
    explains: bool  # it says what it promises
    plugin: bool = False  # of several threads, the one of this name


def parse(text: str) -> Peer:
    """Read one entry of --peers."""
    name, *pairs = text.split(":")
    options = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
    name, plus, extra = name.partition("+")
    family, _, setting = name.partition("-")
    mode = "io"
    if family == "lull":
        setting, _, tail = setting.partition("-")
        mode = tail or mode
    elif family == "testpmd":
        mode = setting
    right = {
        "lull": bool(re.fullmatch(r"[a-z]+", setting)) and mode in ("io", "macswap"),
        "testpmd": setting in ("io", "macswap"),
        "suricata": not setting,
        "ovs": setting.isdigit() and int(setting) <= openvswitch.MAXSLEEP_MOST_US,
    }
    plugin = (plus, extra) == ("+", "plugin") and family != "lull"
    extended = plugin or (family == "lull" and not plus)
    if not right.get(family) or len(options) != len(pairs) or ((pairs or plus) and not extended):
        raise BenchError(
            f"no peer {text!r}: lull-GOVERNOR[-macswap][:KEY=VALUE], testpmd-io,"
            f" testpmd-macswap, ovs-MAXSLEEP (0..{openvswitch.MAXSLEEP_MOST_US} us), or"
            " suricata, the last four also with +plugin[:KEY=VALUE]"
        )
    return Peer(text, family, setting, mode, plugin, options)


def missing(peer: Peer, setup: Setup) -> str:
    """Why a peer cannot take part, with the way out; "" when it can."""
    if peer.family == "lull" and not setup.lull_fwd.exists():
        return f"{setup.lull_fwd} is not built: run make build"
    if peer.family == "testpmd" and shutil.which("dpdk-testpmd") is None:
        return "dpdk-testpmd is not installed: apt-get install dpdk-dev"
    if peer.family == "ovs" and not openvswitch.VSWITCHD.exists():
        return "Open vSwitch with DPDK is not installed: apt-get install openvswitch-switch-dpdk"
    if peer.plugin and setup.plugin is None:
        return "no plugin was given: bench/plugin/compare.py gives one"
    return ""


def _environment(peer: Peer, setup: Setup) -> dict[str, str]:
    """What the plugin is told."""
    if not peer.plugin:
        return {}
    options = {**setup.lull_options, "report": "none", **peer.options}
    mode = options.pop("mode", "on")
    names = {f"LULL_{key.upper().replace('-', '_')}": text for key, text in options.items()}
    return {"LULL": mode, **names}


def start(peer: Peer, setup: Setup, place: Place, wire: Wire) -> Running:
    """Start a peer on the wire; it polls when this returns."""
    if wire.inside and peer.family != "lull":
        raise BenchError(f"{peer.family} makes no traffic of its own")
    starters = {
        "lull": _start_lull,
        "testpmd": _start_testpmd,
        "ovs": _start_ovs,
        "suricata": _start_suricata,
    }
    environment = _environment(peer, setup)
    place.env.update(environment)
    try:
        program, pattern = starters[peer.family](peer, setup, place, wire)
    finally:
        for key in environment:
            del place.env[key]
    tid, name = wait_for(
        f"a thread {pattern} of {peer.name} on CPU {setup.cpu}",
        lambda: _polling_thread(program, pattern, setup.cpu),
    )
    place_threads(program.pid, tid, setup.other_cpu, setup.nice)
    prefixes = {"lull": f"lull-fwd-{program.pid}", "testpmd": "testpmd"}
    prefix = prefixes.get(peer.family, "rte")
    explains = peer.family == "lull" or (peer.plugin and "mode" not in peer.options)
    return Running(program, tid, name, place.dpdk_socket(prefix), explains, peer.plugin)


def loop_of(running: Running) -> tuple[Telemetry, str]:
    """Whom to ask for the loop of the polling thread, and its name."""
    telemetry = Telemetry(running.program, running.socket)
    loops = telemetry.ready()
    threads = {telemetry.ask(f"/lull/loop,{loop}")["tid"]: loop for loop in loops}
    if running.tid not in threads:
        raise BenchError(f"{running.program.name} has no loop {running.thread_name}")
    return telemetry, threads[running.tid]


def verdict(running: Running) -> tuple[str, str]:
    """What a lull governor promises now: state and sentence; two empty ones of others."""
    if not running.explains:
        return "", ""
    telemetry, loop = loop_of(running)
    explain = telemetry.ask(f"/lull/explain,{loop}")
    # DPDK cuts strings of a reply at 128 bytes; lull puts the rest into a second one.
    return str(explain["state"]), str(explain["text"]) + str(explain.get("text_more", ""))


def _polling_thread(program: Program, pattern: str, cpu: int) -> tuple[int, str] | None:
    program.check_alive()
    found = [
        (tid, name)
        for tid, name in machine.threads(program.pid).items()
        if re.fullmatch(pattern, name) and os.sched_getaffinity(tid) == {cpu}
    ]
    if len(found) > 1:
        raise BenchError(f"{program.name} has {len(found)} polling threads: {found}")
    return found[0] if found else None


def _start_lull(peer: Peer, setup: Setup, place: Place, wire: Wire) -> tuple[Program, str]:
    options = {
        "mode": peer.mode,
        "cpus": str(setup.cpu),
        "ring": str(RING_PKTS),
        "burst": str(BURST_PKTS),
        "governor": peer.setting,
        "eal": f"--no-huge --no-shconf -m {MEMORY_MB}",
        "stats": "0",
        **setup.lull_options,
        **peer.options,
    }
    if wire.inside:
        options.update({"traffic": "off", "traffic-cpu": str(setup.other_cpu)})
    arguments = [f"--vdev={vdev}" for vdev in wire.forwarder_vdevs]
    arguments += [f"--{key}={value}" for key, value in options.items()]
    name = "lull-fwd" if wire.side == FORWARDER else f"lull-fwd-{wire.side}"
    program = place.start(wire.side, name, [str(setup.lull_fwd), *arguments])
    Telemetry(program, place.dpdk_socket(f"lull-fwd-{program.pid}")).ready()
    return program, r"fwd0|(rte|lcore)-worker-?\d+"


def _start_testpmd(peer: Peer, setup: Setup, place: Place, wire: Wire) -> tuple[Program, str]:
    eal = ["--lcores", f"0@{setup.other_cpu},1@{setup.cpu}", "--no-huge", "--no-shconf"]
    eal += ["--no-pci", "-m", str(MEMORY_MB), "--file-prefix", "testpmd"]
    if peer.plugin:
        eal += ["-d", str(setup.plugin)]
    for vdev in wire.forwarder_vdevs:
        eal += ["--vdev", vdev]
    options = [f"--forward-mode={peer.mode}", "--nb-cores=1", "--auto-start"]
    options += [f"--rxd={RING_PKTS}", f"--txd={RING_PKTS}", f"--burst={BURST_PKTS}"]
    options += [f"--total-num-mbufs={MBUFS}"]
    command = place.inside("dpdk-testpmd", *eal, "--", *options)
    return place.start(FORWARDER, "testpmd", command), r"(rte|lcore|dpdk)-worker-?\d+"


def _start_ovs(peer: Peer, setup: Setup, place: Place, wire: Wire) -> tuple[Program, str]:
    program = openvswitch.start(
        place,
        wire,
        openvswitch.Settings(
            maxsleep_us=int(peer.setting),
            cpu=setup.cpu,
            other_cpu=setup.other_cpu,
            memory_mb=MEMORY_MB,
            ring_pkts=RING_PKTS,
            dpdk_extra=f"-d {setup.plugin}" if peer.plugin else "",
            vswitchd=(setup.vswitchd if peer.objective_us else None) or openvswitch.VSWITCHD,
            objective_us=peer.objective_us,
            idle_port=setup.idle_port,
            threads=setup.ovs_threads,
        ),
    )
    return program, r"pmd-c\d+/id:\d+"


def _start_suricata(peer: Peer, setup: Setup, place: Place, wire: Wire) -> tuple[Program, str]:
    program = suricata.start(
        place,
        wire.forwarder_vdevs[0],
        suricata.Settings(
            cpu=setup.cpu,
            other_cpu=setup.other_cpu,
            memory_mb=MEMORY_MB,
            ring_pkts=RING_PKTS,
            plugin=setup.plugin if peer.plugin else None,
        ),
    )
    return program, r"W#\d+.*"
