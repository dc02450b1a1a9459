# SPDX-License-Identifier: BSD-3-Clause
"""lull camera latency: which rounds count, what is made of them, how they are run."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lull.camera import latency as camera_latency
from lull.camera import latency_commands as camera_latency_commands
from lull.camera.latency import (
    BLOCKING,
    BLOCKING_DIRECT,
    BUSY,
    BUSY_DIRECT,
    DPDK,
    DPDK_DIRECT,
    PHASE,
    Report,
    Round,
    Sent,
    Settings,
)
from lull.camera.latency_histogram import Histogram, high, pool
from lull.camera.latency_reply import CamReply, read
from lull.camera.latency_run import Bench, Programs
from lull.camera.latency_wire import Wire
from lull.cli import main
from lull.document import DocumentError
from lull.errors import LullError
from lull.program.child import find_program
from lull.program.machine import Machine
from lull.program.pace import RealPace
from lull.program.tree import Tree

HERE = Path(__file__).resolve().parent
US = 1000
pytestmark = pytest.mark.usefixtures("signals")


def histogram(*values_ns: int) -> Histogram:
    """Of values that are bins of their own."""
    seen = sorted(set(values_ns))
    return Histogram(count=len(values_ns), mean=sum(values_ns) / max(1, len(values_ns)),
                     min=min(values_ns, default=0), max=max(values_ns, default=0),
                     bins=[number for value in seen
                           for number in (value, values_ns.count(value))])


def a_round(receiver: str = DPDK, cameras: int = 8, number: int = 1,
            latency_us: int = 2, cpu_s: float = 0.999, steal_pct: float = 0.0,
            waited_s: float = 0.0, complete: int = 100) -> Round:
    """One that nothing is wrong with, unless told."""
    done = histogram(*[latency_us * US] * complete)
    return Round(receiver=receiver, cameras=cameras, number=number,
                 sent=Sent(frames=100, packets=1000, seconds=0.99), complete=complete,
                 partial=100 - complete, missed=0, picture_bytes=3_686_400, cpu_s=cpu_s,
                 wall_s=1.0, waited_s=waited_s, steal_pct=steal_pct, done=done, fetched=done,
                 arrived=histogram(*[latency_us * US // 2] * complete), gap=histogram(100, 200))


def a_report(rounds: list[Round], cameras: list[int] | None = None) -> Report:
    """What follows from rounds."""
    receivers = list(dict.fromkeys(one.receiver for one in rounds))
    chosen = Settings(cameras=cameras or [8], receivers=receivers, rounds=3)
    return camera_latency.conclude(chosen, Machine(cpu="Simulated CPU", cores=2), rounds,
                                   "lull camera latency")


def three(kernel_us: int = 40, busy_us: int = 3, dpdk_us: int = 2,
          cameras: int = 8) -> list[Round]:
    """Three rounds of three receivers."""
    return [a_round(receiver, cameras, number, us) for number in (1, 2, 3)
            for receiver, us in ((BLOCKING, kernel_us), (BUSY, busy_us), (DPDK, dpdk_us))]


# ---- histograms ----


def test_bins_end_where_the_next_begin() -> None:
    assert [high(low) for low in (0, 64, 127, 128, 130, 256, 1312)] == [
        0, 64, 127, 129, 131, 259, 1327]


def test_quantiles_are_those_of_lull() -> None:
    found = histogram(*range(1, 101))
    assert found.quantile(500_000) == 50
    assert found.quantile(990_000) == 99
    assert found.quantile(999_000) == 100
    assert histogram(5).quantile(1) == 5
    # the end of a bin, but never more than was seen
    assert Histogram(count=2, mean=1310, min=1300, max=1315, bins=[1296, 1, 1312, 1]).quantile(
        990_000) == 1315
    assert Histogram().quantile(500_000) == 0


def test_histograms_pool() -> None:
    both = pool([histogram(1, 2, 2), Histogram(), histogram(2, 9)])
    assert (both.count, both.min, both.max, both.mean) == (5, 1, 9, 3.2)
    assert both.bins == [1, 1, 2, 3, 9, 1]
    assert both.at_least() == [(1, 1.0), (2, 0.8), (9, 0.2), (9, 0.2)]
    assert pool([]).at_least() == []


def test_a_histogram_must_add_up() -> None:
    for bins in ([1, 1], [1, 1, 2]):
        with pytest.raises(DocumentError, match="do not hold as many"):
            Histogram(count=2, mean=1, min=1, max=1, bins=bins)


# ---- which rounds count ----


def test_flaws() -> None:
    assert a_round().flaws() == []
    assert a_round(steal_pct=1.0, cpu_s=0.98).flaws() == []
    assert "1.1 % of the receiving CPU stolen" in a_round(steal_pct=1.1).flaws()[0]
    assert "others had the receiving CPU for 2.1 %" in a_round(cpu_s=0.979).flaws()[0]
    stolen = a_round().model_copy(update={"steal_send_pct": 5.0})
    assert "5.0 % of the sending CPU" in stolen.flaws()[0]
    # who sleeps in the kernel uses little CPU; what counts is whether it got it
    assert a_round(BLOCKING, cpu_s=0.1).flaws() == []
    assert "for 3.0 %" in a_round(BLOCKING, cpu_s=0.1, waited_s=0.03).flaws()[0]
    assert a_round(PHASE, cpu_s=0.1).flaws() == []


def test_cpu_of_who_sleeps_is_of_the_time_of_sending() -> None:
    assert a_round(BLOCKING, cpu_s=0.1).cpu_pct() == pytest.approx(10.1, abs=0.01)
    assert a_round(DPDK, cpu_s=0.999).cpu_pct() == pytest.approx(99.9)


def test_rows_are_medians_of_valid_rounds() -> None:
    rounds = [a_round(number=1, latency_us=2), a_round(number=2, latency_us=4),
              a_round(number=3, latency_us=9),
              a_round(number=4, latency_us=5000, steal_pct=30, complete=10)]
    row = camera_latency.summarise(rounds, 3_686_400)
    assert (row.rounds, row.valid) == (4, 3)
    assert (row.median.min, row.median.p50, row.median.avg, row.median.max) == (2, 4, 4, 9)
    assert row.pooled.avg == 5
    assert row.median.p999 is None  # of 300 frames
    assert (row.frames, row.lost, row.partial) == (300, 0, 0)
    # 100 frames of 8 cameras span 11.5 periods
    assert row.mb_s == pytest.approx(3.6864 * 100 / 0.99 * 11.5 / 12.5, rel=1e-6)


def test_rows_without_a_valid_round_say_so() -> None:
    row = camera_latency.summarise([a_round(number=1, cpu_s=0.5), a_round(number=2, steal_pct=9)])
    assert (row.valid, row.median.p50) == (0, 2)


def test_lost_frames_have_no_latency() -> None:
    row = camera_latency.summarise([a_round(complete=0)])
    assert row.mb_s is None  # the size of a picture that nobody saw
    assert (row.partial, row.median.avg, row.pooled.max) == (100, None, None)
    some = a_round(complete=40).model_copy(update={"partial": 50})
    assert some.lost() == 10


# ---- comparisons ----


def ratios(report: Report) -> dict[str, tuple[float | None, bool | None]]:
    """By what is compared."""
    return {f"{one.cameras} {one.what}": (one.measured, one.met()) for one in report.ratios}


def test_goals_are_held_against_medians() -> None:
    found = ratios(a_report(three()))
    assert found == {"8 avg: kernel blocking / DPDK": (20, True),
                     "8 p99: kernel blocking / DPDK": (20, True),
                     "8 p50: kernel busy-poll / DPDK": (1.5, True), "8 DPDK p50": (2, True),
                     "8 DPDK p50 from arrival": (1, True)}
    found = ratios(a_report(three(kernel_us=30, busy_us=3, dpdk_us=4)))
    assert found == {"8 avg: kernel blocking / DPDK": (7.5, False),
                     "8 p99: kernel blocking / DPDK": (7.5, False),
                     "8 p50: kernel busy-poll / DPDK": (0.75, False), "8 DPDK p50": (4, False),
                     "8 DPDK p50 from arrival": (2, True)}


def test_goals_are_those_of_one_and_eight_cameras() -> None:
    for cameras, verdict in ((1, False), (2, None), (8, False)):
        report = a_report(three(kernel_us=20, cameras=cameras), [cameras])
        assert ratios(report)[f"{cameras} avg: kernel blocking / DPDK"] == (10, verdict)


def test_goals_are_held_to_the_application_and_directly() -> None:
    """What a wake-up adds counts; direct receivers are held against direct ones besides."""
    woken = [one.model_copy(update={"fetched": histogram(*[50 * US] * 100)}) for one in three()]
    found = ratios(a_report(woken))
    assert found["8 avg: kernel blocking / DPDK"] == (1, False)
    assert found["8 DPDK p50"][0] == pytest.approx(50, rel=0.02)
    assert found["8 DPDK p50"][1] is False
    direct = [a_round(name, 8, number, latency_us=us) for number in (1, 2, 3)
              for name, us in ((BLOCKING_DIRECT, 30), (BUSY_DIRECT, 3), (DPDK_DIRECT, 2))]
    found = ratios(a_report([*woken, *direct]))
    assert found["8 avg: kernel blocking / DPDK"] == (1, None)
    assert found["8 avg: kernel blocking / DPDK direct"] == (25, True)
    assert found["8 p99: kernel blocking direct / DPDK direct"] == (15, None)
    assert found["8 p50: kernel busy-poll direct / DPDK direct"] == (1.5, True)
    assert found["8 DPDK direct p50"] == (2, True)
    assert found["8 DPDK p50"][1] is None


def test_nothing_is_judged_without_a_valid_round() -> None:
    rounds = [one.model_copy(update={"steal_pct": 50.0}) if one.receiver == BLOCKING else one
              for one in three()]
    found = ratios(a_report(rounds))
    assert found["8 avg: kernel blocking / DPDK"] == (None, None)
    assert found["8 DPDK p50"] == (2, True)


def test_phase_has_goals_of_its_own() -> None:
    report = a_report([a_round(PHASE, 1, latency_us=25, cpu_s=0.15)], [1])
    found = ratios(report)
    assert found["1 DPDK phase: CPU"][1] is True
    assert found["1 DPDK phase: p99"] == (25, True)


# ---- programs ----


class Loose:
    """No wire at all."""

    def sender(self) -> list[str]:
        return []

    def receiver(self) -> list[str]:
        return []


@pytest.fixture
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build directory of stand-ins; the file tells what they were asked."""
    for name in ("cam", "cam-source"):
        program = tmp_path / "build" / "apps" / f"lull-{name}" / f"lull-{name}"
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\nexec {sys.executable} '
                           f'{HERE / "fake_lull_cam_latency.py"} {name.removeprefix("cam-")} '
                           '"$@"\n')
        program.chmod(0o755)
    monkeypatch.setenv("LULL_BUILD", str(tmp_path / "build"))
    monkeypatch.setenv("LULL_FAKE_LOG", str(tmp_path / "log"))
    return tmp_path / "log"


def a_bench(**changes: object) -> Bench:
    """Short rounds of the stand-ins."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("needs two CPUs")
    wanted: dict[str, Any] = {"cameras": [1, 2], "rounds": 2, "seconds": 0.2,
                              "send_cpu": cpus[0], "receive_cpu": cpus[1], **changes}
    chosen = Settings(**wanted)
    programs = Programs(find_program("lull-cam"), find_program("lull-cam-source"))
    return Bench(chosen, programs, Loose(), RealPace(), Tree(), frozenset(cpus))


def test_receivers_take_turns(fakes: Path) -> None:
    bench = a_bench()
    seen: list[str] = []
    rounds = list(bench.rounds(seen.append))
    assert [(one.number, one.cameras, one.receiver) for one in rounds] == [
        (number, cameras, receiver) for number in (1, 2) for cameras in (1, 2)
        for receiver in (BLOCKING, BLOCKING_DIRECT, BUSY, DPDK, DPDK_DIRECT)]
    assert len(seen) == len(rounds)
    first = rounds[0]
    assert (first.sent.frames, first.complete, first.partial, first.missed) == (6, 5, 1, 7)
    assert first.done.count == first.arrived.count == 5
    assert first.notes == ["ring: short"]
    assert rounds[8].done.count == 10  # of two cameras
    assert bench.dpdk == "22.11.99"
    asked = [line for line in fakes.read_text().splitlines() if line.startswith("source ")]
    # the same pictures for each
    assert len({line.partition(" --json ")[0] for line in asked[:5]}) == 1
    assert "--sent-stamp" in asked[0]


def test_receivers_are_told_apart(fakes: Path) -> None:
    list(a_bench(cameras=[1], rounds=1, nice=1,
                 receivers=list(camera_latency.RECEIVERS)).rounds(print))
    asked = [line for line in fakes.read_text().splitlines() if line.startswith("cam ")]
    for words, backend in zip(asked, (
            "kernel:r0 ", "kernel:r0 ", "kernel-busy:r0 ", "kernel-busy:r0 ",
            "dpdk:af_packet=r0 ", "dpdk:af_packet=r0 ", "dpdk:af_xdp=r0 ",
            "dpdk:af_packet=r0 "), strict=True):
        assert f"--backend {backend}" in words
        assert "packet-bytes=2908" in words
    assert "--governor" not in asked[0]
    assert asked[2].endswith("--governor spin")
    assert asked[7].endswith("--governor phase")
    assert [index for index, words in enumerate(asked) if "--direct" in words] == [1, 3, 5]
    assert f" nice={min(19, os.nice(0) + 1)} " in asked[0]


@pytest.mark.parametrize(("fault", "said"), [
    ("cam", "lull-cam ended with status 1: frames: 3 is too few"),
    ("source", "lull-cam-source ended with status 1: .*frames: 3 is too few"),
    ("mute", "streams.0.sent_done_ns: is missing.* rebuild it")])
@pytest.mark.usefixtures("fakes")
def test_programs_that_fail_end_the_run(fault: str, said: str,
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LULL_FAKE", fault)
    with pytest.raises(LullError, match=said):
        a_bench().one(BLOCKING, 1, 1)


@pytest.mark.usefixtures("fakes")
@pytest.mark.parametrize(("fault", "flaw"), [("stolen", "5.0 % of the receiving CPU"),
                                             ("shared", "others had the receiving CPU for 10.0")])
def test_disturbed_rounds_are_invalid(fault: str, flaw: str,
                                      monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LULL_FAKE", fault)
    assert flaw in "".join(a_bench().one(DPDK, 1, 1).flaws())


def test_replies_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(LullError, match="lull-cam left no result"):
        read(tmp_path / "none.json", CamReply, "lull-cam")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(LullError, match="not understood"):
        read(tmp_path / "bad.json", CamReply, "lull-cam")


# ---- the command ----


def test_only_root_may_lay_a_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(LullError, match=r"needs root.*sudo lull camera latency"), Wire(1500):
        pass


@pytest.mark.parametrize(("words", "said"), [
    ("--receivers kernel,dpkd", "'dpkd' is not one of kernel, kernel-direct, kernel-busy"),
    ("--cameras 0", "--cameras: 0 is not a list of numbers from 1 to 32"),
    ("--cameras 1,many", "not a list of numbers"),
    ("--packet 4000 --mtu 1500", "do not fit into --mtu 1500, which has room for 1472"),
    ("--receivers dpdk-xdp --packet 8000", "a --packet of at most 3470"),
    ("--cpus 0", "not a pair of different CPUs"),
    ("--cpus 0,0", "not a pair of different CPUs"),
    ("--plot picture.txt", "end the name with .png, .svg, .pdf"),
    ("--output page.pdf", "end the name with .html or .md"),
    ("--from nowhere.json", "nowhere.json: No such file")])
def test_what_is_refused(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two CPUs")
    assert main(["camera", "latency", *words.split()]) != 0
    captured = capsys.readouterr()
    assert captured.err.startswith("lull: ")
    assert captured.err.count("\n") == 1
    assert said in captured.err
    assert captured.out == ""


def test_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5, 6})
    seen: list[Settings] = []

    def measure(chosen: Settings) -> Report:
        seen.append(chosen)
        return a_report(three())

    monkeypatch.setattr(camera_latency_commands, "measure", measure)
    assert main(["camera", "latency"]) == 0
    assert main(["camera", "latency", "--packet", "8000", "--protocol", "rfc4175"]) == 0
    assert seen[0] == Settings(send_cpu=3, receive_cpu=5, mtu=3498)
    assert (seen[1].mtu, seen[1].pixel) == (9000, "uyvy8")


def saved(rounds: list[Round], path: Path) -> Path:
    """A result in a file."""
    path.write_text(a_report(rounds).model_dump_json())
    return path


def test_a_saved_result_is_drawn_again(tmp_path: Path,
                                       capsys: pytest.CaptureFixture[str]) -> None:
    source = saved(three(), tmp_path / "result.json")
    again, plot = tmp_path / "again.json", tmp_path / "plot.svg"
    assert main(["camera", "latency", "--from", str(source), "--json", str(again),
                 "--plot", str(plot), "--output", str(tmp_path / "page.html")]) == 0
    assert "INVALID" not in capsys.readouterr().out
    assert json.loads(again.read_text()) == json.loads(source.read_text())
    text = plot.read_text()
    assert all(f'id="{name}"' in text for name in (BLOCKING, BUSY, DPDK))
    page = (tmp_path / "page.html").read_text()
    assert "kernel busy-poll" in page
    assert "INVALID</b>" not in page


def test_conclusions_are_not_believed_but_drawn(tmp_path: Path,
                                                capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(saved(three(), tmp_path / "result.json").read_text())
    data["ratios"][0]["measured"] = 1000.0
    (tmp_path / "result.json").write_text(json.dumps(data))
    assert main(["camera", "latency", "--from", str(tmp_path / "result.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ratios"][0]["measured"] == 20


@pytest.mark.parametrize("spoil", [
    lambda data: data.update(format=2), lambda data: data.pop("rounds"),
    lambda data: data["rounds"][0]["done"].update(count=3)])
def test_other_files_are_refused(spoil: Callable[[dict[str, object]], object], tmp_path: Path,
                                 capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(saved(three(), tmp_path / "result.json").read_text())
    spoil(data)
    (tmp_path / "result.json").write_text(json.dumps(data))
    assert main(["camera", "latency", "--from", str(tmp_path / "result.json")]) == 1
    assert "give a file that 'lull camera latency --json FILE' wrote" in capsys.readouterr().err


# ---- what a reader sees ----


def shown(rounds: list[Round], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """On a terminal, blanks folded."""
    assert main(["camera", "latency", "--from", str(saved(rounds, tmp_path / "seen.json"))]) == 0
    return "\n".join(" ".join(line.split()) for line in capsys.readouterr().out.splitlines())


def test_tables_are_in_the_papers_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(three(), tmp_path, capsys)
    assert "Tables I and II: latency results, 8 cameras\n" in text
    assert "bandwidth 111 MB/s 111 MB/s 343 MB/s 343 MB/s" in text
    assert "min. 5.89 ms 530 µs 11.1x 40 µs 2 µs 20x" in text
    assert "avg. 12.1 ms 780 µs 15.6x 40 µs 2 µs 20x" in text
    assert "max. 18.9 ms 890 µs 21.3x 40 µs 2 µs 20x" in text
    assert "DPDK 3/3 2 µs 2 µs 2 µs 2 µs – 2 µs" in text
    assert "8 cameras, avg: kernel blocking / DPDK 20x 20x at least 16x met" in text
    assert "8 cameras, DPDK p50 2 µs 2 µs at most 3 µs met" in text


def test_a_goal_that_is_missed_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(three(kernel_us=25), tmp_path, capsys)
    assert "8 cameras, avg: kernel blocking / DPDK 12.5x 12.5x at least 16x not met" in text


def test_invalid_rounds_are_shown_and_left_out(tmp_path: Path,
                                               capsys: pytest.CaptureFixture[str]) -> None:
    spoilt = a_round(DPDK, 8, 4, latency_us=70, cpu_s=0.7)
    text = shown([*three(), spoilt], tmp_path, capsys)
    assert "DPDK 3/4 2 µs 2 µs 2 µs 2 µs – 2 µs" in text
    assert "INVALID rounds, left out" in text
    assert "4, 8 cameras, DPDK 70 µs 70 µs others had the receiving CPU for 30.0 %" in text
    assert "I N V A L I D" not in text


def test_a_run_without_a_valid_round_says_so_in_large(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rounds = [one.model_copy(update={"steal_pct": 2.0}) for one in three()]
    text = shown(rounds, tmp_path, capsys)
    assert "I N V A L I D" in text
    assert "latency results, 8 cameras - INVALID" in text
    assert "DPDK 0/3 INVALID 2 µs" in text
    assert "not judged" in text
    source = saved(rounds, tmp_path / "result.json")
    for name in ("page.html", "page.md"):
        assert main(["camera", "latency", "--from", str(source), "--output",
                     str(tmp_path / name), "--plot", str(tmp_path / "plot.png")]) == 0
    assert "<b>INVALID</b>" in (tmp_path / "page.html").read_text()
    assert "# INVALID" in (tmp_path / "page.md").read_text()


def test_markdown_has_the_tables(tmp_path: Path) -> None:
    source = saved(three(), tmp_path / "result.json")
    assert main(["camera", "latency", "--from", str(source), "--output",
                 str(tmp_path / "page.md")]) == 0
    text = (tmp_path / "page.md").read_text()
    assert text.startswith("`lull camera latency`: gvsp, 1920 x 1280 bayer-rg12p, 30 frames/s")
    assert "| DPDK | 3/3 | 2 µs | 2 µs | 2 µs | 2 µs | – | 2 µs |" in text
    assert "INVALID" not in text


def test_remarks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    slow = Sent(frames=100, packets=1000, seconds=0.99, behind_ns=50_000_000, refused=1)
    text = shown([one.model_copy(update={"sent": slow, "notes": ["ring: short"], "late": 5,
                                   "waited_send_s": 0.2})
                  for one in three()], tmp_path, capsys)
    assert "the sender began a frame 50 ms late" in text
    assert "the kernel refused packets" in text
    assert "DPDK: ring: short (self-check, 8 cameras)" in text
    assert "others had the sending CPU for up to 20.2 %" in text
    assert "45 packets came when their frame had been given up" in text
    assert "fewer than 100 frames" not in text
