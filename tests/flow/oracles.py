# SPDX-License-Identifier: BSD-3-Clause
"""lull-flow beside tshark, nfpcapd and ndpiReader, on every capture.

    oracles.py ORACLE PROGRAM CAPTURES    ORACLE: tshark, nfdump or ndpiReader
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from captures import (
    TIMEOUT_S,
    Flow,
    Key,
    Packet,
    flows_of,
    key_of,
    ndpi_labels,
    nfdump_counts,
    tshark_packets,
)
from rights import skip
from verdict import check

IDLE_S = 30
DAY_S = 86400
NS_PER_S = 10**9
NS_PER_US = 1000
HOP_BY_HOP = 0
ICMP6 = 58
# Flows that nfpcapd files under the protocol number of hop-by-hop options, per capture.
HOP_BY_HOP_FLOWS = {"mixed": 2}
NEEDS = {"tshark": ("tshark",), "nfdump": ("nfpcapd", "nfdump"), "ndpiReader": ("ndpiReader",)}


class Trial:
    def __init__(self, program: str, scratch: Path) -> None:
        self.program = program
        self.scratch = scratch

    def records(self, capture: Path, *options: str) -> list[dict[str, Any]]:
        """Records of a run that loses nothing."""
        result = self.scratch / "result.json"
        command = [self.program, "--pcap", str(capture), "--records", "-", "--json", str(result)]
        run = subprocess.run([*command, *options], capture_output=True, text=True,
                             timeout=TIMEOUT_S, check=False)
        check(run.returncode == 0, f"reads {capture.name}", run.stderr)
        end = json.loads(result.read_text(encoding="utf-8"))
        check(end["conservation"]["violations"] == 0, "packets add up", end["conservation"])
        check(end["totals"]["recorded"] == end["totals"]["dispatched"], "all recorded")
        return [json.loads(line) for line in run.stdout.splitlines()]

    def has_ndpi(self, capture: Path) -> bool:
        self.records(capture)
        end = json.loads((self.scratch / "result.json").read_text(encoding="utf-8"))
        return end["ndpi"] is not None


def flow_of(record: dict[str, Any]) -> tuple[Key, Flow]:
    key, direction = key_of(record["src_ip"], record["src_port"], record["dst_ip"],
                            record["dst_port"], record["proto"], record["vlan_id"])
    forth = [record["packets"], record["packets_rev"]]
    octets = [record["bytes"], record["bytes_rev"]]
    if direction == 1:
        forth.reverse()
        octets.reverse()
    return key, Flow(forth, octets, record["first_us"] * NS_PER_US,
                     record["last_us"] * NS_PER_US, direction)


def without_vlan(key: Key) -> Key:
    return key._replace(vlan=0)


# ---- tshark ----


def same_times(ours: Flow, theirs: Flow) -> bool:
    return (abs(ours.first_ns - theirs.first_ns) <= NS_PER_US
            and abs(ours.last_ns - theirs.last_ns) <= NS_PER_US)


def compare_tshark(trial: Trial, capture: Path, packets: list[Packet], idle_s: int) -> int:
    theirs = flows_of(packets, idle_s * NS_PER_S)
    ours: dict[Key, list[Flow]] = defaultdict(list)
    options = (f"--idle-timeout={idle_s}s", "--identify=no", "--workers=2")
    for record in trial.records(capture, *options):
        key, flow = flow_of(record)
        ours[key].append(flow)
    name = f"{capture.name}, idle timeout {idle_s} s"
    check(ours.keys() == theirs.keys(), f"{name}: the same flows", ours.keys() ^ theirs.keys())
    for key, flows in ours.items():
        flows.sort(key=lambda flow: flow.first_ns)
        others = sorted(theirs[key], key=lambda flow: flow.first_ns)
        check(len(flows) == len(others), f"{name}: as many records", (key, flows, others))
        for mine, other in zip(flows, others, strict=True):
            good = mine.counts() == other.counts() and mine.direction == other.direction
            check(good and same_times(mine, other), f"{name}: the same record", (mine, other))
    return sum(map(len, ours.values()))


def tshark(trial: Trial, captures: list[Path]) -> None:
    counts = dict.fromkeys((IDLE_S, DAY_S), 0)
    for capture in captures:
        packets = tshark_packets(capture)
        for idle_s in counts:
            counts[idle_s] += compare_tshark(trial, capture, packets, idle_s)
    check(counts[IDLE_S] > counts[DAY_S] > len(captures), "has records", counts)
    print(f"{counts} records (idle timeout in s: records) as tshark sees them")


# ---- nfdump ----


def our_counts(records: list[dict[str, Any]]) -> dict[Key, tuple[int, ...]]:
    sums: dict[Key, tuple[int, ...]] = {}
    for record in records:
        key, flow = flow_of(record)
        key = without_vlan(key)
        before = sums.get(key, (0, 0, 0, 0))
        sums[key] = tuple(a + b for a, b in zip(before, flow.counts(), strict=True))
    return sums


def to_icmp6(theirs: dict[Key, tuple[int, ...]]) -> tuple[dict[Key, tuple[int, ...]], int]:
    """Hop-by-hop options are no protocol of their own; how many flows that concerned."""
    plain = {key: counts for key, counts in theirs.items() if key.proto != HOP_BY_HOP}
    odd = {key: counts for key, counts in theirs.items() if key.proto == HOP_BY_HOP}
    for key, counts in odd.items():
        better = key._replace(proto=ICMP6)
        before = plain.get(better, (0, 0, 0, 0))
        plain[better] = tuple(a + b for a, b in zip(before, counts, strict=True))
    return plain, len(odd)


def nfdump(trial: Trial, captures: list[Path]) -> None:
    total = 0
    for capture in captures:
        ours = our_counts(trial.records(capture, "--identify=no", "--workers=2"))
        theirs, odd = to_icmp6(nfdump_counts(capture, trial.scratch))
        check(odd == HOP_BY_HOP_FLOWS.get(capture.stem, 0), f"{capture.name}: protocol 0", odd)
        check(ours.keys() == theirs.keys(), f"{capture.name}: the same flows",
              ours.keys() ^ theirs.keys())
        for key, counts in ours.items():
            check(counts == theirs[key], f"{capture.name}: the same counts",
                  (key, counts, theirs[key]))
        total += len(ours)
    check(total > len(captures), "has flows", total)
    print(f"{total} biflows as nfpcapd counts them")


# ---- ndpiReader ----


def ndpi_reader(trial: Trial, captures: list[Path]) -> None:
    if not trial.has_ndpi(captures[0]):
        skip("needs a build with nDPI")
    total = 0
    for capture in captures:
        theirs = ndpi_labels(capture, trial.scratch)
        ours = {}
        for record in trial.records(capture, "--workers=1", f"--idle-timeout={DAY_S}s"):
            key, _ = flow_of(record)
            ours[without_vlan(key)] = record["app"] or "Unknown"
        check(ours.keys() == theirs.keys(), f"{capture.name}: the same flows",
              ours.keys() ^ theirs.keys())
        differ = {key: (ours[key], theirs[key]) for key in ours if ours[key] != theirs[key]}
        check(not differ, f"{capture.name}: the same labels", differ)
        total += len(ours)
    check(total > len(captures), "has labels", total)
    print(f"{total} flows labelled as by ndpiReader")


ORACLES = {"tshark": tshark, "nfdump": nfdump, "ndpiReader": ndpi_reader}


def main() -> None:
    oracle, program, folder = sys.argv[1:4]
    missing = [tool for tool in NEEDS[oracle] if shutil.which(tool) is None]
    if missing:
        skip(f"needs {' and '.join(missing)}")
    captures = sorted(Path(folder).glob("*.pcap"))
    check(bool(captures), "has captures", folder)
    with tempfile.TemporaryDirectory() as scratch:
        ORACLES[oracle](Trial(program, Path(scratch)), captures)


main()
