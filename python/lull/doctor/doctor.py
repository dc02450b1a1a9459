# SPDX-License-Identifier: BSD-3-Clause
"""Doctor: what of this machine helps or hinders a loop that rests, and what to do about it."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from lull.doctor import nodes, power, rails
from lull.doctor.check import Check
from lull.doctor.sleep_probe import SleepRow
from lull.errors import LullError
from lull.program.child import find_program
from lull.program.energy import EnergyMeter
from lull.program.machine import REAL_TIME_PRIORITY, hypervisor
from lull.program.pace import Pace
from lull.program.programs import runtime_dirs
from lull.program.tree import Tree
from lull.quantities import micros, percent
from lull.wrap import hugepages

CPU = "/sys/devices/system/cpu"
DEFAULT_SLACK_NS = 50_000
CONTENTION_S = 1.0
BUSY_WARN = 0.20
STEAL_WARN = 0.01
OVERSHOOT_WARN_US = 60.0
LATE_WARN_US = 500.0
FLOW_LIBRARIES = ((b"libndpi.so", "libndpi-dev", "protocols are not identified"),
                  (b"librdkafka.so", "librdkafka-dev", "no export to Kafka"))


def may_have_real_time() -> bool:
    """Try it for a moment: the right comes from a capability, a limit, or what started us."""
    policy, param = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(REAL_TIME_PRIORITY))
        os.sched_setscheduler(0, policy, param)
    except OSError:
        return False
    return True


def examine(tree: Tree, pace: Pace, sleeps: Callable[[], list[SleepRow]],
            dpdk_version: Callable[[Tree], str],
            real_time: Callable[[], bool] = may_have_real_time,
            ring: Callable[[str], rails.Ring | None] = rails.ring_of) -> list[Check]:
    """Everything, in the order in which one would look."""
    contention = check_contention(tree, pace)
    busy = {int(cpu): share for cpu, share in contention.data.get("busy", {}).items()}
    return [
        check_cpus(tree),
        check_program(),
        check_flow_program(),
        check_dpdk(dpdk_version(tree)),
        check_telemetry(tree),
        check_hugepages(tree),
        contention,
        check_sleeps(sleeps(), tree),
        check_slack(tree),
        power.check_cpuidle(tree),
        power.check_cpu_latency(tree),
        power.check_haltpoll(tree),
        power.check_cpufreq(tree),
        power.check_uncore(tree),
        check_isolation(tree),
        check_real_time(real_time()),
        check_rt_throttling(tree),
        check_smt(tree),
        check_nodes(tree),
        power.check_waitpkg(tree),
        power.check_umwait(tree),
        check_clocksource(tree),
        *rails.check_ports(tree, busy, ring),
        check_energy(tree),
    ]


def check_cpus(tree: Tree) -> Check:
    """The demo needs one CPU for the loop and one for the traffic."""
    count = len(tree.cpu_times())
    if count >= 2:
        return Check(name="CPUs", status="ok", found=f"{count} on line")
    return Check(name="CPUs", status="fail", found=f"{count} on line",
                 remedy="give this machine a second CPU: the loop needs one and its traffic "
                        "another")


def check_program() -> Check:
    """Is lull-fwd built?"""
    try:
        return Check(name="lull-fwd", status="ok", found=str(find_program("lull-fwd")))
    except LullError as error:
        found, _, remedy = str(error).rpartition(": ")
        return Check(name="lull-fwd", status="fail", found=found, remedy=remedy)


def check_flow_program() -> Check:
    """What lull-flow was built with: the libraries it names are those it was linked to."""
    name = "lull-flow"
    try:
        program = find_program(name)
        content = program.read_bytes()
    except (LullError, OSError):
        return Check(name=name, status="note", found="not built: no flow records",
                     remedy="run 'make build'")
    missing = [f"{package} ({what})" for library, package, what in FLOW_LIBRARIES
               if library not in content]
    if not missing:
        return Check(name=name, status="ok", found=f"{program}, with nDPI and Kafka")
    return Check(name=name, status="note", found=f"{program}, without {', '.join(missing)}",
                 remedy="install the missing packages and build again")


def installed_dpdk(tree: Tree) -> str:
    """Version of DPDK, or ""."""
    try:
        asked = subprocess.run(["pkg-config", "--modversion", "libdpdk"], capture_output=True,
                               text=True, timeout=10, check=False)
        if asked.returncode == 0:
            return asked.stdout.strip()
    except (OSError, subprocess.SubprocessError):
        pass
    libraries = [*tree.glob("/usr/lib/*/librte_eal.so.*"), *tree.glob("/usr/lib/librte_eal.so.*")]
    return f"ABI {libraries[0].name.rsplit('.so.', 1)[1]}" if libraries else ""


def check_dpdk(version: str) -> Check:
    """lull is made for the releases of Debian 12 and 13."""
    if not version:
        return Check(name="DPDK", status="fail", found="not found",
                     remedy="apt-get install libdpdk-dev dpdk")
    if version.startswith(("22.11", "24.11", "ABI 23", "ABI 25")):
        return Check(name="DPDK", status="ok", found=version)
    return Check(name="DPDK", status="warn", found=version,
                 remedy="lull is tested with 22.11 and 24.11; expect differences")


def check_telemetry(tree: Tree) -> Check:
    """Can programs of this user make their sockets?"""
    name = "telemetry"
    candidates = runtime_dirs()
    directory = candidates[0] if os.geteuid() == 0 or len(candidates) == 1 else candidates[1]
    path = tree.path(str(directory))
    existing = next((one for one in (path, *path.parents) if one.exists()), Path("/"))
    if not os.access(existing, os.W_OK | os.X_OK):
        return Check(name=name, status="fail", found=f"{existing} is not writable",
                     remedy="run as root, or set XDG_RUNTIME_DIR to a directory that you own")
    foreign = "" if os.geteuid() == 0 else "; only root sees programs that root has started"
    return Check(name=name, status="ok", found=f"sockets go to {directory}{foreign}")


def check_hugepages(tree: Tree) -> Check:
    """Nice to have: lull also runs on ordinary memory, and what lull wrap starts does too."""
    name = "hugepages"
    have = hugepages.look(tree)
    words = f"; lull wrap adds '{' '.join(have.arguments())}'" if have.arguments() else ""
    if have.free_mb and have.mounted:
        found = f"{have.free_mb} of {have.total_mb} MB free"
        if have.usable:
            return Check(name=name, status="ok", found=found)
        return Check(name=name, status="note", found=f"{found}, {have.lack()}{words}",
                     remedy="to let programs of this user share memory, mount a hugetlbfs that "
                            "the user owns: mount -t hugetlbfs -o uid=USER none DIRECTORY")
    if have.total_mb and not have.mounted:
        return Check(name=name, status="warn",
                     found=f"{have.total_mb} MB, but no hugetlbfs mounted{words}",
                     remedy="mount -t hugetlbfs none /dev/hugepages")
    if have.total_mb:
        return Check(name=name, status="warn", found=f"none of {have.total_mb} MB free{words}",
                     remedy="end the program that uses the hugepages, or add more")
    return Check(name=name, status="note", remedy="dpdk-hugepages.py --setup 512M",
                 found=f"none: ordinary memory is used{words}; hardware NICs need them")


def check_contention(tree: Tree, pace: Pace) -> Check:
    """Who else uses the CPUs, in this machine and on its host."""
    name = "contention"
    before = tree.cpu_times()
    pace.sleep(CONTENTION_S)
    after = tree.cpu_times()
    busy: dict[int, float] = {}
    steal: dict[int, float] = {}
    for cpu in sorted(before.keys() & after.keys()):
        total = after[cpu].total_s - before[cpu].total_s
        if total > 0:
            busy[cpu] = (after[cpu].busy_s - before[cpu].busy_s) / total
            steal[cpu] = (after[cpu].steal_s - before[cpu].steal_s) / total
    if not busy:
        return Check(name=name, status="note", found="/proc/stat has no figures")
    words = [f"CPU {cpu}: {percent(100 * busy[cpu])} busy" + (
        f", {percent(100 * steal[cpu])} stolen" if steal[cpu] else "") for cpu in busy]
    if len(words) > 8:
        words = [f"{len(words)} CPUs, busiest {percent(100 * max(busy.values()))}",
                 f"most stolen {percent(100 * max(steal.values()))}"]
    data = {"busy": {str(cpu): round(share, 4) for cpu, share in busy.items()},
            "steal": {str(cpu): round(share, 4) for cpu, share in steal.items()},
            "seconds": CONTENTION_S}
    remedy = ""
    if max(steal.values()) > STEAL_WARN:
        remedy = ("the host is overcommitted: ask for dedicated CPUs; lull demo marks the "
                  "affected runs")
    elif max(busy.values()) > BUSY_WARN:
        remedy = "stop other programs, or give the loop its own CPU with --cpus"
    return Check(name=name, status="warn" if remedy else "ok", found="; ".join(words),
                 remedy=remedy, data=data)


def check_sleeps(rows: list[SleepRow], tree: Tree) -> Check:
    """The measured floor of every sleeping governor."""
    name = "sleep"
    fine = [row for row in rows if row.slack_ns == 1]
    if not fine:
        return Check(name=name, status="note", found="not measured")
    row = min(fine, key=lambda one: abs(one.request_us - 50))
    found = (f"{micros(row.request_us)} last {micros(row.median_us)} (p99 {micros(row.p99_us)}) "
             f"and cost {micros(row.cpu_us)} of CPU")
    data = {"rows": [one.as_dict() for one in rows]}
    if row.overshoot_us > OVERSHOOT_WARN_US or row.p99_us > row.request_us + LATE_WARN_US:
        where = "the host" if hypervisor(tree) != "none" else "other work or deep C-states"
        return Check(name=name, status="warn", found=found, data=data,
                     remedy=f"wake-ups are late because of {where}: objectives below "
                            f"{micros(max(row.p99_us, 2 * row.overshoot_us))} may not hold on this "
                            "machine")
    return Check(name=name, status="ok", found=found, data=data)


def check_slack(tree: Tree) -> Check:
    """Threads inherit timer slack from whoever starts them."""
    name = "timer slack"
    slack = tree.number("/proc/self/timerslack_ns")
    if slack is None:
        return Check(name=name, status="note", found="not known")
    own = "lull's loops set 1 ns themselves"
    if slack > DEFAULT_SLACK_NS:
        return Check(name=name, status="warn", found=f"{micros(slack / 1e3)} is inherited from "
                     f"this shell; {own}, other programs do not",
                     remedy="look for TimerSlackNSec= in the unit or for a background session")
    return Check(name=name, status="ok", found=f"{micros(slack / 1e3)} inherited; {own}")


def check_isolation(tree: Tree) -> Check:
    """CPUs kept free of other work and of the tick."""
    name = "isolation"
    isolated = tree.text(f"{CPU}/isolated") or ""
    tickless = tree.text(f"{CPU}/nohz_full") or ""
    tickless = "" if tickless in ("(null)", "") else tickless
    if isolated or tickless:
        return Check(name=name, status="ok", found=f"isolated {isolated or 'none'}, nohz_full "
                     f"{tickless or 'none'}")
    return Check(name=name, status="note", found="no CPU is isolated or tickless",
                 remedy="for a lower p99.9: boot with isolcpus=N nohz_full=N and use --cpus N")


def check_real_time(allowed: bool) -> Check:
    """With a real-time class a loop keeps its objective beside other work."""
    name = "real-time class"
    if allowed:
        return Check(name=name, status="ok", found="this user has the right to it: beside other "
                                                   "programs a resting loop wakes in time")
    return Check(name=name, status="warn", found="this user has no right to it: beside other "
                                                 "programs loops wake milliseconds late",
                 remedy="setcap cap_sys_nice+ep build/apps/lull-fwd/lull-fwd, or "
                        f"LimitRTPRIO={REAL_TIME_PRIORITY} in the unit, or '@group - rtprio "
                        f"{REAL_TIME_PRIORITY}' in /etc/security/limits.conf")


def check_rt_throttling(tree: Tree) -> Check:
    """Matters to those who run loops with SCHED_FIFO."""
    name = "RT throttling"
    runtime = tree.number("/proc/sys/kernel/sched_rt_runtime_us")
    period = tree.number("/proc/sys/kernel/sched_rt_period_us")
    if runtime is None or not period:
        return Check(name=name, status="note", found="not known")
    if runtime < 0:
        return Check(name=name, status="note", found="off: a SCHED_FIFO loop that never rests "
                     "locks up its CPU", remedy="sysctl kernel.sched_rt_runtime_us=950000")
    if runtime >= period:
        return Check(name=name, status="ok", found="a SCHED_FIFO loop may use all of its CPU")
    return Check(name=name, status="note", found="a SCHED_FIFO loop that never rests stops for "
                                                 f"{(period - runtime) // 1000} ms each "
                                                 f"{period // 1000} ms; lull takes the class away "
                                                 "from such a loop earlier")


def check_smt(tree: Tree) -> Check:
    """A polling sibling takes half of a core."""
    name = "SMT"
    siblings = {tree.text(tree.name(path)) or "" for path in
                tree.glob(f"{CPU}/cpu[0-9]*/topology/thread_siblings_list")}
    shared = sorted(group for group in siblings if "," in group or "-" in group)
    if not shared:
        return Check(name=name, status="ok", found="no visible CPU shares its core")
    return Check(name=name, status="note", found=f"CPUs share cores: {'; '.join(shared[:8])}",
                 remedy="keep a loop and its traffic on different cores with --cpus and "
                        "--traffic-cpu")


def check_nodes(tree: Tree) -> Check:
    """A thread on another node than its port fetches each packet from there."""
    name = "NUMA"
    count = len(set(nodes.cpu_nodes(tree).values()))
    if count < 2:
        return Check(name=name, status="ok", found="one node: each CPU is near each port")
    far = nodes.crossings(tree)
    if not far:
        return Check(name=name, status="ok",
                     found=f"{count} nodes; no thread that can be seen polls another node's port")
    more = f"; and {len(far) - 3} more" if len(far) > 3 else ""
    return Check(name=name, status="warn",
                 found="; ".join(one.text() for one in far[:3]) + more,
                 remedy=f"choose CPUs of the port's node (--cpus): node {far[0].device_node} has "
                        f"{tree.text(f'{nodes.NODE}/node{far[0].device_node}/cpulist')}",
                 data={"far": len(far)})


def check_clocksource(tree: Tree) -> Check:
    """Clock reads must not be system calls."""
    name = "clock"
    source = tree.text("/sys/devices/system/clocksource/clocksource0/current_clocksource") or "?"
    flags = tree.cpu_flags()
    steady = {"constant_tsc", "nonstop_tsc"} <= flags
    if source == "tsc" and steady:
        return Check(name=name, status="ok", found="tsc, constant and nonstop")
    if source == "kvm-clock":
        return Check(name=name, status="ok", found="kvm-clock")
    if source == "tsc":
        return Check(name=name, status="warn", found="tsc, perhaps neither constant nor nonstop",
                     remedy="do not compare times between CPUs of this machine")
    return Check(name=name, status="warn", found=f"{source}: each clock read is a slow system call",
                 remedy="boot with clocksource=tsc if the CPU's tsc is reliable")


def check_energy(tree: Tree) -> Check:
    """Are there energy counters?"""
    meter = EnergyMeter(tree)
    if meter.available:
        return Check(name="energy", status="ok",
                     found="RAPL: " + ", ".join(zone.name for zone in meter.zones))
    return Check(name="energy", status="note",
                 found=f"not available: {meter.reason}; CPU time is reported instead")
