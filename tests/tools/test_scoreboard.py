# SPDX-License-Identifier: BSD-3-Clause
"""lull scoreboard: which runs it takes, how it judges them, and that it goes on where it was."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from lull.cli import main
from lull.errors import LullError
from lull.sim import request as sim_request
from lull.sim import scoreboard_cells, scoreboard_objective
from lull.sim.reply import Latency, SimReply, SimRun, SweepPoint, Verdict
from lull.sim.scoreboard import Score, scores, statements, summary
from lull.sim.scoreboard_cells import Cell, Job, Setup, Traffic

SETUP = Setup("guest", 20e6, "1", "64", "", "2us-1ms,8")
CELL = Cell(Traffic("poisson", 10, "10G"), 100)
IDLE = Cell(Traffic("poisson", 0, "10G"), 100)
pytestmark = pytest.mark.usefixtures("signals")


def test_cells() -> None:
    assert len(scoreboard_cells.every()) == 400
    assert len(scoreboard_cells.choose(["poisson", "10G,25G", "50%"])) == 8
    assert len(scoreboard_cells.choose(scoreboard_cells.QUICK)) == 12
    with pytest.raises(LullError, match="--cells: 40G: choose from constant poisson"):
        scoreboard_cells.choose(["40G"])


def test_runs_are_made_once() -> None:
    cells = scoreboard_cells.choose(["poisson,onoff", "10G", "0%,1%"])
    jobs = scoreboard_cells.jobs(cells, SETUP)
    # Load 0 is the same for every kind: 3 traffics, each with a free run and one of spin under
    # bursts, and 2 per objective without and with bursts.
    assert len(jobs) == len(set(jobs)) == 3 * (2 + 2 * 2 * 4)
    assert ["--sweep-rest" in job.arguments for job in jobs] == [True] * 3 + [False] * 51
    keys = {job.key("a") for job in jobs} | {job.key("b") for job in jobs}
    assert len(keys) == 2 * len(jobs)


def replies(drowns: str = "", sweep_lost: int = 0, stress_lost: int = 0,
            **changes: SimRun) -> Callable[[Job], SimReply]:
    """Good figures for every governor, but for those given; one may lose packets under bursts."""
    def run(governor: str, job: Job) -> SimRun:
        name = governor.partition(":")[0]
        count = 0 if "off" in job.arguments else 1000
        good = SimRun(
            governor=name, cpu_pct=100 if name == "spin" else 30, offered=count,
            added_ns=Latency(count=count, p99=0 if name == "spin" else 90_000),
            verdict=Verdict(state="feasible" if name == "objective" else "none"),
            feasible_pct=100.0 * (name == "objective"))
        found = changes.get(name, good)
        more = 5 if name == drowns else stress_lost
        if more and "--line-bursts" in job.arguments:
            return found.model_copy(update={"lost": more})
        return found

    def find(job: Job) -> SimReply:
        names = job.arguments[job.arguments.index("--governor") + 1].split(",")
        points = [SweepPoint(rest_ns=rest * 1e3, cpu_pct=1600 / (rest + 16),
                             lost=int(rest > 300) + sweep_lost,
                             added_p99_ns=0 if "off" in job.arguments else rest * 1100)
                  for rest in (10, 40, 80, 120, 400)]
        return SimReply(runs=[run(name, job) for name in names],
                        sweep=points if "--sweep-rest" in job.arguments else [])

    return find


def judged(cell: Cell = CELL, drowns: str = "", sweep_lost: int = 0, stress_lost: int = 0,
           **changes: SimRun) -> Score:
    return scores([cell], SETUP, replies(drowns, sweep_lost, stress_lost, **changes))[0]


def holds(score: Score) -> list[bool]:
    return [one.holds for one in statements([score])]


def test_summary_ends_with_the_oracle() -> None:
    lines = [line.split() for line in summary([judged()])]
    assert lines[1:][0][1:] == ["1", "0", "30.0"]
    assert ["spin", "1", "0", "100.0"] in lines
    assert lines[-1] == ["(oracle)", "16.7"]


def test_a_good_cell() -> None:
    score = judged()
    assert score.oracle.rest_us == 80
    assert round(score.oracle.cpu_pct, 1) == 16.7
    assert score.above() == pytest.approx(30 - 1600 / 96)
    assert score.feasible()
    assert holds(score) == [True, True, True, False, True, True]
    assert {entry.governor for entry in score.entries} == {
        "spin", "yield", "fixed", "objective", "kalman-guarded", "ramp", "halve", "drain",
        "kalman", "metronome"}


def objective(**changes: object) -> SimRun:
    return SimRun.model_validate({
        "governor": "objective", "cpu_pct": 18.0, "feasible_pct": 100.0,
        "added_ns": {"count": 1000, "p99": 99_000}, "verdict": {"state": "feasible"}, **changes})


def test_what_breaks_a_cell() -> None:
    assert holds(judged(objective=objective())) == [True, True, True, True, True, True]
    lossy = judged(objective=objective(lost=3))
    assert holds(lossy) == [False, False, True, True, True, True]
    assert "lost 3 (spin 0)" in statements([lossy])[0].exceptions[0]
    spin = SimRun(governor="spin", cpu_pct=100, lost=3)
    assert judged(objective=objective(lost=3), spin=spin).entry().kept
    late = judged(objective=objective(added_ns={"count": 9, "p99": 100_001}))
    assert holds(late)[0] is False
    silent = judged(objective=objective(
        feasible_pct=10.0, verdict={"state": "calibrating"},
        added_ns={"count": 9, "p99": 100_001}))
    assert holds(silent) == [True, True, False, True, True, False]
    honest = judged(objective=objective(feasible_pct=10.0, verdict={"state": "infeasible"},
                                        cpu_pct=99.0, added_ns={"count": 9, "p99": 1}))
    assert holds(honest) == [True, True, True, True, False, False]
    drowned = judged(objective=objective(), drowns="objective")
    assert holds(drowned) == [True, False, True, True, True, True]


def test_rivals_count_where_they_keep_it() -> None:
    ramp = SimRun(governor="ramp", cpu_pct=10, added_ns=Latency(count=9, p99=50_000))
    score = judged(objective=objective(), ramp=ramp)
    assert [entry.governor for entry in score.rivals()] == ["ramp"]
    assert statements([score])[4].exceptions == [
        "poisson 10 % 10G 100 us: objective 18.0 % CPU, ramp 10.0 %"]
    late = ramp.model_copy(update={"added_ns": Latency(count=9, p99=150_000)})
    assert judged(objective=objective(), ramp=late).rivals() == []
    assert judged(objective=objective(), ramp=ramp, drowns="ramp").rivals() == []
    tie = ramp.model_copy(update={"cpu_pct": 17.95})
    assert judged(objective=objective(), ramp=tie).rivals() == []


def test_without_packets_a_sleep_must_keep_it_when_a_few_come() -> None:
    score = judged(IDLE)
    assert score.packets == 0
    assert score.oracle.rest_us == 80
    assert all(entry.kept for entry in score.entries)
    long = SimRun(governor="ramp", cpu_pct=1, rest_mean_ns=117_000)
    assert judged(IDLE, ramp=long).rivals() == []
    short = long.model_copy(update={"rest_mean_ns": 99_000})
    assert [entry.governor for entry in judged(IDLE, ramp=short).rivals()] == ["ramp"]


def test_polling_is_the_oracle_where_no_sleep_keeps_it() -> None:
    score = judged(Cell(CELL.traffic, 5))
    assert (score.oracle.rest_us, score.oracle.cpu_pct) == (0, 100)


# ---- machines that take the core away ----

LATE_SPIN = SimRun(governor="spin", cpu_pct=50, waited_pct=50, offered=1000,
                   added_ns=Latency(count=1000, p99=3_600_000))
LOSSY_SPIN = SimRun(governor="spin", cpu_pct=99, stolen_pct=0.5, offered=1000, lost=10,
                    added_ns=Latency(count=1000, p99=1_000))


def test_where_only_spin_breaks_it_the_cell_counts() -> None:
    score = judged(objective=objective(), spin=LATE_SPIN)
    assert (score.spin_breaks, score.nobody_keeps) == (True, False)
    assert score.oracle.rest_us == 80
    assert holds(score) == [True] * 8
    assert "in 1 of 1 cells spin does not keep the objective either. In 1 of them a fixed" in (
        statements([score])[6].text)
    late = judged(objective=objective(added_ns={"count": 9, "p99": 100_001}), spin=LATE_SPIN)
    assert holds(late)[0] is False
    # A quiet machine has nothing to do with it, however late or lossy spin is.
    calm = LATE_SPIN.model_copy(update={"waited_pct": 0.0})
    assert not judged(objective=objective(), spin=calm).spin_breaks
    assert len(holds(judged(objective=objective(), spin=calm))) == 6


def test_where_nobody_keeps_it_cpu_and_loss_count() -> None:
    def nobody(**changes: object) -> Score:
        return judged(objective=objective(**changes), spin=LOSSY_SPIN, sweep_lost=11,
                      ramp=SimRun(governor="ramp", cpu_pct=12, lost=12))

    good = nobody(lost=20, feasible_pct=0.0, verdict={"state": "infeasible"}, cpu_pct=17.0)
    assert (good.spin_breaks, good.nobody_keeps, good.oracle.rest_us) == (True, True, 0)
    assert good.sleep_pct == pytest.approx(1600 / 96)
    assert good.allowed_pct() == pytest.approx(1600 / 96 + 1)
    assert holds(good) == [True] * 8
    dear = nobody(lost=20, feasible_pct=0.0, cpu_pct=17.8)
    assert holds(dear) == [True] * 6 + [False, True]
    assert statements([dear])[6].exceptions == [
        "poisson 10 % 10G 100 us: 17.8 % CPU, 17.7 % allowed; lost 20 (spin 10)"]
    lossy = nobody(lost=21, feasible_pct=0.0, cpu_pct=17.0)
    assert holds(lossy) == [True] * 6 + [False, True]
    false = nobody(lost=20, cpu_pct=17.0)
    assert holds(false) == [True] * 7 + [False]
    assert "lost 20 (spin 10), promised 100 %" in statements([false])[7].exceptions[0]


def test_ramp_is_the_measure_where_it_takes_more_than_a_sleep() -> None:
    def beside(ramp: SimRun) -> Score:
        return judged(objective=objective(lost=20, cpu_pct=25.0), spin=LOSSY_SPIN, sweep_lost=11,
                      ramp=ramp)

    ramp = SimRun(governor="ramp", cpu_pct=25, lost=20)
    assert beside(ramp).excused()
    assert not beside(ramp.model_copy(update={"lost": 21})).excused()


def test_bursts_that_a_stall_spoils_for_spin_too() -> None:
    spin = LOSSY_SPIN.model_copy(update={"lost": 0})
    assert judged(objective=objective(), spin=spin, drowns="objective",
                  stress_lost=3).entry().survives
    assert not judged(objective=objective(), spin=spin, drowns="objective",
                      stress_lost=2).entry().survives
    calm = spin.model_copy(update={"stolen_pct": 0.0})
    assert not judged(objective=objective(), spin=calm, drowns="objective",
                      stress_lost=3).entry().survives


def test_summary_tells_what_another_program_got() -> None:
    run = objective(competitor_pct=80.0, competitor_share_pct=97.5)
    lines = summary([judged(objective=run)])
    assert "other got" in lines[0]
    assert next(line for line in lines if line.startswith("objective ")).endswith(" 97.5")
    assert "other got" not in summary([judged()])[0]


def test_runs_last_until_enough_stalls_have_come() -> None:
    assert scoreboard_cells.duration(0) == ""
    assert scoreboard_cells.duration(300e6) == "3600ms"
    assert sim_request.stall_ns('{"stall": {"every_ns": 300000000}}') == 300e6
    assert sim_request.stall_ns("{}") == 0


# ---- the command ----


def runs(log: Path) -> int:
    return sum("describe" not in line for line in log.read_text().splitlines())


def test_goes_on_where_it_was(simulator: Path, tmp_path: Path,
                              capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    arguments = ["scoreboard", "--cells", "poisson,10G,10%", "--sweep-rest", "10us-400us,6",
                 "--out", str(out), "--ring", "4096"]
    assert main([*arguments, "--cells", "100us"]) == 0
    assert runs(simulator) == 6
    assert simulator.read_text().count("--ring 4096") == 6
    store = out / "cells.jsonl"
    assert len(store.read_text().splitlines()) == 6
    store.write_text(store.read_text()[:-40])  # torn by an interruption
    assert main(arguments) == 0
    assert runs(simulator) == 6 + 1 + 12
    assert main(arguments) == 0
    assert runs(simulator) == 19
    text = " ".join(capsys.readouterr().out.split())
    assert "in 3 of 3 cells with a feasible verdict" in text


def test_objective_only(simulator: Path, tmp_path: Path,
                        capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    arguments = ["scoreboard", "--cells", "poisson,10G,0%,100us", "--out", str(out),
                 "--objective-only"]
    assert main(arguments) == 0
    # with load 0, and with 1 % that can tell: objective and polling, with bursts and without
    assert runs(simulator) == 5
    assert simulator.read_text().count("--line-bursts") == 2
    assert "kalman" not in simulator.read_text()
    assert "promised in 1 of 1 cells, kept in 1 of these; mean CPU" in capsys.readouterr().out
    found = json.loads((out / "objective.json").read_text())
    assert [one["kept"] for one in found] == [True]
    assert not (out / "scoreboard.html").exists()


def test_objective_only__says_what_was_broken() -> None:
    cells = scoreboard_cells.choose(["poisson", "10G", "10%", "100us,200us"])

    def find(job: Job) -> SimReply:
        late_ns = 150e3 if "--line-bursts" not in job.arguments else 0
        lost = 3 if "objective" in job.arguments and "--line-bursts" in job.arguments else 0
        runs_ = [{"governor": "objective" if "objective" in job.arguments else "spin",
                  "feasible_pct": 100, "cpu_pct": 20, "lost": lost,
                  "added_ns": {"count": 9, "p99": late_ns}}]
        return SimReply.model_validate({"runs": runs_})

    found = scoreboard_objective.promises(cells, SETUP, find)
    assert [(one.p99_us, one.lost_bursts, one.kept) for one in found] == [(150, 3, False)] * 2
    lines = scoreboard_objective.summary(found)
    assert lines[0] == "promised in 2 of 2 cells, kept in 0 of these; mean CPU 20.0 %"
    assert "100 us: p99 150.0 us, lost 0, with bursts as large as the ring 3" in lines[1]


def test_worlds(simulator: Path, tmp_path: Path) -> None:
    arguments = ["scoreboard", "--cells", "poisson,10G,10%,100us", "--sweep-rest", "10us-400us,6"]
    for count, (name, options) in enumerate(scoreboard_cells.WORLDS.items()):
        out = tmp_path / name
        assert main([*arguments, "--world", name, "--out", str(out)]) == 0
        assert runs(simulator) == 6 * (count + 1)
        assert not options or simulator.read_text().count(" ".join(options)) == 6
    assert f"--world {name}" in (out / "scoreboard.html").read_text()
    assert main([*arguments, "--world", "vacuum", "--out", str(tmp_path)]) == 2


def test_page(simulator: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["scoreboard", "--quick", "--sweep-rest", "10us-400us,6", "--out", str(out)]) == 0
    assert runs(simulator) > 0
    page = (out / "scoreboard.html").read_text()
    root = ET.fromstring(page.removeprefix("<!DOCTYPE html>").strip())  # noqa: S314 - our own
    tables = list(root.iter("tbody"))
    assert [len(list(table)) for table in tables] == [10, 12, 120]
    assert "https://" not in page
    assert (out / "scoreboard.png").read_bytes().startswith(b"\x89PNG")
    data = json.loads((out / "scoreboard.json").read_text())
    assert len(data["cells"]) == 12
    assert len(data["statements"]) == 6


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scoreboard", "--cells", "40G", "--out", str(tmp_path)]) == 2
    assert "--cells: 40G: choose from" in capsys.readouterr().err
