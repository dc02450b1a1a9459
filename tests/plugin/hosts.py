# SPDX-License-Identifier: BSD-3-Clause
"""Programs that poll in other ways than testpmd, linked shared and static; two processes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stand import MEMORY_MB, Files, Host, Lacking, idle_most, main
from verdict import Failure, check, wait_for
from worker import worker
from world import World

FIXED = {"LULL": "on", "LULL_GOVERNOR": "fixed", "LULL_REST": "100us"}
LOAD_TRIES = 5
HUGEPAGES = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages")
HUGEPAGES_EACH = 80  # of two processes that share them
VDEVS = "--vdev net_ring0 --vdev net_null1,no-rx=1"


def start(
    here: World, files: Files, way: str, static: bool, more: str = "", **env: str
) -> Host:
    binary = files.host_static if static else files.host
    argv = f"{binary} -d {files.plugin} --lcores 0@1 --no-huge --no-pci -m 64 {VDEVS} {more}"
    argv += f" --file-prefix PREFIX -- {way}"
    return Host(here, way, argv.split(), env={**FIXED, **env})


def run(here: World, files: Files, way: str) -> list[str]:
    """Both programs to their end."""
    return [start(here, files, way, static).finish() for static in (False, True)]


def number(text: str, word: str) -> int:
    return int(re.findall(rf"{word} (\d+)", text)[0])


def own_callbacks(here: World, files: Files) -> None:
    for said in run(here, files, "callbacks"):
        counts = {number(said, word) for word in ("sent", "before", "after")}
        check(len(counts) == 1, "each packet seen by each callback", said)
        check(f"{counts.pop()} packets in" in said, "and by the plugin", said)


def latency_statistics(here: World, files: Files) -> str:
    """DPDK's latency library sees each packet, and the plugin too."""
    for said in run(here, files, "latencystats"):
        sent, taken, marked = (number(said, word) for word in ("sent", "taken", "marked"))
        check(sent == taken == marked and sent > 20000, "each packet is marked", said)
        check(f"{sent} packets in" in said, "and seen by the plugin", said)
    return f"{sent} packets"


def packet_capture(here: World, files: Files) -> str:
    """dpdk-dumpcap, another process, captures each packet that is sent and received."""
    with huge_folder(here) as folder:
        return captured(here, files, folder)


def captured(here: World, files: Files, folder: Path) -> str:
    prefix = f"capture-{os.getpid()}"
    argv = f"{files.host} -d {files.plugin} --lcores 0@1 --no-pci --huge-dir {folder}"
    argv += f" -m {MEMORY_MB // 4} --vdev net_ring0 --file-prefix {prefix} -- pdump"
    host = Host(here, "captured", argv.split(), env=FIXED)
    host.says("polling")
    argv = f"stdbuf -oL dpdk-dumpcap --file-prefix {prefix} -i net_ring0"
    argv += f" -p -w {here.path('capture')}"
    capture = Host(here, "dumpcap", argv.split())
    capture.says("Capturing on")
    wait_for("the capture", lambda: here.path("capture").exists())
    host.type("go")
    host.says("taken")
    capture.finish(signal.SIGINT)
    host.type("enough")
    said = host.finish()
    sent = number(said, "sent")
    check(number(said, "taken") == sent, "all came back", said)
    check(f"{sent} packets in" in said, "the plugin saw each", said)
    seen = re.findall(r"received/dropped on interface '[^']*': (\d+)/(\d+)", capture.log())
    check(seen == [(str(2 * sent), "0")], f"{sent} captured on both ways", capture.log())
    return f"{sent} packets"


def attached_at_once(here: World, files: Files) -> str:
    """Within 5 ms of a port's start, of one port and of a second beside it: each has its best of
    up to ten tries, for other work makes it late and nothing makes it early."""
    best = [1 << 30, 1 << 30]
    for _ in range(10):
        said = start(here, files, "attach", static=False).finish()
        seen = re.findall(r"attached_us (\d+) (\d+)", said)[0]
        best = [min(pair) for pair in zip(best, map(int, seen), strict=True)]
        if max(best) < 5000:
            return f"{best} us"
    raise Failure(f"within 5 ms: {best} us")


def uneven_rounds(here: World, files: Files) -> str:
    """One rest for each look at the rare port, not a thousand of them: that takes 0.1 s."""
    polls = [number(said, "polls") for said in run(here, files, "uneven")]
    check(min(polls) > 1000, "the rare port was polled", polls)
    return f"{polls}"


def ways_to_end(here: World, files: Files) -> None:
    for way in ("leave", "leave-by-signal", "fork"):
        for said in run(here, files, way):
            check(said.count("lull: poll0 (") == 1, "one report", said)


def threads(here: World, files: Files) -> None:
    for way in ("churn", "sharing", "many"):
        for said in run(here, files, way):
            check("more than" not in said, way, said)
    for said in run(here, files, "cancel"):
        check(number(said, "cancelled in a receive") == 0, "no new cancellation point", said)


def takes_over(here: World, files: Files) -> str:
    """A thread that polls the queues of one that has ended has them all: one is always full, so
    it never rests, but for the moment in which the plugin gets to know them."""
    counts = []
    for said in run(here, files, "successor"):
        seen, rests = re.findall(r"\(thread second\): (\d+) packets.* in (\d+) rests", said)[0]
        check(int(rests) < 20, "it does not rest beside a full queue", said)
        check(int(seen) > 0.9 * number(said, "taken"), "the plugin counts its packets", said)
        counts.append(int(rests))
    return f"{counts} rests"


def crypto_late(here: World, files: Files) -> None:
    """A device whose library EAL has loaded behind the plugin is not missed."""
    host = start(here, files, "crypto-late", static=False, more="--vdev crypto_null")
    host.says("polling")
    wait_for("telemetry", host.socket_path.exists)
    wait_for("the device", lambda: "crypto" in host.telemetry.ask("/lull/plugin")["unseen"])
    host.finish(signal.SIGTERM)


def known_load(here: World, files: Files) -> str:
    """Passive mode tells what the program knows of itself, within five points. A thread that is
    put off its CPU all the time cannot be measured so well: one of five runs must be right."""
    tried: list[str] = []
    while len(tried) < LOAD_TRIES:
        said = start(here, files, "load", static=False, LULL="passive").finish()
        known = number(said, "busy_ppm") / 10000
        busy, empty = (
            float(re.findall(rf"{word} ([0-9.]+) %", said)[0]) for word in ("busy", "empty polls")
        )
        check(busy + empty > 99.8, "all of its time", said)
        tried.append(f"{busy:.1f} % of {known:.1f} %")
        if abs(busy - known) < 5:
            return ", ".join(tried)
    raise Failure(f"a load as it knows it: {', '.join(tried)}")


@contextmanager
def hugepages() -> Iterator[None]:
    try:
        before = int(HUGEPAGES.read_text())
        HUGEPAGES.write_text(str(before + HUGEPAGES_EACH))
    except OSError as refused:
        raise Lacking(f"hugepages: {refused.strerror}") from None
    try:
        if int(HUGEPAGES.read_text()) < before + HUGEPAGES_EACH:
            raise Lacking("hugepages: no memory for them")
        yield
    finally:
        HUGEPAGES.write_text(str(before))


@contextmanager
def huge_folder(here: World) -> Iterator[Path]:
    """Hugepages in a folder; programs that use them are ended before it goes."""
    folder = here.path("huge")
    folder.mkdir()
    with hugepages():
        subprocess.run(["mount", "-t", "hugetlbfs", "none", str(folder)], check=True)
        try:
            yield folder
        finally:
            for host in here.programs:
                if host.process.poll() is None:
                    host.process.kill()
                    host.process.wait()
            subprocess.run(["umount", str(folder)], check=True)


def secondary_process(here: World, files: Files) -> str:
    """Each process polls a queue of its own and has a plugin of its own."""
    with huge_folder(here) as folder:
        return two_processes(here, files, folder)


def two_processes(here: World, files: Files, folder: Path) -> str:
    """Only the primary has telemetry in DPDK 22.11; the secondary has its report."""
    hosts = []
    for i, kind in enumerate(("primary", "secondary")):
        argv = f"stdbuf -oL dpdk-testpmd -d {files.plugin} --lcores 0@0,1@1 --no-pci"
        argv += f" --huge-dir {folder} --file-prefix both-{os.getpid()} --proc-type={kind}"
        argv += f" -m {MEMORY_MB // 4} --vdev net_null0,no-rx=1 -- -i --num-procs=2 --proc-id={i}"
        argv += " --rxq=2 --txq=2 --nb-cores=1 --total-num-mbufs=4096"
        host = Host(here, kind, argv.split(), env=FIXED)
        host.says("testpmd> ")
        host.type("start")
        host.says("testpmd> ", 2)
        hosts.append(host)
    shares = [host.share(worker()) for host in hosts]
    check(max(shares) <= idle_most(), "both rest", shares)
    for host in reversed(hosts):
        host.type("quit")
        said = host.finish()
        check(f"(thread {worker()})" in said, f"{host.name} reports", said[-500:])
    return ", ".join(f"{share:.0%}" for share in shares)


if __name__ == "__main__":
    main(
        [
            attached_at_once,
            own_callbacks,
            latency_statistics,
            packet_capture,
            uneven_rounds,
            ways_to_end,
            threads,
            takes_over,
            crypto_late,
            known_load,
            secondary_process,
        ],
        need="root",  # hugepages
    )
