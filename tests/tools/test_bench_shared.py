# SPDX-License-Identifier: BSD-3-Clause
"""What the benchmarks of shared CPUs reckon: shares, disturbance, tuned knobs."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import company
import competitor
import machine
import peers
import repeat
import sharing
import still
import work
from competitor import Line, progress
from knob import Knob, tune
from program import BenchError
from sample import ALONE, NOBODY, Limits, Sample, disturbances, kept, share, undisturbed
from sharing_report import Report, without_policy
from trial import Trial

LIMITS = Limits()
MS = 1_000_000


def sample(**figures: Any) -> Sample:
    """A quiet window beside a hog: 8 % for the polling thread, 91 % for the hog."""
    known: dict[str, Any] = {
        "ports": "veth",
        "other": "hog",
        "peer": "lull-objective",
        "rate": "10k",
        "round": 1,
        "seconds": 4.0,
        "cpu_pct": 8.0,
        "other_pct": 91.0,
        "offered": 20_000,
        "p99_us": 205.0,
        "verdict": "feasible",
    }
    return Sample(**{**known, **figures})


# ---- the command beside the figures ----


@pytest.mark.parametrize(("given", "told"), [
    ("--docs --rounds 2", "--docs --rounds 2"),
    ("--build /elsewhere/build --out /tmp/bench --docs", "--docs"),
    ("--rounds 2 --build=/elsewhere/build", "--rounds 2"),
    ("--build /tree/build-gcc --out=/tree/out/x", "--build build-gcc --out=out/x"),
    ("--build ../before/build --out out/before", "--build ../before/build --out out/before"),
])
def test_commands_without_private_folders(given: str, told: str) -> None:
    assert " ".join(repeat.portable(given.split(), Path("/tree"))) == told


# ---- what the other program gets ----


def test_progress_between_lines_comes_evenly() -> None:
    lines = [
        Line(0, 0, 0, 0),
        Line(100 * MS, 10, 90 * MS, 12 * MS),
        Line(200 * MS, 20, 140 * MS, 30 * MS),
        Line(300 * MS, 40, 240 * MS, 5 * MS),
    ]
    seen = progress(lines, 50 * MS, 250 * MS)
    assert seen.cpu_pct == pytest.approx(100 * (190 - 45) / 200)
    assert seen.pieces_per_s == pytest.approx((30 - 5) / 0.2)
    assert seen.longest_ms == 30


def test_progress_without_a_line_is_one_long_piece() -> None:
    lines = [Line(0, 0, 0, 0), Line(1000 * MS, 1, 10 * MS, 1000 * MS)]
    assert progress(lines, 100 * MS, 400 * MS).longest_ms == 300


@pytest.mark.parametrize("window", [(-1, 50), (50, 101)])
def test_progress_is_silent_about_what_was_not_seen(window: tuple[int, int]) -> None:
    lines = [Line(0, 0, 0, 0), Line(100, 10, 90, 10)]
    with pytest.raises(BenchError):
        progress(lines, *window)


def test_shares() -> None:
    one = sample(cpu_pct=20, other_pct=60, other_per_s=30, other_alone_per_s=40)
    assert one.of_left_pct == pytest.approx(75)
    assert one.work_pct == pytest.approx(75)
    assert sample(cpu_pct=100, other_pct=0).of_left_pct == 0
    assert sample().work_pct == 0
    assert share(1, 0) == 0


def test_what_works_alike_does_so_each_time() -> None:
    assert work.text_to_pack(5000) == work.text_to_pack(5000)
    assert len(work.text_to_pack(5000)) == 5000
    assert work.source_to_compile(3).count("static unsigned long") == 3


@pytest.mark.parametrize("kind", ["hogs", "duty", "hog:3", ""])
def test_no_such_work(kind: str) -> None:
    with pytest.raises(BenchError):
        competitor.Competitor(SimpleNamespace(), kind, 0)  # type: ignore[arg-type]


def test_quota() -> None:
    assert company.quota_files(2, 80) == {"cpu.max": "80000 100000"}
    assert company.quota_files(1, 50)["cpu.cfs_quota_us"] == "50000"


# ---- which rounds count ----


def test_a_quiet_window_counts() -> None:
    assert disturbances(sample(), LIMITS) == []
    assert undisturbed([sample()], LIMITS) == [sample()]


@pytest.mark.parametrize(
    "figures",
    [
        {"steal_cpu_ms": 30, "steal_ms": 30, "other_pct": 90},
        {"steal_ms": 30},
        {"generator_waited_pct": 0.6},
        {"other_pct": 85},
        {"other": NOBODY, "other_pct": 0, "waited_pct": 4.0},
    ],
)
def test_disturbed(figures: dict[str, Any]) -> None:
    assert len(disturbances(sample(**figures), LIMITS)) == 1
    assert undisturbed([sample(**figures)], LIMITS) == []


@pytest.mark.parametrize(
    "figures",
    [
        {"steal_cpu_ms": 20, "steal_ms": 20, "other_pct": 90},
        {"waited_pct": 70},  # it shares its CPU: that is what is asked
        {"other_pct": 71, "kernel_pct": 20},  # softirqs put off to ksoftirqd are ours
        {"other": NOBODY, "other_pct": 0, "waited_pct": 4.0, "kernel_pct": 3.0},
        {"other": "duty:30", "other_pct": 0},
    ],
)
def test_not_disturbed(figures: dict[str, Any]) -> None:
    assert disturbances(sample(**figures), LIMITS) == []


def test_kept() -> None:
    assert kept(sample(p99_us=210), 210)
    assert not kept(sample(p99_us=210.1), 210)
    assert not kept(sample(lost=1), 210)
    assert kept(sample(p99_us=0, offered=0), 210)
    assert not kept(sample(lost=1, offered=0), 210)


# ---- knobs ----


def found(largest: int, knob: Knob) -> int | None:
    return tune(knob, lambda setting: setting <= largest)


@pytest.mark.parametrize("largest", [1, 7, 60, 99, 100, 137, 180])
def test_knob_finds_the_largest_within_its_grain(largest: int) -> None:
    knob = Knob(first=100, most=200, grain=2, tries=20)
    best = found(largest, knob)
    assert best is not None
    assert largest - 2 < best <= largest
    assert knob.next() is None


def test_knob_begins_with_the_first() -> None:
    assert Knob(100, 200, 5, 8).next() == 100


def test_knob_gives_up() -> None:
    knob = Knob(100, 200, 5, 3)
    assert found(120, knob) == 100
    assert [setting for setting, _ in knob.probes] == [100, 150, 125]


def test_no_setting_keeps_it() -> None:
    knob = Knob(100, 200, 5, 20)
    assert found(0, knob) is None
    assert knob.probes[-1][0] <= 10


def test_a_moment_of_others_is_asked_again() -> None:
    asked: list[int] = []

    def keeps(setting: int) -> bool:
        asked.append(setting)
        return setting <= 150 and asked.count(setting) > 1

    assert tune(Knob(100, 200, 60, 8), keeps) == 150
    assert asked == [100, 100, 150, 150]


# ---- ours beside a tuned peer ----


def trial(ours: Sample, untuned: Sample, tuned: Sample | None) -> Trial:
    return Trial("ovs", "10k", 1, ours, untuned, tuned, 100, 90 if tuned else 0)


def test_trial_against_the_tuned() -> None:
    ours, theirs = sample(cpu_pct=8, p99_us=105), sample(cpu_pct=9, p99_us=108)
    one = trial(ours, sample(cpu_pct=5, p99_us=300), theirs)
    assert one.tuned_keeps(110)
    assert one.peer_cpu_pct(110) == 9
    assert one.cheaper(110)
    assert not one.worse(110)
    assert trial(replace(ours, p99_us=111), theirs, theirs).worse(110)
    assert not trial(replace(ours, cpu_pct=9.1), theirs, theirs).cheaper(110)


@pytest.mark.parametrize("tuned", [None, sample(cpu_pct=3, p99_us=400)])
def test_trial_where_theirs_breaks_it(tuned: Sample | None) -> None:
    one = trial(sample(cpu_pct=6, p99_us=500), sample(cpu_pct=5, p99_us=400), tuned)
    assert one.peer_cpu_pct(110) == pytest.approx(6)
    assert one.cheaper(110)
    assert not one.worse(110)


def test_trial_comes_back_from_json() -> None:
    for tuned in (None, sample()):
        one = trial(sample(), sample(round=1), tuned)
        assert Trial.of(one.as_json()) == one


def test_trial_is_disturbed_by_any_window() -> None:
    bad = sample(generator_waited_pct=9)
    assert not trial(sample(), sample(), sample()).disturbed(LIMITS)
    assert trial(sample(), sample(), bad).disturbed(LIMITS)
    assert trial(sample(), bad, None).disturbed(LIMITS)


# ---- peers and classes ----


def test_a_build_without_classes() -> None:
    ordinary = peers.parse("lull-objective:sched-policy=other:nice=-20")
    started, nice = sharing.started_as(ordinary, False)
    assert (started.options, nice) == ({}, -20)
    assert sharing.started_as(ordinary, True)[0].options == {"sched-policy": "other"}
    with pytest.raises(BenchError):
        sharing.started_as(peers.parse("ovs-0+plugin:sched-policy=auto"), False)
    assert without_policy("ovs-0+plugin:sched-policy=auto") == "ovs-0+plugin"
    assert without_policy("lull-ramp:sched-policy=other:max-rest=9") == "lull-ramp:max-rest=9"


def test_class_as_the_kernel_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("machine.os.sched_getscheduler", lambda _tid: 0x40000001)
    assert machine.sched_class(1) == "fifo"
    peer = peers.parse("lull-objective:sched-policy=other")
    with pytest.raises(BenchError):
        sharing.check_class(peer, 1, timeout_s=0)
    sharing.check_class(replace(peer, options={}), 1)


# ---- report ----


@pytest.fixture
def report() -> Callable[..., Report]:
    known = "cpu cpus hypervisor kernel dpdk openvswitch commit date load"
    about = dict.fromkeys(known.split(), "x")
    settings = {
        "command": "share.py",
        "rounds": 2,
        "seconds": 2.0,
        "settle": 1.0,
        "minutes": 1.0,
        "cpu": 1,
        "other_cpu": 0,
        "max_latency_us": 200.0,
        "margin_us": 10.0,
        "limits": vars(LIMITS),
    }

    def make(samples: list[Sample], before: list[Sample] | None = None) -> Report:
        earlier = sharing.Result(about, settings, {}, before) if before else None
        return Report(sharing.Result(about, settings, {}, samples), "base", earlier)

    return make


def test_goals_count_only_undisturbed_windows(report: Callable[..., Report]) -> None:
    samples = [
        sample(),
        sample(round=2, p99_us=900, generator_waited_pct=5),
        sample(peer=ALONE, verdict=""),
    ]
    goals = report(samples).goals()
    assert [goal.partition(":")[0] for goal in goals] == ["yes"] * 3
    goals = report([*samples, sample(round=3, lost=1, other_pct=88, kernel_pct=3)]).goals()
    assert [goal.partition(":")[0] for goal in goals] == ["**no**"] * 3
    assert "1 of 2" in goals[0]


def test_goals_leave_out_what_is_not_ours(report: Callable[..., Report]) -> None:
    others = [
        sample(peer="lull-objective:sched-policy=other", p99_us=9000),
        sample(peer="ovs-200", verdict="", p99_us=9000),
    ]
    assert all("no window" in goal for goal in report(others).goals())


def test_table_has_medians_of_what_counts_and_what_was_before(
    report: Callable[..., Report],
) -> None:
    samples = [
        sample(peer="lull-objective:sched-policy=auto"),
        sample(peer="lull-objective:sched-policy=auto", round=2, cpu_pct=55, steal_ms=900),
        sample(peer="base", p99_us=410),
    ]
    made = report(samples, [sample(cpu_pct=44, p99_us=4000, other_pct=50, kernel_pct=5)])
    text = made.markdown()
    row = next(line for line in text.splitlines() if "=auto" in line and line.startswith("|"))
    words = [word.strip() for word in row.strip("|").split("|")]
    assert words[3] == "8.00"
    assert words[6] == "0.50"
    assert words[8] == "1/1"
    assert words[-4:] == ["1/2", "44.0", "4000", "50.0"]


def test_verdict_changes() -> None:
    assert still.changes(["a", "a", "b", "a"]) == 2
    assert still.changes(["a"]) == 0
