# SPDX-License-Identifier: BSD-3-Clause
"""What root runs for a user's test ends with the user's process, whatever it has made of itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from rights import TAKEN
from verdict import check, wait_for
from world import main, world

RIGHTS = Path(__file__).with_name("rights.py")
# Deaf to SIGTERM, with a child in a session of its own that has lost its parent.
DEAF = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() > 0:
        os._exit(0)
with open(sys.argv[1], "a") as file:
    file.write(f"{os.getpid()}\\n")
time.sleep(600)
"""


def guarded(*command: str) -> subprocess.Popen[str]:
    """As by_sudo() starts it, without sudo."""
    environment = {name: value for name, value in os.environ.items() if name != TAKEN}
    return subprocess.Popen(
        [sys.executable, "-B", str(RIGHTS), "--guard", "root", *command],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip


def passes_on_the_status(_: list[str]) -> None:
    for status in (0, 1, 77):
        with guarded("sh", "-c", f'echo "${TAKEN}"; exit {status}') as guard:
            assert guard.stdout is not None
            check(guard.stdout.read() == "root\n", "with the rights asked for")
            check(guard.wait() == status, f"status {status}", guard.returncode)


def leaves_nothing(_: list[str]) -> None:
    with world() as here:
        pids = here.path("pids")
        pids.touch()
        with guarded(sys.executable, "-c", DEAF, str(pids)) as guard:
            wait_for("both run", lambda: pids.read_text().count("\n") == 2)
            assert guard.stdin is not None
            guard.stdin.close()  # as a SIGKILL to the user's process does
            guard.wait(60)
        left = [pid for pid in pids.read_text().split() if Path("/proc", pid).exists()]
        check(not left, "both have ended", left)


main([passes_on_the_status, leaves_nothing], need="root")
