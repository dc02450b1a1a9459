# SPDX-License-Identifier: BSD-3-Clause
"""Key: the secret that nodes of a channel share, as a line of a key file."""

import os
import secrets
import stat
from typing import TextIO

from lull.errors import LullError

KEY_BYTES = 32
PRIVATE = stat.S_IRUSR | stat.S_IWUSR
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def key_line() -> str:
    """A new key as a key file holds it."""
    return secrets.token_hex(KEY_BYTES)


def write_key(out: TextIO) -> str:
    """Write a new key file to where our output goes; returns a remark, or "".

    A file that the shell has made may be read by others; a channel refuses such a file. So it is
    closed to them before the key is in it.
    """
    if out.isatty():
        raise LullError("a key on a terminal stays where others can read it: "
                        "say 'lull channel key > FILE'", 2)
    remark = _close_to_others(out.fileno())
    out.write("# Key of a channel. Give this file to each node (mode 0600) and to nobody else.\n"
              f"{key_line()}\n")
    out.flush()
    return remark


def _close_to_others(descriptor: int) -> str:
    """Take a regular file away from group and others."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or not found.st_mode & OTHERS:
        return ""
    try:
        os.fchmod(descriptor, PRIVATE)
    except OSError as error:
        return (f"others may read this file ({error.strerror}); a channel refuses it until "
                "'chmod 600 FILE'")
    return ""
