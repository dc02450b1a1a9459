# SPDX-License-Identifier: BSD-3-Clause
"""lull model: what lull-model is asked, and what is made of what it says."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from conftest import one_line
from lull.cli import main
from lull.errors import LullError
from lull.model import figures as model
from lull.model import reply as model_reply
from lull.model.reply import BurstCost, ModelReply, Side

HERE = Path(__file__).resolve().parent
pytestmark = pytest.mark.usefixtures("signals")


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build directory whose lull-model is the stand-in; the file tells what it was asked."""
    program = tmp_path / "build" / "apps" / "lull-model" / "lull-model"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nPYTHONPATH={HERE.parents[1] / "python"} exec '
                       f'{sys.executable} {HERE / "fake_lull_model.py"} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("LULL_BUILD", str(tmp_path / "build"))
    monkeypatch.setenv("LULL_FAKE_LOG", str(tmp_path / "log"))
    return tmp_path / "log"


def a_side(rest: str, bps: float = 1e6, cpu_pct: float = 50, taken: int = 1000) -> Side:
    return Side(rest=rest, cpu_pct=cpu_pct, empty_pct=1, usage_pct=2, empty_requested_pct=3,
                usage_requested_pct=4, packets_per_s=1, bits_per_s=bps, total_taken=taken)


class Scripted(model.Bench):
    """Replies as told, the last one for ever; remembers what it was asked."""

    def __init__(self, replies: Sequence[ModelReply]) -> None:
        self.replies = list(replies)
        self.asked: list[str] = []

    def run(self, arguments: Sequence[str], send: Sequence[str],
            receive: Sequence[str]) -> ModelReply:
        self.asked.append(" ".join([*arguments, *send, *receive]))
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def costs(self) -> list[BurstCost]:
        return [BurstCost(burst=0, size=0, rx_ns=1, tx_ns=1)]


# ---- plain data ----


def test_rounds_are_medians_and_losses_sums() -> None:
    replies = [ModelReply(sender=a_side("none"), receiver=a_side("none", cpu_pct=cpu), lost=lost)
               for cpu, lost in ((10, 1), (90, 0), (20, 4))]
    bench = Scripted(replies)
    report = model.evaluate(bench, model.Settings(rounds=3, quick=True), rests=["none"])
    assert bench.asked.count(bench.asked[0]) == 3
    first = report.rows[0]
    assert first.rounds == 3
    assert first.sent == 3000
    # the scripted replies went to the first three scenarios, one each; the last one stays
    assert first.lost == 1 + 4 + 4
    assert first.loss_ppm == 3000
    assert first.receiver.cpu_pct == 20


def test_rates_fill_the_link() -> None:
    settings = model.Settings(link="1G", load_pct=50)
    assert settings.pps(model.Scenario("", 64, "none", "none")) == round(1e9 / (84 * 8) / 2)
    assert settings.pps(model.Scenario("", 64, "none", "none", idle=True)) == 1
    bench = Scripted([ModelReply(sender=a_side("none"), receiver=a_side("none"), lost=0)])
    model.sleep_functions(bench, settings)
    assert any("--rate 1 " in line and "--receive-rest block:50us" in line for line in bench.asked)
    assert all("--duration 3000ms" in line and "--link 1G" in line for line in bench.asked)


def test_thresholds() -> None:
    def row(us: int, bps: float) -> model.Row:
        figures = model._figures([a_side(f"usleep:{us}us", bps)])
        return model.Row(figure="Fig. 10", size=256, rate_pps=1, sender=figures, receiver=figures,
                         sent=1, lost=0, loss_ppm=0, steal_ms=0, rounds=1)

    rows = [row(0, 100e6), row(300, 99.5e6), row(400, 90e6), row(500, 99.9e6)]
    assert model.thresholds(rows) == [model.Threshold(figure="Fig. 10", size=256, sleep_us=300)]
    assert model.thresholds(rows[:2])[0].sleep_us == 300
    assert model.thresholds([]) == []


def test_sleeps_as_typed() -> None:
    assert model.sleep_us("usleep:50us") == 50
    assert model.sleep_us("usleep:0") == 0
    assert model.sleep_us("block:1ms") == 1000
    assert model.sleep_us("none") is None
    assert model.sleep_us("fixed:50us") is None


def test_two_processes_make_one_reply() -> None:
    send = ModelReply(sender=a_side("none", taken=1000))
    receive = ModelReply(receiver=a_side("usleep:0", taken=990))
    joined = model_reply.join(send, receive)
    assert joined.lost == 10
    assert joined.both()[1].rest == "usleep:0"
    with pytest.raises(LullError, match="left out a side"):
        model_reply.join(send, send)


# ---- commands ----


@pytest.mark.parametrize(("command", "figures"), [
    ("sleep-functions", {"Fig. 2", "Fig. 3", "Fig. 4"}),
    ("sender-sweep", {"Table 1, Fig. 7", "Fig. 8", "Fig. 9"}),
    ("receiver-sweep", {"Fig. 10", "Fig. 11"}),
    ("evaluate", {"Table 2", "Fig. 20-22"}),
])
def test_commands(command: str, figures: set[str], asked: Path, tmp_path: Path,
                  capsys: pytest.CaptureFixture[str]) -> None:
    out, picture = tmp_path / "out.json", tmp_path / "out.png"
    arguments = ["--quick", "--json", str(out), "--plot", str(picture)]
    assert main(["model", command, *arguments]) == 0
    table = capsys.readouterr().out
    report = model.Report.model_validate_json(out.read_text())
    assert report.command == command
    assert {row.figure for row in report.rows} == figures
    assert len(asked.read_text().splitlines()) == len(report.rows)
    assert report.machine is not None
    assert report.machine.dpdk == "22.11.0"
    assert report.settings["rounds"] == 1
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert all(figure in table for figure in figures)


def test_burst_cost(asked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "cost.svg"
    assert main(["model", "burst-cost", "--plot", str(picture)]) == 0
    table = capsys.readouterr().out
    assert "rx 1500 B" in table
    assert "43.4" in table
    assert "<svg" in picture.read_text()
    assert main(["model", "burst-cost", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [cost["burst"] for cost in report["costs"]][:2] == [0, 1]
    assert len(asked.read_text().splitlines()) == 2


def test_evaluate_takes_any_rests(asked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "evaluate", "--quick", "--rests", "ramp,nanosleep:70us", "--rounds", "2",
                 "--seconds", "0.5", "--link", "10G", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    rests = {row["sender"]["rest"] for row in report["rows"] if row["figure"] != "Table 2"}
    assert rests == {"ramp", "nanosleep:70us"}
    lines = asked.read_text().splitlines()
    assert len(lines) == 2 * len(report["rows"])
    assert all("--link 10G" in line and "--duration 500ms" in line for line in lines)


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(("fault", "arguments", "words"), [
    ("refuse", [], "'nap' is not one of"),
    ("babble", [], "reply not understood"),
    ("half", [], "left out a side"),
    ("", ["--link", "5"], "from 10M to 400G"),
    ("", ["--link", "fast"], "from 10M to 400G"),
    ("", ["--plot", "x.gif"], "end the name with"),
    ("", ["--ports", "usb"], "'usb' is not one of"),
    ("", ["--seconds", "0"], "0.1"),
    ("", ["--json", "/dev/null/x.json"], "cannot write there"),
])
def test_faults_take_one_line(fault: str, arguments: list[str], words: str,
                              monkeypatch: pytest.MonkeyPatch,
                              capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("LULL_FAKE", fault)
    assert main(["model", "receiver-sweep", "--quick", *arguments]) != 0
    assert words in one_line(capsys)


@pytest.mark.usefixtures("asked")
def test_veth_needs_root(monkeypatch: pytest.MonkeyPatch,
                         capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert main(["model", "receiver-sweep", "--quick", "--ports", "veth"]) == 1
    assert "take --ports ring" in one_line(capsys)
