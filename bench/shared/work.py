#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Work: what another program does on the CPU that a polling thread shares with it.

    work.py KIND LOG

hog:      a loop that never waits
xz:       `xz -9e -T1` on the same text over and over
compile:  `cc -O2` on the same source over and over
udp:      datagrams there and back over the kernel's network stack, 16 at a time;
          takes the file /run/netns/NAME of the other end and its address besides
duty:N    N percent of the time, in runs of 1 to 5 ms

Writes a line after each piece of work, or after 20 ms of small ones: when, how many
pieces since the start, CPU time since then, and how long the longest of them took.
"""

from __future__ import annotations

import ctypes
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

LINE_NS = 20_000_000
NS_PER_S = 1_000_000_000
CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
XZ_BYTES = 96 << 10  # some 50 ms
FUNCTIONS = 12  # of the source that is compiled, some 100 ms
DATAGRAMS = 16
PORT = 9
RUN_MS = (1.0, 5.0)

libc = ctypes.CDLL(None, use_errno=True)


def cpu_ns() -> int:
    """Of this process and of the programs it has started that have ended."""
    used = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        used += usage.ru_utime + usage.ru_stime
    return round(used * NS_PER_S)


def text_to_pack(size: int) -> bytes:
    """Words of a small vocabulary, with numbers between: packs like a log does."""
    chance = random.Random(1)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(3000)]
    parts: list[str] = []
    length = 0
    while length < size:
        parts.append(chance.choice(words) if chance.random() < 0.9 else str(chance.random()))
        length += len(parts[-1]) + 1
    return " ".join(parts).encode()[:size]


def source_to_compile(functions: int) -> str:
    """C that gives an optimizer something to do."""
    body = """
static unsigned long f{i}(const unsigned char *data, unsigned long size)
{{
	unsigned long sum = {i}, table[64];
	for (unsigned long at = 0; at < 64; at++)
		table[at] = at * {i} ^ (sum >> 3);
	for (unsigned long at = 0; at < size; at++)
		sum = sum * 31 + table[(data[at] + {i}) & 63];
	return sum;
}}
"""
    calls = " + ".join(f"f{index}(data, size)" for index in range(functions))
    return (
        "".join(body.format(i=index) for index in range(functions))
        + f"unsigned long all(const unsigned char *data, unsigned long size)\n{{\n"
        f"\treturn {calls};\n}}\n"
    )


def end_with_parent() -> None:
    """Should this program be killed, what it started follows."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def program(*command: str) -> None:
    """Run one to its end."""
    subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        check=True,
        preexec_fn=end_with_parent,  # noqa: PLW1509, RUF100 - there are no threads here
    )


def hog() -> None:
    """Some 100 us of it."""
    for _ in range(3000):
        pass


def files(log: Path) -> tuple[Path, Path]:
    """What xz and cc read; beside the log."""
    return log.with_suffix(".txt"), log.with_suffix(".c")


def packing(log: Path) -> Callable[[], None]:
    """One file."""
    path = files(log)[0]
    path.write_bytes(text_to_pack(XZ_BYTES))
    return lambda: program("xz", "-9e", "-T1", "--stdout", str(path))


def compiling(log: Path) -> Callable[[], None]:
    """One file."""
    path = files(log)[1]
    path.write_text(source_to_compile(FUNCTIONS), encoding="utf-8")
    return lambda: program("cc", "-O2", "-c", "-o", "/dev/null", str(path))


def echo(other: socket.socket) -> None:
    """The far end: send back what comes."""
    while True:
        data, sender = other.recvfrom(2048)
        other.sendto(data, sender)


def datagrams(namespace: str, address: str) -> Callable[[], None]:
    """To a thread of ours in another network namespace and back, over the wire between."""
    with Path(namespace).open("rb") as there, Path("/proc/self/ns/net").open("rb") as here:
        if libc.setns(there.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns", namespace)
        far = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        far.bind((address, PORT))
        libc.setns(here.fileno(), CLONE_NEWNET)
    threading.Thread(target=echo, args=(far,), daemon=True).start()
    near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    near.connect((address, PORT))
    near.settimeout(0.1)
    payload = bytes(64)

    def round_trip() -> None:
        for _ in range(DATAGRAMS):
            near.send(payload)
        for _ in range(DATAGRAMS):
            try:
                near.recv(2048)
            except TimeoutError:  # one was lost: the longest piece tells
                break

    return round_trip


def part_time(percent: float) -> Callable[[], None]:
    """Busy for some ms of CPU time, then away for as long as makes N percent of the time."""
    chance = random.Random(os.getpid())

    def run_and_rest() -> None:
        run_s = chance.uniform(*RUN_MS) / 1000
        begin = time.monotonic()
        end_cpu = time.thread_time() + run_s
        while time.thread_time() < end_cpu:
            pass
        away_s = begin + run_s * 100 / percent - time.monotonic()
        time.sleep(max(0.0, away_s))

    return run_and_rest


def main() -> None:
    """Work until a signal ends it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    kind, log = sys.argv[1], Path(sys.argv[2])
    name, _, percent = kind.partition(":")
    makers: dict[str, Callable[[], Callable[[], None]]] = {
        "hog": lambda: hog,
        "xz": lambda: packing(log),
        "compile": lambda: compiling(log),
        "udp": lambda: datagrams(*sys.argv[3:5]),
        "duty": lambda: part_time(float(percent)),
    }
    piece = makers[name]()
    done, longest = 0, 0
    with log.open("w", encoding="ascii", buffering=1) as lines:
        before = written = time.monotonic_ns()
        while True:
            piece()
            done += 1
            now = time.monotonic_ns()
            longest = max(longest, now - before)
            before = now
            if now - written >= LINE_NS:
                lines.write(f"{now} {done} {cpu_ns()} {longest}\n")
                written, longest = now, 0


if __name__ == "__main__":
    main()
