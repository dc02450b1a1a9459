# SPDX-License-Identifier: BSD-3-Clause
"""Machine: CPU time of single threads, stolen time, and what kind of machine this is."""

from __future__ import annotations

import datetime
import os
import platform
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
STEAL_FIELD = 7  # of a cpu line in /proc/stat, after the name
CLASSES = {0: "other", 1: "fifo", 2: "rr", 3: "batch", 5: "idle", 6: "deadline"}
SCHED_RESET_ON_FORK = 0x40000000


@dataclass(frozen=True)
class Reading:
    """A thread at one moment; differences of two readings are what counts."""

    at_ns: int  # CLOCK_MONOTONIC
    cpu_ns: int
    waited_ns: int  # ready to run while others had the CPU
    sleeps: int  # times it gave the CPU away


def threads(pid: int) -> dict[int, str]:
    """Thread ids and names of a process."""
    found: dict[int, str] = {}
    for task in (PROC / str(pid) / "task").iterdir():
        try:
            found[int(task.name)] = (task / "comm").read_text(encoding="utf-8").strip()
        except (FileNotFoundError, ProcessLookupError):
            continue  # ended meanwhile
    return found


def _scheduled(task: Path) -> tuple[int, int]:
    """Time on and waiting for a CPU: in ns from schedstat, else CPU alone in clock ticks."""
    try:
        on_cpu, waited, _ = (task / "schedstat").read_text(encoding="utf-8").split()
        return int(on_cpu), int(waited)
    except FileNotFoundError:
        fields = (task / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1_000_000_000 // TICKS_PER_S, 0


def read_thread(pid: int, tid: int) -> Reading:
    """Look at a thread now."""
    task = PROC / str(pid) / "task" / str(tid)
    cpu_ns, waited_ns = _scheduled(task)
    at_ns = now_ns()
    status = (task / "status").read_text(encoding="utf-8")
    sleeps = re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status, re.MULTILINE)
    return Reading(at_ns, cpu_ns, waited_ns, int(sleeps.group(1)) if sleeps else 0)


def now_ns() -> int:
    """The clock of all readings."""
    return time.monotonic_ns()


def sched_class(tid: int) -> str:
    """How the kernel schedules a thread; Python knows no SCHED_DEADLINE, its number it reads."""
    number = os.sched_getscheduler(tid) & ~SCHED_RESET_ON_FORK
    return CLASSES.get(number, str(number))


def thread_named(name: str) -> int | None:
    """A kernel thread, like ksoftirqd/1."""
    for process in PROC.iterdir():
        if process.name.isdigit():
            try:
                if (process / "comm").read_text(encoding="utf-8").strip() == name:
                    return int(process.name)
            except (FileNotFoundError, ProcessLookupError):
                continue  # ended meanwhile
    return None


def steal_ms(cpu: int | None = None) -> float:
    """Time the hypervisor kept from one CPU, or from all of them; in steps of 10 ms."""
    name = "cpu" if cpu is None else f"cpu{cpu}"
    for line in (PROC / "stat").read_text(encoding="utf-8").splitlines():
        fields = line.split()
        if fields[0] == name:
            return int(fields[1 + STEAL_FIELD]) * 1000 / TICKS_PER_S
    return 0.0


def first_line(*command: str, folder: Path | None = None) -> str:
    """First line that a command prints; "" when it cannot be run or fails."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.partition("\n")[0].strip() if done.returncode == 0 else ""


def package_version(package: str) -> str:
    """Version of an installed Debian package, "" when it is not."""
    found = first_line("dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package)
    return found.removeprefix("installed ") if found.startswith("installed ") else ""


def commit(tree: Path) -> str:
    """What was measured: the commit, with a plus when files differ from it."""
    short = first_line("git", "rev-parse", "--short=12", "HEAD", folder=tree)
    changed = first_line("git", "status", "--porcelain", "--untracked-files=no", folder=tree)
    return f"{short}+" if short and changed else short or "unknown"


def describe(tree: Path) -> dict[str, str]:
    """Everything a reader needs to judge the figures."""
    cpuinfo = (PROC / "cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"^model name\s*:\s*(.*)$", cpuinfo, re.MULTILINE)
    guest = re.search(r"^flags\s*:.*\bhypervisor\b", cpuinfo, re.MULTILINE)
    virtual = first_line("systemd-detect-virt", "--vm") or ("yes" if guest else "none")
    return {
        "cpu": model.group(1) if model else platform.machine(),
        "cpus": str(os.cpu_count()),
        "kernel": platform.release(),
        "hypervisor": virtual,
        "dpdk": package_version("libdpdk-dev"),
        "openvswitch": package_version("openvswitch-switch-dpdk"),
        "commit": commit(tree),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "load": " ".join(f"{load:.2f}" for load in os.getloadavg()),
    }
