# SPDX-License-Identifier: BSD-3-Clause
import errno
import socket
from collections.abc import Generator, Iterator
from pathlib import Path, PosixPath
from typing import Self

import pytest

from conftest import Bench, ObedientPace
from lull.errors import LullError
from lull.program.child import Child
from lull.program.pace import RealPace
from lull.program.programs import Choice, connect, runtime_dirs, scan
from simulated_program import Faults, SimulatedProgram
from telemetry_server import TelemetryServer


@pytest.fixture
def second(runtime: Path) -> Iterator[SimulatedProgram]:
    program = SimulatedProgram(ObedientPace().now_ns, pid=4712, name="lull-gen")
    with TelemetryServer(runtime / "dpdk/lull-gen-4712/dpdk_telemetry.v2", program.answer, 4712):
        yield program


def test_finds_the_only_one(bench: Bench) -> None:
    with connect(Choice()) as telemetry:
        assert telemetry.info().pid == bench.program.pid


def test_several_must_be_chosen_from(bench: Bench, second: SimulatedProgram) -> None:
    with pytest.raises(LullError, match=r"2 programs run .*lull-gen --pid 4712.*with --pid"):
        connect(Choice())
    with connect(Choice(pid=4712)) as telemetry:
        assert telemetry.info().program == second.name
    with connect(Choice(program="lull-fwd")) as telemetry:
        assert telemetry.info().pid == bench.program.pid
    with pytest.raises(LullError, match="no such program; these run: lull-fwd --pid 4711, "):
        connect(Choice(pid=1))


def test_explicit_socket(bench: Bench) -> None:
    with connect(Choice(socket=bench.server.path)) as telemetry:
        assert telemetry.info().program == "lull-fwd"


def test_none(runtime: Path) -> None:
    with pytest.raises(LullError, match=rf"no lull program is running \(looked in {runtime}"):
        connect(Choice())


def test_dead_and_foreign_sockets_are_passed_over(bench: Bench, runtime: Path) -> None:
    dead = runtime / "dpdk" / "dead"
    dead.mkdir()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(dead / "dpdk_telemetry.v2"))
    foreign = SimulatedProgram(bench.pace.now_ns, faults=Faults(no_lull=True))
    # The second process of a runtime directory gets a number behind the name.
    with TelemetryServer(runtime / "dpdk/testpmd/dpdk_telemetry.v2:1", foreign.answer):
        running, errors = scan()
    assert [one.info.pid for one in running] == [bench.program.pid]
    assert len(errors) == 1


def test_child_beside_directories_of_root(build: Path, runtime: Path,
                                          monkeypatch: pytest.MonkeyPatch) -> None:
    """Where root has used DPDK, others may not even look into /var/run/dpdk."""
    class Denied(PosixPath):
        def glob(self, pattern: str) -> Generator[Self, None, None]:
            raise PermissionError(errno.EACCES, pattern)

    monkeypatch.setattr("lull.program.child.runtime_dirs",
                        lambda: [Denied("/var"), runtime / "dpdk"])
    with (Child(build / "apps/lull-fwd/lull-fwd", [], RealPace()) as child,
          child.connect() as telemetry):
        assert telemetry.info().program == "lull-fwd"


def test_runtime_dirs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    monkeypatch.setenv("RUNTIME_DIRECTORY", "/run/unit")
    assert list(map(str, runtime_dirs())) == [
        "/var/run/dpdk", "/run/unit/dpdk", "/run/user/7/dpdk", "/tmp/dpdk"]
