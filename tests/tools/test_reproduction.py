# SPDX-License-Identifier: BSD-3-Clause
"""lull reproduce sleep: verdicts come from tolerances, runs from the published set-up."""

import json
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from lull.cli import main
from lull.program.tree import Tree
from lull.reproduce import costs as reproduction_costs
from lull.reproduce import reproduction
from lull.reproduce import run as reproduction_run
from lull.reproduce import sleep as reproduction_sleep
from lull.reproduce.disturbance import Watch
from lull.reproduce.reproduction import (
    ASSUMED,
    NOT_REPRODUCED,
    NOT_TESTABLE,
    REPRODUCED,
    Claim,
    Curves,
    Judged,
    Observation,
    Rest,
    Scenario,
    Side,
    judge,
)
from lull.reproduce.run import Bench, BurstCost

HERE = Path(__file__).resolve().parent
pytestmark = pytest.mark.usefixtures("signals")


def seen(cpu: float, speed: float = 1e9, loss: float = 0.0) -> Observation:
    return Observation(send=Side(cpu_pct=cpu), receive=Side(cpu_pct=cpu, speed_bps=speed),
                       loss_ppm=loss)


FALLING = [(0.0, seen(90)), (50.0, seen(40, 0.995e9)), (100.0, seen(20, 0.9e9, 7.0))]


@pytest.mark.parametrize(("bounds", "verdict"), [
    ({"low": 20.0}, REPRODUCED), ({"low": 20.1}, NOT_REPRODUCED), ({"high": 20.0}, REPRODUCED),
    ({"high": 19.9}, NOT_REPRODUCED), ({"near": (25.0, 5.0)}, REPRODUCED),
    ({"near": (26.0, 5.0)}, NOT_REPRODUCED)])
def test_tolerance_decides(bounds: dict[str, float], verdict: str) -> None:
    claim = Claim[Curves](
        "", "", lambda curves: reproduction.value(curves["a"][-1][1], "send.cpu_pct"),
        **bounds)  # type: ignore[arg-type]
    judged = judge(claim, [{"a": FALLING}], "why")
    assert (judged.value, judged.verdict) == (20.0, verdict)
    assert judged.because == ("why" if verdict == NOT_REPRODUCED else "")
    assert judge(claim, [], "why").verdict == "not run"


def number(found: float, **more: Any) -> Claim[float]:
    return Claim[float]("it", "yes", lambda world: found * world, **more)


def test_every_seed_must_say_so() -> None:
    judged = judge(number(1, high=3.0), [1.0, 2.0, 9.0], "why")
    assert (judged.value, judged.low, judged.high, judged.runs) == (2, 1, 9, 3)
    assert (judged.verdict, judged.because) == (NOT_REPRODUCED, "in 2 of 3 runs only; why")
    assert judge(number(1, high=9.0), [1.0, 2.0, 9.0], "why").verdict == REPRODUCED
    nothing = Claim[float]("it", "yes", lambda world: world if world > 1 else None, high=9.0)
    assert judge(nothing, [1.0, 2.0], "").verdict == NOT_REPRODUCED


def test_seeds_that_differ_by_more_than_the_effect_tell_nothing() -> None:
    judged = judge(number(1, near=(4.0, 2.0)), [2.0, 3.0, 6.5], "why")
    assert (judged.verdict, judged.because) == (
        NOT_TESTABLE, "seeds differ by more than the effect")
    assert judge(number(1, near=(4.0, 2.0)), [2.0, 3.0, 5.9], "").verdict == REPRODUCED


def test_a_tolerance_as_large_as_the_effect_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a tolerance of 5 for -3\.4"):
        number(1, near=(-3.4, 5.0))
    assert reproduction.half(-3.4) == (-3.4, 1.7)


def test_what_gets_no_verdict() -> None:
    def both(claim: Claim[float], live: list[float] | None = None) -> tuple[Judged, Judged]:
        row = reproduction.row("Fig. 1", claim, [1.0], [1.0] if live is None else live, 2)
        return row.simulated, row.live

    simulated, live = both(number(7, low=1.0, assumed="told so", cpus=4))
    assert (simulated.value, simulated.verdict, simulated.because) == (7, ASSUMED, "told so")
    assert (live.value, live.verdict) == (None, NOT_TESTABLE)
    assert "want 4 CPUs, this machine has 2" in live.because
    simulated, live = both(number(7, low=1.0, no_sim="no NIC", no_live="no wire"))
    assert (simulated.verdict, simulated.because) == (NOT_TESTABLE, "no NIC")
    assert (live.verdict, live.because) == (NOT_TESTABLE, "no wire")
    simulated, _ = both(number(7, no_sim="another processor"))
    assert (simulated.value, simulated.verdict) == (7, NOT_TESTABLE)
    _, live = both(number(7, low=1.0), [])
    assert (live.verdict, live.because) == (NOT_TESTABLE, reproduction.DISTURBED)
    row = reproduction.row("Fig. 1", number(7, low=1.0, assumed="told so"), None, None, 2)
    assert (row.simulated.verdict, row.live.verdict) == ("not run", "not run")


def test_a_threshold_that_is_never_reached_differs() -> None:
    claim = Claim[Curves]("", "", lambda curves: reproduction.threshold(
        curves["a"], "receive.speed_bps", 0.5), low=1.0)
    assert judge(claim, [{"a": FALLING}], "why").verdict == NOT_REPRODUCED


def test_what_claims_measure() -> None:
    assert reproduction.threshold(FALLING, "receive.speed_bps", 0.99) == 50
    assert reproduction.threshold(FALLING, "receive.speed_bps", 0.999) == 0
    assert reproduction.change_pct(FALLING, "receive.speed_bps", 100) == pytest.approx(-10)
    assert reproduction.change_pct([(0.0, seen(1, 0))], "receive.speed_bps", 0) is None
    assert reproduction.fall_share(FALLING, "receive.cpu_pct") == 100
    assert reproduction.fall_share(FALLING, "loss_ppm") == 0
    assert reproduction.rise_share(FALLING, "loss_ppm") == 100
    assert reproduction.fall_share([(0.0, seen(90)), (1.0, seen(90))], "send.cpu_pct") == 0
    back = [(float(x), seen(cpu)) for x, cpu in enumerate((90, 40, 40.6, 45, 20))]
    assert reproduction.fall_share(back, "send.cpu_pct") == 75  # 0.7 of 70 may come back
    assert reproduction.lost_ppm(seen(1, 0)) is None
    dead: Curves = {"a": [(0.0, seen(1, 0))]}
    assert reproduction.moving(lambda _: 1.0, "a")(dead) is None
    assert reproduction.moving(lambda _: 1.0, "a")({"a": FALLING}) == 1
    assert reproduction.value(FALLING[2][1], "loss_ppm") == 7


def test_every_figure_and_table_is_there() -> None:
    names = [figure.name for figure in reproduction_sleep.figures()] + [reproduction_costs.NAME]
    numbers = {int(word) for name in names for word in re.findall(r"Fig\. (\d+)", name)}
    assert numbers == {2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 17, 18, 19, 20}
    assert {int(word) for name in names for word in re.findall(r"Table (\d+)", name)} == {1, 2, 4}
    for figure in reproduction_sleep.figures():
        for claim in figure.claims:
            assert claim.text
            assert claim.published
            assert claim.tolerance or (claim.no_sim and claim.no_live)


def test_simulated_set_up() -> None:
    bench = Bench()
    words = " ".join(reproduction_run.sim_arguments(
        Scenario(256, Rest("usleep", 100), Rest("usleep", 0)), bench))
    for part in ("--machine paper", "--link 1G", "--ring 1024", "--burst 64",
                 "--path send-receive", "--traffic constant:452899", "--traffic-size 256",
                 "--send-governor fixed:100us", "--governor yield", "--public-ring 64"):
        assert part in words
    assert "--warmup" not in words
    words = " ".join(reproduction_run.sim_arguments(Scenario(0, receive=Rest("block", 9)), bench))
    assert "--traffic off" in words
    assert "--governor spin" in words
    assert "send-receive" not in words
    words = " ".join(reproduction_run.sim_arguments(
        Scenario(1280, Rest("kalman"), Rest("usleep", 0), 5), bench))
    assert "--kalman-step 5us" in words
    assert "--warmup 2s" in words


def test_every_run_is_repeated_with_other_seeds() -> None:
    figures = [figure for figure in reproduction_sleep.figures() if figure.name == "Fig. 20-22"]
    plan = reproduction_run.sim_plan(figures, Bench(seed=7, rounds=3))
    assert len(plan) == 5 * 4 * 3
    assert len(reproduction_run.live_plan(figures, Bench())) == 5 * 4
    seeds = [arguments[list(arguments).index("--seed") + 1] for _, arguments in plan]
    assert set(seeds) == {"7", "8", "9"}
    assert reproduction.middle([seen(1, 5), seen(9, 1), seen(2, 3)]) == seen(2, 3)
    assert Bench().rounds >= 8
    worlds: list[Curves] = [{"a": [(4.0, seen(cpu))]} for cpu in (1, 9, 2)]
    assert reproduction.middle_curves(worlds) == {"a": [(4.0, seen(2))]}
    assert reproduction.middle_curves([]) is None


def test_live_set_up() -> None:
    words = " ".join(reproduction_run.live_arguments(
        Scenario(0, receive=Rest("block", 9)), Bench(live_ms=70)))
    for part in ("--rate 1 ", "--send-rest none", "--receive-rest block:9us", "--link 1G",
                 "--ring 1024", "--burst 64", "--duration 70ms"):
        assert part in words


def test_burst_costs() -> None:
    flat = [BurstCost(burst=burst, size=size, rx_ns=burst, tx_ns=burst)
            for size in (64, 1500) for burst in (1, 128)]
    assert [row.live.verdict for row in reproduction_costs.rows([], flat)] == [REPRODUCED] * 2
    assert [row.simulated.verdict for row in reproduction_costs.rows(flat, [])] == [ASSUMED] * 2
    steep = [cost.model_copy(update={"rx_ns": cost.burst * cost.size}) for cost in flat]
    assert [row.live.verdict for row in reproduction_costs.rows([], steep)] == [
        REPRODUCED, NOT_REPRODUCED]
    assert [row.live.verdict for row in reproduction_costs.rows([], [])] == ["not run"] * 2


def proc_stat(tree: Path, busy: int, stolen: int, idle: int) -> Path:
    (tree / "proc").mkdir(parents=True, exist_ok=True)
    (tree / "proc/stat").write_text(f"cpu 9 0 0 9\ncpu0 {busy} 0 0 {idle} 0 0 0 {stolen} 0 0\n")
    return tree


@pytest.mark.parametrize(("busy", "stolen", "disturbed"), [(0, 0, False), (1, 0, False),
                                                           (3, 0, True), (0, 3, True)])
def test_a_round_that_others_disturbed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, busy: int,
                                       stolen: int, disturbed: bool) -> None:
    """Of 100 ticks, 40 were ours: they do not count."""
    class Times:
        user, system, children_user, children_system = 0.1, 0.0, 0.3, 0.0

    monkeypatch.setattr("os.times", lambda: Times)
    with Watch(Tree(proc_stat(tmp_path, 100, 0, 100))) as watch:
        Times.children_user = 0.7
        proc_stat(tmp_path, 140 + busy, stolen, 160 - busy - stolen)
    assert watch.disturbed() == disturbed


def test_disturbed_rounds_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fake:
        rounds = 0

        def one(self, _: object) -> str:
            Fake.rounds += 1
            side = {"cpu_pct": Fake.rounds}
            return json.dumps({"sender": side, "receiver": side})

    disturbed = iter([True, False, True, True, True])
    monkeypatch.setattr(Watch, "disturbed", lambda _: next(disturbed))
    plan: reproduction_run.Plan = [(Scenario(1), []), (Scenario(2), [])]
    found = reproduction_run.measure(Fake(), plan, 3, lambda: None)  # type: ignore[arg-type]
    assert [one.send.cpu_pct for one in found[Scenario(1)]] == [2]
    assert (found[Scenario(2)], Fake.rounds) == ([], 5)


# ---- the command ----


@pytest.fixture
def model(simulator: Path) -> Path:
    program = simulator.parent / "build" / "apps" / "lull-model" / "lull-model"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nPYTHONPATH={HERE}:{HERE.parents[1] / "python"} exec '
                       f'{sys.executable} {HERE / "fake_framework.py"} "$@"\n')
    program.chmod(0o755)
    return simulator


def test_page(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["reproduce", "sleep", "--figures", "2,6,17,19,21", "--out", str(out)]) == 0
    assert "--burst-cost" in model.read_text()
    text = capsys.readouterr().out
    assert "not testable here" in text
    assert "Fig. 8" not in text
    page = (out / "reproduce.html").read_text()
    root = ET.fromstring(page.removeprefix("<!DOCTYPE html>").strip())  # noqa: S314 - our own
    assert len(list(root.iter("h2"))) == 6
    text = " ".join("".join(root.itertext()).split())
    for words in ("above 95", "reproduced", "not reproduced because",
                  "assumed: a delay that spins", "These rows: lull reproduce sleep --figures 4,19",
                  "Table 4, Fig. 19"):
        assert words in text
    data = json.loads((out / "reproduce.json").read_text())
    assert [one["name"] for one in data["figures"]] == [
        "Fig. 2", "Fig. 6", "Table 2", "Fig. 17", "Table 4, Fig. 19", "Fig. 20-22"]
    assert data["simulated"]["reproduced"] > 0
    assert data["simulated"]["assumed"] > 0
    assert data["live"]["reproduced"] > 0
    # The search of Table 4 is counted in the simulator only.
    assert data["figures"][4]["live"] == {}
    assert {path.name for path in out.glob("*.png")} == {
        "fig-2.png", "fig-6.png", "table-2.png", "table-4-fig-19.png", "fig-20-22.png"}


def test_without_this_machine(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["reproduce", "sleep", "--no-live", "--figures", "4", "--out", str(out)]) == 0
    assert "--receive-rest" not in model.read_text()
    data = json.loads((out / "reproduce.json").read_text())
    assert data["live"] is None
    assert {row["live"]["verdict"] for row in data["figures"][0]["rows"]} == {"not run"}


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(("arguments", "words"), [
    (["--no-live", "--no-sim"], "leave nothing to run"), (["--figures", "5"], "the figures are")])
def test_refusals(arguments: list[str], words: str, tmp_path: Path,
                  capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "sleep", *arguments, "--out", str(tmp_path)]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.usefixtures("model")
def test_a_broken_lull_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                             capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("LULL_FAKE", "babble")
    assert main(["reproduce", "sleep", "--no-sim", "--figures", "4", "--out", str(tmp_path)]) == 1
    assert "lull-model: reply not understood" in capsys.readouterr().err
