#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a test may do here, and how it comes by it: the one place that decides.

    rights.py [--wish] namespaces|rings|root COMMAND [ARGUMENT ...]

A test that needs more than an ordinary user has names it, and runs in a little world of its own:

    namespaces   network namespaces, veth, raw sockets: as root in a user namespace has them
    rings        the same, and large packet rings, which count as locked memory (ulimit -l)
    root         what the kernel keeps for real root: XDP programs, real-time classes

All get new mount and network namespaces with an empty /run and a loopback interface, so nothing
is left of them, however they end, and the machine's own interfaces are out of reach. Root makes
them as it is. A user takes a user namespace, if it will do, else `sudo -n`. Where neither is to be
had the test skips with the reason; with --wish it goes on without.

Python tests call take() first, which runs the script once more in there; others are started by
this script.
"""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

SKIP = 77
TAKEN = "LULL_TEST_RIGHTS"  # set within
NEEDS = {
    "namespaces": "network namespaces",
    "rings": "network namespaces and locked memory",
    "root": "root",
}
RINGS_BYTES = 256 << 20
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
GRACE_S = 5.0  # from SIGTERM to SIGKILL
UNSHARE = ["unshare", "--mount", "--net", "--propagation", "private"]
# The caller's loopback and /run are someone else's.
FURNISH = """mount -t tmpfs -o mode=755 tmpfs /run && mkdir -p /run/netns /run/lock &&
ip link set lo up && exec "$@" """
# What a test does first of all: where this works, the others do.
TRIAL = "ip netns add trial && ip netns exec trial true"
# Which settings forbid user namespaces to a user, and the value that does.
FORBIDDEN = {
    "user/max_user_namespaces": "0",
    "kernel/unprivileged_userns_clone": "0",
    "kernel/apparmor_restrict_unprivileged_userns": "1",
}
# Of the caller's environment, what is not root's business.
PRIVATE = ("HOME", "USER", "LOGNAME", "MAIL", "SUDO_", "XDG_", "DBUS_", "SSH_", "LS_COLORS")


def skip(reason: str) -> NoReturn:
    """Leave with what devtools/test groups skipped tests by."""
    print(f"skipped: {reason}", flush=True)
    sys.exit(SKIP)


def take(need: str, *, wish: bool = False) -> None:
    """Be there, or run this script once more where it is; skip where that cannot be."""
    if not has(need):
        run_with(need, [sys.executable, *sys.argv], wish=wish)


def has(need: str) -> bool:
    taken = os.environ.get(TAKEN, "")
    return taken == need or taken == "root" or (taken == "rings" and need == "namespaces")


def run_with(need: str, command: list[str], *, wish: bool = False) -> None:
    """Does not return where the right can be had, nor where it must."""
    refusals = []
    for way in ways(need):
        refusal = way(need, command)
        refusals.append(refusal)
    if not wish:
        skip(f"needs {NEEDS[need]}: {', and '.join(refusals)}")


def ways(need: str) -> list[Callable[[str, list[str]], str]]:
    if os.geteuid() == 0:
        return [as_root]
    return [by_sudo] if need == "root" else [in_user_namespace, by_sudo]


def furnished(unshare: list[str], command: list[str]) -> list[str]:
    return [*unshare, "sh", "-c", FURNISH, "sh", *command]


def may(unshare: list[str]) -> str:
    """Why not; empty when it may."""
    try:
        tried = subprocess.run(furnished(unshare, ["sh", "-c", TRIAL]), stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, check=False)  # fmt: skip
    except FileNotFoundError as missing:
        return f"there is no {missing.filename}(1)"
    said = tried.stderr.strip().splitlines()
    return "" if tried.returncode == 0 else said[-1] if said else f"status {tried.returncode}"


def become(need: str, command: list[str]) -> NoReturn:
    os.environ[TAKEN] = need
    sys.stdout.flush()
    os.execvp(command[0], command)


# ---- the ways: each says why not, or does not return ----


def as_root(need: str, command: list[str]) -> str:
    refusal = may(UNSHARE)
    if refusal:
        return f"root may make none here ({refusal})"
    become(need, furnished(UNSHARE, command))


def in_user_namespace(need: str, command: list[str]) -> str:
    if need == "rings" and not may_lock():
        return f"ulimit -l is less than {RINGS_BYTES >> 10}"
    unshare = [*UNSHARE, "--user", "--map-root-user"]
    refusal = may(unshare)
    if refusal:
        return f"this user may make none ({forbidding() or refusal})"
    become(need, furnished(unshare, command))


def forbidding() -> str:
    """Settings that keep users from namespaces."""
    found = []
    for name, value in FORBIDDEN.items():
        path = Path("/proc/sys", name)
        if path.exists() and path.read_text(encoding="ascii").strip() == value:
            found.append(f"{name.replace('/', '.')} is {value}")
    return ", ".join(found)


def may_lock() -> bool:
    soft, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (hard, hard))
    return hard == resource.RLIM_INFINITY or hard >= RINGS_BYTES


def by_sudo(need: str, command: list[str]) -> str:
    try:
        asked = subprocess.run(["sudo", "-n", "true"], stdin=subprocess.DEVNULL,
                               capture_output=True, check=False)  # fmt: skip
    except OSError:  # a folder of PATH that may not be read counts as well
        return "there is no sudo"
    if asked.returncode != 0:
        return "sudo -n is refused"
    guarded = [sys.executable, "-B", str(Path(__file__).resolve()), "--guard", need, *command]
    settings = [f"{name}={value}" for name, value in os.environ.items()
                if not name.startswith(PRIVATE)]  # fmt: skip
    # Nothing may be left that the user cannot remove.
    settings += ["HOME=/root", "USER=root", "PYTHONDONTWRITEBYTECODE=1"]
    sudo = ["sudo", "-n", "--", "env", "-i", *settings, *guarded]
    # Its standard input is what ties root's processes to this one.
    with subprocess.Popen(sudo, stdin=subprocess.PIPE) as process:
        sys.exit(process.wait())


# ---- root's end: a user may not end what belongs to root ----


def guard(need: str, command: list[str]) -> int:
    """Run it until it ends or the user's process, at the other end of our standard input, is no
    more; then end whatever it started."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    refusal = may(UNSHARE)
    if refusal:
        skip(f"needs network namespaces: root may make none here ({refusal})")
    child = subprocess.Popen(
        furnished(UNSHARE, command),
        stdin=subprocess.DEVNULL,
        env={**os.environ, TAKEN: need},
        start_new_session=True,
        preexec_fn=lambda: libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0),
    )
    ended = os.pidfd_open(child.pid)
    poll = select.poll()
    poll.register(ended, select.POLLIN)
    poll.register(sys.stdin.fileno(), select.POLLIN | select.POLLHUP)
    while ended not in dict(poll.poll()):
        if not os.read(sys.stdin.fileno(), 512):
            os.killpg(child.pid, signal.SIGTERM)
            select.select([ended], [], [], GRACE_S)
            break
    end_all()
    status = child.wait()
    with suppress(ChildProcessError):  # orphans that came to this process
        while True:
            os.waitpid(-1, 0)
    return status if status >= 0 else 128 - status


def end_all() -> None:
    """SIGKILL to all that descends from this process, until there is none."""
    end_s = time.monotonic() + GRACE_S
    while (left := descendants()) and time.monotonic() < end_s:
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.01)


def descendants() -> set[int]:
    """Those that run; what has ended counts no more."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = path.read_text(errors="replace").rpartition(")")[2].split()[:2]
        except OSError:
            continue  # ended meanwhile
        if state not in "ZX":
            parents[int(path.parent.name)] = int(parent)
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def main() -> NoReturn:
    words = sys.argv[1:]
    if len(words) > 2 and words[0] == "--guard" and words[1] in NEEDS:
        sys.exit(guard(words[1], words[2:]))
    wish = words[:1] == ["--wish"]
    words = words[wish:]
    if len(words) < 2 or words[0] not in NEEDS:
        sys.exit(f"usage: rights.py [--wish] {'|'.join(NEEDS)} COMMAND [ARGUMENT ...]")
    need, command = words[0], words[1:]
    if not has(need):
        run_with(need, command, wish=wish)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main()
