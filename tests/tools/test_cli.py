# SPDX-License-Identifier: BSD-3-Clause
"""The command as users type it: first in this process, then as a process of its own."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import one_line
from lull.cli import main
from lull.demo.result import Result, load, save
from lull.errors import LullError
from lull.program.child import Child, find_program
from lull.program.pace import RealPace
from simulated_program import SimulatedProgram

ROOT = Path(__file__).resolve().parents[2]
QUICK = ("--duration", "2.5", "--phases", "low", "--governors", "objective")
pytestmark = pytest.mark.usefixtures("signals")


# ---- a program that runs ----


def test_show(live_program: SimulatedProgram, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "--interval", "0.05"]) == 0
    text = capsys.readouterr().out
    assert "fwd0" in text
    assert "max-latency" in text
    assert main(["show", "--json", "--interval", "0.05", "--pid", str(live_program.pid)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["info"]["program"] == "lull-fwd"
    assert [loop["name"] for loop in data["loops"]] == ["fwd0", "gen0"]
    assert data["loops"][0]["rates"]["seconds"] > 0


@pytest.mark.usefixtures("live_program")
def test_top(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["top", "--interval", "0.1", "--count", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[0].startswith("fwd0")


@pytest.mark.usefixtures("live_program")
def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    text = capsys.readouterr().out
    assert "the latency objective binds" in text
    assert "ring_bound_ns" in text
    assert "any" in text
    assert main(["explain", "fwd0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fwd0"]["binding"] == "latency"
    assert main(["set", "spin"]) == 0
    assert main(["explain"]) == 0
    assert "makes no promise" in capsys.readouterr().out
    assert main(["explain", "fwd7"]) == 1
    assert one_line(capsys).endswith("has no loop fwd7: it has fwd0, gen0")


def test_explain_of_shared_queues(live_program: SimulatedProgram,
                                  capsys: pytest.CaptureFixture[str]) -> None:
    """Does not advise what would be refused."""
    live_program.faults.shares_queues = True
    assert main(["set", "metronome"]) == 0
    capsys.readouterr()
    assert main(["explain", "fwd0"]) == 0
    text = capsys.readouterr().out
    assert "threads share queues" in text
    assert "lull set" not in text


def test_set(live_program: SimulatedProgram, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["set", "ramp", "max-latency=150", "traffic=onoff:1M,5ms,20ms"]) == 0
    assert live_program.settings["governor"] == "ramp"
    assert live_program.settings["max-latency"] == "150"
    assert live_program.settings["traffic"] == "onoff:1M,5ms,20ms"
    assert "max-latency = 150 (was 200)" in capsys.readouterr().out
    assert main(["set", "--loop", "gen0", "max-latency=90"]) == 0
    assert live_program.settings["max-latency"] == "150"
    assert "/lull/set,max-latency@gen0=90" in live_program.log


@pytest.mark.usefixtures("live_program")
@pytest.mark.parametrize(("arguments", "status", "words"), [
    (["max-latency=0"], 1, "max-latency: 0 is not in 1..1000000 (us)"),
    (["max-rest=9", "max-latency=0"], 1, "(already set: max-rest=9)"),
    (["faster"], 1, "governor: 'faster' is not one of"),
    (["spin", "max-latency"], 2, "max-latency: not KEY=VALUE"),
    (["=5"], 2, "=5: not KEY=VALUE"),
    (["--loop", "fwd9", "spin"], 1, "has no loop fwd9"),
    ([], 2, "see 'lull set --help'"),
])
def test_set_refused(arguments: list[str], status: int, words: str,
                     capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["set", *arguments]) == status
    assert words in one_line(capsys)


@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize("command", [["top"], ["show"], ["explain"], ["set", "spin"]])
def test_nothing_runs(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command) == 1
    assert "no lull program is running" in one_line(capsys)
    assert main([*command, "--socket", "/no/such"]) == 1
    assert "/no/such: no such socket" in one_line(capsys)


# ---- mistakes ----


@pytest.mark.parametrize(("arguments", "words"), [
    (["fly"], "No such command 'fly'"),
    (["demo", "--fast"], "No such option"),
    (["demo", "--duration", "long"], "'long' is not a valid float"),
    (["demo", "--duration", "3"], "duration: 3 is not in"),
    (["demo", "--governors", "spin,"], ""),
    (["demo", "--governors", "warp"], "governors: warp is not one of"),
    (["demo", "--phases", ","], "phases: "),
    (["top", "--interval", "0"], "0"),
])
def test_wrong_usage(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str],
                     monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LULL_BUILD", "/no/build")
    status = main(arguments)
    assert words in one_line(capsys)
    assert status == (1 if arguments[-1] == "spin," else 2)


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert main(["--help"]) == 0
    assert main(["--version"]) == 0
    assert "lull 0.1.0" in capsys.readouterr().out
    for command in ("demo", "run", "wrap", "top", "show", "explain", "set", "report",
                    "doctor"):
        assert main([command, "--help"]) == 0
        assert "Usage: lull" in capsys.readouterr().out


def test_program_missing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
                         tmp_path: Path) -> None:
    monkeypatch.setenv("LULL_BUILD", str(tmp_path))
    assert main(["demo"]) == 1
    assert f"{tmp_path}/apps/lull-fwd/lull-fwd is missing" in one_line(capsys)
    monkeypatch.delenv("LULL_BUILD")
    monkeypatch.setattr("lull.program.child.CHECKOUT", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LullError, match="lull-fwd is not on the PATH: install it"):
        find_program("lull-fwd")
    (tmp_path / "meson.build").write_text("")
    monkeypatch.setattr("lull.program.child.CHECKOUT", tmp_path)
    with pytest.raises(LullError, match=rf"run 'make build' in {tmp_path}"):
        find_program("lull-fwd")
    found = tmp_path / "lull-fwd"
    found.write_text("#!/bin/sh\n")
    found.chmod(0o755)
    assert find_program("lull-fwd") == found


def test_report(outcome: Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "result.json"
    save(outcome, source)
    assert main(["report", str(source)]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "report.html")
    assert main(["report", str(source), "-o", "-"]) == 0
    assert capsys.readouterr().out == (tmp_path / "report.html").read_text()
    assert main(["report", str(source), "-o", str(source / "x.html")]) == 1
    assert "cannot write" in one_line(capsys)
    assert main(["report", str(tmp_path / "none.json")]) == 1
    assert "none.json: cannot read" in one_line(capsys)


# ---- a program we start ----


def test_child_fails_in_its_own_words(build: Path, runtime: Path,
                                      monkeypatch: pytest.MonkeyPatch) -> None:
    assert build
    assert runtime
    monkeypatch.setenv("LULL_FAKE", "fail")
    with (Child(find_program("lull-fwd"), [], RealPace()) as child,
          pytest.raises(LullError, match=r"^lull-fwd ended with status 1: cpus: 99 is not a CPU")):
        child.connect()


def test_child_that_never_answers(build: Path, runtime: Path,
                                  monkeypatch: pytest.MonkeyPatch) -> None:
    assert build
    assert runtime
    monkeypatch.setenv("LULL_FAKE", "deaf")
    with (Child(find_program("lull-fwd"), [], RealPace()) as child,
          pytest.raises(LullError, match=r"does not answer by telemetry after 0\.1 s")):
        child.connect(timeout_s=0.1)
    assert child.ended() == -signal.SIGTERM


def test_not_a_program(tmp_path: Path) -> None:
    path = tmp_path / "lull-fwd"
    path.write_bytes(b"\x7fELF nonsense")
    path.chmod(0o755)
    with pytest.raises(LullError, match="cannot start"):
        Child(path, [], RealPace())


def lull(*arguments: str, fault: str = "") -> subprocess.Popen[str]:
    """The command as a process, in the environment that the fixtures have made."""
    return subprocess.Popen(
        [sys.executable, "-m", "lull", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=os.environ | {"PYTHONPATH": str(ROOT / "python"), "LULL_FAKE": fault})


def leftovers(runtime: Path) -> list[Path]:
    """Sockets and directories of programs that are gone."""
    return sorted((runtime / "dpdk").glob("*"))


def test_demo(build: Path, runtime: Path, tmp_path: Path) -> None:
    assert build
    out = tmp_path / "deep" / "out"
    two = ("--duration", "3.3", "--phases", "low", "--governors", "spin,objective")
    with lull("demo", *two, "--out", str(out)) as process:
        stdout, stderr = process.communicate(timeout=50)
    assert (process.returncode, stderr) == (0, "")
    assert "round 1/1  low    spin" in stdout
    assert str(out / "result.json") in stdout
    assert str(out / "report.html") in stdout
    assert sorted(one.name for one in out.iterdir()) == ["report.html", "result.json"]
    result = load(out / "result.json")
    assert [run.governor for run in result.runs] == ["spin", "objective"]
    assert result.machine.kernel
    assert leftovers(runtime) == []


def test_demo_json(build: Path, runtime: Path, tmp_path: Path) -> None:
    assert build
    with lull("demo", *QUICK, "--json", "--out", str(tmp_path / "out")) as process:
        stdout, stderr = process.communicate(timeout=50)
    assert (process.returncode, stderr) == (0, "")
    assert json.loads(stdout) == json.loads((tmp_path / "out" / "result.json").read_text())
    assert leftovers(runtime) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_demo_interrupted(build: Path, runtime: Path, tmp_path: Path,
                          number: signal.Signals) -> None:
    assert build
    with lull("demo", "--out", str(tmp_path / "out")) as process:
        assert process.stdout is not None
        assert "lull-fwd 0.1.0 (pid " in process.stdout.readline()
        socket, = (runtime / "dpdk").glob("*/dpdk_telemetry.v2")
        pid = int(socket.parent.name.rpartition("-")[2])
        process.send_signal(number)
        _, stderr = process.communicate(timeout=50)
    assert process.returncode == 128 + number
    assert stderr == "lull: interrupted: lull-fwd was stopped, and there is no result\n"
    assert not (tmp_path / "out").exists()
    assert leftovers(runtime) == []
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def children(pid: int) -> dict[int, str]:
    """Processes that it started, and their command lines."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found[int(stat.parent.name)] = (stat.parent / "cmdline").read_text()
        except OSError:
            continue
    return found


@pytest.mark.skipif(1 not in os.sched_getaffinity(0), reason="the stand-in's loop is on CPU 1")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_other_program_ends_with_the_demo(build: Path, runtime: Path, tmp_path: Path,
                                              number: signal.Signals) -> None:
    assert build
    assert runtime
    with lull("demo", "--phases", "shared", "--out", str(tmp_path / "out")) as process:
        end = time.monotonic() + 50
        others: list[int] = []
        while not others and time.monotonic() < end:
            others = [pid for pid, line in children(process.pid).items() if "getppid" in line]
        assert len(others) == 1
        assert os.sched_getaffinity(others[0]) == {1}
        process.send_signal(number)
        process.communicate(timeout=50)
    while Path(f"/proc/{others[0]}").exists() and time.monotonic() < end:
        time.sleep(0.01)
    assert not Path(f"/proc/{others[0]}").exists()


@pytest.mark.skipif(1 not in os.sched_getaffinity(0), reason="the stand-in's loop is on CPU 1")
def test_demo_hands_the_class_on(build: Path, runtime: Path, tmp_path: Path) -> None:
    assert build
    assert runtime
    for given in ([], ["--sched-policy", "fifo"]):
        with lull("demo", *given, "--phases", "shared", "--duration", "2.5", "--governors",
                  "objective", "--out", str(tmp_path / "out")) as process:
            end = time.monotonic() + 50
            lines: list[str] = []
            while not lines and time.monotonic() < end:
                lines = [line for line in children(process.pid).values() if "--ring" in line]
            stdout, stderr = process.communicate(timeout=50)
        assert (process.returncode, stderr) == (0, "")
        assert ("--sched-policy\0fifo" in lines[0]) == bool(given)
        assert "round 1/1  shared objective" in stdout
        assert "  other program " in stdout
        assert load(tmp_path / "out" / "result.json").settings.sched_policy == (
            "fifo" if given else "")


@pytest.mark.parametrize(("fault", "words"), [
    ("fail", "lull: lull-fwd ended with status 1: cpus: 99 is not a CPU of this machine\n"),
    ("die", "lull: lull-fwd ended with status 3: the sky fell on port 0\n"),
    ("leak", "packets unaccounted for"),
])
def test_demo_goes_wrong(build: Path, runtime: Path, tmp_path: Path, fault: str,
                         words: str) -> None:
    assert build
    with lull("demo", *QUICK, "--out", str(tmp_path / "out"), fault=fault) as process:
        _, stderr = process.communicate(timeout=50)
    assert process.returncode == 1
    assert words in stderr
    assert stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
    assert leftovers(runtime) == []


def test_run(build: Path, runtime: Path, tmp_path: Path) -> None:
    assert build
    config = tmp_path / "lull.yaml"
    config.write_text("traffic: poisson:1k\n")
    with lull("run", str(config), "--interval", "0.1") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("fwd0")
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=50)
    assert (process.returncode, stderr) == (0, "")
    assert leftovers(runtime) == []


@pytest.mark.parametrize(("fault", "status", "words"), [
    ("leave", 0, ""),
    ("fail", 1, "lull: lull-fwd ended with status 1: cpus: 99 is not a CPU of this machine\n"),
])
def test_run_until_the_program_ends(build: Path, runtime: Path, tmp_path: Path, fault: str,
                                    status: int, words: str) -> None:
    assert build
    (tmp_path / "lull.yaml").write_text("")
    with lull("run", str(tmp_path / "lull.yaml"), "--interval", "0.1", fault=fault) as process:
        _, stderr = process.communicate(timeout=50)
    assert (process.returncode, stderr) == (status, words)
    assert leftovers(runtime) == []


def test_run_without_config(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "/no/such.yaml"]) == 1
    assert "/no/such.yaml: no such file" in one_line(capsys)


def test_reader_goes_away(outcome: Result, tmp_path: Path) -> None:
    save(outcome, tmp_path / "result.json")
    with lull("report", str(tmp_path / "result.json"), "-o", "-") as process:
        assert process.stdout is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait(timeout=50) == 0


def test_launcher(tmp_path: Path) -> None:
    launcher = tmp_path / "lull"
    shutil.copy(ROOT / "lull", launcher)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "lull").symlink_to(launcher)
    missing = subprocess.run([tmp_path / "bin" / "lull"], capture_output=True, text=True)
    assert missing.returncode == 1
    assert missing.stderr == (f"lull: {tmp_path}/.venv/bin/python is missing: "
                              f"run 'make setup' in {tmp_path}\n")
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    shutil.copytree(ROOT / "python" / "lull", tmp_path / "python" / "lull")
    python.unlink()
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    there = subprocess.run([tmp_path / "bin" / "lull", "--version"], capture_output=True,
                           text=True, cwd="/")
    assert (there.returncode, there.stdout) == (0, "lull 0.1.0\n")
