# SPDX-License-Identifier: BSD-3-Clause
"""lull-flow through many flows: nothing is lost, and memory stands still.

    soak.py PROGRAM GENERATOR [--flows N] [--folder FOLDER] [--mib-max N]

A capture with up to a day of packets in it is written to a temporary folder, 200 MB for a million
flows, and read by lull-flow in several ways at full speed. Each run must give exactly the records
that the capture is known to have, account for every packet, stay below the limit of memory, and not
go on needing more after the first third of the packets. With tables that are too small by far,
flows must have been recorded early, and everything still adds up.

What must not grow is what the process has asked for (VmData): tables are asked for when it starts,
and which of their pages have been touched by then depends on what else the machine does. What must
stay below the limit is what it has touched, anonymous and shared; pages of the mapped capture are
the kernel's to drop. DPDK's own memory cannot grow: it has a size, and packets are accounted for.
Prints a line of figures for each run, with what was touched.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from verdict import check

DAY_S = 86400
SEED = 5
TIMEOUT_S = 3600
WARM = 1 / 3  # of the packets; by then all has been asked for
GROWTH_KIB = 1024  # a thread's first arena, a buffer that met its largest record


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


def generate(generator: str, folder: str, flows: int, seconds: int) -> Capture:
    path = Path(folder) / "soak.pcap"
    print(f"seed {SEED}, {flows} flows, {seconds} s of packets")
    done = subprocess.run([generator, path, str(flows), str(seconds), str(SEED)],
                          capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    check(done.returncode == 0, "the capture is written", done.stderr)
    packets, records, flows = map(int, done.stdout.split())
    return Capture(path, packets, records, flows)


# ---- memory ----


@dataclass
class Sample:
    packets: float  # so far
    asked_kib: int  # for data of its own
    touched_kib: int  # resident and not pages of a file


def look(pid: int, packets: float) -> Sample | None:
    """None when the process has gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return None
    kib = {name: int(value) for name, value in re.findall(r"^(\w+):\s+(\d+) kB", status, re.M)}
    if "VmData" not in kib:
        return None
    return Sample(packets, kib["VmData"], kib["RssAnon"] + kib["RssShmem"])


def number(text: str) -> float:
    """1.5M"""
    scale = {"k": 1e3, "M": 1e6, "G": 1e9}.get(text[-1])
    return float(text[:-1]) * scale if scale else float(text)


def watch(process: subprocess.Popen[str]) -> tuple[list[Sample], str]:
    """A sample at each progress line, and all other lines."""
    samples: list[Sample] = []
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
        sample = look(process.pid, packets)
        if sample is not None:
            samples.append(sample)
    return samples, other


def stands_still(run: Run, samples: list[Sample], kib_max: int) -> tuple[int, int]:
    """What was touched after a third of the packets, and in the end."""
    check(len(samples) >= 4, f"{run.name}: was watched", samples)
    packets = samples[-1].packets
    early = [sample for sample in samples if sample.packets <= WARM * packets] or samples[:1]
    grown = [max(sample.asked_kib for sample in part) for part in (early, samples)]
    check(grown[1] - grown[0] < GROWTH_KIB, f"{run.name}: memory stands still, KiB", grown)
    kib = [max(sample.touched_kib for sample in part) for part in (early, samples)]
    check(kib[1] <= kib_max, f"{run.name}: memory stays below {kib_max} KiB", kib)
    return kib[0], kib[1]


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
               "--json", str(result_path), *run.options]
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
