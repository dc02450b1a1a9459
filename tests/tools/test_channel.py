# SPDX-License-Identifier: BSD-3-Clause
"""lull channel: keys, and the commands that are programs."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from conftest import one_line
from lull.cli import main

ROOT = Path(__file__).resolve().parents[2]
LINE = re.compile(r"[0-9a-f]{64}")
pytestmark = pytest.mark.usefixtures("signals")


def lull(*arguments: str, stdout: int | IO[str] = subprocess.PIPE,
         build: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """The command as a process of its own."""
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "python"))
    if build is not None:
        environment["LULL_BUILD"] = str(build)
    return subprocess.run([sys.executable, "-m", "lull", *arguments], env=environment, text=True,
                          check=False, stdout=stdout, stderr=subprocess.PIPE)


def test_key_is_new_each_time() -> None:
    keys = []
    for _ in range(2):
        done = lull("channel", "key")
        assert (done.returncode, done.stderr) == (0, "")
        comment, line = done.stdout.splitlines()
        assert comment.startswith("# ")
        assert LINE.fullmatch(line)
        keys.append(line)
    assert keys[0] != keys[1]


def test_key_file_is_closed_to_others(tmp_path: Path) -> None:
    """The shell makes it with mode 0644; a channel would refuse it."""
    path = tmp_path / "key"
    for mode in (0o644, 0o600, 0o400):
        path.write_text("")
        path.chmod(0o600)
        with path.open("w") as out:
            path.chmod(mode)
            assert lull("channel", "key", stdout=out).returncode == 0
        assert path.stat().st_mode & 0o777 == (0o600 if mode == 0o644 else mode)
        assert LINE.fullmatch(path.read_text().splitlines()[1])
        path.chmod(0o600)


def test_key_is_not_shown_on_a_terminal() -> None:
    ours, theirs = pty.openpty()
    done = lull("channel", "key", stdout=theirs)
    os.close(theirs)
    with pytest.raises(OSError, match="Input/output error"):  # nothing was written
        os.read(ours, 1)
    os.close(ours)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "lull channel key > FILE" in done.stderr


@pytest.mark.parametrize("name", ["perf", "copy"])
def test_program_gets_everything(name: str, tmp_path: Path) -> None:
    """Also what looks like an option of ours, and '--'."""
    program = tmp_path / f"apps/lull-channel-{name}/lull-channel-{name}"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$0" "$@"\nexit 7\n')
    program.chmod(0o755)
    arguments = ["--help", "--to", "b", "--", "-x", "a b"]
    done = lull("channel", name, *arguments, build=tmp_path)
    assert done.stdout.splitlines()[1:] == arguments
    assert done.returncode == 7


def test_program_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                            capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("LULL_BUILD", str(tmp_path))
    assert main(["channel", "perf"]) == 1
    assert "lull-channel-perf is missing" in one_line(capsys)
