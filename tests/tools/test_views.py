# SPDX-License-Identifier: BSD-3-Clause
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from conftest import Bench, ObedientPace
from lull.demo.result import Result
from lull.demo.result_table import print_result
from lull.demo.view import LiveView, PlainView
from lull.program.camera_replies import Cameras
from lull.program.explain_view import print_explain, remedy_rows
from lull.program.loops_view import Watch, as_data, camera_lines, plain_lines, render
from lull.program.rates import between
from lull.program.replies import Explain, Info, Loop
from lull.program.runqueue import last_cpu
from lull.program.telemetry import Telemetry
from lull.program.tree import Tree
from lull.quantities import clock, digits, micros, percent, si, spark
from simulated_plugin import SimulatedPlugin
from telemetry_server import TelemetryServer


def terminal(width: int = 100) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width, height=60,
                   color_system=None, legacy_windows=False)


def drawn(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(("value", "text"), [
    (0, "0"), (0.5, "0.5"), (100, "100"), (999.6, "1k"), (49_940, "49.9k"), (300_000, "300k"),
    (1_913_565, "1.91M"), (14.88e6, "14.9M"), (2e9, "2G")])
def test_si(value: float, text: str) -> None:
    assert si(value) == text


@pytest.mark.parametrize(("value", "text"), [
    (0, "0 µs"), (0.123, "0.12 µs"), (9.996, "10 µs"), (187.4, "187 µs"), (1090, "1090 µs"),
    (12_345, "12.3 ms"), (2_000_000, "2 s")])
def test_micros(value: float, text: str) -> None:
    assert micros(value) == text


def test_other_quantities() -> None:
    assert digits(99.96) == "100"
    assert percent(99.97) == "100 %"
    assert percent(3.14159) == "3.1 %"
    assert clock(89.6) == "1:30"
    assert clock(-1) == "0:00"
    assert spark([0, 50, 100, 200], 100, 3) == "▅██"


def test_plain_view(outcome: Result) -> None:
    file = io.StringIO()
    view = PlainView(file)
    view.started(outcome.settings, Info(program="lull-fwd", version="0.1.0", pid=7, loops=[]))
    view.measured(outcome.samples[0], 3.0)
    lines = file.getvalue().splitlines()
    assert "54 measurements in 3 rounds, about 1:30" in lines[0]
    assert "idle   spin       CPU 100.0 %" in lines[1]
    assert "(1:27 left)" in lines[1]


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_live_view_fits(outcome: Result, width: int) -> None:
    console = terminal(width)
    view = LiveView(console, live=False)
    view.started(outcome.settings, Info(program="lull-fwd", version="0.1.0", pid=7, loops=[]))
    for sample in outcome.samples:
        view.measured(sample, 3.0)
    console.print(view.render())
    lines = drawn(console).splitlines()
    assert max(map(len, lines)) <= width
    if width >= 80:
        text = "\n".join(lines)
        for words in ("spin", "ramp", "objective", "feasible", "median", "burst", "█"):
            assert words in text


def test_live_view_before_anything(outcome: Result) -> None:
    console = terminal()
    with LiveView(console, live=True) as view:
        view.stage("warm-up: measuring how long rests take", 0.0)
        view.running("spin", outcome.settings.phases[0], 1, 1.0)
        view.tick("spin", 99.0, 2.0)
    assert "warm-up" in drawn(console)


def test_final_table(outcome: Result) -> None:
    console = terminal(140)
    print_result(outcome, console)
    text = drawn(console)
    for phase in outcome.settings.phases:
        assert phase.name in text
    assert "lost none of" in " ".join(text.split())
    assert "† the host or other programs took CPU time" in text


@pytest.mark.parametrize("width", [80, 100, 140])
def test_final_table_beside_another_program(outcome: Result, width: int) -> None:
    console = terminal(width)
    print_result(outcome.model_copy(update={
        "machine": outcome.machine.model_copy(update={"realtime": False}),
        "runs": [run.model_copy(update={"p99_us": 201.0}) if run.phase == "idle" else run
                 for run in outcome.runs]}), console)
    text = drawn(console)
    assert "…" not in text
    words = " ".join(text.split())
    assert "shared: 100 000 packets/s, random, beside another program on the same CPU" in words
    assert "governor objective kept the objective in 5 of 6 phases; spin in 4 of 6" in words
    assert ("idle p99 is 201 µs, 1 µs above the objective. Possible causes: the host took the CPUs "
            "for ") in words
    assert words.count("CAP_SYS_NICE") == 1
    row = next(line for line in text.splitlines() if line.startswith(" spin") and "other" in line)
    assert row.split()[:4] == ["spin", "other", "50.0", "%†"]


def test_loops_view(bench: Bench) -> None:
    bench.program.settings.update({"governor": "objective", "traffic": "poisson:50k"})
    with Telemetry(bench.server.path) as telemetry:
        seen = Watch(telemetry, Tree(Path("/nonexistent")))
        assert plain_lines(seen) == []
        first = terminal()
        first.print(render(seen, 100))
        assert "…" in drawn(first)
        for _ in range(3):
            bench.pace.sleep(1)
            seen.look()
    forward, source = seen.loops
    assert forward.rates is not None
    assert forward.rates.pps == pytest.approx(50_000, rel=0.01)
    assert forward.rates.cpu_pct < 10
    assert forward.rates.rest_share > 0.9
    assert forward.rates.wakes_per_s == pytest.approx(5444, rel=0.02)
    assert len(forward.history) == 3
    assert source.rates is not None
    assert source.rates.cpu_pct == pytest.approx(100)
    for width in (80, 140):
        console = terminal(width)
        console.print(render(seen, width))
        text = drawn(console)
        assert max(map(len, text.splitlines())) <= width
        for words in ("lull-fwd", "pid 4711", "fwd0", "gen0", "50k", "the latency objective binds"):
            assert words in text
    data = as_data(seen, {"a": "b"})
    assert data["loops"][0]["rates"]["pps"] == forward.rates.pps
    assert len(plain_lines(seen)) == 2


@pytest.fixture
def wrapped(runtime: Path) -> Iterator[tuple[ObedientPace, SimulatedPlugin, Telemetry]]:
    """A DPDK program with the plugin."""
    pace = ObedientPace()
    program = SimulatedPlugin(pace.now_ns)
    path = runtime / "dpdk" / "rte" / "dpdk_telemetry.v2"
    with TelemetryServer(path, program.answer) as server, Telemetry(server.path) as telemetry:
        yield pace, program, telemetry


def test_loops_of_a_wrapped_program(
        wrapped: tuple[ObedientPace, SimulatedPlugin, Telemetry]) -> None:
    pace, program, telemetry = wrapped
    seen = Watch(telemetry, Tree(Path("/nonexistent")))
    assert seen.loops[0].loop.cpu == -1
    pace.sleep(1)
    seen.look()
    for width in (80, 100, 112, 128, 160):
        console = terminal(width)
        console.print(render(seen, width))
        text = drawn(console)
        assert max(map(len, text.splitlines())) <= width
        for words in ("dpdk-testpmd", "poll0", "poll1", "rte-worker-1", "fifteen-letters", "–",
                      "feasible"):
            assert words in text
        assert ("threads: poll0 rte-worker-1, poll1" in text) == (width < 112)
        assert "mode" not in text
        seen.look()
    assert plain_lines(seen)[1].startswith("poll1  fifteen-letters cpu –  objective CPU ")
    program.settings["mode"] = "shadow"
    program.threads.append("another")
    pace.sleep(1)
    seen.look()
    console = terminal(120)
    console.print(render(seen, 120))
    assert "mode shadow: no thread rests" in drawn(console)
    assert "another" in drawn(console)
    console = terminal()
    loop = seen.loops[0]
    print_explain(loop.loop, loop.explain, console)
    assert drawn(console).startswith("poll0  thread rte-worker-1  governor objective")
    program.threads.clear()
    seen.look()
    assert plain_lines(seen) == []
    console = terminal()
    console.print(render(seen, 100))
    assert "No thread has polled a port yet." in drawn(console)


def test_last_cpu(tmp_path: Path) -> None:
    stat = tmp_path / "proc" / "7" / "stat"
    stat.parent.mkdir(parents=True)
    stat.write_text(f"7 (a) b (c) S {' '.join(str(field) for field in range(4, 53))}\n")
    assert last_cpu(Tree(tmp_path), 7) == 39
    assert last_cpu(Tree(tmp_path), 8) == -1


def test_rates_need_time(bench: Bench) -> None:
    with Telemetry(bench.server.path) as telemetry:
        loop = telemetry.loop("fwd0")
        assert between(loop, loop) is None
        bench.pace.sleep(1)
        later = telemetry.loop("fwd0")
        assert between(loop, later.model_copy(update={"tid": 1})) is None
        assert between(loop, later) is not None


def test_remedies_are_a_table() -> None:
    lists = {"remedies": ["a ring of 4096", "a ring of 512: too short"], "remedy_fits": [1, 0],
             "remedy_rest_ns": [82_000, 0], "remedy_cpu_ppm": [310_000, 1_000_000]}
    rows = remedy_rows(Explain.model_validate(lists))
    assert rows == [("a ring of 4096", micros(82), percent(31)),
                    ("a ring of 512: too short", "", "")]
    assert remedy_rows(Explain.model_validate({"text": "of a program that tells none"})) == []


def test_explain_says_the_class_once() -> None:
    scheduling = {"sched_text": "runs in class fifo", "sched_text_more": " at priority 4"}
    said = "feasible; runs in class fifo at priority 4"
    assert Explain.model_validate({"text": "feasible", **scheduling}).sentence() == said
    assert Explain.model_validate({"text": said, **scheduling}).sentence() == said


def test_explain_tells_the_ways_and_c_states() -> None:
    explain = Explain.model_validate({
        "state": "feasible", "text": "feasible", "way_pause": "the core pauses; no TPAUSE: ",
        "way_pause_more": "the CPU has no WAITPKG", "way_sleep": "on a timer",
        "cpu_latency_text": "each C-state of CPU 1 fits the objective"})
    assert explain.ways() == {"pause": "the core pauses; no TPAUSE: the CPU has no WAITPKG",
                              "sleep": "on a timer"}
    console = Console(file=io.StringIO(), width=100, highlight=False)
    loop = Loop.model_validate({"name": "fwd0", "kind": "forward", "governor": "objective",
                                "now_ns": 1, "thread_cpu_ns": 1})
    print_explain(loop, explain, console)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert lines[2:5] == ["pause: the core pauses; no TPAUSE: the CPU has no WAITPKG",
                          "sleep: on a timer", "each C-state of CPU 1 fits the objective"]
    assert not any("way_" in line or "cpu_latency_text" in line for line in lines)


# ---- cameras ----


def test_cameras_say_where_their_latency_begins() -> None:
    told = Cameras.model_validate({
        "now_ns": 1, "latency_from": "bound", "name": ["front", "back"], "frames": [1200, 0],
        "partial": [3, 0], "latency_p50_ns": [451_000, 0], "latency_p99_ns": [900_000, 0],
        "latency_max_ns": [1_200_000, 0], "fetched_p50_ns": [470_000, 0],
        "fetched_p99_ns": [950_000, 0]})
    console = terminal(110)
    for part in camera_lines(told):
        console.print(part)
    said = [" ".join(line.split()) for line in drawn(console).splitlines()]
    assert "front 1.2k 3 451 µs 900 µs 1200 µs 470 µs 950 µs" in said
    assert "back 0 0 – – – – –" in said
    assert any(line.startswith("latency: upper bound: from the last look") for line in said)
    assert camera_lines(None) == []
