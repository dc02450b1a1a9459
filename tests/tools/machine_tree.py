# SPDX-License-Identifier: BSD-3-Clause
"""Copies of /proc and /sys that look like machines, to be changed by a test."""

from pathlib import Path

CPU = "sys/devices/system/cpu"
UNCORE = f"{CPU}/intel_uncore_frequency/package_00_die_00"
FLAGS = "fpu tsc constant_tsc nonstop_tsc"


def write(root: Path, files: dict[str, str]) -> None:
    """Create files below a root."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")


def stat(*cpus: tuple[int, int, int]) -> str:
    """/proc/stat with (busy, idle, stolen) ticks of each CPU."""
    rows = [f"cpu{index} {busy} 0 0 {idle} 0 0 0 {stolen} 0 0"
            for index, (busy, idle, stolen) in enumerate(cpus)]
    return "\n".join(["cpu  0 0 0 0 0 0 0 0 0 0", *rows, "intr 1"])


def port(name: str, mtu: int = 1500, mbps: int = 1000, irq: int = 24, cpu: str = "0",
         state: str = "up") -> dict[str, str]:
    """An Ethernet port."""
    at = f"sys/class/net/{name}"
    return {f"{at}/type": "1", f"{at}/operstate": state, f"{at}/mtu": str(mtu),
            f"{at}/speed": str(mbps), f"{at}/device/msi_irqs/{irq}": "msix",
            f"proc/irq/{irq}/effective_affinity_list": cpu,
            f"proc/irq/{irq}/smp_affinity_list": "0-1"}


def bare_metal(root: Path) -> None:
    """A server set up well."""
    (root / "dev/hugepages").mkdir(parents=True)
    write(root, {
        "proc/stat": stat((0, 0, 0), (0, 0, 0)),
        "proc/cpuinfo": f"processor : 0\nmodel name : Metal\nflags : {FLAGS} waitpkg rtm\n"
                        "cpu MHz : 2500.000",
        "proc/mounts": "hugetlbfs /dev/hugepages hugetlbfs rw 0 0",
        "proc/self/timerslack_ns": "50000",
        "proc/sys/kernel/osrelease": "6.1.0",
        "proc/sys/kernel/sched_rt_runtime_us": "1000000",
        "proc/sys/kernel/sched_rt_period_us": "1000000",
        "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": "512",
        "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages": "256",
        f"{CPU}/cpuidle/current_driver": "intel_idle",
        f"{CPU}/cpu0/cpuidle/state0/name": "POLL",
        f"{CPU}/cpu0/cpuidle/state0/latency": "0",
        f"{CPU}/cpu0/cpuidle/state0/disable": "0",
        f"{CPU}/cpu0/cpuidle/state1/name": "C1",
        f"{CPU}/cpu0/cpuidle/state1/latency": "2",
        f"{CPU}/cpu0/cpuidle/state1/disable": "0",
        f"{CPU}/cpu0/cpufreq/scaling_governor": "performance",
        f"{CPU}/cpu0/power/pm_qos_resume_latency_us": "0",
        f"{CPU}/cpu1/power/pm_qos_resume_latency_us": "0",
        f"{CPU}/umwait_control/max_time": "100000",
        f"{CPU}/umwait_control/enable_c02": "1",
        f"{UNCORE}/min_freq_khz": "2400000",
        f"{UNCORE}/max_freq_khz": "2400000",
        f"{CPU}/cpu0/topology/thread_siblings_list": "0",
        f"{CPU}/cpu1/topology/thread_siblings_list": "1",
        f"{CPU}/isolated": "1",
        f"{CPU}/nohz_full": "1",
        "proc/sys/net/core/rmem_max": "8388608",
        "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
        "sys/class/powercap/intel-rapl:0/name": "package-0",
        "sys/class/powercap/intel-rapl:0/energy_uj": "1000",
        "sys/class/powercap/intel-rapl:0/max_energy_range_uj": "262143328850",
        "sys/class/powercap/intel-rapl:0:0/name": "core",
        "sys/class/powercap/intel-rapl:0:0/energy_uj": "500",
        **port("eth1"),
        **port("eth2", irq=25, cpu="1"),
    })
