# SPDX-License-Identifier: BSD-3-Clause
"""Machine: what a result was measured on."""

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

from lull.document import Document
from lull.program.tree import Tree

CAP_SYS_NICE = 23
# Of SCHED_FIFO: that of the thread that watches over the loops; with less it takes what there is,
# but needs one more than the loops.
REAL_TIME_PRIORITY = 10
REAL_TIME_PRIORITY_MIN = 2
HYPERVISORS = {"KVMKVMKVM": "KVM", "Microsoft Hv": "Hyper-V", "VMwareVMware": "VMware",
               "XenVMMXenVMM": "Xen", "TCGTCGTCGTCG": "QEMU TCG"}


class Machine(Document, keep_unknown=True):
    """Facts that a reader needs to judge the numbers; "" or None: not known."""

    cpu: str = ""
    cores: int = 0
    kernel: str = ""
    hypervisor: str = ""
    cpuidle_driver: str = ""
    guest_halt_poll_ns: int | None = None
    rapl: bool = False
    realtime: bool | None = None  # may threads of ours take a real-time class?
    dpdk: str = ""
    lull: str = ""
    commit: str = ""
    date: str = ""

    def haltpoll_ns(self) -> int:
        """How long a virtual CPU really burns before it halts; 0: it halts at once."""
        return (self.guest_halt_poll_ns or 0) if self.cpuidle_driver == "haltpoll" else 0


def hypervisor(tree: Tree) -> str:
    """Name of the hypervisor, "none", or "unknown" when only its presence shows."""
    kind = tree.text("/sys/hypervisor/type")
    if kind:
        return kind
    if "hypervisor" not in tree.cpu_flags():
        return "none"
    vendor = tree.text("/sys/class/dmi/id/sys_vendor") or ""
    product = tree.text("/sys/class/dmi/id/product_name") or ""
    clocks = tree.text("/sys/devices/system/clocksource/clocksource0/available_clocksource") or ""
    if "kvm-clock" in clocks or "KVM" in product or "QEMU" in vendor:
        return "KVM"
    return HYPERVISORS.get(vendor, vendor or "unknown")


def cpuidle_driver(tree: Tree) -> str:
    """Who chooses the idle state of a CPU: intel_idle, haltpoll, none, ..."""
    return tree.text("/sys/devices/system/cpu/cpuidle/current_driver") or "none"


def realtime(tree: Tree) -> bool | None:
    """May threads of this process, and of programs that it starts, take a real-time class?"""
    status, limits = tree.text("/proc/self/status"), tree.text("/proc/self/limits")
    if status is None or limits is None:
        return None
    effective = re.search(r"^CapEff:\s*([0-9a-f]+)", status, re.MULTILINE)
    priority = re.search(r"^Max realtime priority\s+(\S+)", limits, re.MULTILINE)
    return bool((effective and int(effective[1], 16) >> CAP_SYS_NICE & 1)
                or (priority and (not priority[1].isdigit()  # unlimited
                                  or int(priority[1]) >= REAL_TIME_PRIORITY_MIN)))


def commit(directory: Path) -> str:
    """Commit of the checkout, with "+" when files were changed; "" outside one."""
    if not (directory / ".git").exists():
        return ""
    try:
        head = _git(directory, "rev-parse", "--short=12", "HEAD")
        changed = _git(directory, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return ""
    return head + ("+" if changed else "")


def describe(tree: Tree, dpdk: str, lull: str, checkout: Path) -> Machine:
    """This machine, now."""
    return Machine(
        cpu=tree.cpuinfo("model name"),
        cores=len(tree.cpu_times()) or os.cpu_count() or 0,
        kernel=tree.text("/proc/sys/kernel/osrelease") or platform.release(),
        hypervisor=hypervisor(tree),
        cpuidle_driver=cpuidle_driver(tree),
        guest_halt_poll_ns=tree.number("/sys/module/haltpoll/parameters/guest_halt_poll_ns"),
        realtime=realtime(tree),
        rapl=bool(tree.glob("/sys/class/powercap/intel-rapl:*")),
        dpdk=dpdk,
        lull=lull,
        commit=commit(checkout),
        date=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _git(directory: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(directory), *arguments], check=True, timeout=10,
                          capture_output=True, text=True).stdout.strip()
