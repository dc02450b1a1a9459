# SPDX-License-Identifier: BSD-3-Clause
"""Atomic: a file appears complete or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lull.errors import LullError


def write(path: Path, text: str) -> None:
    """Write a file of this text."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file of these bytes."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file next to a final place, to be filled inside the `with` block; leaving it moves the file
    there. Leaves nothing behind on failure.
    """
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        temporary = Path(name)
        try:
            yield temporary
            os.fsync(handle)
        finally:
            os.close(handle)
        temporary.chmod(0o644)
        temporary.replace(path)
        temporary = None
    except OSError as error:
        raise LullError(f"{path}: cannot write ({error.strerror or error}): "
                        "free some space or choose another place with --out or -o") from None
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def check_writable(directory: Path) -> None:
    """Complain before hours of work, not after, when a directory cannot take files."""
    existing = next(one for one in (directory.absolute(), *directory.absolute().parents)
                    if one.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise LullError(f"{directory}: cannot write there: choose another place with --out")
