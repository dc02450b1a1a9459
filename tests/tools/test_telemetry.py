# SPDX-License-Identifier: BSD-3-Clause
import socket
import threading
from pathlib import Path

import pytest

from conftest import Bench
from lull.errors import LullError
from lull.program.telemetry import Telemetry, TelemetryError


def test_speaks_the_protocol(bench: Bench) -> None:
    with Telemetry(bench.server.path) as telemetry:
        assert telemetry.greeting.max_output_len == 16384
        assert telemetry.info().loops == ["fwd0", "gen0"]
        assert [loop.kind for loop in telemetry.loops()] == ["forward", "traffic"]
        assert telemetry.ask("/no/such/command") is None
        assert telemetry.explain("fwd0").state in ("calibrating", "feasible")


def test_settings_get_their_dashes_back(bench: Bench) -> None:
    with Telemetry(bench.server.path) as telemetry:
        assert telemetry.settings()["max-latency"] == "200"


def test_set_reports_what_the_program_says(bench: Bench) -> None:
    with Telemetry(bench.server.path) as telemetry:
        telemetry.set("max-latency", "150", "fwd0")
        assert "/lull/set,max-latency@fwd0=150" in bench.program.log
        telemetry.set("traffic", "onoff:1M,5ms,20ms")  # commas reach the program
        assert bench.program.settings["traffic"] == "onoff:1M,5ms,20ms"
        with pytest.raises(LullError, match=r"max-latency: 0 is not in 1\.\.1000000 \(us\)"):
            telemetry.set("max-latency", "0")


def test_unknown_loop(bench: Bench) -> None:
    with (Telemetry(bench.server.path) as telemetry,
          pytest.raises(TelemetryError, match="no answer to /lull/loop,fwd9")):
        telemetry.loop("fwd9")


def test_no_socket(tmp_path: Path) -> None:
    with pytest.raises(TelemetryError, match=r"gone\.v2: no such socket"):
        Telemetry(tmp_path / "gone.v2")


def test_socket_left_by_a_dead_program(runtime: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(runtime / "dead"))
    with pytest.raises(TelemetryError, match="dead: nobody answers"):
        Telemetry(runtime / "dead")


def test_path_too_long(tmp_path: Path) -> None:
    with pytest.raises(TelemetryError, match="choose another one with --socket"):
        Telemetry(tmp_path / ("x" * 200))


def test_program_hangs_up(bench: Bench) -> None:
    with Telemetry(bench.server.path) as telemetry:
        bench.server.hang_up()
        with pytest.raises(TelemetryError, match="hung up"):
            telemetry.info()


def test_program_says_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    released = threading.Event()

    def silent(_request: str) -> bytes:
        released.wait()
        return b"{}"

    monkeypatch.setattr(bench.server, "reply", silent)
    with Telemetry(bench.server.path, timeout_s=0.05) as telemetry:
        try:
            with pytest.raises(TelemetryError, match="does not answer in time"):
                telemetry.info()
        finally:
            released.set()


@pytest.mark.parametrize(("reply", "message"), [
    (b"no json", "not JSON"),
    (b"[1]", "unexpected answer"),
    (b'{"/other":1}', "unexpected answer"),
    (b'{"/lull/info":null}', "no answer to /lull/info"),
    (b'{"/lull/info":{"program":"x","version":"1","pid":"y","loops":[]}}', "bad member pid"),
    (b'{"/lull/info":\xff}', "not JSON"),
])
def test_nonsense(bench: Bench, monkeypatch: pytest.MonkeyPatch, reply: bytes,
                  message: str) -> None:
    monkeypatch.setattr(bench.server, "reply", lambda _: reply)
    with (Telemetry(bench.server.path) as telemetry,
          pytest.raises(TelemetryError, match=message) as caught):
        telemetry.info()
    assert "\n" not in str(caught.value)
    assert str(bench.server.path) in str(caught.value)


def test_greeting_of_something_else(runtime: Path) -> None:
    path = runtime / "other"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(path))
        listener.listen()

        def greet() -> None:
            client, _ = listener.accept()
            client.send(b'{"hello":"world"}')
            client.close()

        thread = threading.Thread(target=greet)
        thread.start()
        with pytest.raises(TelemetryError, match="not a DPDK telemetry socket"):
            Telemetry(path)
        thread.join()


def test_long_reply(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.server, "reply", lambda _: b'{"/x":"' + b"y" * 16000 + b'"}')
    with Telemetry(bench.server.path) as telemetry:
        assert telemetry.ask("/x") == "y" * 16000
