# SPDX-License-Identifier: BSD-3-Clause
"""lull flow top: rates between two looks, what is shown, whom it asks."""

import io
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from conftest import Bench, ObedientPace
from lull.cli import main
from lull.flow import top as flow_top
from lull.program import watching
from lull.program.replies import FlowTop
from lull.program.telemetry import Telemetry, TelemetryError
from simulated_flows import FLOWS, WORKERS, SimulatedFlows
from telemetry_server import TelemetryServer

pytestmark = pytest.mark.usefixtures("signals")


@dataclass
class Stand:
    """A simulated lull-flow that is served, its time, and our view of it."""

    pace: ObedientPace
    program: SimulatedFlows
    telemetry: Telemetry


@pytest.fixture
def stand(runtime: Path) -> Iterator[Stand]:
    pace = ObedientPace()
    program = SimulatedFlows(pace.now_ns)
    with (TelemetryServer(runtime / "flow.v2", program.answer) as server,
          Telemetry(server.path) as telemetry):
        yield Stand(pace, program, telemetry)


@pytest.fixture
def live(runtime: Path) -> Iterator[SimulatedFlows]:
    program = SimulatedFlows(time.monotonic_ns)
    path = runtime / "dpdk" / "lull-flow-4712" / "dpdk_telemetry.v2"
    with TelemetryServer(path, program.answer, program.pid):
        yield program


def drawn(watch: flow_top.FlowWatch, width: int) -> str:
    console = Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None,
                      legacy_windows=False)
    console.print(watch.render(width))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_rates(stand: Stand) -> None:
    watch = flow_top.FlowWatch(stand.telemetry)
    assert watch.rates is None
    assert all(one.rates is None for one in watch.flows)
    stand.pace.sleep(2)
    stand.program.drop_ring = 10
    watch.look()
    for one, (there, back, size) in zip(watch.flows, FLOWS, strict=True):
        assert one.rates is not None
        assert one.rates.pps == pytest.approx(there + back)
        assert one.rates.bps == pytest.approx(8 * size * (there + back))
    assert watch.rates is not None
    whole = sum(there + back for there, back, _ in FLOWS)
    assert watch.rates.rx_pps == pytest.approx(whole)
    assert watch.rates.drop_pps == pytest.approx(5)
    assert watch.rates.records_per_s == pytest.approx(20)
    assert watch.rates.worker_pps == pytest.approx((whole / 2, whole / 4, whole / 4, 0), abs=1)


def test_a_flow_seen_once_has_no_rates(stand: Stand) -> None:
    stand.program.late = True
    watch = flow_top.FlowWatch(stand.telemetry)
    assert len(watch.flows) == 2
    stand.pace.sleep(1)
    watch.look()
    assert [one.rates is None for one in watch.flows] == [False, False, True]
    assert "…" in drawn(watch, 120)


def test_no_time_no_rates(stand: Stand) -> None:
    watch = flow_top.FlowWatch(stand.telemetry)
    watch.look()
    assert watch.rates is None
    assert all(one.rates is None for one in watch.flows)


def test_picture(stand: Stand) -> None:
    watch = flow_top.FlowWatch(stand.telemetry)
    stand.pace.sleep(1)
    stand.program.drop_ring, stand.program.violations = 10, 3
    watch.look()
    wide, narrow = drawn(watch, 130), drawn(watch, 80)
    for words in ("lull-flow", "pid 4712", "[2001:db8::1]:443", "TLS.YouTube", "TCP", "UDP",
                  "10k", "96M", "lost 10", "unaccounted for at 3 checks", "worker3   0 %",
                  "worker0", "50 %", "in flight 12", "open flows 3 "):
        assert words in wide
    assert "workers" in wide
    assert "workers" not in narrow
    assert "96M" in narrow
    heaviest = wide.index("TLS.YouTube")
    assert heaviest < wide.index("DNS") < wide.index("192.0.2.7")


def test_markup_in_names_is_text(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = stand.program.answer_flow_top()
    monkeypatch.setattr(stand.program, "answer_flow_top",
                        lambda: answer | {"app": ["[red]x[/]", "[/]", "[bold]"]})
    assert "[red]x[/]" in drawn(flow_top.FlowWatch(stand.telemetry), 120)


def test_lines(stand: Stand) -> None:
    file = io.StringIO()
    watching.watch(flow_top.FlowWatch(stand.telemetry), stand.pace, file, 1.0, count=2)
    lines = file.getvalue().splitlines()
    assert len(lines) == 2 * len(FLOWS)
    assert lines[0] == ("[2001:db8::1]:443 -> [2001:db8::2]:50000 TCP TLS.YouTube "
                        "10k packets/s 96Mbit/s")
    assert lines[2].split()[:5] == ["192.0.2.7:0", "->", "192.0.2.8:0", "ICMP", "-"]


def test_columns_must_fit(stand: Stand) -> None:
    good = stand.program.answer_flow_top()
    assert len(FlowTop.model_validate(good).rows()) == 3
    with pytest.raises(ValueError, match="columns differ in length"):
        FlowTop.model_validate(good | {"app": ["one"]})


def test_a_program_without_flows(bench: Bench) -> None:
    with (Telemetry(bench.server.path) as telemetry,
          pytest.raises(TelemetryError, match="keeps no flows: choose a lull-flow")):
        flow_top.FlowWatch(telemetry)


# ---- the command ----


@pytest.mark.parametrize("which", [(), ("lull-flow",), ("4712",), ("--pid", "4712")])
@pytest.mark.usefixtures("live", "live_program")
def test_json(which: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flow", "top", *which, "--interval", "0.1", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["info"]["program"] == "lull-flow"
    assert [flow["app"] for flow in data["flows"]] == ["TLS.YouTube", "DNS", ""]
    assert all(flow["pps"] > 0 for flow in data["flows"])
    assert len(data["rates"]["worker_pps"]) == WORKERS
    assert data["totals"]["not_ip"] == 7


@pytest.mark.usefixtures("live")
def test_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flow", "top", "--interval", "0.1", "--once"]) == 0
    assert "TLS.YouTube" in capsys.readouterr().out


@pytest.mark.usefixtures("live_program")
@pytest.mark.parametrize(("arguments", "status", "words"), [
    ([], 1, "no such program; these run: lull-fwd"),
    (["lull-fwd"], 1, "keeps no flows"),
    (["4711", "--program", "lull-fwd"], 2, "4711: give either this argument")])
def test_refusals(arguments: list[str], status: int, words: str,
                  capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["flow", "top", "--json", *arguments]) == status
    assert words in capsys.readouterr().err
