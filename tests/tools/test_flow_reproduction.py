# SPDX-License-Identifier: BSD-3-Clause
"""lull reproduce dispatch: what is run, what claims measure, what is not measured, the page."""

import json
import re
import struct
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from lull.cli import main
from lull.flow import capture as flow_capture
from lull.reproduce import dispatch as reproduction_dispatch
from lull.reproduce import dispatch_run as reproduction_dispatch_run
from lull.reproduce.dispatch import CRC32, HRW, MIXED, ONE, PAPER, RR, SCHEDULERS, TWO, Shown
from lull.reproduce.dispatch_run import QUICK, DispatchBench
from lull.reproduce.reproduction import NOT_REPRODUCED, REPRODUCED
from lull.sim.flow_reply import FlowDispatch, FlowRun, FlowWorker

HERE = Path(__file__).resolve().parent
PROGRAMS = {"lull-flow-sim": "apps/lull-flow-sim", "lull-flow": "apps/lull-flow",
            "dispatch-cost": "bench/dispatch"}
pytestmark = pytest.mark.usefixtures("signals")


def runs(*losses_ppm: float) -> list[FlowRun]:
    """At loads of 0.1, 0.2 and so on."""
    return [FlowRun(scheduler="x", load=round(0.1 * (index + 1), 3), offered=1000,
                    lost=round(loss / 1000), loss_ppm=loss,
                    worker=[FlowWorker(packets=pkts) for pkts in (50, 30, 10, 10)])
            for index, loss in enumerate(losses_ppm)]


# ---- what claims measure ----


def test_carried() -> None:
    assert reproduction_dispatch.carried(runs(0, 0, 50, 0)) == 0.2  # lucky later does not count
    assert reproduction_dispatch.carried(runs(0, 0, 50, 101), 100) == 0.3
    assert reproduction_dispatch.carried(runs(1)) == 0


def test_gain() -> None:
    known = {(traffic, PAPER): runs(0, 0, 0, 0) for traffic in MIXED}
    known |= {(traffic, HRW): runs(0, 0, 9000, 9000) for traffic in MIXED}
    assert reproduction_dispatch.gain_pct(Shown(known), PAPER, HRW) == pytest.approx(100)
    known["uniform", HRW] = runs(1)
    assert reproduction_dispatch.gain_pct(Shown(known), PAPER, HRW) is None


def test_losses_at_an_eighth_of_what_the_published_one_carries() -> None:
    known = {(ONE, PAPER): runs(0, 0, 0, 1000), (ONE, HRW): runs(0, 5000, 500_000, 600_000),
             (TWO, HRW): runs(0, 0, 200_000, 600_000)}
    known[ONE, CRC32] = [run.model_copy(update={"load": run.load / 10})
                         for run in runs(0, 200_000, 1000, 500_000)]
    # 0.3 is carried, so 0.0375 is asked for: 0.03 is the nearest tried below.
    assert reproduction_dispatch.eighth_loss_pct(Shown(known), ONE, CRC32) == pytest.approx(0.1)
    assert reproduction_dispatch.eighth_loss_pct(Shown(known), ONE, HRW) is None
    assert reproduction_dispatch.span(Shown(known), ONE) == pytest.approx(3)
    assert reproduction_dispatch.mbps(Shown(known), ONE, 0.3) == pytest.approx(2400)
    assert reproduction_dispatch.mbps(Shown(known), ONE, 0.0375) == pytest.approx(300)
    assert reproduction_dispatch.relief_pct(Shown(known)) == 30
    assert reproduction_dispatch.reach(Shown(known), ONE, PAPER) == pytest.approx(3)
    known[ONE, PAPER] = runs(1, 1, 1, 1)
    assert reproduction_dispatch.mbps(Shown(known), ONE, 0.3) is None
    assert reproduction_dispatch.eighth_loss_pct(Shown(known), ONE, CRC32) is None
    assert reproduction_dispatch.relief_pct(Shown(known)) is None


def test_uneven() -> None:
    assert reproduction_dispatch.uneven_pct(
        Shown({("uniform", HRW): runs(0, 0, 5000)}), HRW) == pytest.approx(100)
    assert reproduction_dispatch.uneven_pct(Shown(shares={HRW: [5, 5, 5, 5]}), HRW) == 0


@pytest.mark.parametrize(("odds", "step"), [((10, 20, 25), 5), ((30, 20, 40), -10)])
def test_odds(odds: tuple[float, ...], step: float) -> None:
    known = {threshold: runs(0)[0].model_copy(update={"watched_lost_pct": one})
             for threshold, one in zip((25, 50, 75), odds, strict=True)}
    assert reproduction_dispatch.odds_rise(Shown(odds=known)) == step


@pytest.mark.parametrize(("relieved", "ratio"), [((4, 2, 1), 2), ((4, 4, 1), 1), ((4, 2, 0), 0)])
def test_adjustments(relieved: tuple[int, ...], ratio: float) -> None:
    known = {threshold: runs(0)[0].model_copy(update={"dispatch": FlowDispatch(relieved=one)})
             for threshold, one in zip((25, 50, 75), relieved, strict=True)}
    assert reproduction_dispatch.adjustments_rise(Shown(odds=known)) == ratio


def test_round_robin_at_both_limits() -> None:
    known = {(traffic, RR): runs(0, 50, 0, 500) for traffic in MIXED}
    assert reproduction_dispatch.limits_apart_pct(Shown(known)) == pytest.approx(200)
    known["uniform", RR] = runs(1)
    assert reproduction_dispatch.limits_apart_pct(Shown(known)) is None


def test_everything_the_text_states_has_a_tolerance_or_cannot_be_compared() -> None:
    figures = reproduction_dispatch.figures()
    assert [figure.name for figure in figures] == ["Table 1", *(f"Fig. {n}" for n in range(2, 7))]
    for figure in figures:
        for claim in figure.claims:
            assert claim.text
            assert claim.published
            judged = claim.bounds() != (None, None)
            assert bool(claim.tolerance) == judged
            assert judged or (claim.no_sim and claim.no_live)


# ---- what is run ----


def test_plan() -> None:
    jobs = reproduction_dispatch_run.plan(reproduction_dispatch.figures(), DispatchBench(seed=7))
    assert DispatchBench().seeds >= 8
    assert len(jobs) == 8 * (5 * len(SCHEDULERS) + 3)
    assert {job.words[list(job.words).index("--seed") + 1] for job in jobs} == {
        str(seed) for seed in range(7, 15)}
    for job in jobs:
        loads = job.words[list(job.words).index("--load") + 1].split(",")
        assert ("0.05" in loads) != bool(job.threshold)
        assert ("0.0875" in loads) == (job.traffic in (ONE, TWO))  # an eighth of 0.7
        assert len(loads) <= 32  # as many as lull-flow-sim takes
    assert len({job.words for job in jobs}) == len(jobs)
    text = " ".join(jobs[0].words)
    for part in ("--workers 4", "--burst 144", "--flush-burst 144", "--ring 1024", "--start cold",
                 "--seed 7", "--load 0.05,0.1,", ",0.95,1 "):
        assert part in text
    only = [one for one in reproduction_dispatch.figures() if one.name == "Fig. 6"]
    assert reproduction_dispatch_run.plan(only, QUICK) == []


def test_capture(tmp_path: Path) -> None:
    path = tmp_path / "flows.pcap"
    flow_capture.write(path, 500, 10, 1)
    data = path.read_bytes()
    assert struct.unpack("<I", data[:4])[0] == 0xA1B2C3D4
    at, flows, stamps = 24, set(), []
    while at < len(data):
        seconds, micros, captured, original = struct.unpack("<IIII", data[at:at + 16])
        frame = data[at + 16:at + 16 + captured]
        at += 16 + captured
        stamps.append(seconds * 10**6 + micros)
        assert captured == original == len(frame) == 60
        words = struct.unpack("!10H", frame[14:34])
        assert sum(words) % 0xFFFF == 0  # the header's checksum
        flows.add(frame[26:38])
    assert (len(stamps), len(flows)) == (500, 10)
    assert stamps == sorted(set(stamps))
    again = tmp_path / "again.pcap"
    flow_capture.write(again, 500, 10, 1)
    assert again.read_bytes() == data
    flow_capture.write(again, 500, 10, 2)
    assert again.read_bytes() != data


# ---- the command ----


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build directory of stand-ins; the file tells what they were asked."""
    for name, folder in PROGRAMS.items():
        program = tmp_path / "build" / folder / name
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {HERE / "fake_flow_programs.py"} '
                           f'{name} "$@"\n')
        program.chmod(0o755)
    monkeypatch.setenv("LULL_BUILD", str(tmp_path / "build"))
    monkeypatch.setenv("LULL_FAKE_LOG", str(tmp_path / "log"))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    return tmp_path / "log"


def reproduce(out: Path, *more: str) -> int:
    return main(["reproduce", "dispatch", "--quick", "--out", str(out), *more])


def test_page(programs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert reproduce(out) == 0
    log = programs.read_text().splitlines()
    assert sum(line.startswith("lull-flow-sim ") for line in log) == 2 * (
        5 * len(SCHEDULERS) + 3)
    assert sum(line.startswith("lull-flow ") for line in log) == len(SCHEDULERS)
    printed = capsys.readouterr().out
    assert "lull-flow --vdev net_memif0" in printed
    assert "subflow-paper" in printed
    page = (out / "reproduce.html").read_text()
    root = ET.fromstring(page.removeprefix("<!DOCTYPE html>").strip())  # noqa: S314 - our own
    assert len(list(root.iter("h2"))) == len(list(root.iter("img"))) == 6
    text = " ".join("".join(root.itertext()).split())
    for words in ("a source that steps through rates", "lull-gen --vdev",
                  "not testable here: nanoseconds of another processor",
                  "+475 %", "Again: lull reproduce dispatch --seed 1 --quick"):
        assert words in text
    data = json.loads((out / "reproduce.json").read_text())
    assert data["program"] == "lull reproduce dispatch"
    figures = {one["name"]: one for one in data["figures"]}
    verdicts = {name: [row["live"]["verdict"] for row in one["rows"]]
                for name, one in figures.items()}
    for name in ("Table 1", "Fig. 3", "Fig. 4", "Fig. 5"):
        assert set(verdicts[name]) == {"not testable here"}
    assert verdicts["Fig. 2"] == [REPRODUCED, REPRODUCED, NOT_REPRODUCED, NOT_REPRODUCED]
    assert verdicts["Fig. 6"] == ["not testable here"] * 4 + [
        NOT_REPRODUCED, NOT_REPRODUCED, REPRODUCED, REPRODUCED]
    assert [row["simulated"]["value"] for row in figures["Table 1"]["rows"]] == [
        37.5, 25, 12.5, 12.5, 0]
    # 0.7 against 0.8 (here 0.7, the last tried), 0.6 (0.5) and 0.35 (0.3).
    assert figures["Fig. 3"]["rows"][2]["simulated"]["value"] == pytest.approx(
        100 * (0 + (7 / 5 - 1) + (7 / 3 - 1)) / 3)
    assert figures["Fig. 4"]["rows"][3]["simulated"]["value"] == pytest.approx(7)
    assert {path.name for path in out.glob("*.png")} == {
        "table-1.png", *(f"fig-{number}.png" for number in range(2, 7))}


def test_only_some(programs: Path, tmp_path: Path) -> None:
    assert reproduce(tmp_path / "out", "--figures", "6", "--no-live") == 0
    assert not programs.exists()
    assert reproduce(tmp_path / "out", "--figures", "2,6", "--no-sim") == 0
    assert "lull-flow-sim" not in programs.read_text()
    data = json.loads((tmp_path / "out" / "reproduce.json").read_text())
    assert [one["name"] for one in data["figures"]] == ["Fig. 2", "Fig. 6"]
    assert data["figures"][1]["live"]["hrw"] == 15


def test_without_dispatch_cost(programs: Path, tmp_path: Path,
                               capsys: pytest.CaptureFixture[str]) -> None:
    (programs.parent / "build/bench/dispatch/dispatch-cost").unlink()
    assert reproduce(tmp_path / "out", "--figures", "6") == 0
    capsys.readouterr()
    figure = json.loads((tmp_path / "out" / "reproduce.json").read_text())["figures"][0]
    assert {row["live"]["verdict"] for row in figure["rows"]} == {"not testable here"}
    assert all("dispatch-cost is missing" in row["live"]["because"] for row in figure["rows"])


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(("arguments", "fault", "status", "words"), [
    (["--no-live", "--no-sim"], "", 2, "leave nothing to run"),
    (["--figures", "9"], "", 2, "the figures are 2-6, and table 1"),
    ([], "babble lull-flow-sim", 1, "lull-flow-sim: reply not understood"),
    (["--no-sim"], "babble lull-flow", 1, "lull-flow --json writes it"),
    (["--no-sim"], "babble dispatch-cost", 1, "dispatch-cost: result not understood"),
    (["--no-sim"], "omit", 1, "dispatch-cost left out a scheduler"),
    (["--no-sim"], "lose", 1, f"handed on {QUICK.capture_packets - 1} of ")])
def test_refusals(arguments: list[str], fault: str, status: int, words: str, tmp_path: Path,
                  monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("LULL_FAKE", fault)
    assert reproduce(tmp_path / "out", *arguments) == status
    told = capsys.readouterr().err
    assert words in told
    assert re.fullmatch(r"lull: .*\n", told)
