# SPDX-License-Identifier: BSD-3-Clause
import io
import json
import os
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from conftest import ObedientPace
from lull.doctor import doctor
from lull.doctor.check import Check
from lull.doctor.doctor import examine, may_have_real_time
from lull.doctor.rails import Ring
from lull.doctor.sleep_probe import SleepRow, measure_sleeps
from lull.doctor.view import print_checks, to_json
from lull.program.machine import describe
from lull.program.tree import Tree
from machine_tree import CPU, FLAGS, UNCORE, bare_metal, stat, write

SLEEPS = [SleepRow(1, 1, 100, 5, 9, 4), SleepRow(50, 1, 100, 54, 60, 5),
          SleepRow(50, 50_000, 100, 105, 130, 5)]


class Busy(ObedientPace):
    """While the doctor waits, CPUs work."""

    def __init__(self, root: Path, *cpus: tuple[int, int, int]) -> None:
        super().__init__()
        self.root, self.cpus = root, cpus

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        write(self.root, {"proc/stat": stat(*self.cpus)})


def look(root: Path, cpus: tuple[tuple[int, int, int], ...] = ((2, 98, 0), (0, 100, 0)),
         sleeps: list[SleepRow] = SLEEPS, dpdk: str = "22.11.11",
         real_time: bool = True) -> dict[str, Check]:
    checks = examine(Tree(root), Busy(root, *cpus), lambda: sleeps, lambda _: dpdk,
                     lambda: real_time, lambda _: Ring(1024, 4096))
    return {check.name: check for check in checks}


@pytest.fixture
def metal(tmp_path: Path, build: Path) -> Path:
    assert build.exists()
    root = tmp_path / "root"
    root.mkdir()
    bare_metal(root)
    (root / "var/run/dpdk").mkdir(parents=True)
    return root


def test_a_good_machine(metal: Path) -> None:
    checks = look(metal)
    assert {name: check.found for name, check in checks.items() if check.status != "ok"} == {}
    assert checks["energy"].found == "RAPL: package-0"


@pytest.mark.parametrize(("dpdk", "status"), [
    ("22.11.11", "ok"), ("ABI 23", "ok"), ("24.11.4", "ok"), ("ABI 25", "ok"),
    ("25.11.4", "warn"), ("ABI 26", "warn"), ("", "fail"),
])
def test_releases_of_dpdk(metal: Path, dpdk: str, status: str) -> None:
    check = look(metal, dpdk=dpdk)["DPDK"]
    assert check.status == status
    if status == "warn":
        assert check.remedy == "lull is tested with 22.11 and 24.11; expect differences"


def test_no_right_to_a_real_time_class(metal: Path) -> None:
    check = look(metal, real_time=False)["real-time class"]
    assert check.status == "warn"
    assert "LimitRTPRIO=10" in check.remedy


def test_trying_a_real_time_class_leaves_ours_alone() -> None:
    before = os.sched_getscheduler(0)
    may_have_real_time()
    assert os.sched_getscheduler(0) == before


@pytest.mark.parametrize(("files", "name", "status", "words"), [
    ({f"{CPU}/cpuidle/current_driver": "haltpoll",
      "sys/module/haltpoll/parameters/guest_halt_poll_ns": "200000"},
     "guest haltpoll", "warn", "200 µs before it halts"),
    ({"sys/module/haltpoll/parameters/guest_halt_poll_ns": "200000"},
     "guest haltpoll", "ok", "not used"),
    ({f"{CPU}/cpu0/cpuidle/state2/name": "C6", f"{CPU}/cpu0/cpuidle/state2/latency": "133",
      f"{CPU}/cpu0/cpuidle/state2/disable": "0"}, "C-states", "ok", "C6 133 µs"),
    ({f"{CPU}/cpu0/cpuidle/state2/name": "C6", f"{CPU}/cpu0/cpuidle/state2/latency": "133",
      f"{CPU}/cpu0/cpuidle/state2/residency": "600",
      f"{CPU}/cpu0/cpuidle/state2/disable": "1"}, "C-states", "ok", "C1 2 µs"),
    ({f"{CPU}/cpu0/cpuidle/state2/name": "C1E", f"{CPU}/cpu0/cpuidle/state2/latency": "10",
      f"{CPU}/cpu0/cpuidle/state2/residency": "20", f"{CPU}/cpu0/cpuidle/state2/disable": "1"},
     "C-states", "note", "turned off: C1E 10 µs"),
    ({f"{CPU}/cpu1/power/pm_qos_resume_latency_us": "10"}, "CPU latency", "note",
     "limited: CPU 1: 10 µs"),
    ({f"{CPU}/cpu1/power/pm_qos_resume_latency_us": "n/a"}, "CPU latency", "note",
     "limited: CPU 1: no C-state"),
    ({f"{CPU}/cpu0/cpufreq/energy_performance_preference": "power"}, "cpufreq", "warn",
     "performance; preference power"),
    ({f"{CPU}/cpu0/cpufreq/energy_performance_preference": "performance",
      f"{CPU}/cpu0/cpufreq/scaling_governor": "powersave"}, "cpufreq", "ok",
     "powersave; preference performance"),
    ({f"{CPU}/cpu0/cpufreq/energy_performance_preference": "balance_performance",
      f"{CPU}/cpu0/cpufreq/scaling_governor": "powersave"}, "cpufreq", "warn",
     "powersave; preference balance_performance"),
    ({f"{UNCORE}/min_freq_khz": "800000"}, "uncore", "note", "800 to 2400 MHz"),
    ({f"{CPU}/umwait_control/max_time": "0"}, "umwait", "ok", "up to any time, in C0.2"),
    ({f"{CPU}/umwait_control/enable_c02": "0"}, "umwait", "note", "C0.2 is forbidden"),
    ({"proc/cpuinfo": f"flags : {FLAGS}"}, "umwait", "note", "the CPU has no WAITPKG"),
    ({"proc/cpuinfo": f"flags : {FLAGS} waitpkg"}, "WAITPKG", "ok",
     "of several it takes RTM, which the CPU has not"),
    ({f"{CPU}/cpuidle/current_driver": "none"}, "C-states", "note", "only halts"),
    ({f"{CPU}/cpu1/cpufreq/scaling_governor": "powersave"}, "cpufreq", "warn",
     "performance, powersave"),
    ({"proc/self/timerslack_ns": "1000000"}, "timer slack", "warn", "1000 µs is inherited"),
    ({f"{CPU}/isolated": "", f"{CPU}/nohz_full": "(null)"}, "isolation", "note", "no CPU"),
    ({"proc/sys/kernel/sched_rt_runtime_us": "950000"}, "RT throttling", "note", "50 ms each"),
    ({"proc/sys/kernel/sched_rt_runtime_us": "-1"}, "RT throttling", "note", "locks up"),
    ({f"{CPU}/cpu0/topology/thread_siblings_list": "0,1"}, "SMT", "note", "0,1"),
    ({"proc/cpuinfo": f"flags : {FLAGS}"}, "WAITPKG", "note", "not available"),
    ({"proc/cpuinfo": "flags : tsc"}, "clock", "warn", "perhaps neither constant"),
    ({"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet"},
     "clock", "warn", "slow system call"),
    ({"sys/devices/system/clocksource/clocksource0/current_clocksource": "kvm-clock"},
     "clock", "ok", "kvm-clock"),
    ({"proc/mounts": "proc /proc proc rw 0 0"}, "hugepages", "warn",
     "no hugetlbfs mounted; lull wrap adds '--in-memory'"),
    ({"proc/mounts": "hugetlbfs /dev/none hugetlbfs rw 0 0"}, "hugepages", "note",
     "512 of 1024 MB free, no hugetlbfs that this user may write to; lull wrap adds '--in-memory'"),
    ({"sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages": "0"}, "hugepages", "warn",
     "none of 1024 MB free; lull wrap adds '--no-huge -m 1024'"),
    ({"sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages": "0",
      "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages": "0"}, "hugepages", "note",
     "none: ordinary memory is used; lull wrap adds '--no-huge -m 1024'; hardware NICs need them"),
    ({"proc/stat": stat((0, 0, 0))}, "CPUs", "fail", "1 on line"),
])
def test_one_trouble(metal: Path, files: dict[str, str], name: str, status: str,
                     words: str) -> None:
    write(metal, files)
    cpus = ((2, 98, 0),) if name == "CPUs" else ((2, 98, 0), (0, 100, 0))
    check = look(metal, cpus)[name]
    assert (check.status, words in check.found) == (status, True), check.found
    if status in ("warn", "fail"):
        assert check.remedy


def test_what_may_be_limited(metal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """C6 does not fit 200 µs: lull leaves it out where it may."""
    deep = f"{CPU}/cpu0/cpuidle/state2"
    write(metal, {f"{deep}/name": "C6", f"{deep}/latency": "133", f"{deep}/residency": "600",
                  f"{deep}/disable": "0"})
    checks = look(metal)
    assert checks["C-states"].status == checks["CPU latency"].status == "ok"
    assert "C6 does not fit 200 µs: lull's programs leave it out" in checks["C-states"].found
    monkeypatch.setattr(os, "access", lambda path, _: "pm_qos" not in str(path))
    checks = look(metal)
    assert checks["C-states"].status == "warn"
    assert checks["C-states"].remedy.startswith("leaving C6 takes 133 µs of the objective: let")
    assert checks["CPU latency"].status == "note"
    assert "may not limit any" in checks["CPU latency"].found
    assert "chmod g+w" in checks["CPU latency"].remedy
    monkeypatch.undo()
    for cpu in (0, 1):
        (metal / f"{CPU}/cpu{cpu}/power/pm_qos_resume_latency_us").unlink()
    checks = look(metal)
    assert checks["C-states"].status == "warn"
    assert checks["CPU latency"].found.startswith("not available: this kernel has no power/pm_qos")


def test_no_power_control(metal: Path) -> None:
    shutil.rmtree(metal / CPU / "intel_uncore_frequency")
    shutil.rmtree(metal / CPU / "umwait_control")
    (metal / f"{CPU}/cpu0/cpufreq/scaling_governor").unlink()
    checks = look(metal)
    assert {checks[name].status for name in ("uncore", "umwait", "cpufreq")} == {"note"}
    assert checks["uncore"].found == "not available: this machine has no intel_uncore_frequency"
    assert checks["umwait"].found == "not available: the kernel has no umwait_control"
    assert checks["cpufreq"].found.startswith("not available: ")


def test_contention_and_steal(metal: Path) -> None:
    check = look(metal, ((60, 40, 0), (0, 100, 0)))["contention"]
    assert (check.status, check.found) == ("warn", "CPU 0: 60.0 % busy; CPU 1: 0.0 % busy")
    write(metal, {"proc/stat": stat((0, 0, 0), (0, 0, 0))})
    check = look(metal, ((0, 95, 5), (0, 100, 0)))["contention"]
    assert check.status == "warn"
    assert "CPU 0: 0.0 % busy, 5.0 % stolen" in check.found
    assert "overcommitted" in check.remedy
    assert check.data["steal"] == {"0": 0.05, "1": 0.0}


def test_late_wakeups(metal: Path) -> None:
    rows = [SleepRow(50, 1, 100, 55, 900, 5)]
    check = look(metal, sleeps=rows)["sleep"]
    assert check.status == "warn"
    assert "objectives below 900 µs may not hold on this machine" in check.remedy
    assert look(metal, sleeps=[])["sleep"].status == "note"


def test_dpdk_found(metal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert doctor.installed_dpdk(Tree(metal)) == ""
    write(metal, {"usr/lib/x86_64-linux-gnu/librte_eal.so.23": ""})
    assert doctor.installed_dpdk(Tree(metal)) == "ABI 23"


def test_program_not_built(metal: Path, build: Path) -> None:
    shutil.rmtree(build)
    check = look(metal)["lull-fwd"]
    assert check.status == "fail"
    assert check.remedy == "build it, or unset LULL_BUILD"


def test_nothing_known(tmp_path: Path, build: Path) -> None:
    """Even where nothing can be read every check has its say."""
    assert build.exists()
    root = tmp_path / "empty"
    root.mkdir()
    checks = examine(Tree(root), ObedientPace(), lambda: SLEEPS, lambda _: "22.11.11")
    assert len(checks) == 24
    assert all(check.found for check in checks)


def test_output(metal: Path) -> None:
    checks = list(look(metal, ((60, 40, 0), (0, 100, 0))).values())
    console = Console(file=io.StringIO(), width=90, highlight=False)
    print_checks(checks, console)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "→ stop other programs" in text
    assert "0 failed, 2 to look at, 0 notes" in text
    assert "default slack" in text
    data = json.loads(to_json(checks))
    assert {"name", "status", "found", "remedy", "data"} == set(data["checks"][0])


def test_sleeps_are_really_measured() -> None:
    rows = measure_sleeps()
    assert {row.slack_ns for row in rows} == {1, 50_000}
    for row in rows:
        assert row.median_us >= row.request_us
        assert row.p99_us >= row.median_us
        assert row.cpu_us > 0


def test_machine(metal: Path) -> None:
    machine = describe(Tree(metal), "DPDK 22.11.11", "0.1.0", metal)
    assert (machine.cpu, machine.cores, machine.kernel) == ("Metal", 2, "6.1.0")
    assert (machine.hypervisor, machine.rapl, machine.commit) == ("none", True, "")
    assert machine.haltpoll_ns() == 0
    write(metal, {"proc/cpuinfo": f"flags : {FLAGS} hypervisor",
                  f"{CPU}/cpuidle/current_driver": "haltpoll",
                  "sys/module/haltpoll/parameters/guest_halt_poll_ns": "200000",
                  "sys/class/dmi/id/sys_vendor": "Microsoft Corporation"})
    guest = describe(Tree(metal), "", "", metal)
    assert (guest.hypervisor, guest.haltpoll_ns()) == ("Microsoft Corporation", 200_000)
    write(metal, {"sys/devices/system/clocksource/clocksource0/available_clocksource":
                  "kvm-clock tsc"})
    assert describe(Tree(metal), "", "", metal).hypervisor == "KVM"


def two_nodes(root: Path) -> None:
    """CPUs 0 and 1 on node 0, 2 and 3 on node 1; a NIC on node 1 in the hands of a program."""
    write(root, {
        "sys/devices/system/node/node0/cpulist": "0-1",
        "sys/devices/system/node/node1/cpulist": "2,3",
        "sys/bus/pci/devices/0000:3b:00.0/numa_node": "1",
        "sys/kernel/iommu_groups/12/devices/0000:3b:00.0/class": "0x020000",
        "proc/77/comm": "lull-fwd",
        "proc/77/task/77/status": "Name:\tlull-fwd\nCpus_allowed_list:\t0",
        "proc/77/task/78/status": "Name:\tfwd0\nCpus_allowed_list:\t1",
        "proc/77/task/79/status": "Name:\tfwd1\nCpus_allowed_list:\t3",
        "proc/77/task/80/status": "Name:\tlull-ports\nCpus_allowed_list:\t0",
        "proc/77/task/81/status": "Name:\tanywhere\nCpus_allowed_list:\t0-3",
        "proc/78/comm": "without a device",
        "proc/78/task/90/status": "Name:\tpinned\nCpus_allowed_list:\t0",
    })
    for process, file in ((77, "/dev/vfio/12"), (78, "/dev/null")):
        directory = root / f"proc/{process}/fd"
        directory.mkdir()
        (directory / "5").symlink_to(file)


def test_a_thread_that_polls_another_node_s_port(metal: Path) -> None:
    two_nodes(metal)
    found = look(metal)["NUMA"]
    assert found.status == "warn"
    assert found.found == "fwd0 of lull-fwd on CPU 1 (node 0) polls 0000:3b:00.0 of node 1"
    assert found.remedy.endswith("node 1 has 2,3")


def test_threads_near_their_port(metal: Path) -> None:
    two_nodes(metal)
    write(metal, {"sys/bus/pci/devices/0000:3b:00.0/numa_node": "-1"})
    found = look(metal)["NUMA"]
    assert (found.status, found.data) == ("ok", {})
    write(metal, {"sys/bus/pci/devices/0000:3b:00.0/numa_node": "1",
                  "proc/77/task/78/status": "Name:\tfwd0\nCpus_allowed_list:\t2"})
    assert look(metal)["NUMA"].status == "ok"
