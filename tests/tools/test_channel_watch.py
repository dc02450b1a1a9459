# SPDX-License-Identifier: BSD-3-Clause
"""lull channel status and top: rates between two looks, what is shown, whom it asks."""

import io
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from conftest import ObedientPace, one_line
from lull.channel import look, view
from lull.cli import main
from lull.program import watching
from lull.program.telemetry import Telemetry, TelemetryError
from simulated_channel import PATHS, SimulatedChannel
from telemetry_server import TelemetryServer

pytestmark = pytest.mark.usefixtures("signals")
WIDTH = 120


@dataclass
class Stand:
    """A simulated program that is served, its time, and our view of it."""

    pace: ObedientPace
    program: SimulatedChannel
    telemetry: Telemetry

    def watch(self) -> look.Watch:
        return look.Watch(self.telemetry)


@pytest.fixture
def stand(runtime: Path) -> Iterator[Stand]:
    pace = ObedientPace()
    program = SimulatedChannel(pace.now_ns)
    with (TelemetryServer(runtime / "channel.v2", program.answer) as server,
          Telemetry(server.path) as telemetry):
        yield Stand(pace, program, telemetry)


@pytest.fixture
def live(runtime: Path) -> Iterator[SimulatedChannel]:
    program = SimulatedChannel(time.monotonic_ns)
    path = runtime / "dpdk" / "lull-channel-perf-4713" / "dpdk_telemetry.v2"
    with TelemetryServer(path, program.answer, program.pid):
        yield program


def drawn(watch: look.Watch) -> str:
    console = Console(file=io.StringIO(), force_terminal=True, width=WIDTH, color_system=None,
                      legacy_windows=False)
    console.print(view.render(watch))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_rates(stand: Stand) -> None:
    watch = stand.watch()
    first = watch.now.peers[0]
    assert watch.path_rates(0, watch.now.paths[0][0]) is None
    assert watch.peer_rates(first) is None
    assert watch.loop_rates() is None
    stand.pace.sleep(2)
    watch.look()
    for path, (bps, lost) in zip(watch.now.paths[0], PATHS, strict=True):
        rates = watch.path_rates(0, path)
        assert rates is not None
        assert rates.delivered_bps == pytest.approx(bps)
        assert rates.offered_bps == pytest.approx(1.01 * bps)
        assert rates.lost_per_s == rates.resent_per_s == pytest.approx(lost)
        assert rates.duplicates_per_s == 0
    peer = watch.peer_rates(watch.now.peers[0])
    assert peer is not None
    assert peer.sent_bps == pytest.approx(sum(bps for bps, _ in PATHS))
    assert peer.received_bps == 0
    loop = watch.loop_rates()
    assert loop is not None
    assert loop.cpu_pct == pytest.approx(10)
    assert loop.rest_pct == pytest.approx(75)


def test_a_peer_that_began_anew_has_no_rates(stand: Stand) -> None:
    watch = stand.watch()
    stand.pace.sleep(1)
    stand.program._began_ns = stand.pace.now_ns()
    stand.pace.sleep(1)
    watch.look()
    assert watch.peer_rates(watch.now.peers[0]) is None
    assert watch.path_rates(0, watch.now.paths[0][0]) is None


def test_all_peers_of_several_replies(stand: Stand) -> None:
    assert [one.name for one in stand.watch().now.peers] == ["b", "c", "d"]
    stand.program.peers = 2
    assert [one.name for one in stand.watch().now.peers] == ["b", "c"]
    stand.program.peers = 0
    assert "nobody is connected" in drawn(stand.watch())


def test_no_loop_of_its_own(stand: Stand) -> None:
    stand.program.loops = []
    watch = stand.watch()
    stand.pace.sleep(1)
    watch.look()
    assert watch.loop_rates() is None
    assert "at rest" not in drawn(watch)


def test_what_is_drawn(stand: Stand) -> None:
    watch = stand.watch()
    shown = drawn(watch)
    assert "lull-channel-perf 0.1.0   pid 4713   open  not protected" in shown
    assert "spread pull  control delay  governor phase, at most 1ms" in shown
    assert "short messages 1.2k  until done p50 7.5 µs  p99 95 µs" in shown
    assert "longer messages" not in shown
    assert "refused" not in shown
    assert "b up  to it 150MB  from it 0B  messages 40 / 0  rests up to 1000 µs" in shown
    assert shown.count("waits: all paths are full") == 1
    stand.pace.sleep(1)
    stand.program.counters["forged"] = 3
    stand.program.waits, stand.program.busy, stand.program.security = "credit", 1, "sealed"
    watch.look()
    shown = drawn(watch)
    assert "refused packets forged 3" in shown
    assert "not protected" not in shown
    assert "b busy  to it 240Mbit/s  from it 0bit/s" in shown
    assert "not heard for 2 ms" in shown.replace("2000 µs", "2 ms")
    assert "the peer has not received yet" in " ".join(shown.split())
    assert "CPU 10.0 %  at rest 75.0 %" in shown
    rows = [line.split() for line in shown.splitlines() if line.strip().startswith("kernel:")]
    assert rows[0] == ["kernel:r0", "→", "0", "up", "6", "s", "162Mbit/s", "160Mbit/s", "120",
                       "120", "0", "160Mbit/s", "300", "µs", "50", "µs", "60/64", "128"]
    assert rows[2][3] == "down"
    assert "–" in rows[2]


def test_plain_lines(stand: Stand) -> None:
    picture = view.Picture(stand.watch())
    stand.pace.sleep(1)
    picture.look()
    assert picture.lines()[0] == (
        "b kernel:r0 → 0 up 162Mbit/s 160Mbit/s lost 120 300 µs")
    assert len(picture.lines()) == len(PATHS)


def test_a_reply_of_another_version(stand: Stand) -> None:
    def broken(request: str) -> Any:
        answer = SimulatedChannel.answer(stand.program, request)
        if request.startswith("/lull/channel_paths"):
            del answer["lost_pkts"]
        return answer

    stand.program.answer = broken  # type: ignore[method-assign]
    with (TelemetryServer(stand.telemetry.path.with_name("other.v2"), broken) as server,
          Telemetry(server.path) as telemetry,
          pytest.raises(TelemetryError, match="bad member lost_pkts")):
        look.Watch(telemetry)


def test_columns_that_differ_in_length(stand: Stand) -> None:
    def broken(request: str) -> Any:
        answer = SimulatedChannel.answer(stand.program, request)
        if request == "/lull/channel_rails":
            answer["text"].pop()
        return answer

    with (TelemetryServer(stand.telemetry.path.with_name("other.v2"), broken) as server,
          Telemetry(server.path) as telemetry,
          pytest.raises(TelemetryError, match="columns differ")):
        look.Watch(telemetry)


def test_status(live: SimulatedChannel, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["channel", "status"]) == 0
    assert "kernel:r1 → 1" in capsys.readouterr().out
    assert main(["channel", "status", "--json", str(live.pid)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["channel"]["name"] == "a"
    assert [one["state"] for one in data["peers"][0]["paths"]] == ["up", "suspect", "down"]
    assert data["peers"][0]["rates"] is None
    assert data["rails"][1]["text"] == "kernel:r1"


def test_top(live: SimulatedChannel, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["channel", "top", "--json", "--interval", "0.1"]) == 0
    data = json.loads(capsys.readouterr().out)
    rate = data["peers"][0]["paths"][0]["rates"]["delivered_bps"]
    assert rate == pytest.approx(160e6, rel=0.1)
    assert main(["channel", "top", "--once", "--interval", "0.1", "lull-channel-perf"]) == 0
    assert "Mbit/s" in capsys.readouterr().out
    assert main(["channel", "top", str(live.pid), "--pid", str(live.pid)]) == 2
    assert "either this argument" in one_line(capsys)


def test_a_program_without_a_channel(live: SimulatedChannel, monkeypatch: pytest.MonkeyPatch,
                                     capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(SimulatedChannel, "answer_channel", None)
    assert live.pid
    assert main(["channel", "status"]) == 1
    assert "has no channel" in one_line(capsys)


def test_a_recorded_program(stand: Stand) -> None:
    """Replies of a lull-channel-perf that sent over 200M:loss=1%,100M,50M, a second apart."""
    recorded = json.loads((Path(__file__).parent / "recorded_channel.json").read_text())
    moments = ["first"]

    def answer(request: str) -> Any:
        return recorded[moments[-1]].get(request)

    with (TelemetryServer(stand.telemetry.path.with_name("recorded.v2"), answer) as server,
          Telemetry(server.path) as telemetry):
        watch = look.Watch(telemetry)
        moments.append("second")
        watch.look()
    rates = [watch.path_rates(0, path) for path in watch.now.paths[0]]
    delivered = [one.delivered_bps / 1e6 for one in rates if one is not None]
    assert len(delivered) == 3
    for seen, rail in zip(delivered, (200, 100, 50), strict=True):
        assert 0.5 * rail < seen < rail
    assert rates[0] is not None
    assert rates[0].lost_per_s > 50
    loop = watch.loop_rates()
    assert loop is not None
    assert 10 < loop.cpu_pct < 100
    assert 10 < loop.rest_pct < 100
    assert watch.bad_packets() == {}
    shown = drawn(watch)
    assert "kernel:r2 → 2" in shown
    assert "waits: all paths are full" in " ".join(shown.split())


def test_watched_on_a_terminal(stand: Stand) -> None:
    out = io.StringIO()
    watching.watch(view.Picture(stand.watch()), stand.pace, out, 1.0, count=2)
    assert len(out.getvalue().splitlines()) == 2 * len(PATHS)
