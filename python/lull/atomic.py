# SPDX-License-Identifier: BSD-3-Clause
"""Atomic: a file appears complete or not at all. What is no file is written in place."""

import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lull.errors import LullError

ORDINARY = 0o666  # what the umask takes from is the mode of a new file


def write(path: Path, text: str) -> None:
    """Write a file of this text."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file of these bytes."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to be filled inside the `with` block; leaving it moves the file to its final place.
    Leaves nothing behind on failure.

    A link is followed: the file that it leads to is replaced, and keeps its mode. A device, a pipe
    or a terminal stays what it is, and gets what was written when the block is left.
    """
    try:
        # Links of /proc lead to pipes by words that are no path: asked before they are resolved.
        with (_in_place(path) if _is_special(path)
              else _beside(Path(os.path.realpath(path)))) as temporary:
            yield temporary
    except OSError as error:
        raise LullError(f"{path}: cannot write ({error.strerror or error}): "
                        "free some space or choose another place with --out or -o") from None


def _status(target: Path) -> os.stat_result | None:
    try:
        return target.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_special(target: Path) -> bool:
    status = _status(target)
    return status is not None and not stat.S_ISREG(status.st_mode)


@contextmanager
def _in_place(target: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        temporary = Path(folder) / "content"
        yield temporary
        # Neither made nor emptied: it is there, and a device has no length.
        handle = os.open(target, os.O_WRONLY | os.O_NOCTTY)
        with temporary.open("rb") as source, os.fdopen(handle, "wb") as sink:
            shutil.copyfileobj(source, sink)


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    target.parent.mkdir(parents=True, exist_ok=True)
    before = _status(target)
    if before is not None and not os.access(target, os.W_OK):
        raise PermissionError(13, "Permission denied")
    temporary = target.parent / f".{target.name}.{secrets.token_hex(4)}"
    # The system subtracts the umask, which only one thread at a time could ask for.
    handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, ORDINARY)
    try:
        yield temporary
        os.fsync(handle)
        if before is not None:
            temporary.chmod(stat.S_IMODE(before.st_mode))
            if os.geteuid() == 0:
                os.chown(temporary, before.st_uid, before.st_gid)
        temporary.replace(target)
    finally:
        os.close(handle)
        temporary.unlink(missing_ok=True)


def check_writable(directory: Path) -> None:
    """Complain before hours of work, not after, when a directory cannot take files."""
    existing = next(one for one in (directory.absolute(), *directory.absolute().parents)
                    if one.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise LullError(f"{directory}: cannot write there: choose another place with --out")


def check_target(path: Path) -> None:
    """The same of a file that write() is going to write."""
    if path.is_dir():
        raise LullError(f"{path}: it is a directory: choose another place with --out or -o")
    if not _is_special(path):
        check_writable(Path(os.path.realpath(path)).parent)
    if path.exists() and not os.access(path, os.W_OK):
        raise LullError(f"{path}: cannot write there: choose another place with --out or -o")
