# SPDX-License-Identifier: BSD-3-Clause
"""What is written replaces files, and nothing else."""

import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lull import atomic, drawing
from lull.errors import LullError


@pytest.fixture
def umask() -> Iterator[int]:
    before = os.umask(0o027)
    yield 0o027
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_honours_the_umask(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "below" / "new.html"
    atomic.write(path, "text")
    assert path.read_text() == "text"
    assert mode(path) == 0o666 & ~umask
    assert list(path.parent.iterdir()) == [path]


def test_a_file_keeps_its_mode(tmp_path: Path, umask: int) -> None:
    path = tmp_path / "old.html"
    path.write_text("before")
    path.chmod(0o604)
    atomic.write(path, "text")
    assert path.read_text() == "text"
    assert mode(path) == 0o604 != 0o666 & ~umask


@pytest.mark.parametrize("there", [False, True])
def test_a_link_stays(tmp_path: Path, there: bool) -> None:
    target, link, chain = tmp_path / "to" / "target", tmp_path / "link", tmp_path / "chain"
    target.parent.mkdir()
    if there:
        target.write_text("before")
    link.symlink_to("to/target")
    chain.symlink_to(link)
    atomic.write(chain, "text")
    assert chain.is_symlink()
    assert link.is_symlink()
    assert not target.is_symlink()
    assert target.read_text() == "text"
    assert list(target.parent.iterdir()) == [target]


def test_a_pipe_gets_what_is_written(tmp_path: Path) -> None:
    path, got = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    atomic.check_target(path)
    atomic.write_bytes(path, b"x" * 200_000)
    reader.join()
    assert got == [b"x" * 200_000]
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert list(tmp_path.iterdir()) == [path]


def test_a_terminal_gets_what_is_written() -> None:
    ours, theirs = os.openpty()
    path = Path(os.ttyname(theirs))
    atomic.check_target(path)
    atomic.write(path, "text")
    assert os.read(ours, 16) == b"text"
    assert path.is_char_device()
    os.close(ours)
    os.close(theirs)


def test_an_open_descriptor_gets_what_is_written() -> None:
    ours, theirs = os.pipe()
    path = Path(f"/proc/self/fd/{theirs}")  # as /dev/stdout is
    atomic.check_target(path)
    atomic.write(path, "text")
    assert os.read(ours, 16) == b"text"
    os.close(ours)
    os.close(theirs)


def test_a_device_that_is_full(tmp_path: Path) -> None:
    path = tmp_path / "full"
    try:
        os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 7))
        path.open("wb").close()
    except OSError as error:
        pytest.skip(f"needs devices of its own ({error.strerror})")
    link = tmp_path / "link"
    link.symlink_to(path)
    for one in (path, link):
        with pytest.raises(LullError, match="No space left on device"):
            atomic.write(one, "text")
        assert path.is_char_device()
    assert link.is_symlink()


def test_refusals_leave_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(LullError, match="directory"):
        atomic.check_target(tmp_path)
    with pytest.raises(LullError, match="cannot write"):
        atomic.write(tmp_path, "text")

    def broken() -> None:
        with atomic.replacing(tmp_path / "half") as path:
            path.write_text("half")
            raise KeyError

    with pytest.raises(KeyError):
        broken()
    with pytest.raises(LullError, match="end the name"):
        drawing.check_path(tmp_path / "plot.doc")
    drawing.check_path(tmp_path / "plot.svg")
    assert list(tmp_path.iterdir()) == []
