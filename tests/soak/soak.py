# SPDX-License-Identifier: BSD-3-Clause
"""lull-flow through many flows: nothing is lost, and memory stands still.

    soak.py PROGRAM GENERATOR [--flows N] [--folder FOLDER] [--mib-max N]

A capture with up to a day of packets in it is written to a temporary folder, 200 MB for a million
flows, and read by lull-flow in several ways at full speed. Each run must give exactly the records
that the capture is known to have, account for every packet, stay below the limit of memory, and not
go on needing more after the first third of the packets. With tables that are too small by far,
flows must have been recorded early, and everything still adds up.

Memory is what is the process's own, anonymous and shared; pages of the mapped capture are the
kernel's to drop. Prints a line of figures for each run.
"""

import argparse
import itertools
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DAY_S = 86400
SEED = 5
PATIENCE_S = 3600
# Memory has grown on when it did so in each of these parts of the packets, by as much. Tables touch
# new pages when a thread had to wait for its CPU, but not in every part.
PARTS = (1 / 3, 1 / 2, 2 / 3, 5 / 6, 1)
GROWTH_KIB = 1024


@dataclass
class Capture:
    path: Path
    packets: int
    records: int
    flows: int


@dataclass
class Run:
    """A way to read the capture; small: its tables cannot hold the flows."""

    name: str
    options: list[str]
    small: bool = False


RUNS = (
    Run("sticky", ["--workers", "2", "--flows-max", "262144"]),
    Run("split", ["--workers", "4", "--flows-max", "262144", "--scheduler", "rr-packet",
                  "--order", "none"]),
    Run("small", ["--workers", "2", "--flows-max", "256", "--scheduler", "hrw"], small=True),
    Run("small split", ["--workers", "4", "--flows-max", "256", "--scheduler", "rr-packet",
                        "--order", "none"], small=True),
)


def check(good: bool, what: str, seen: object = "") -> None:
    if not good:
        sys.exit(f"soak: {what}: {seen}")


def generate(generator: str, folder: str, flows: int, seconds: int) -> Capture:
    path = Path(folder) / "soak.pcap"
    print(f"seed {SEED}, {flows} flows, {seconds} s of packets")
    done = subprocess.run([generator, path, str(flows), str(seconds), str(SEED)],
                          capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    check(done.returncode == 0, "the capture is written", done.stderr)
    packets, records, flows = map(int, done.stdout.split())
    return Capture(path, packets, records, flows)


# ---- memory ----


def own_kib(pid: int) -> int:
    """Resident and not pages of a file; 0 when the process has gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(int(kib) for kib in re.findall(r"^Rss(?:Anon|Shmem):\s+(\d+)", status, re.M))


def number(text: str) -> float:
    """1.5M"""
    scale = {"k": 1e3, "M": 1e6, "G": 1e9}.get(text[-1])
    return float(text[:-1]) * scale if scale else float(text)


def watch(process: subprocess.Popen[str]) -> tuple[list[tuple[float, int]], str]:
    """(packets so far, KiB) at each progress line, and all other lines."""
    samples: list[tuple[float, int]] = []
    packets, before_s, other = 0.0, 0.0, ""
    assert process.stderr is not None
    for line in process.stderr:
        found = re.match(r" *([\d.]+) s +(\S+) pkt/s", line)
        if found is None:
            other += line
            continue
        now_s = float(found[1])
        packets += number(found[2]) * (now_s - before_s)
        before_s = now_s
        kib = own_kib(process.pid)
        if kib > 0:
            samples.append((packets, kib))
    return samples, other


def stands_still(run: Run, samples: list[tuple[float, int]], kib_max: int) -> tuple[int, int]:
    """Memory after a third of the packets, and in the end; it must not grow on and on."""
    check(len(samples) >= 4, f"{run.name}: was watched", samples)
    packets = samples[-1][0]
    kib = [max(kib for done, kib in samples if done <= max(part * packets, samples[0][0]))
           for part in PARTS]
    growth = [after - before for before, after in itertools.pairwise(kib)]
    check(min(growth) < GROWTH_KIB, f"{run.name}: memory stands still, KiB", kib)
    check(kib[-1] <= kib_max, f"{run.name}: memory stays below {kib_max} KiB", kib)
    return kib[0], kib[-1]


# ---- packets ----


def adds_up(run: Run, capture: Capture, result: dict[str, Any]) -> None:
    totals, name = result["totals"], run.name
    unrecorded = totals["unrecorded"]
    check(result["end"] == "input", f"{name}: read to the end", result["end"])
    check(result["conservation"]["checks"] > 0, f"{name}: was checked")
    check(result["conservation"]["violations"] == 0, f"{name}: adds up", result["conservation"])
    check(totals["rx"] == totals["dispatched"] == capture.packets, f"{name}: all came", totals)
    check(totals["recorded"] + unrecorded == capture.packets, f"{name}: all recorded", totals)
    check(totals["open"] == totals["in_flight"] == 0, f"{name}: none left", totals)
    merged = sum(merge["pkts"] for merge in result["merges"])
    check(merged == totals["recorded"], f"{name}: all in records", (merged, totals))
    if not run.small:
        check(totals["evicted"] == unrecorded == 0, f"{name}: there was room", totals)
        check(totals["records"] == capture.records, f"{name}: the records expected",
              (totals["records"], capture.records))
        return
    check(totals["evicted"] > 0, f"{name}: too small indeed", totals)
    check(capture.records - unrecorded <= totals["records"] <= capture.packets,
          f"{name}: a number of records that can be", (totals["records"], capture.records))


def soak(run: Run, program: str, capture: Capture, stats: str, kib_max: int) -> str:
    result_path = capture.path.with_name("result.json")
    command = [program, "--pcap", str(capture.path), "--identify=no", "--stats", stats,
               "--result", str(result_path), *run.options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        samples, other = watch(process)
    check(process.returncode == 0, f"{run.name}: ends well", other)
    result = json.loads(result_path.read_text(encoding="utf-8"))
    adds_up(run, capture, result)
    early, late = stands_still(run, samples, kib_max)
    totals, seconds = result["totals"], result["duration_s"]
    return (f"| {run.name} | {totals['rx']} | {totals['records']} | {totals['evicted']} | "
            f"{totals['unrecorded']} | {seconds:.1f} | {totals['rx'] / seconds / 1e6:.2f} | "
            f"{early / 1024:.1f} | {late / 1024:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description="lull-flow through many flows")
    parser.add_argument("program")
    parser.add_argument("generator")
    parser.add_argument("--flows", type=int, default=10_000_000)
    parser.add_argument("--folder", help="for the capture [the system's]")
    parser.add_argument("--mib-max", type=int, default=1024, help="memory of lull-flow [1024]")
    arguments = parser.parse_args()
    # As dense as 10 million flows on a day, whatever their number.
    seconds = max(600, arguments.flows * DAY_S // 10_000_000)
    stats = "200ms" if arguments.flows >= 2_000_000 else "10ms"
    with tempfile.TemporaryDirectory(prefix="lull-soak-", dir=arguments.folder) as folder:
        capture = generate(arguments.generator, folder, arguments.flows, seconds)
        print("| run | packets | records | early | unrecorded | s | M pkt/s | MiB after a "
              "third | MiB |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
        for run in RUNS:
            print(soak(run, arguments.program, capture, stats, arguments.mib_max << 10), flush=True)


if __name__ == "__main__":
    main()
