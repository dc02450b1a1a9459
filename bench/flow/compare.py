#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""lull-flow beside softflowd, nfpcapd and ndpiReader: what does it take to read one capture?

All read the same file, which the page cache has, in turn, round after round: CPU time (user and
system, all threads), elapsed time, most memory. Further rows read a capture of a single packet,
which is what a start takes, and use two workers. Writes OUT/flow.json and .md, prints a table, and
says which goals are met. Without --capture the file is made: a million packets of ordinary traffic.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent.parent
PACKETS, QUICK_PACKETS = 1_030_000, 100_000
TIMEOUT_S = 60.0


@dataclass
class Run:
    cpu_s: float
    wall_s: float
    memory_mb: float


@dataclass
class Row:
    """A program in one of its ways, and what its rounds took."""

    name: str
    capture: Path
    command: Callable[[Path], list[str | Path]]  # it may write into this folder
    reason: str = ""  # why it did not run
    runs: list[Run] = field(default_factory=list)

    def median(self, member: str) -> float:
        return float(statistics.median(getattr(run, member) for run in self.runs))


@dataclass
class Goal:
    text: str
    limit: float
    measured: float | None  # None: a row is missing
    at_least: bool = False

    def met(self) -> bool:
        if self.measured is None:
            return False
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


def run_once(row: Row, scratch: Path) -> Run:
    folder = scratch / "out"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    begin_s = time.monotonic()
    program = subprocess.Popen([str(word) for word in row.command(folder)], cwd=folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE,
                               env={**os.environ, "RUNTIME_DIRECTORY": str(folder)})  # fmt: skip
    end = threading.Timer(TIMEOUT_S, program.kill)
    end.start()
    assert program.stderr is not None
    said = program.stderr.read()
    _, status, used = os.wait4(program.pid, 0)
    wall_s = time.monotonic() - begin_s
    end.cancel()
    program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode != 0:
        last = said.decode(errors="replace").strip().splitlines()[-1:]
        raise RuntimeError(f"exit status {program.returncode}: {' '.join(last)}")
    return Run(used.ru_utime + used.ru_stime, wall_s, used.ru_maxrss / 1024)


def rows_of(build: Path, capture: Path, single: Path) -> list[Row]:
    def lull(*options: str, read: Path = capture) -> Callable[[Path], list[str | Path]]:
        program = build / "apps" / "lull-flow" / "lull-flow"
        return lambda folder: [program, "--pcap", read, "--ipfix", folder / "x.ipfix", *options]

    return [
        Row("softflowd", capture, lambda folder: [
            "softflowd", "-r", capture, "-m", "65536", "-d", "-p", folder / "pid", "-c", "none"]),
        Row("nfpcapd", capture, lambda folder: [
            "nfpcapd", "-r", capture, "-w", folder, "-e", "300,30"]),
        Row("ndpiReader", capture, lambda _: ["ndpiReader", "-q", "-v", "0", "-i", capture]),
        Row("lull-flow", capture, lull("--identify=no")),
        Row("lull-flow, names", capture, lull()),
        Row("lull-flow, 2 workers", capture, lull("--identify=no", "--workers", "2")),
        Row("lull-flow, names, 2 workers", capture, lull("--workers", "2")),
        Row("lull-flow, start", single, lull("--identify=no", read=single)),
        Row("lull-flow, names, start", single, lull(read=single)),
    ]  # fmt: skip


def goals_of(rows: list[Row], size: float) -> list[Goal]:
    """@p size: packets of the capture, in those of the goals' capture."""
    by_name = {row.name: row for row in rows}

    def value(name: str, member: str) -> float | None:
        row = by_name[name]
        return row.median(member) if row.runs else None

    def speedup(name: str) -> float | None:
        one, two = value(name, "wall_s"), value(f"{name}, 2 workers", "wall_s")
        return one / two if one is not None and two is not None else None

    return [
        Goal("CPU seconds without names", 0.20 * size, value("lull-flow", "cpu_s")),
        Goal("CPU seconds with names", 0.60 * size, value("lull-flow, names", "cpu_s")),
        Goal("MB without names", 60, value("lull-flow", "memory_mb")),
        Goal("MB with names", 60, value("lull-flow, names", "memory_mb")),
        Goal("seconds to start without names", 0.05, value("lull-flow, start", "wall_s")),
        Goal("seconds to start with names", 0.05, value("lull-flow, names, start", "wall_s")),
        Goal("times as fast with two workers, without names", 1.6, speedup("lull-flow"), True),
        Goal("times as fast with two workers, with names", 1.6, speedup("lull-flow, names"), True),
    ]


def measure(rows: list[Row], rounds: int, scratch: Path) -> None:
    for row in rows:
        program = str(row.command(scratch)[0])
        if shutil.which(program) is None:
            row.reason = "not installed"
    # One more at first, which fills caches.
    for number in range(rounds + 1):
        for row in rows:
            if row.reason:
                continue
            try:
                run = run_once(row, scratch)
            except RuntimeError as error:
                row.reason = str(error)
                row.runs.clear()
                continue
            if number > 0:
                row.runs.append(run)


def show(rows: list[Row], goals: list[Goal]) -> None:
    base = rows[0].median("cpu_s") if rows[0].runs else None
    print(f"{'':<28} {'CPU s':>7} {'of softflowd':>12} {'wall s':>7} {'MB':>7}")
    for row in rows:
        if not row.runs:
            print(f"{row.name:<28} {row.reason}")
            continue
        ratio = f"{row.median('cpu_s') / base:12.2f}" if base else f"{'':>12}"
        print(f"{row.name:<28} {row.median('cpu_s'):7.3f} {ratio} {row.median('wall_s'):7.3f}"
              f" {row.median('memory_mb'):7.1f}")  # fmt: skip
    for goal in goals:
        least = "least" if goal.at_least else "most"
        measured = "not measured" if goal.measured is None else f"{goal.measured:.3f}"
        print(f"{'met' if goal.met() else 'MISSED':<6} {goal.text}: {measured}, at {least} "
              f"{goal.limit:.3g}")  # fmt: skip


def markdown(rows: list[Row], goals: list[Goal], packets: int) -> str:
    """The table of docs/measurements.md."""
    base = rows[0].median("cpu_s") if rows[0].runs else None
    lines = ["| program | CPU s | of softflowd | elapsed s | M packets/s | MB |",
             "|---|---:|---:|---:|---:|---:|"]  # fmt: skip
    for row in rows:
        if not row.runs:
            lines.append(f"| {row.name}: {row.reason} | | | | | |")
            continue
        cpu_s, wall_s = row.median("cpu_s"), row.median("wall_s")
        ratio = f"{cpu_s / base:.2f}" if base else ""
        rate = f"{packets / wall_s / 1e6:.2f}" if "start" not in row.name else ""
        memory = f"{row.median('memory_mb'):.1f}"
        lines.append(f"| {row.name} | {cpu_s:.3f} | {ratio} | {wall_s:.3f} | {rate} | {memory} |")
    lines.append("")
    for goal in goals:
        seen = "not measured" if goal.measured is None else f"{goal.measured:.3f}"
        least = "least" if goal.at_least else "most"
        lines.append(f"- {'met' if goal.met() else '**missed**'}: {goal.text}: {seen}, at {least} "
                     f"{goal.limit:.3g}")  # fmt: skip
    return "\n".join(lines) + "\n"


def make(capture: Path, packets: int) -> None:
    """In another process: programs that start from a large one count its memory as theirs."""
    subprocess.run([sys.executable, Path(__file__).parent / "traffic.py", capture, str(packets)],
                   check=True)  # fmt: skip


def packets_of(capture: Path, build: Path, scratch: Path) -> int:
    """As lull-flow counts them."""
    result = scratch / "count.json"
    subprocess.run([build / "apps" / "lull-flow" / "lull-flow", "--pcap", capture, "--identify=no",
                    "--json", result], check=True, stderr=subprocess.DEVNULL)  # fmt: skip
    return int(json.loads(result.read_text(encoding="utf-8"))["totals"]["rx"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--build", type=Path, default=TREE / "build", help="build directory")
    parser.add_argument("--out", type=Path, default=TREE / "out" / "bench")
    parser.add_argument("--capture", type=Path, help="read this file instead of one that is made")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one round of a tenth of the packets")
    parser.add_argument("--strict", action="store_true", help="a missed goal is a failure")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    build: Path = chosen.build.resolve()
    with tempfile.TemporaryDirectory(prefix="lull-bench-") as folder:
        scratch = Path(folder)
        single = scratch / "single.pcap"
        make(single, 1)
        capture = chosen.capture.resolve() if chosen.capture else scratch / "traffic.pcap"
        if chosen.capture is None:
            make(capture, QUICK_PACKETS if chosen.quick else PACKETS)
        packets = packets_of(capture, build, scratch)
        rows = rows_of(build, capture, single)
        measure(rows, 1 if chosen.quick else chosen.rounds, scratch)
        capture_bytes = capture.stat().st_size
    goals = goals_of(rows, packets / PACKETS)
    print(f"{packets} packets, {capture_bytes / 1e6:.0f} MB, {os.cpu_count()} CPUs")
    show(rows, goals)
    chosen.out.mkdir(parents=True, exist_ok=True)
    (chosen.out / "flow.json").write_text(json.dumps({
        "capture": chosen.capture and str(chosen.capture), "packets": packets,
        "bytes": capture_bytes, "rounds": 1 if chosen.quick else chosen.rounds,
        "rows": [{"name": row.name, "reason": row.reason or None,
                  "runs": [asdict(run) for run in row.runs],
                  "median": {name: row.median(name) for name in ("cpu_s", "wall_s", "memory_mb")}
                  if row.runs else None} for row in rows],
        "goals": [{**asdict(goal), "met": goal.met()} for goal in goals],
    }, indent=2) + "\n", encoding="utf-8")  # fmt: skip
    (chosen.out / "flow.md").write_text(markdown(rows, goals, packets), encoding="utf-8")
    return 1 if chosen.strict and not all(goal.met() for goal in goals) else 0


if __name__ == "__main__":
    sys.exit(main())
