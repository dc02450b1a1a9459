# SPDX-License-Identifier: BSD-3-Clause
"""What several tests need: time that obeys, a simulated program, a private runtime directory."""

import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from lull.demo import settings as demo_settings
from lull.demo.demo import Demo
from lull.demo.result import Result, summarise
from lull.demo.view import SilentView
from lull.program.energy import EnergyMeter
from lull.program.machine import Machine
from lull.program.telemetry import Telemetry
from lull.program.tree import Tree
from lull.wrap import plugin_file
from simulated_program import Faults, SimulatedProgram
from telemetry_server import TelemetryServer

HERE = Path(__file__).resolve().parent


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    """The error that the command printed."""
    captured = capsys.readouterr()
    assert captured.err.startswith("lull: ")
    assert captured.err.count("\n") == 1
    return captured.err.strip()


class ObedientPace:
    """Time goes by only when someone sleeps."""

    def __init__(self) -> None:
        self.ns = 10**12

    def now(self) -> float:
        return self.ns / 1e9

    def now_ns(self) -> int:
        return self.ns

    def sleep(self, seconds: float) -> None:
        self.ns += max(0, round(seconds * 1e9))


@dataclass
class Bench:
    """A simulated program that is served, and the time it lives in."""

    pace: ObedientPace
    program: SimulatedProgram
    server: TelemetryServer


@pytest.fixture(autouse=True)
def _terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that can draw; whatever runs the tests may have a dumb one, or none."""
    monkeypatch.setenv("TERM", "xterm")


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runtime directory of our own with a short name: socket paths hold 107 characters."""
    directory = Path(tempfile.mkdtemp(prefix="lull-"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(directory))
    monkeypatch.delenv("RUNTIME_DIRECTORY", raising=False)
    monkeypatch.setattr("lull.program.programs.runtime_dirs", lambda: [directory / "dpdk"])
    monkeypatch.setattr("lull.program.child.runtime_dirs", lambda: [directory / "dpdk"])
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def faults() -> Faults:
    return Faults()


@pytest.fixture
def bench(runtime: Path, faults: Faults) -> Iterator[Bench]:
    pace = ObedientPace()
    program = SimulatedProgram(pace.now_ns, faults=faults)
    path = runtime / "dpdk" / "lull-fwd-4711" / "dpdk_telemetry.v2"
    with TelemetryServer(path, program.answer) as server:
        yield Bench(pace, program, server)


@pytest.fixture
def live_program(runtime: Path) -> Iterator[SimulatedProgram]:
    """The same in real time, for commands that wait themselves."""
    program = SimulatedProgram(time.monotonic_ns)
    path = runtime / "dpdk" / "lull-fwd-4711" / "dpdk_telemetry.v2"
    with TelemetryServer(path, program.answer):
        yield program


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build directory whose programs are stand-ins."""
    program = tmp_path / "build" / "apps" / "lull-fwd" / "lull-fwd"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nPYTHONPATH={HERE} exec {sys.executable} '
                       f'{HERE / "fake_lull_fwd.py"} "$@"\n')
    program.chmod(0o755)
    flow = tmp_path / "build" / "apps" / "lull-flow" / "lull-flow"
    flow.parent.mkdir()
    flow.write_text("libndpi.so.4 librdkafka.so.1")  # all that is looked at
    flow.chmod(0o755)
    monkeypatch.setenv("LULL_BUILD", str(tmp_path / "build"))
    return tmp_path / "build"


@pytest.fixture
def simulator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A build directory whose lull-sim is the stand-in; the file tells what it was asked."""
    program = tmp_path / "build" / "apps" / "lull-sim" / "lull-sim"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nPYTHONPATH={HERE}:{HERE.parents[1] / "python"} exec '
                       f'{sys.executable} {HERE / "fake_lull_sim.py"} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("LULL_BUILD", str(tmp_path / "build"))
    monkeypatch.setenv("LULL_FAKE_LOG", str(tmp_path / "log"))
    return tmp_path / "log"


def directory_is_safe(directory: Path) -> bool:
    return os.access(directory, os.W_OK) and not plugin_file.refusal(directory)


@pytest.fixture
def safe() -> Iterator[Path]:
    """A directory that EAL takes plugins from; tests usually run below /tmp, which is not one."""
    parents = [one for one in (Path.home(), HERE.parent) if one.is_dir() and directory_is_safe(one)]
    if not parents:
        pytest.skip("no directory here is safe from other users")
    directory = Path(tempfile.mkdtemp(prefix=".lull-test-", dir=parents[0])).resolve()
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def plugin(safe: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plugin to be found by LULL_BUILD; nothing of the caller's settings is left."""
    for name in [name for name in os.environ if name.startswith("LULL")]:
        monkeypatch.delenv(name)
    path = safe / "plugin" / plugin_file.FOLDER.format(23) / plugin_file.NAME
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\x7fELF")
    path.chmod(0o644)
    monkeypatch.setenv("LULL_BUILD", str(safe))
    return path


@pytest.fixture
def signals() -> Iterator[None]:
    """The command line takes over signals; give them back."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def outcome() -> Result:
    """The result of a whole demo on a simulated program, made once."""
    directory = Path(tempfile.mkdtemp(prefix="lull-"))
    pace = ObedientPace()
    program = SimulatedProgram(pace.now_ns, faults=Faults(steal_ns_per_s=2_000_000,
                                                          sched_policy="auto"))
    settings = demo_settings.plan()
    try:
        with (TelemetryServer(directory / "dpdk_telemetry.v2", program.answer) as server,
              Telemetry(server.path) as telemetry):
            samples = Demo(telemetry, settings, SilentView(), pace,
                           EnergyMeter(Tree(directory)), Tree(directory),
                           program.neighbour).run()
    finally:
        shutil.rmtree(directory)
    machine = Machine(cpu="Simulated CPU", cores=2, kernel="6.1", hypervisor="KVM",
                      cpuidle_driver="haltpoll", guest_halt_poll_ns=200_000,
                      dpdk="DPDK 22.11.11", lull="0.1.0", commit="0123456789ab",
                      date="2026-11-21T00:00:00+00:00")
    return Result(machine=machine, settings=settings, runs=summarise(samples, settings),
                  samples=samples)
