# SPDX-License-Identifier: BSD-3-Clause
"""lull view from its command line: children, what it refuses, how it ends."""

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import lull
from lull.cli import main
from lull.errors import LullError
from lull.view import demo as view_demo
from test_wrap import wait_for

HERE = Path(__file__).parent
PYTHON = Path(lull.__file__).parent.parent
TIMEOUT_S = 30


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A build directory with our lull-cam and a sender that sends nothing."""
    folder = Path(tempfile.mkdtemp(prefix="lull-"))
    programs = {
        "lull-cam": f'exec {sys.executable} {HERE / "fake_lull_cam.py"} "$@"',
        "lull-cam-source": "exec sleep 1000",
    }
    for name, command in programs.items():
        path = folder / "apps" / name / name
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\n{command}\n")
        path.chmod(0o755)
    monkeypatch.setenv("LULL_BUILD", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setenv("PYTHONPATH", str(PYTHON))
    yield folder
    shutil.rmtree(folder)


class View:
    """`lull view` as a process, and the page that it says it has."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "lull", "view", "--listen", "127.0.0.1:0", *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.fullmatch(r"lull view: (http://127\.0\.0\.1:\d+/)  \(Ctrl-C ends it\)\n", line)
        self.url = found.group(1) if found else ""

    def __enter__(self) -> "View":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def children(self) -> list[int]:
        """Process ids of what it has started."""
        return [int(stat.parent.name) for stat in Path("/proc").glob("[0-9]*/stat")
                if parent_of(stat) == self.process.pid]

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Exit status, and what stood on standard error."""
        children = self.children()
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=TIMEOUT_S)
        assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]
        return self.process.returncode, errors

    def look(self, *kinds: str, **members: Any) -> dict[str, Any]:
        """The first message of each of these kinds; those of the last one with these members."""
        return asyncio.run(self._look(list(kinds), members))

    async def _look(self, kinds: list[str], members: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        async with (asyncio.timeout(TIMEOUT_S), aiohttp.ClientSession() as session,
                    session.ws_connect(f"{self.url}live") as browser):
            while set(kinds) - found.keys():
                message = await browser.receive()
                if message.type == aiohttp.WSMsgType.BINARY:
                    found["image"] = message.data
                    continue
                text = json.loads(message.data)
                if text["type"] != kinds[-1] or members.items() <= text.items():
                    found[text["type"]] = text
        return found


def parent_of(stat: Path) -> int:
    with contextlib.suppress(OSError):
        return int(stat.read_text().rpartition(")")[2].split()[1])
    return 0


# ---- how it runs ----


def test_starts_lull_cam_and_ends_it(build: Path) -> None:
    with View("--backend", "kernel:lo", "--cameras", "3") as view:
        seen = view.look("image", "statistics", "receiver", "hello")
        assert len(seen["hello"]["streams"]) == 3
        assert len(view.children()) == 1
        assert view.end() == (0, "")
    assert not list(build.glob("lull-view-*"))


@pytest.mark.usefixtures("build")
def test_ctrl_c_is_no_fault() -> None:
    with View("--backend", "kernel:lo") as view:
        assert view.end(signal.SIGINT) == (0, "")


@pytest.mark.usefixtures("build")
def test_the_death_of_lull_cam_is_on_the_page_with_its_reason() -> None:
    with View("--backend", "kernel:lo", "--frames", "20") as view:
        seen = view.look("receiver", state="failed")
        words = "lull-cam ended with status 1: stream cam0: the camera went away"
        assert seen["receiver"]["text"] == words
        status, errors = view.end()
        assert status == 1
        assert errors.count(f"lull: {words}\n") == 2


@pytest.mark.usefixtures("build")
def test_what_lull_cam_refuses_is_said_at_once() -> None:
    with View("--backend", "bad:eth0") as view:
        assert view.process.wait(TIMEOUT_S) == 1
        assert view.process.stderr is not None
        assert view.process.stderr.read() == (
            "lull: lull-cam ended with status 2: backend: bad: not a back end\n")


@pytest.mark.usefixtures("build")
def test_the_end_of_a_sender_is_on_the_page() -> None:
    with View("--demo", "lull", "--cameras", "1") as view:
        seen = view.look("sender", state="live")
        assert seen["sender"]["text"].startswith("lull-cam-source: ")

        def sender() -> int | None:  # a shell at first
            return next((pid for pid in view.children()
                         if Path(f"/proc/{pid}/comm").read_text() == "sleep\n"), None)

        os.kill(wait_for("the sender", sender), signal.SIGKILL)
        seen = view.look("sender", state="failed")
        assert "lull-cam-source ended by SIGKILL" in seen["sender"]["text"]
        status, errors = view.end()
        assert status == 0
        assert "ended by SIGKILL" in errors


def test_shows_a_lull_cam_that_runs_already(build: Path) -> None:
    path = build / "socket"
    command = [sys.executable, str(HERE / "fake_lull_cam.py"), "--view", str(path)]
    with View("--socket", str(path)) as view:
        assert view.look("receiver")["receiver"]["state"] == "waiting"
        with subprocess.Popen(command) as running:
            view.look("image", "receiver", state="live")
            running.terminate()
        view.look("receiver", state="waiting")
        assert view.end() == (0, "")


# ---- what it refuses ----


@pytest.mark.usefixtures("build", "signals")
@pytest.mark.parametrize(("words", "status", "said"), [
    ([], 2, "try 'lull view --demo'"),
    (["--demo", "other"], 2, "'other' is not one of"),
    (["--demo", "lull", "--cameras", "33"], 2, "at most 32 in a demo"),
    (["--demo", "aravis", "--cameras", "2"], 2, "the fake camera of aravis is one"),
    (["--demo", "ffmpeg", "--lose", "1"], 2, "take --demo lull"),
    (["--lose", "1", "--backend", "kernel:lo"], 2, "only senders of --demo"),
    (["--socket", "x", "--backend", "kernel:lo"], 2, "leave out its options"),
    (["--socket", "x", "--demo"], 2, "leave out its options"),
    (["--backend", "kernel:lo", "--json", "-"], 2, "--json -: name a file"),
    (["--backend", "kernel:lo", "--missing=-"], 2, "name a file"),
    (["--backend", "kernel:lo", "--listen", "8080x"], 2, "not ADDRESS:PORT"),
])
def test_refuses_with_a_reason(words: list[str], status: int, said: str,
                               capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", *words]) == status
    out, errors = capsys.readouterr()
    assert (out, said in errors) == ("", True), errors
    assert errors.count("\n") == 1


# ---- demos ----


@pytest.mark.usefixtures("build")
@pytest.mark.parametrize("kind", ["gstreamer", "ffmpeg", "lull"])
def test_each_camera_of_a_demo_has_a_port(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    demo = view_demo.plan(kind, 3, 0)
    streams = [word for word in demo.receiver if word.startswith("protocol=")]
    ports = [int(port) for stream in streams for port in re.findall(r"port=(\d+)", stream)]
    assert len(set(ports)) == 3
    sent = " ".join(word for sender in demo.senders for word in sender)
    assert str(ports[0]) in sent
    if kind != "lull":
        assert all(port % 2 == 0 and str(port) in sent for port in ports)


@pytest.mark.usefixtures("build")
@pytest.mark.parametrize("roomy", [True, False])
def test_pictures_fit_the_buffers_that_the_kernel_grants(roomy: bool,
                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lull.view.demo.is_roomy", lambda: roomy)
    demo = view_demo.plan("lull", 1, 0)
    assert ("--unchecked" in demo.receiver) != roomy
    size = "width=960,height=640" if roomy else "width=480,height=320"
    assert any(size in word for word in demo.receiver)


def test_a_demo_says_what_is_to_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    assert not view_demo.gstreamer_is_there()
    for kind, package in (("gstreamer", "gstreamer1.0-tools"), ("ffmpeg", "ffmpeg"),
                          ("aravis", "aravis-tools")):
        with pytest.raises(LullError, match=f"apt-get install .*{package}"):
            view_demo.plan(kind, 1, 0)


@pytest.mark.usefixtures("build")
def test_loss_reaches_the_sender(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    (sender,) = view_demo.plan("lull", 1, 2.5).senders
    assert sender[sender.index("--lose") + 1] == "25000"
    (sender,) = view_demo.plan("gstreamer", 1, 2.5).senders
    assert "drop-probability=0.025" in sender
    (sender,) = view_demo.plan("gstreamer", 1, 0).senders
    assert "identity" not in sender
