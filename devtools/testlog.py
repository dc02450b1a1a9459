# SPDX-License-Identifier: BSD-3-Clause
"""What tests say of their cases, read from meson's testlog.json: cmocka, TAP, pytest, or silence.

A case that skips says why: cmocka and programs of ours in a line `skipped: REASON`, before the case
or the program ends, TAP behind `# SKIP`, pytest by its option -rs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

CASES_NAMED = 10  # of those that failed in one test
NO_REASON = "no reason given"
SAID = re.compile(r"^skipped: (.+)$")
CMOCKA = re.compile(r"^\[ *(RUN|OK|FAILED|SKIPPED) *\] (\S+)")
TAP = re.compile(r"^(not )?ok\b(?: \d+)?(?: - )?(.*?)(?:# (?i:skip) ?(.*))?$")
TAP_NONE = re.compile(r"^1\.\.0\b(?: *# (?i:skip) ?(.*))?")
PYTEST = re.compile(r"^SKIPPED \[(\d+)\] [^ ]+: (.+)$")
PYTEST_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)")
PYTEST_SUMMARY = re.compile(r"^(?:=+ )?(\d+ \w+(?:, \d+ \w+)*) in [\d.]+s")


@dataclass
class Count:
    """Cases by outcome, the names of what failed, and what skipped by its reason."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[str] = field(default_factory=list)
    unsteady: list[str] = field(default_factory=list)
    reasons: list[tuple[str, str]] = field(default_factory=list)  # and the test

    def add(self, other: Count) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures
        self.unsteady += other.unsteady
        self.reasons += other.reasons

    def skips(self) -> Iterator[str]:
        """A line for each reason, the most frequent first."""
        tests: dict[str, list[str]] = {}
        for reason, name in self.reasons:
            tests.setdefault(reason, []).append(name)
        for reason, names in sorted(tests.items(), key=lambda item: (-len(item[1]), item[0])):
            yield f"{len(names)} x {reason} ({', '.join(dict.fromkeys(names))})"

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


class Reader:
    """Line by line; cases of all kinds, and the reasons of those that were skipped."""

    def __init__(self) -> None:
        self.count = Count()
        self.reasons: list[str] = []
        self.failed: list[str] = []  # cases
        self.said = ""  # by a case that has not ended yet, or by the program
        self.running = ""  # of cmocka's cases

    def line(self, text: str) -> None:
        if said := SAID.match(text):
            self.said = said[1].strip()
        elif case := CMOCKA.match(text):
            self.cmocka(case[1], case[2])
        elif case := TAP.match(text):
            self.tap(bool(case[1]), case[2].strip(), case[3])
        elif none := TAP_NONE.match(text):
            self.said = none[1] or ""
        elif skip := PYTEST.match(text):
            self.reasons += int(skip[1]) * [skip[2].strip()]
        elif failed := PYTEST_FAILED.match(text):
            self.failed.append(failed[1])
        elif summary := PYTEST_SUMMARY.match(text):
            self.pytest(summary[1])

    def cmocka(self, outcome: str, name: str) -> None:
        """What began and has no outcome has failed. Outcomes come again in a list at the end."""
        if outcome == "RUN":
            self.end()
            self.running, self.said = name, ""
        elif name == self.running:
            self.running = ""
            self.count.passed += outcome == "OK"
            if outcome == "FAILED":
                self.fail(name)
            if outcome == "SKIPPED":
                self.skip(self.said)

    def tap(self, bad: bool, name: str, reason: str | None) -> None:
        if reason is not None:
            self.skip(reason)
        elif bad:
            self.fail(name)
        else:
            self.count.passed += 1

    def pytest(self, summary: str) -> None:
        for number, word in re.findall(r"(\d+) (\w+)", summary):
            if word in ("passed", "xfailed"):
                self.count.passed += int(number)
            elif word in ("failed", "xpassed", "error", "errors"):
                self.count.failed += int(number)
            elif word == "skipped":
                self.count.skipped += int(number)

    def skip(self, reason: str) -> None:
        self.count.skipped += 1
        self.reasons.append(reason.strip())

    def fail(self, name: str) -> None:
        self.count.failed += 1
        self.failed.append(name)

    def end(self) -> None:
        if self.running:
            self.fail(self.running)
        self.running = ""


def count_test(test: dict[str, str]) -> Count:
    """Cases of one meson test, by its line in testlog.json."""
    reader = Reader()
    for line in (test.get("stdout") or "").splitlines():
        reader.line(line)
    reader.end()
    count, name = reader.count, test["name"].split(" / ")[-1]
    silent = count.passed + count.failed + count.skipped == 0
    if test["result"] in ("OK", "EXPECTEDFAIL"):
        count.passed += silent
    elif test["result"] == "SKIP":
        if silent:
            reader.skip(reader.said)
    elif count.failed == 0:
        count.failed = 1
    if count.failed:
        cases = "".join(f"\n  {case}" for case in reader.failed[:CASES_NAMED])
        count.failures.append(f"{test['name']}: {test['result']}, {count}{cases}")
    told = reader.reasons + (count.skipped - len(reader.reasons)) * [""]
    count.reasons = [(reason or NO_REASON, name) for reason in told]
    return count
