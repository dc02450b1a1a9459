# SPDX-License-Identifier: BSD-3-Clause
"""examples/channel.c: two nodes on loopback say hello.

example.py PROGRAM
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from verdict import check

LIMIT_S = 60


def main(program: str) -> None:
    one, two = (f"{name}-{os.getpid()}" for name in ("one", "two"))
    with subprocess.Popen([program, one, "kernel:lo"], stdout=subprocess.PIPE, text=True) as first:
        second = subprocess.run([program, two, "kernel:lo", one], capture_output=True, text=True,
                                timeout=LIMIT_S)
        said, _ = first.communicate(timeout=LIMIT_S)
    check(second.returncode == 0, "who asks ends well", second.stderr)
    check(second.stdout == f"hello from {one}\n", "who asks gets an answer", second.stdout)
    check(first.returncode == 0 and said == f"hello from {two}\n", "who answers was asked", said)
    for words, code, complaint in (
        ([], 2, "usage: channel"),
        ([one, "nothing:x"], 1, "rail nothing:x: it is not one of kernel:IF"),
    ):
        refused = subprocess.run([program, *words], capture_output=True, text=True, timeout=LIMIT_S)
        check(refused.returncode == code and complaint in refused.stderr, complaint, refused)


main(*sys.argv[1:])
