# SPDX-License-Identifier: BSD-3-Clause
"""lull reproduce channel: what is run, what claims measure, what a live run tells, the page."""

import json
import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from lull.cli import main
from lull.errors import LullError
from lull.reproduce import channel as published
from lull.reproduce import channel_command, channel_live, channel_run
from lull.reproduce.channel import CROWDED, NAMES, ORIGINAL, OURS, PAPER, POLLING, ChannelSeen
from lull.reproduce.channel_run import QUICK, ChannelBench
from lull.reproduce.reproduction import (
    NOT_REPRODUCED,
    NOT_TESTABLE,
    REPRODUCED,
    Curves,
    Side,
    rows,
)

HERE = Path(__file__).resolve().parent
pytestmark = pytest.mark.usefixtures("signals")


def seen(cpu: float = 50, speed: float = 1e9, loss: float = 0, again: float = 0,
         empty: float = 0) -> ChannelSeen:
    return ChannelSeen(send=Side(cpu_pct=cpu, empty_pct=empty),
                       receive=Side(cpu_pct=cpu / 2, empty_pct=empty, speed_bps=speed),
                       loss_ppm=loss, resent_ppm=again)


CURVES: Curves = {
    ORIGINAL: [(512, seen(99, 4e9, 20, empty=90)), (768, seen(98, 5e9, 30, empty=95))],
    PAPER: [(512, seen(19, 3.8e9, 100, empty=10)), (768, seen(18, 4.9e9, 300, empty=30))]}


# ---- what claims measure ----


def test_what_claims_measure() -> None:
    assert published.most(PAPER, "send.cpu_pct", "receive.cpu_pct")(CURVES) == 19
    assert published.least(ORIGINAL, "receive.cpu_pct")(CURVES) == 49
    assert published.emptier(PAPER, "send")(CURVES) == 65
    assert published.slower(PAPER, 512)(CURVES) == pytest.approx(-5)
    assert published.worst(PAPER, ORIGINAL)(CURVES) == pytest.approx(-5)
    assert published.tenfold(CURVES) == 10
    assert published.resent(PAPER)({PAPER: [(1, seen(again=3)), (2, seen(again=1))]}) == 3
    assert published.resent(PAPER)({PAPER: [(1, seen(speed=0))]}) is None
    assert published.most(PAPER, "send.cpu_pct")({PAPER: [(1, seen(speed=0))]}) is None
    nothing: Curves = {ORIGINAL: [(512, seen(speed=0))], PAPER: [(512, seen())]}
    assert published.slower(PAPER, 512)(nothing) is None
    assert published.worst(PAPER, ORIGINAL)(nothing) is None
    assert published.tenfold(nothing) is None


def test_what_eight_ports_carry() -> None:
    """Messages of 1432 bytes make full frames, whose rate is that of the rail."""
    assert published.ceiling_bps(1432, 1e9) == pytest.approx(8e9 * 1432 / 1514)
    full: Curves = {ORIGINAL: [(512, seen(speed=published.ceiling_bps(512, 1e9)))]}
    assert published.summed(1e9)(full) == pytest.approx(100)
    assert published.summed(2e9)(full) == pytest.approx(50)


def test_every_claim_has_a_tolerance_and_a_source() -> None:
    figures = published.figures()
    assert [figure.name for figure in figures] == list(NAMES)
    for figure in figures:
        for claim in figure.claims:
            assert claim.tolerance
            assert claim.published.startswith("(ours") == claim.ours
            assert claim.bounds() != (None, None)
    texts = " ".join(claim.text + claim.published for claim in figures[0].claims)
    for words in ("about 99", "below 20", "-4.3", "-4.7", "more than 70"):
        assert words in texts


def test_verdicts() -> None:
    """As in the text: each statement is reproduced; a little off, it is not."""
    curves: Curves = {**CURVES, OURS: [(512, seen(14, 3.99e9)), (768, seen(14, 4.95e9))]}
    verdicts = {row.text: row.simulated.verdict
                for figure in published.figures()[:2] for row in rows(figure, [curves], None, 2)}
    assert verdicts["most CPU of a sender, kalman"] == REPRODUCED
    # By 65 points.
    assert verdicts["empty polling rate of a sender falls, kalman"] == NOT_REPRODUCED
    assert verdicts["speed at 512 bytes, kalman"] == REPRODUCED
    assert verdicts["loss, kalman over original"] == REPRODUCED
    assert verdicts["loss, phase"] == REPRODUCED
    curves = {**curves, OURS: [(512, seen(14, 3.9e9, loss=1))]}
    verdicts = {row.text: row.simulated.verdict
                for figure in published.figures()[:2] for row in rows(figure, [curves], None, 2)}
    assert verdicts["speed, phase, at the worst of all sizes"] == NOT_REPRODUCED
    assert verdicts["loss, phase"] == NOT_REPRODUCED


# ---- what is run ----


def test_published_set_up() -> None:
    jobs = channel_run.plan(published.figures(), ChannelBench(seed=7))
    by_line = {(job.figure, job.line): " ".join(job.words) for job in jobs}
    paper = by_line[published.ALL_THE_TIME, PAPER]
    for part in ("--governor kalman", "--heedless", "--announce=no", "--rail-credit=no",
                 "--control fixed", "--ring 1024", "--nodes 6", "--machine paper",
                 "--rails " + ",".join(["1G"] * 8), "--seed 9"):
        assert part in paper
    ours = by_line[published.ALL_THE_TIME, OURS]
    assert "--governor phase" in ours
    for part in ("--heedless", "--announce", "--rail-credit", "--control"):
        assert part not in ours
    assert "--message 768" in paper
    assert "--message 64 " in " ".join(jobs[0].words)
    assert "--under-way 512" in by_line[published.STEPS, PAPER]
    assert "--under-way 512" in by_line[published.STEPS, CROWDED]
    assert "--under-way 256" in by_line[published.STEPS, OURS]
    assert "--under-way 256" in by_line[published.STEPS, POLLING]
    assert len({job.words for job in jobs}) == len(jobs)
    losses = [figure for figure in published.figures() if figure.name == published.LOSSES]
    assert {job.figure for job in channel_run.plan(losses, QUICK)} == {published.ALL_THE_TIME}


def test_the_busiest_sender_stands_for_all() -> None:
    def node(cpu: float) -> dict[str, float]:
        return {"cpu_pct": cpu, "empty_pct": cpu / 2, "rest_requested_mean_ns": 5000}

    text = json.dumps({"world": {
        "goodput_per_s": 8e9, "messages_failed": 0, "nodes": [node(10), node(30), node(20)],
        "traffic": {"tx_pkts": 1000000, "resent_pkts": 7, "dropped_pkts": 4}}})
    found = channel_run.sim_seen(text, 0)
    assert (found.receive.cpu_pct, found.send.cpu_pct, found.send.empty_pct) == (10, 30, 15)
    assert (found.receive.speed_bps, found.loss_ppm, found.resent_ppm) == (8e9, 4, 7)
    assert found.send.rest_us == 5
    several = [seen(1, 5, 9, 1), seen(9, 1, 2, 3), seen(2, 3, 3, 2)]
    assert channel_run.middle(several) == ChannelSeen(
        send=Side(cpu_pct=2), receive=Side(cpu_pct=1, speed_bps=3), loss_ppm=3, resent_ppm=2)


# ---- live ----


def perf(**more: int) -> str:
    path = {"tx_pkts": 500_000, "lost_pkts": 3, "late_pkts": 1, "resent_pkts": 4, **more}
    return json.dumps({"peers": [{
        "cpu_pct": 12.5, "far": {"cpu_pct": 9.5, "goodput_bits_per_s": 7e8},
        "paths": [path, path]}]})


def test_live_result() -> None:
    found = channel_live.seen(perf())
    assert (found.send.cpu_pct, found.receive.cpu_pct, found.receive.speed_bps) == (12.5, 9.5, 7e8)
    assert found.loss_ppm == 4  # of a million packets 6 taken for lost, 2 of which came
    assert found.resent_ppm == 8
    assert channel_live.seen(perf(lost_pkts=1, late_pkts=2)).loss_ppm == 0
    for text in ("{}", '{"peers": []}', "nonsense"):
        with pytest.raises(LullError, match="result not understood"):
            channel_live.seen(text)


def test_live_set_up() -> None:
    runs = channel_live.plan(published.figures(), QUICK)
    assert runs[0] == (published.ALL_THE_TIME, ORIGINAL, 512)
    assert len(runs) == len(set(runs)) == 8
    rings = [figure for figure in published.figures() if figure.name == published.RINGS]
    assert channel_live.plan(rings, QUICK) == []
    words = " ".join(channel_live.words(Path("perf"), "a", OURS))
    assert words.count("--rail dpdk:af_packet=r") == 8
    assert "--governor phase" in words
    assert "--governor spin" in " ".join(channel_live.words(Path("perf"), "a", POLLING))


# ---- the command ----


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build directory whose simulator answers from a recording; the file tells the questions."""
    program = tmp_path / "build" / "apps" / "lull-channel-sim" / "lull-channel-sim"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {HERE / "fake_channel_programs.py"} '
                       '"$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("LULL_BUILD", str(tmp_path / "build"))
    monkeypatch.setenv("LULL_FAKE_LOG", str(tmp_path / "log"))
    return tmp_path / "log"


def reproduce(out: Path, *more: str) -> int:
    return main(["reproduce", "channel", "--quick", "--out", str(out), *more])


def test_page(asked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert reproduce(out) == 0
    assert len(asked.read_text().splitlines()) == len(
        channel_run.plan(published.figures(), QUICK))
    printed = capsys.readouterr().out
    assert "live: not run: as root, --live measures it" in printed
    page = (out / "reproduce.html").read_text()
    root = ET.fromstring(page.removeprefix("<!DOCTYPE html>").strip())  # noqa: S314 - our own
    assert len(list(root.iter("h2"))) == len(list(root.iter("img"))) == len(NAMES)
    text = " ".join("".join(root.itertext()).split())
    for words in ("about 99", "below 20", "-4.3", "ten times", "not reproduced because",
                  "never rests while packets are expected", "Live: left out",
                  "Again: lull reproduce channel --seed 1 --quick"):
        assert words in text
    data = json.loads((out / "reproduce.json").read_text())
    assert data["program"] == "lull reproduce channel"
    assert data["live"] is None
    figures = {one["name"]: one for one in data["figures"]}
    assert list(figures) == list(NAMES)
    verdicts = {(name, row["text"]): row["simulated"]["verdict"]
                for name, one in figures.items() for row in one["rows"]}
    steps = published.STEPS
    # What was recorded of a real run: the published policy saves the CPU, and ours too in steps.
    assert verdicts[published.ALL_THE_TIME, "most CPU of a receiver, kalman"] == REPRODUCED
    assert verdicts[steps, "most CPU of either side, phase"] == REPRODUCED
    assert verdicts[steps, "sent again, phase, beyond polling"] == REPRODUCED
    assert verdicts[published.LOSSES, "loss, original"] == NOT_TESTABLE
    assert verdicts[published.RINGS, "loss with rail credit, any rest"] == REPRODUCED
    assert {row["live"]["verdict"] for one in figures.values() for row in one["rows"]} == {
        "not run"}
    assert {path.name for path in out.glob("*.png")} == {
        "fig-20-21.png", "fig-22.png", "training-steps.png", "rings.png"}


def test_only_some(asked: Path, tmp_path: Path) -> None:
    for asked_for, names in (("22", ["Fig. 22"]), ("21", ["Fig. 20, 21"]), ("rings", ["Rings"]),
                             ("20,Steps", ["Fig. 20, 21", "Training steps"])):
        assert reproduce(tmp_path / "out", "--figures", asked_for) == 0
        data = json.loads((tmp_path / "out" / "reproduce.json").read_text())
        assert [one["name"] for one in data["figures"]] == names
    assert asked.exists()


@pytest.mark.usefixtures("asked")
def test_live_beside_simulated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each in its column; what was not measured live says why."""
    def measure(*_: object) -> dict[str, Curves]:
        return {published.STEPS: {
            OURS: [(512.0, seen(10, 1e8))], POLLING: [(512.0, seen(99, 1.01e8))]}}

    monkeypatch.setattr(channel_live, "measure", measure)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(channel_command, "find_program", lambda name: Path(
        tmp_path / "build" / "apps" / name / name))
    assert reproduce(tmp_path / "out", "--live", "--figures", "steps") == 0
    data = json.loads((tmp_path / "out" / "reproduce.json").read_text())
    live = {row["text"]: row["live"] for row in data["figures"][0]["rows"]}
    assert live["most CPU of either side, phase"] == {
        "value": 10, "low": 10, "high": 10, "runs": 1, "verdict": REPRODUCED, "because": ""}
    assert live["speed, phase against polling, at the worst of all sizes"]["verdict"] == REPRODUCED
    assert live["most CPU of either side, kalman"]["because"] == published.NOT_LIVE
    assert data["live"] == {
        "reproduced": 4, "not_reproduced": 0, "assumed": 0, "not_testable": 5}
    few = "want 4 CPUs, this machine has 2"
    assert few in data["figures"][0]["note"]
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(4)))
    page = (tmp_path / "out" / "reproduce.html").read_text()
    assert "800 Mbit/s in sum" in " ".join(page.split())
    assert reproduce(tmp_path / "out", "--live", "--figures", "steps") == 0
    assert few not in (tmp_path / "out" / "reproduce.html").read_text()


@pytest.mark.usefixtures("asked")
def test_live_that_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                             capsys: pytest.CaptureFixture[str]) -> None:
    """No root, no bed: the page says so, and the simulated part stands."""
    def measure(*_: object) -> dict[str, Curves]:
        raise LullError("a test bed needs root")

    monkeypatch.setattr(channel_live, "measure", measure)
    monkeypatch.setattr(channel_command, "find_program", lambda name: Path(
        tmp_path / "build" / "apps" / name / name))
    assert reproduce(tmp_path / "out", "--live", "--figures", "steps") == 0
    assert "live: not run: a test bed needs root" in capsys.readouterr().out
    data = json.loads((tmp_path / "out" / "reproduce.json").read_text())
    live = [row["live"] for row in data["figures"][0]["rows"]]
    assert {one["verdict"] for one in live} == {"not run"}
    assert "a test bed needs root" in {one["because"] for one in live}
    assert data["simulated"]["reproduced"] > 0


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(("arguments", "fault", "status", "words"), [
    (["--no-sim"], "", 2, "leaves nothing to run"),
    (["--figures", "9"], "", 2, "the figures are 20, 21, 22, steps and rings"),
    (["--figures", "speed"], "", 2, "the figures are"),
    ([], "babble", 1, "lull-channel-sim: reply not understood"),
    ([], "fail", 1, "lull-channel-sim lost 3 messages"),
    (["--seed", "99"], "", 1, "not recorded")])
def test_refusals(arguments: list[str], fault: str, status: int, words: str, tmp_path: Path,
                  monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("LULL_FAKE", fault)
    assert reproduce(tmp_path / "out", *arguments) == status
    told = capsys.readouterr().err
    assert words in told
    assert re.fullmatch(r"lull: .*\n", told)
