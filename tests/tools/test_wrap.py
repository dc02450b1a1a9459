# SPDX-License-Identifier: BSD-3-Clause
"""lull wrap: what it refuses, what the program gets, and whose signals and exit status they are."""

import fcntl
import os
import re
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from shutil import copy as copy_file
from shutil import which
from typing import Any

import pytest

import linked
from conftest import one_line
from lull.cli import main
from lull.errors import LullError
from lull.program.programs import connect_started
from lull.program.replies import Loop
from lull.program.telemetry import Telemetry
from lull.wrap import plugin_file, plugin_settings
from lull.wrap.wrap import own_environment, place

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
TELL = """#!/bin/sh
printf 'argument %s\\n' "$@"
env | grep -e ^LULL -e ^PYTHONPATH
grep ^Sig[IB] /proc/self/status
echo "pid $$"
"""
DEADLINE_S = 60.0
pytestmark = pytest.mark.usefixtures("signals")


def wait_for(what: str, come: Callable[[], Any]) -> Any:
    """The first answer that is not empty."""
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        answer = come()
        if answer:
            return answer
        time.sleep(0.02)
    raise AssertionError(f"never came: {what}")


@pytest.fixture
def tell(tmp_path: Path) -> Path:
    """A command, on a DPDK for which there is a plugin, that tells what it got."""
    script = tmp_path / "tell.sh"
    script.write_text(TELL)
    script.chmod(0o755)
    return linked.program(tmp_path / "tell", needs=(linked.dpdk(tmp_path, "23"),))


def lull(*arguments: object, environment: Mapping[str, str] | None = None,
         prepare: Callable[[], object] | None = None, **streams: Any) -> subprocess.Popen[str]:
    """The command as a process of its own."""
    everything = os.environ | {"PYTHONPATH": str(ROOT / "python")} | dict(environment or {})
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-m", "lull", *map(str, arguments)], text=True,
                            env=everything, preexec_fn=prepare,  # noqa: PLW1509
                            **pipes | streams)


def told(*arguments: object, environment: Mapping[str, str] | None = None,
         prepare: Callable[[], object] | None = None) -> list[str]:
    """What the wrapped command tells; nothing of this machine's memory is in it."""
    with lull("wrap", "--memory", "as-is", *arguments, environment=environment,
              prepare=prepare) as process:
        stdout, stderr = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, stderr) == (0, "")
    assert f"pid {process.pid}" in stdout.splitlines()
    return stdout.splitlines()


# ---- what the program gets ----


@pytest.mark.usefixtures("plugin")
def test_chosen(safe: Path, tell: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["wrap", "--plugin", str(safe / "none.so"), "--", str(tell)]) == 1
    assert "none.so is missing: choose a file with --plugin" in one_line(capsys)
    assert main(["wrap", "--plugin", str(safe), "--", str(tell)]) == 1
    assert f"{safe} is no file" in one_line(capsys)


def test_placed(plugin: Path, tell: Path) -> None:
    lines = told("--", tell, "-l", "0-1", "a b", "--", "-i", "--help")
    assert lines[:8] == [f"argument {word}" for word in
                         ("-d", plugin, "-l", "0-1", "a b", "--", "-i", "--help")]
    # The first word that is no option ends ours, with or without dashes.
    assert told("--mode", "shadow", tell, "--mode", "x")[2:4] == ["argument --mode", "argument x"]
    assert told("--no-place", "--", tell, "-i")[0] == "argument -i"


@pytest.mark.usefixtures("plugin")
def test_environment(tell: Path, tmp_path: Path) -> None:
    def settings(*arguments: object, **before: str) -> dict[str, str]:
        lines = told(*arguments, "--", tell, environment=before)
        found = dict(line.split("=", 1) for line in lines if re.match("LULL.*=", line))
        del found["LULL_BUILD"]
        return found

    assert settings() == {"LULL": "on"}
    assert settings(LULL="off", LULL_LOSS="zero") == {"LULL": "on", "LULL_LOSS": "zero"}
    report, config = tmp_path / "report", tmp_path / "lull.yaml"
    config.write_text("mode: shadow\n")
    assert settings("--mode", "passive", "--governor", "fixed", "--max-latency", "50",
                    "--max-rest", "1.5ms", "--percentile", "99.9", "--loss", "tolerate",
                    "--pps-max", "14.88M", "--rest", "20us", "--report", report,
                    LULL_MAX_LATENCY="7") == {
        "LULL": "passive", "LULL_GOVERNOR": "fixed", "LULL_MAX_LATENCY": "50",
        "LULL_MAX_REST": "1.5ms", "LULL_PERCENTILE": "99.9", "LULL_LOSS": "tolerate",
        "LULL_PPS_MAX": "14.88M", "LULL_REST": "20us", "LULL_REPORT": str(report)}
    relative = os.path.relpath(config)
    assert settings("--config", relative, LULL="off") == {"LULL_CONFIG": str(config)}
    assert settings("--config", relative, "--mode", "on") == {
        "LULL": "on", "LULL_CONFIG": str(config)}
    assert settings("--sched-policy", "fifo") == {"LULL": "on", "LULL_SCHED_POLICY": "fifo"}
    assert settings("--unseen", "rest") == {"LULL": "on", "LULL_UNSEEN": "rest"}
    assert settings("--kalman-step", "5", "--kalman-tolerance", "0.5", "--kalman-row", "1",
                    "--kalman-window", "1ms", "--kalman-layout", "array") == {
        "LULL": "on", "LULL_KALMAN_STEP": "5", "LULL_KALMAN_TOLERANCE": "0.5",
        "LULL_KALMAN_ROW": "1", "LULL_KALMAN_WINDOW": "1ms", "LULL_KALMAN_LAYOUT": "array"}
    assert settings("--report", "none") == {"LULL": "on", "LULL_REPORT": "none"}


@pytest.mark.usefixtures("plugin")
def test_nothing_of_ours_leaks(tell: Path) -> None:
    lines = told("--", tell)
    assert not [line for line in lines if line.startswith("PYTHONPATH")]
    ignored = {int(line.split()[1], 16) for line in lines if line.startswith("SigIgn")}
    assert not ignored.pop() & (1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1))
    assert [int(line.split()[1], 16) for line in lines if line.startswith("SigBlk")] == [0]
    package = ROOT / "python"
    assert own_environment({"PYTHONPATH": f"{package}:/own", "A": "b"}) == {
        "PYTHONPATH": "/own", "A": "b"}
    assert own_environment({"PYTHONPATH": f"/own:{package}"}) == {"PYTHONPATH": f"/own:{package}"}


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize("action", [signal.SIG_IGN, signal.SIG_DFL])
def test_ignored_signals_stay_ignored(tell: Path, action: signal.Handlers) -> None:
    numbers = (signal.SIGINT, signal.SIGHUP)

    def prepare() -> None:
        for number in numbers:
            signal.signal(number, action)

    line, = (line for line in told("--", tell, prepare=prepare) if line.startswith("SigIgn"))
    mask = int(line.split()[1], 16)
    assert [bool(mask & 1 << (number - 1)) for number in numbers] == [
        action == signal.SIG_IGN] * 2


# ---- whose signals, streams and exit status they are ----


@pytest.mark.parametrize(("script", "status"), [
    ("exit 7", 7), ("kill -TERM $$", -signal.SIGTERM), ("kill -SEGV $$", -signal.SIGSEGV)])
def test_exit_status(plugin: Path, tmp_path: Path, script: str, status: int) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    with lull("wrap", "--plugin", plugin, "--", program) as process:
        process.communicate(timeout=DEADLINE_S)
    assert process.returncode == status


def test_streams_and_signals(plugin: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\ntrap 'echo hung up; exit 3' HUP\nread line\necho $line >&2\n"
                       "echo ready\nwhile :; do sleep 0.05; done\n")
    program.chmod(0o755)
    # Below nohup it would stay ignored, and the program never hear of it.
    heard = partial(signal.signal, signal.SIGHUP, signal.SIG_DFL)
    with lull("wrap", "--memory", "as-is", "--plugin", plugin, "--", program,
              prepare=heard) as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write("typed\n")
        process.stdin.flush()
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGHUP)
        assert process.stdout.readline() == "hung up\n"
        assert process.wait(timeout=DEADLINE_S) == 3
        assert process.stderr.read() == "typed\n"


# ---- what is refused ----


@pytest.mark.usefixtures("plugin")
@pytest.mark.parametrize(("arguments", "words"), [
    (["--mode", "off"], "'off' is not one of 'on', 'shadow', 'passive'"),
    (["--governor", "warp"], "'warp' is not one of 'spin'"),
    (["--loss", "some"], "'some' is not one of"),
    (["--max-latency", "0"], "max-latency: 0 is not in 1..1000000 (us)"),
    (["--max-latency", "fast"], "max-latency: fast is not a time such as 100 (us)"),
    (["--max-latency", "-5"], "max-latency: -5 is not a time"),
    (["--max-latency", ""], "max-latency: nothing is not a time"),
    (["--max-latency", "10parsec"], "max-latency: 10parsec is not a time"),
    (["--max-rest", "2s"], "max-rest: 2s is not in 0.001..1000000 (us)"),
    (["--rest", "1.5ns"], "rest: 1.5ns is no whole number of nanoseconds"),
    (["--percentile", "100"], "percentile: 100 is not in 50..99.9999"),
    (["--percentile", "p99"], "percentile: p99 is not a number"),
    (["--percentile", "99k"], "percentile: 99k is not a number"),
    (["--kalman-step", "11ms"], "kalman-step: 11ms is not in 0.001..10000 (us)"),
    (["--kalman-window", "0"], "kalman-window: 0 is not in 0.001..1000 (ms)"),
    (["--kalman-tolerance", "51"], "kalman-tolerance: 51 is not in 0.0001..50"),
    (["--kalman-row", "0"], "kalman-row: 0 is not in 1..1437 (bytes)"),
    (["--kalman-row", "1.5"], "kalman-row: 1.5 is not a number of bytes"),
    (["--kalman-layout", "tree"], "'tree' is not one of"),
    (["--pps-max", "0"], "pps-max: 0 is neither auto, link, learned nor packets/s in 1..1000G"),
    (["--pps-max", "1.5"], "pps-max: 1.5 is neither"),
    (["--pps-max", "fast"], "pps-max: fast is neither"),
    (["--pps-max", "1m"], "pps-max: 1m is neither"),
    (["--config", "/no/such.yaml"], "config: /no/such.yaml does not exist"),
    (["--config", "/"], "config: / is no file"),
    (["--report", "/"], "report: / is not a file: say FILE, - for standard error, or none"),
    (["--report", "/no/such/report"], "cannot be written: there is no directory /no/such"),
    (["--report", "r" * 300], "is too long: 255 bytes at most"),
    (["--speed", "9"], "No such option"),
    (["--interval", "0"], "0"),
])
def test_bad_values(arguments: list[str], words: str, tell: Path,
                    capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["wrap", *arguments, "--", str(tell)]) == 2
    assert words in one_line(capsys)


@pytest.mark.usefixtures("plugin")
def test_bad_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["wrap", "--"]) == 2
    assert "Missing argument '-- COMMAND [ARGUMENT]...'" in one_line(capsys)
    assert main(["wrap", "--", "no-such-program"]) == 127
    assert one_line(capsys) == "lull: no-such-program: not found on the PATH"
    assert main(["wrap", "--", "/no/such"]) == 127
    assert one_line(capsys) == "lull: /no/such: there is no such file"
    text = tmp_path / "text"
    text.write_text("hello")
    assert main(["wrap", "--", str(text)]) == 126
    assert "text is not an executable file" in one_line(capsys)
    text.chmod(0o755)
    for live in ([], ["--live"]):
        assert main(["wrap", *live, "--", str(text)]) == 126
        lines = capsys.readouterr().err.splitlines()
        assert lines[0].startswith("lull: text is no program that can be linked with DPDK: ")
        assert lines[1:] == [f"lull: {text}: cannot start (Exec format error)"]


def test_arguments_that_come_elsewhere(plugin: Path,
                                       capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(LullError) as caught:
        place(["/usr/sbin/ovs-vswitchd", "--pidfile"], plugin)
    assert (f"'ovs-vsctl --no-wait set Open_vSwitch . other_config:dpdk-extra=\"-d {plugin}\"'; "
            "then wrap it with --no-place") in str(caught.value)
    with pytest.raises(LullError, match=r"from suricata\.yaml: 'd: /.*' below dpdk"):
        place(["suricata", "--dpdk"], plugin)
    assert main(["wrap", "--", "taskset", "-c", "1", "dpdk-testpmd"]) == 2
    assert "'taskset ... lull wrap -- PROGRAM'" in one_line(capsys)


@pytest.mark.usefixtures("runtime")
def test_print(plugin: Path, tell: Path, capsys: pytest.CaptureFixture[str],
               monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LULL_CONFIG", "/a file")
    monkeypatch.setenv("LULL", "off")
    assert main(["wrap", "--print", "--memory", "as-is", "--max-latency", "50 us", "--", str(tell),
                 "a b"]) == 0
    assert capsys.readouterr().out == (
        f"env -u LULL 'LULL_MAX_LATENCY=50 us' {tell} -d {plugin} 'a b'\n")
    assert plugin_settings.shell_line(["x"], {"A": "b"}, {"A": "b"}) == "x"


# ---- the live view ----


class Live:
    """lull wrap --live around the fake program, on a terminal or not."""

    def __init__(self, log: Path, *arguments: object, status: int = 0, **streams: Any) -> None:
        self.log = log
        self.process = lull(
            "wrap", "--live", "--interval", "0.1", *arguments, "--no-place", "--",
            sys.executable, HERE / "fake_wrapped.py", log, status,
            environment={"PYTHONPATH": f"{ROOT / 'python'}:{HERE}"}, **streams)

    def noted(self) -> list[str]:
        return self.log.read_text().split() if self.log.exists() else []

    def wait_for(self, *words: str) -> None:
        wait_for(f"{words} in {self.noted()}", lambda: self.noted()[-len(words):] == [*words])


@pytest.mark.usefixtures("plugin", "runtime")
@pytest.mark.parametrize(("status", "code"), [(0, 0), (9, 9), (-signal.SIGKILL, 137)])
def test_live_lines(tmp_path: Path, status: int, code: int) -> None:
    live = Live(tmp_path / "log", status=status)
    with live.process as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == "the program speaks\n"
        lines = [process.stderr.readline() for _ in range(2)]
        assert lines[0].startswith("poll0  rte-worker-1    cpu ")
        assert lines[1].startswith("poll1  fifteen-letters cpu ")
        names = ["SIGTERM", "SIGHUP", "SIGQUIT", "SIGWINCH", "SIGUSR1", "SIGINT"]
        for index, name in enumerate(names):
            process.send_signal(signal.Signals[name])
            live.wait_for("ready", *names[:index + 1])
        _, stderr = process.communicate("\n", timeout=DEADLINE_S)
    assert process.returncode == code
    assert "lull: " not in stderr


@pytest.mark.usefixtures("plugin", "runtime")
def test_live_on_a_terminal(tmp_path: Path) -> None:
    ours, theirs = os.openpty()

    def prepare() -> None:
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    live = Live(tmp_path / "log", status=5, prepare=prepare, stdin=theirs, stdout=theirs,
                stderr=theirs)
    os.close(theirs)
    seen = b""

    def read() -> bytes:
        nonlocal seen
        try:
            seen += os.read(ours, 65536)
        except OSError:  # the other side is closed
            return b""
        return seen

    while b"poll0" not in seen:
        assert read(), "the view never came"
    assert b"the program speaks" not in seen
    # The terminal tells both; the program must hear of it once. Signals are taken in the order
    # of their numbers, so SIGUSR1 comes after whatever we might have made of SIGINT.
    os.write(ours, b"\x03")
    wait_for("SIGINT", lambda: "SIGINT" in live.noted())
    live.process.send_signal(signal.SIGUSR1)
    live.wait_for("ready", "SIGINT", "SIGUSR1")
    os.write(ours, b"\n")
    while read():
        pass
    os.close(ours)
    assert live.process.wait(timeout=DEADLINE_S) == 5
    # What the program said comes when the other screen is gone.
    assert b"the program speaks" in seen.rpartition(b"\x1b[?1049l")[2]


@pytest.mark.usefixtures("plugin", "runtime")
def test_live_without_loops(plugin: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nexit 4\n")
    program.chmod(0o755)
    with lull("wrap", "--memory", "as-is", "--plugin", plugin, "--live", "--",
              program) as process:
        _, stderr = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 4
    assert stderr == "lull: no live view: program showed no loops by telemetry\n"


@pytest.mark.usefixtures("plugin", "runtime")
def test_live_reader_goes_away(tmp_path: Path) -> None:
    live = Live(tmp_path / "log", status=6)
    with live.process as process:
        assert process.stdin
        assert process.stderr
        assert process.stderr.readline().startswith("poll0")
        process.stderr.close()
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.wait(timeout=DEADLINE_S) == 6


# ---- a real one ----


def built_plugin() -> Path | None:
    """The plugin as built, if it is."""
    build = os.environ.get("LULL_BUILD")
    path = (Path(build) if build else ROOT / "build") / "plugin" / plugin_file.NAME
    return path if path.is_file() else None


@pytest.mark.skipif(which("dpdk-testpmd") is None, reason="needs dpdk-testpmd")
@pytest.mark.skipif(built_plugin() is None, reason="needs the plugin, 'make build' makes it")
def test_testpmd(safe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    built = built_plugin()
    assert built is not None
    copy = Path(copy_file(built, safe))
    report, output = safe / "report", (safe / "output").open("wb")
    prefix = f"lull-wrap-{os.getpid()}"
    # A governor that always rests: this is not about what the machine can promise.
    with output, lull(
            "wrap", "--plugin", copy, "--governor", "fixed", "--rest", "50", "--report", report,
            "--", "dpdk-testpmd", "-l", "0-1", "--no-huge", "--no-pci", "-m", "256",
            "--file-prefix", prefix, "--vdev", "net_null0,no-rx=1", "--vdev", "net_null1,no-rx=1",
            "--", "--auto-start", "--total-num-mbufs=8192",
            stdout=output, stderr=subprocess.STDOUT) as process:
        def connected() -> Telemetry | None:
            assert process.poll() is None, (safe / "output").read_text()
            return connect_started(process.pid)

        try:
            with wait_for("telemetry", connected) as telemetry:
                assert telemetry.info().program == "dpdk-testpmd"

                def workers() -> list[Loop]:  # the main thread polls too, once, to drain the ports
                    return [loop for loop in telemetry.loops() if loop.thread != "dpdk-testpmd"]

                def rests() -> int:
                    return sum(loop.rests() for loop in workers())

                def rise() -> bool:
                    before = rests()
                    time.sleep(0.1)
                    return rests() > before

                wait_for("rests", rise)
                worker = next(loop for loop in workers() if loop.rests())
                assert (worker.kind, worker.governor) == ("plugin", "fixed")
                assert worker.thread
                choice = ["--pid", str(process.pid)]
                assert main(["top", *choice, "--interval", "0.1", "--count", "1"]) == 0
                assert f"{worker.name}  {worker.thread}" in capsys.readouterr().out
                assert main(["set", *choice, "mode=off"]) == 0
                assert "mode = off (was on)" in capsys.readouterr().out
                wait_for("the end of the rests", lambda: not any(rise() for _ in range(3)))
                assert main(["show", *choice]) == 0
                assert "mode off: the threads poll as without lull" in capsys.readouterr().out
                assert main(["set", *choice, "mode=on"]) == 0
                wait_for("rests again", rise)
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(timeout=DEADLINE_S) == 0
    assert f"{worker.name} (thread {worker.thread})" in report.read_text()
