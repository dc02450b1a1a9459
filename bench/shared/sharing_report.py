# SPDX-License-Identifier: BSD-3-Clause
"""Sharing report: one table for each kind of ports and company; what the goals came to."""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import compare
from figures import median_ratio
from report import number, percent
from sample import ALONE, NOBODY, Limits, Sample, disturbances, kept, undisturbed
from sharing import QUICK, Result, Sharing

from program import BenchError

OTHER_PCT = 90.0  # of the CPU, up to
OTHER_UP_TO_PPS = 100_000
OF_LEFT_PCT = 97.0
NAMED = 6  # windows that are told one by one
HEAD = (
    "packets/s",
    "peer",
    "class",
    "CPU %",
    "p50 us",
    "p99 us",
    "x",
    "lost",
    "kept",
    "other %",
    "of what was left",
    "work of alone",
    "longest piece ms",
    "counted",
)
HEAD_BEFORE = ("CPU % before", "p99 us before", "other % before")
Key = tuple[str, str, str, str]


def key(sample: Sample) -> Key:
    """A cell."""
    return sample.ports, sample.other, sample.rate, sample.peer


def groups(samples: Sequence[Sample]) -> dict[Key, list[Sample]]:
    """All rounds of each cell."""
    found: dict[Key, list[Sample]] = {}
    for sample in samples:
        if sample.peer != ALONE:
            found.setdefault(key(sample), []).append(sample)
    return found


def without_policy(peer: str) -> str:
    """The peer as a build without scheduling classes has it."""
    return re.sub(r":sched-policy=\w+", "", peer)


def counted(group: Sequence[Sample], limits: Limits) -> Sequence[Sample]:
    """The rounds that count; all of them where none does."""
    return undisturbed(group, limits) or group


def median(group: Sequence[Sample], figure: Callable[[Sample], float]) -> float:
    """Over rounds."""
    return statistics.median(figure(sample) for sample in group)


class Report:
    """A run in words and tables."""

    def __init__(self, result: Result, baseline: str, before: Result | None) -> None:
        self.result = result
        self.baseline = baseline
        self.limits = Limits(**result.settings["limits"])
        self.bound_us = result.settings["max_latency_us"] + result.settings["margin_us"]
        self.cells = groups(result.samples)
        self.before = groups(before.samples) if before else {}
        self.about_before = before.machine if before else {}

    def row(self, cell: Key) -> list[str]:
        """One peer at one rate."""
        group = self.cells[cell]
        good, use = undisturbed(group, self.limits), counted(group, self.limits)
        traffic = use[0].offered > 0
        ports, other, rate, peer = cell
        beside_it = self.cells.get((ports, other, rate, self.baseline), [])
        base = {sample.round: sample for sample in beside_it}
        ratio = median_ratio(use, base, "p99_us") if peer != self.baseline else None
        beside = other != NOBODY
        works = beside and use[0].other_alone_per_s > 0
        lost, offered = sum(one.lost for one in use), sum(one.offered for one in use)
        return [
            rate,
            peer,
            "/".join(dict.fromkeys(sample.sched_class for sample in use)),
            number(median(use, lambda one: one.cpu_pct)),
            number(median(use, lambda one: one.p50_us)) if traffic else "-",
            number(median(use, lambda one: one.p99_us)) if traffic else "-",
            f"{ratio:.2f}" if traffic and ratio is not None else "",
            percent(lost, offered) if traffic else "-",
            f"{sum(kept(one, self.bound_us) for one in good)}/{len(good)}" if traffic else "-",
            number(median(use, lambda one: one.other_pct)) if beside else "-",
            f"{median(use, lambda one: one.of_left_pct):.1f} %" if beside else "-",
            f"{median(use, lambda one: one.work_pct):.1f} %" if works else "-",
            number(max(one.stall_ms for one in use)) if beside else "-",
            f"{len(good)}/{len(group)}",
            *self.row_before(cell, traffic),
        ]

    def row_before(self, cell: Key, traffic: bool) -> list[str]:
        """The same cell of the earlier run."""
        if not self.before:
            return []
        ports, other, rate, peer = cell
        group = self.before.get(cell) or self.before.get((ports, other, rate, without_policy(peer)))
        if not group:
            return ["", "", ""]
        use = counted(group, self.limits)
        return [
            number(median(use, lambda one: one.cpu_pct)),
            number(median(use, lambda one: one.p99_us)) if traffic else "-",
            number(median(use, lambda one: one.other_pct)) if other != NOBODY else "-",
        ]

    def tables(self) -> list[str]:
        """One for each kind of ports and company."""
        lines = []
        head = [*HEAD, *(HEAD_BEFORE if self.before else ())]
        for ports, other in dict.fromkeys((cell[0], cell[1]) for cell in self.cells):
            beside = "alone on its CPU" if other == NOBODY else f"beside {other}"
            lines += [f"### {ports}, {beside}", ""]
            lines += ["| " + " | ".join(head) + " |"]
            lines += ["|---|---|---" + "|---:" * (len(head) - 3) + "|"]
            found = [cell for cell in self.cells if cell[:2] == (ports, other)]
            for rate in dict.fromkeys(cell[2] for cell in found):
                for cell in found:
                    if cell[2] == rate:
                        lines.append("| " + " | ".join(self.row(cell)) + " |")
            lines.append("")
        return lines

    def captions(self) -> list[str]:
        """What was measured, where and how."""
        about, settings, limits = self.result.machine, self.result.settings, self.limits
        lines = [
            f"{about['cpu']}, {about['cpus']} CPUs, hypervisor {about['hypervisor']}, kernel"
            f" {about['kernel']}, DPDK {about['dpdk']}"
            + (f", Open vSwitch {about['openvswitch']}" if about["openvswitch"] else "")
            + f"; commit {about['commit']}, {about['date']}, load at start {about['load']}.",
            f"{settings['rounds']} interleaved rounds of {settings['seconds']:g} s after"
            f" {settings['settle']:g} s, {settings['minutes']:g} minutes. Polling thread and the"
            f" other program on CPU {settings['cpu']}, everything else on CPU"
            f" {settings['other_cpu']}. Objective {settings['max_latency_us']:g} us; *kept*:"
            f" nothing lost and p99 end to end at most {self.bound_us:g} us. A round counts when"
            f" the hypervisor took at most {limits.steal_pct:g} % of either CPU, the generator"
            f" waited at most {limits.generator_pct:g} % of the time and programs that are not"
            f" ours had at most {limits.foreign_pct:g} % of the shared CPU; medians are of the"
            f" rounds that count, or of all rounds if none does. x: p99 divided by that of"
            f" {self.baseline} in the same round.",
        ]
        if self.about_before:
            old = self.about_before
            lines.append(f"Before: commit {old['commit']}, {old['date']}, the same command.")
        reasons: dict[str, list[str]] = {}
        for who, why in self.result.left_out.items():
            reasons.setdefault(why, []).append(who)
        lines += [f"Left out: {', '.join(who)}: {why}" for why, who in reasons.items()]
        return lines

    # ---- goals ----

    def goals(self) -> list[str]:
        """Ours, in the class that they choose, in each round that counts."""
        good = [
            sample
            for sample in undisturbed(self.result.samples, self.limits)
            if sample.verdict and "ramp" not in sample.peer and "=other" not in sample.peer
        ]
        beside = [sample for sample in good if sample.other in ("hog", "xz", "compile")]
        light = [one for one in beside if compare.packets_per_second(one.rate) <= OTHER_UP_TO_PPS]
        return [
            *_goal(
                f"objective kept and nothing lost (p99 at most {self.bound_us:g} us)",
                good,
                lambda one: kept(one, self.bound_us),
                lambda one: f"p99 {number(one.p99_us)} us, lost {one.lost}",
            ),
            *_goal(
                f"the other program has {OTHER_PCT:g} % of the CPU, up to"
                f" {OTHER_UP_TO_PPS // 1000} kpps",
                light,
                lambda one: one.other_pct >= OTHER_PCT,
                lambda one: f"{one.other_pct:.1f} %",
            ),
            *_goal(
                f"it has {OF_LEFT_PCT:g} % of what the polling thread leaves",
                beside,
                lambda one: one.of_left_pct >= OF_LEFT_PCT,
                lambda one: f"{one.of_left_pct:.1f} %",
            ),
        ]

    def notes(self) -> list[str]:
        """Verdicts that promise nothing, and what disturbed."""
        said: dict[str, tuple[list[str], str]] = {}
        lines, uncounted = [], []
        for group in self.cells.values():
            first = group[0]
            who = f"{first.peer} on {first.ports} beside {first.other}"
            for one in counted(group, self.limits):
                if one.verdict not in ("", "none", "feasible"):
                    rates = said.get(who, ([], ""))[0]
                    said[who] = (list(dict.fromkeys([*rates, one.rate])), one.verdict_text)
            if not undisturbed(group, self.limits):
                uncounted.append((where(first), disturbances(first, self.limits)[0]))
            changes = max(one.sched_changes for one in group)
            if changes:
                lines.append(f"{where(first)}: changed its class {changes} times in a window")
        for who, (rates, text) in said.items():
            lines.append(f"{who}, in some round at {', '.join(rates)}: {text}")
        if uncounted:
            lines.append(
                f"no round counts in {len(uncounted)} of {len(self.cells)} cells; in the first of"
                f" them, {uncounted[0][0]}, {uncounted[0][1]}"
            )
        return lines

    def markdown(self) -> str:
        """A section for docs/measurements.md."""
        lines = ["```", str(self.result.settings["command"]), "```", ""]
        for line in self.captions():
            lines += [line, ""]
        lines += [f"- {line}" for line in self.goals()]
        lines += ["", *self.tables()]
        lines += [f"- {line}" for line in self.notes()]
        return "\n".join(lines).rstrip() + "\n"


def where(sample: Sample) -> str:
    """A window in words."""
    return f"{sample.peer} on {sample.ports} at {sample.rate} beside {sample.other}"


def _goal(
    what: str,
    samples: Sequence[Sample],
    holds: Callable[[Sample], bool],
    figure: Callable[[Sample], str],
) -> list[str]:
    if not samples:
        return [f"{what}: no window that counts"]
    bad = [sample for sample in samples if not holds(sample)]
    line = f"{what}: in {len(samples) - len(bad)} of {len(samples)} windows that count"
    named = "; ".join(f"{where(one)}: {figure(one)}" for one in bad[:NAMED])
    more = f"; and {len(bad) - NAMED} more" if len(bad) > NAMED else ""
    return [("yes: " if not bad else "**no**: ") + line + (f" ({named}{more})" if bad else "")]


def load(path: Path | None) -> Result | None:
    """An earlier run."""
    return Result.from_json(json.loads(path.read_text(encoding="utf-8"))) if path else None


def main(chosen: argparse.Namespace, name: str, baseline: str) -> None:
    """Measure, or show an earlier run."""
    if chosen.quick:
        vars(chosen).update(QUICK)
    result = load(chosen.earlier)
    if result is None:
        compare.prepare()
        with compare.plugin_of(chosen.build) as chosen.plugin:
            result = Sharing(chosen).result()
    if not result.samples:
        raise BenchError("nothing could be measured")
    text = Report(result, baseline, load(chosen.before)).markdown()
    print(text)
    chosen.out.mkdir(parents=True, exist_ok=True)
    path = chosen.out / f"{name}.json"
    path.write_text(json.dumps(result.as_json(), indent=1) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(text, encoding="utf-8")
    print("written:", path, path.with_suffix(".md"), file=sys.stderr)
    if chosen.docs:
        compare.update_docs(path.with_suffix(".md"))
