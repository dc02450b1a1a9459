# SPDX-License-Identifier: BSD-3-Clause
"""Power: how deep CPUs rest, how fast they run afterwards, and who may say so."""

import os
import re
from dataclasses import dataclass

from lull.doctor.check import Check
from lull.program.machine import cpuidle_driver, hypervisor
from lull.program.tree import Tree
from lull.quantities import micros

CPU = "/sys/devices/system/cpu"
HALTPOLL = "/sys/module/haltpoll/parameters/guest_halt_poll_ns"
UNCORE = f"{CPU}/intel_uncore_frequency"
UMWAIT = f"{CPU}/umwait_control"
LIMIT = "power/pm_qos_resume_latency_us"
# The default objective, less what else delays a packet: host/cpu_latency.c has the same rule.
OBJECTIVE_US = 200
ROOM_US = OBJECTIVE_US * 10 // 11
EXIT_WARN_US = 50
SLOW_PREFERENCES = {"power", "balance_power"}
SHOWN = 8


@dataclass(frozen=True)
class CState:
    """One of those that cpuidle lists for a CPU."""

    name: str
    exit_us: int
    residency_us: int
    disabled: bool

    def fits(self) -> bool:
        """Are the shortest rest that pays for it and the way out over within the objective?"""
        return self.exit_us + self.residency_us <= ROOM_US

    def text(self) -> str:
        """In words."""
        return f"{self.name} {self.exit_us} µs"


def c_states(tree: Tree) -> list[CState]:
    """Those of CPU 0."""
    return [CState(tree.text(tree.name(path / "name")) or path.name,
                   tree.number(tree.name(path / "latency")) or 0,
                   tree.number(tree.name(path / "residency")) or 0,
                   bool(tree.number(tree.name(path / "disable"))))
            for path in tree.glob(f"{CPU}/cpu0/cpuidle/state*")]


def may_limit(tree: Tree) -> bool:
    """May this user write the limit of CPU 0?"""
    return os.access(tree.path(f"{CPU}/cpu0/{LIMIT}"), os.W_OK)


def check_cpuidle(tree: Tree) -> Check:
    """How deep the CPUs sleep when a loop rests."""
    name = "C-states"
    driver = cpuidle_driver(tree)
    states = c_states(tree)
    used = [state for state in states if not state.disabled]
    if driver == "none" or not used:
        where = hypervisor(tree)
        return Check(name=name, status="note", found=f"cpuidle driver {driver}: the CPU only halts"
                     + (f", {where} decides the rest" if where != "none" else ""))
    found = f"{driver}: {', '.join(state.text() for state in used)}"
    off = [state.text() for state in states if state.disabled]
    if off:
        found += f"; turned off: {', '.join(off)}"
    deepest = max(used, key=lambda state: state.exit_us)
    if deepest.exit_us > EXIT_WARN_US and not may_limit(tree):
        return Check(name=name, status="warn", found=found,
                     remedy=f"leaving {deepest.name} takes {deepest.exit_us} µs of the objective: "
                            f"let this user write {CPU}/cpuN/{LIMIT}, or write a limit there")
    if not deepest.fits() and may_limit(tree):
        found += (f"; {deepest.name} does not fit {OBJECTIVE_US} µs: lull's programs leave it out "
                  "while they rest (cpu-latency)")
    if any(state.disabled and state.fits() for state in states):
        return Check(name=name, status="note", found=found,
                     remedy=f"what fits the objective of {OBJECTIVE_US} µs may be turned on again, "
                            f"a rest spares more then: echo 0 > {CPU}/cpuN/cpuidle/stateM/disable")
    return Check(name=name, status="ok", found=found)


def check_cpu_latency(tree: Tree) -> Check:
    """Limits on C-states that programs hold, or have left behind."""
    name = "CPU latency"
    limits = {}
    for path in tree.glob(f"{CPU}/cpu[0-9]*/{LIMIT}"):
        cpu = int(path.parts[-3][3:])
        limits[cpu] = tree.text(tree.name(path)) or "0"
    if not limits:
        return Check(name=name, status="note", found=f"not available: this kernel has no {LIMIT}, "
                                                     "so C-states cannot be limited")
    held = [f"CPU {cpu}: {'no C-state' if limits[cpu] == 'n/a' else limits[cpu] + ' µs'}"
            for cpu in sorted(limits) if limits[cpu] != "0"]
    if held:
        words = "; ".join(held[:SHOWN]) + (" ..." if len(held) > SHOWN else "")
        return Check(name=name, status="note", found=f"limited: {words}",
                     data={"limits": {str(cpu): value for cpu, value in limits.items()
                                      if value != "0"}},
                     remedy="if no program that runs needs it, one was killed before it could "
                            f"take its limit back: echo 0 > {CPU}/cpuN/{LIMIT}")
    if not may_limit(tree):
        return Check(name=name, status="note", found="no CPU is limited, and this user may not "
                                                     "limit any",
                     remedy=f"chgrp GROUP {CPU}/cpu*/{LIMIT} and chmod g+w lets lull's programs "
                            "limit C-states while they rest (cpu-latency)")
    return Check(name=name, status="ok", found="no CPU is limited; lull's programs may do it")


def check_haltpoll(tree: Tree) -> Check:
    """A guest may burn its virtual CPU before it halts; thread CPU time does not show it."""
    name = "guest haltpoll"
    poll_ns = tree.number(HALTPOLL)
    if poll_ns is None or poll_ns == 0:
        return Check(name=name, status="ok", found="off: a rest frees the virtual CPU at once")
    driver = cpuidle_driver(tree)
    length = micros(poll_ns / 1e3)
    if driver != "haltpoll":
        return Check(name=name, status="ok", found=f"present ({length}) but not used: the cpuidle "
                                                   f"driver is {driver}")
    return Check(name=name, status="warn", found=f"polls up to {length} before it halts: with "
                                                 "shorter rests the thread uses less CPU time, "
                                                 "but the virtual CPU does not",
                 remedy=f"echo 0 > {HALTPOLL}", data={"guest_halt_poll_ns": poll_ns})


def _values(tree: Tree, name: str) -> set[str]:
    """What all CPUs say in a file of their cpufreq folder."""
    return {tree.text(tree.name(path)) or "" for path in tree.glob(f"{CPU}/cpu[0-9]*/cpufreq/"
                                                                   f"{name}")} - {""}


def check_cpufreq(tree: Tree) -> Check:
    """A governor that lowers the frequency makes the first packet after a rest slow."""
    name = "cpufreq"
    governors = _values(tree, "scaling_governor")
    if not governors:
        return Check(name=name, status="note", found="not available: this machine has no control "
                                                     "over frequencies")
    preferences = _values(tree, "energy_performance_preference")
    found = ", ".join(sorted(governors))
    if preferences:
        found += f"; preference {', '.join(sorted(preferences))}"
    if preferences & SLOW_PREFERENCES:
        return Check(name=name, status="warn", found=found,
                     remedy="echo balance_performance > "
                            f"{CPU}/cpuN/cpufreq/energy_performance_preference: with "
                            "less the CPU is slow to raise its frequency after a rest")
    if governors == {"performance"} or (preferences and governors <= {"performance", "powersave"}
                                        and "balance_performance" not in preferences):
        return Check(name=name, status="ok", found=found)
    return Check(name=name, status="warn", found=found,
                 remedy="cpupower frequency-set -g performance, or accept a slow first packet "
                        "after a rest")


def check_uncore(tree: Tree) -> Check:
    """The mesh and the caches have a frequency of their own, which falls while cores rest."""
    name = "uncore"
    ranges = {}
    for path in tree.glob(f"{UNCORE}/*"):
        low = tree.number(tree.name(path / "min_freq_khz"))
        high = tree.number(tree.name(path / "max_freq_khz"))
        if low is not None and high is not None:
            ranges[path.name] = (low // 1000, high // 1000)
    if not ranges:
        return Check(name=name, status="note", found="not available: this machine has no "
                                                     "intel_uncore_frequency")
    low, high = min(one[0] for one in ranges.values()), max(one[1] for one in ranges.values())
    if all(one[0] == one[1] for one in ranges.values()):
        return Check(name=name, status="ok", found=f"fixed, {high} MHz")
    return Check(name=name, status="note", found=f"{low} to {high} MHz: it falls while cores rest, "
                                                 "and the first packets after a rest wait longer "
                                                 "for memory",
                 remedy=f"echo {high * 1000} > {UNCORE}/PACKAGE/min_freq_khz for an even latency, "
                        "at more power")


def check_waitpkg(tree: Tree) -> Check:
    """UMWAIT lets a core wait for the NIC's write, TPAUSE lets it pause deeper."""
    name = "WAITPKG"
    flags = tree.cpu_flags()
    if "waitpkg" not in flags:
        return Check(name=name, status="note", found="not available: the CPU has no WAITPKG; rests "
                                                     "are pauses and sleeps")
    several = ("of several queues too" if "rtm" in flags else
               "of one queue; of several it takes RTM, which the CPU has not")
    return Check(name=name, status="ok", found="the CPU can pause until a time (TPAUSE) and wait "
                                               f"for a write (monitor), {several}")


def check_umwait(tree: Tree) -> Check:
    """How long the kernel lets one such wait last, and how deep."""
    name = "umwait"
    cycles, deep = tree.number(f"{UMWAIT}/max_time"), tree.number(f"{UMWAIT}/enable_c02")
    if "waitpkg" not in tree.cpu_flags() or cycles is None:
        lack = "WAITPKG" if "waitpkg" not in tree.cpu_flags() else "umwait_control"
        where = "CPU" if lack == "WAITPKG" else "kernel"
        return Check(name=name, status="note", found=f"not available: the {where} has no {lack}")
    length = f"{cycles} TSC cycles" if cycles else "any time"
    mhz = re.match(r"[\d.]+", tree.cpuinfo("cpu MHz"))
    if cycles and mhz:
        length += f", about {micros(cycles / float(mhz[0]))}"
    if deep == 0:
        return Check(name=name, status="note", found=f"one wait lasts up to {length}; C0.2 is "
                                                     "forbidden",
                     remedy=f"echo 1 > {UMWAIT}/enable_c02: C0.2 spares more power than C0.1 and "
                            "ends less than 1 µs later")
    return Check(name=name, status="ok", found=f"one wait lasts up to {length}, in C0.2; longer "
                                               "rests begin again")
