# SPDX-License-Identifier: BSD-3-Clause
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lull.demo import neighbour
from lull.demo.neighbour import Neighbour
from lull.errors import Interrupted, LullError

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_S = 20
CPU = max(os.sched_getaffinity(0))


def is_there(pid: int) -> bool:
    """Does it run still? One that nobody has waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until_gone(pid: int) -> None:
    end = time.monotonic() + DEADLINE_S
    while is_there(pid):
        assert time.monotonic() < end, f"{pid} is still there"
        time.sleep(0.01)


def test_takes_what_it_gets_and_ends() -> None:
    with Neighbour(CPU) as other:
        pid = other.pid
        end = time.monotonic() + DEADLINE_S
        while other.cpu_ns() < 50_000_000:
            assert time.monotonic() < end
            time.sleep(0.01)
        first = other.cpu_ns()
        time.sleep(0.05)
        assert other.cpu_ns() >= first
        assert os.sched_getaffinity(pid) == {CPU}
        assert os.sched_getscheduler(pid) == os.SCHED_OTHER
        assert os.getpriority(os.PRIO_PROCESS, pid) == os.getpriority(os.PRIO_PROCESS, 0)
        assert not os.path.exists(f"/proc/{pid}/task/{pid + 1}")  # noqa: PTH110 - one thread
    assert not is_there(pid)


@pytest.mark.parametrize("trouble", [LullError("no"), KeyboardInterrupt(), Interrupted(15)])
def test_ends_in_trouble(trouble: BaseException) -> None:
    other = Neighbour(CPU)
    with pytest.raises(type(trouble)), other:
        raise trouble
    assert not is_there(other.pid)


def test_ends_with_a_signal_while_it_starts(monkeypatch: pytest.MonkeyPatch,
                                            signals: None) -> None:
    """The worst moment: the program runs, and nobody knows of it yet."""
    assert signals is None
    started: list[int] = []
    popen = subprocess.Popen

    def start(*arguments: Any, **more: Any) -> "subprocess.Popen[bytes]":
        process = popen(*arguments, **more)
        started.append(process.pid)
        signal.raise_signal(signal.SIGTERM)  # to this thread: tests may have others
        return process

    def end(number: int, _frame: object) -> None:
        raise Interrupted(number)

    signal.signal(signal.SIGTERM, end)
    monkeypatch.setattr(neighbour.subprocess, "Popen", start)  # type: ignore[attr-defined]
    with pytest.raises(Interrupted), Neighbour(CPU):
        pass
    pid, = started
    assert not is_there(pid)


def test_signals_are_its_own_matter() -> None:
    """What we block while it starts is not blocked in it."""
    with Neighbour(CPU) as other:
        status = Path(f"/proc/{other.pid}/status").read_text()
        assert "SigBlk:\t0000000000000000" in status


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGABRT])
def test_ends_with_its_parent(number: signal.Signals) -> None:
    """Whose `with` block never ends."""
    program = ("import time; from lull.demo.neighbour import Neighbour\n"
               f"with Neighbour({CPU}) as other:\n print(other.pid, flush=True)\n time.sleep(60)\n")
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True,
                          env=os.environ | {"PYTHONPATH": str(ROOT / "python")}) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_there(pid)
        parent.send_signal(number)
    wait_until_gone(pid)


def test_ends_without_a_parent_whatever_the_kernel_does() -> None:
    """It looks for its parent itself: this one it never had."""
    program = [sys.executable, "-I", "-S", "-c", neighbour.PROGRAM, "1"]
    assert subprocess.run(program, timeout=DEADLINE_S).returncode == 0


def test_someone_else_ends_it() -> None:
    with Neighbour(CPU) as other:
        os.kill(other.pid, signal.SIGKILL)
        os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)
        with pytest.raises(LullError, match=r"the other program \(pid \d+\) was ended by someone"):
            other.cpu_ns()


def test_no_such_cpu() -> None:
    other = Neighbour(1023)
    with pytest.raises(LullError, match=r"CPU 1023: no other program may run there \(Invalid"):
        other.__enter__()
    assert not is_there(other.pid)
