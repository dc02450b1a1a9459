# SPDX-License-Identifier: BSD-3-Clause
"""lull sim: what lull-sim is asked, how sweeps unfold, and what is made of the replies."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import one_line
from lull.cli import main
from lull.errors import LullError
from lull.quantities import parse_ns, parse_rate, rate_word, time_word
from lull.sim import load_traffic, sweep
from lull.sim import reply as sim_reply

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.usefixtures("signals")


def asked(log: Path) -> list[str]:
    """Arguments of each run, sorted: they end in any order."""
    return sorted(line.partition(" ")[2] for line in log.read_text().splitlines())


# ---- words ----


@pytest.mark.parametrize(("text", "ns"), [
    ("100us", 100_000), ("1.5ms", 1_500_000), ("50", 50_000), ("2s", 2e9), ("7ns", 7), ("1m", 6e10),
    ("2min", 12e10), ("1h", 3.6e12)])
def test_times(text: str, ns: float) -> None:
    assert parse_ns(text) == ns
    assert parse_ns(time_word(ns)) == ns


@pytest.mark.parametrize("rate", [0, 7, 1_000, 1_500, 300_000, 10_000_000_000])
def test_rates(rate: float) -> None:
    assert parse_rate(rate_word(rate)) == rate


def test_lists_and_ranges() -> None:
    assert sweep.values("--link", "10G, 25G,10G", sweep.LINK) == ["10G", "25G"]
    assert sweep.values("--objective", "50us-400us:4", sweep.OBJECTIVE) == [
        "50us", "100us", "200us", "400us"]
    assert sweep.values("--load", "10-90:5,100%", sweep.LOAD) == [
        "10", "30", "50", "70", "90", "100"]
    for text in ("", "x", "5-", "1-5", "5-1:3", "1-5:1", "1-5:x", "0-5:3", "1-2-3:4", "1-5:9999"):
        with pytest.raises(LullError, match="--link: "):
            sweep.values("--link", text, sweep.LINK)
    with pytest.raises(LullError, match="percent"):
        sweep.values("--load", "101", sweep.LOAD)


@pytest.mark.parametrize("kind", load_traffic.KINDS)
@pytest.mark.parametrize("load", [1, 10, 50, 90])
def test_loads_have_the_mean_they_state(kind: str, load: float) -> None:
    possible = 14_880_952.0
    name, _, rest = load_traffic.spec(kind, load, possible).partition(":")
    assert name == kind
    words = rest.split(",")
    if kind == "onoff":
        peak, on_ns, off_ns = int(words[0]), parse_ns(words[1]), parse_ns(words[2])
        mean = peak * on_ns / (on_ns + off_ns)
    elif kind == "tidal":
        low, high = map(int, words[0].split("-"))
        assert low <= high
        peak, mean = high, (low + high) / 2
    else:
        peak = mean = int(words[0])
    assert peak <= 0.951 * possible
    assert abs(mean / (possible * load / 100) - 1) < 0.001
    assert load_traffic.spec(kind, 0, possible) == "off"


def test_what_is_possible() -> None:
    assert round(load_traffic.link_pps(10e9, 64)) == 14_880_952
    assert load_traffic.possible_pps(100e9, 64, 20e6) == 20e6
    assert load_traffic.possible_pps(0, 64, 20e6) == 20e6
    assert load_traffic.mean_bytes("64:3,128:1") == 80
    with pytest.raises(LullError, match="--traffic-size"):
        load_traffic.mean_bytes("imix")


# ---- the command ----


def test_passes_options_on(simulator: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "--traffic", "poisson:300k", "--governor", "spin,fixed:50us", "--link",
                 "10G", "--ring", "512", "--objective", "100us", "--seed", "7", "--iteration-cost",
                 "60ns", "--", "--held", "32"]) == 0
    common = ("--traffic poisson:300k --link 10G --max-latency 100us --ring 512 --seed 7 "
              "--iteration-cost 60ns --held 32 --governor {} --json -")
    assert asked(simulator) == sorted(common.format(one) for one in ("spin", "fixed:50us"))
    out = capsys.readouterr().out
    assert "fixed 50 µs" in out
    assert "100 %" in out


@pytest.mark.usefixtures("simulator")
def test_says_why_an_objective_does_not_hold(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["sim", "--governor", "spin,objective", "--traffic", "poisson:1k"]
    assert main([*arguments, "--objective", "40us,50us,300us", "--traffic", "poisson:2k"]) == 0
    out = capsys.readouterr().out
    # Three objectives of two kinds of traffic: two do not hold, each reason stands there once.
    assert [out.count(words) for words in ("infeasible [1]", "infeasible [2]", "infeasible [3]")
            ] == [2, 2, 0]
    lines = [line for line in out.splitlines() if line.startswith("[")]
    assert lines == ["[1] infeasible: 40000 ns are too few", "[2] infeasible: 50000 ns are too few"]
    assert main([*arguments, "--objective", "300us"]) == 0
    assert "[" not in capsys.readouterr().out


def test_json(simulator: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", "--governor", "spin,objective", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [run["governor"] for run in data["points"][0]["runs"]] == ["spin", "objective"]
    assert data["points"][0]["runs"][1]["counters"] == {"iterations": 5000}
    assert data["points"][0]["settings"]["governor"] == "spin,objective"
    assert main(["sim", "--json", str(tmp_path / "x.json"), "--load", "10,50", "--traffic",
                 "onoff", "--traffic", "constant", "--jobs", "3"]) == 0
    points = json.loads((tmp_path / "x.json").read_text())["points"]
    assert [point["point"] for point in points] == [
        {"traffic": kind, "load": load} for kind in ("onoff", "constant") for load in ("10", "50")]
    assert points[0]["settings"]["traffic"].startswith("onoff:")
    assert points[2]["settings"]["traffic"] == "constant:2000000"  # no link
    assert "onoff" in capsys.readouterr().out
    assert len(asked(simulator)) == 2 + 1 + 12


@pytest.mark.parametrize("arguments", [
    (), ("--objective", "50us-1ms:3"), ("--load", "0,50", "--link", "1G,10G,25G")])
@pytest.mark.usefixtures("simulator")
def test_plot(arguments: tuple[str, ...], tmp_path: Path) -> None:
    for kind, begin in (("png", b"\x89PNG"), ("svg", b"<?xml")):
        path = tmp_path / f"plot.{kind}"
        assert main(["sim", *arguments, "--plot", str(path)]) == 0
        assert path.read_bytes().startswith(begin)


@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize(("arguments", "status", "words"), [
    (["--traffic", "nonsense:3"], 2, "lull-sim: traffic: nonsense:3: no such kind"),
    (["--pcap", "/none.pcap"], 1, "lull-sim: /none.pcap: No such file or directory"),
    (["--wrong", "3"], 2, "lull-sim: --wrong: no such option"),
    (["--pcap", "x", "--load", "3"], 2, "brings its own traffic"),
    (["--load", "3", "--traffic", "poisson:3M"], 2, "give only the kind"),
    (["--load", "3", "--traffic", "spiral"], 2, "spiral: no kind of traffic"),
    (["--link", "fast"], 2, "--link: fast: expected 10G"),
    (["--plot", "x.bmp"], 2, "x.bmp: end the name with .png"),
])
def test_refusals(arguments: list[str], status: int, words: str,
                  capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sim", *arguments]) == status
    assert words in one_line(capsys)


@pytest.mark.usefixtures("simulator")
@pytest.mark.parametrize(("fault", "words"), [
    ("die", "was ended by signal 6"), ("babble", "reply not understood")])
def test_a_broken_lull_sim(fault: str, words: str, monkeypatch: pytest.MonkeyPatch,
                           capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("LULL_FAKE", fault)
    assert main(["sim"]) == 1
    assert words in one_line(capsys)


def test_interrupt_ends_the_children(simulator: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "lull", "sim"], stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "python"), "LULL_FAKE": "hang"})
    end = time.monotonic() + 30
    while not simulator.exists() and time.monotonic() < end:
        time.sleep(0.01)
    child = int(simulator.read_text().split()[0])
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()
    assert not Path(f"/proc/{child}").exists()


def test_what_keeps_an_objective() -> None:
    run = sim_reply.SimRun(governor="x", cpu_pct=1.0)
    assert sim_reply.kept(run, 100.0, 99)  # no packet, none late
    late = run.model_copy(update={"added_ns": sim_reply.Latency(
        count=9, p50=50, p99=99, p999=101, max=1000)})
    assert sim_reply.kept(late, 100.0, 99)
    assert not sim_reply.kept(late, 98.0, 99)
    assert not sim_reply.kept(late, 100.0, 99.5)  # the next that is known
    assert not sim_reply.kept(late, 1000.0 - 1, 99.99)
    lossy = run.model_copy(update={"lost": 3})
    assert not sim_reply.kept(lossy, 100.0, 99)
    assert sim_reply.kept(lossy, 100.0, 99, 3)
