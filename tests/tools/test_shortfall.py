# SPDX-License-Identifier: BSD-3-Clause
"""Was the objective kept, and if not, why: on samples that real demos have recorded.

Recorded on two CPUs that others used too: "fifo" with class SCHED_FIFO for the loop, "ordinary"
without.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from lull.demo.judgement import advice, closing, headline, shortfalls
from lull.demo.result import Result, Run, Sample, summarise
from lull.demo.settings import Settings, choose_phases
from lull.demo.shortfall import shortfall
from lull.program.machine import Machine, realtime
from lull.program.tree import Tree
from machine_tree import write

RECORDED = json.loads((Path(__file__).resolve().parent / "recorded_samples.json").read_text())
CAP_SYS_NICE = 1 << 23


def recorded(name: str, **more: Any) -> Result:
    samples = [Sample(**one | more) for one in RECORDED[name]]
    settings = Settings(rounds=1, phases=choose_phases(["mid", "shared"]), governors=tuple(
        dict.fromkeys(one.governor for one in samples)))
    return Result(machine=Machine(), settings=settings, samples=samples,
                  runs=summarise(samples, settings))


def run(result: Result, governor: str, phase: str) -> Run:
    found = result.run(governor, phase)
    assert found is not None
    return found


def changed(result: Result, one: Run, **more: Any) -> tuple[Result, Run]:
    other = one.model_copy(update=more)
    return result.model_copy(update={
        "runs": [other if run is one else run for run in result.runs]}), other


def test_kept() -> None:
    result = recorded("fifo")
    one = run(result, "objective", "shared")
    assert one.p99_us == pytest.approx(190, abs=1)
    assert one.lost == 0
    assert one.kept
    assert one.rounds_kept == 1
    assert shortfall(result, one) == ""
    assert closing(result) == (
        "governor objective kept the objective in 1 of 2 phases; ramp in 2 of 2")
    assert headline(result).endswith(
        "Another program on the same CPU got 89.0 % of that CPU.")


def test_a_little_late_is_late() -> None:
    """What the table rounds, and what is the generator's own, is not forgiven."""
    result = recorded("fifo")
    one = run(result, "objective", "mid")
    assert one.p99_us == pytest.approx(215, abs=1)
    assert not one.kept
    (missed, why), = shortfalls(result)
    assert missed is one
    assert why.startswith("p99 is 215 µs, 15 µs above the objective. Possible causes: the "
                          "generator polled for ")
    assert not result.kept(changed(result, one, p99_us=200.01)[1])
    assert result.kept(changed(result, one, p99_us=200.0)[1])


def test_reasons_of_the_ordinary_class() -> None:
    result = recorded("ordinary", sched_class="other")
    assert closing(result) == (
        "governor objective kept the objective in 0 of 2 phases; spin in 0 of 2")
    whys = {run.phase: why for run, why in shortfalls(result)}
    assert set(whys) == {"mid", "shared"}
    one = run(result, "objective", "shared")
    assert one.run_wait_pct > 1
    assert "the loop was ready and waited for its CPU " in whys["shared"]
    assert " % of the time, in the ordinary class" in whys["shared"]
    assert "the host took the CPUs for 20 ms" in whys["shared"]
    assert "other programs used the CPUs " in whys["shared"]
    assert f"verdict of the governor: {one.verdict_text}" in whys["shared"]
    # Polling fared as badly there, and so did the generator.
    assert "p99 of spin, which never rests, is 28 ms" in whys["shared"]
    assert "the generator polled for packets only every " in whys["shared"]


def test_loss_is_not_kept_either() -> None:
    result = recorded("fifo")
    one = run(result, "objective", "shared")
    result, lossy = changed(result, one, lost=12, no_buffer=4)
    assert not result.kept(lossy)
    assert shortfall(result, lossy).startswith("12 of 57.8k packets were lost. Possible causes: ")
    assert "4 packets were never sent, for lack of buffers" in shortfall(result, lossy)
    tolerant = result.model_copy(update={
        "settings": result.settings.model_copy(update={"loss": "tolerate"})})
    assert tolerant.kept(lossy)
    result, silent = changed(result, lossy, received=0, p99_us=0.0)
    assert not result.kept(silent)
    assert "no packet came back" in shortfall(result, silent)


def test_nothing_explains_it() -> None:
    result = recorded("fifo")
    one = run(result, "objective", "shared")
    result, late = changed(result, one, p99_us=300.0, run_wait_pct=0.0, waited_pct=0.0,
                           steal_ms=0.0, verdict="none", verdict_text="", sink_gap_us=1.0)
    assert shortfall(result, late) == (
        "p99 is 300 µs, 100 µs above the objective. Possible causes: the measurements show none")


def test_advice_is_for_who_lacks_the_right() -> None:
    ordinary = recorded("ordinary", sched_class="other")

    def on(allowed: bool | None, result: Result = ordinary, policy: str = "") -> str:
        return advice(result.model_copy(update={
            "machine": Machine(realtime=allowed),
            "settings": result.settings.model_copy(update={"sched_policy": policy})}))

    assert "CAP_SYS_NICE, or an rtprio limit of 10 (limits.conf, or LimitRTPRIO=10" in on(False)
    assert "\n" not in on(False)
    assert on(False, policy="fifo") == on(False)
    assert on(True) == on(None) == on(False, policy="other") == ""
    # A program that knows no classes would not use the right.
    assert on(False, recorded("ordinary")) == ""


@pytest.mark.parametrize(("capabilities", "limit", "right"), [
    (0, "0", False), (CAP_SYS_NICE, "0", True), (CAP_SYS_NICE - 1, "0", False), (0, "1", False),
    (0, "2", True), (0, "unlimited", True)])
def test_right_to_a_class(tmp_path: Path, capabilities: int, limit: str, right: bool) -> None:
    write(tmp_path, {
        "proc/self/status": f"Name:\tlull\nCapPrm:\t0\nCapEff:\t{capabilities:016x}\nCapBnd:\tff",
        "proc/self/limits": "Max nice priority         0                    0\n"
                            f"Max realtime priority     {limit:<20} {limit:<20}"})
    assert realtime(Tree(tmp_path)) is right
    assert realtime(Tree(tmp_path / "none")) is None
