# SPDX-License-Identifier: BSD-3-Clause
"""What tests ask of what they see: conditions, waits, and ports that nobody has."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from typing import Any

TIMEOUT_S = 60.0  # for a machine that has other things to do


class Failure(AssertionError):
    """A condition that did not come true, with what was seen instead."""


def check(condition: object, what: str, seen: object = "") -> None:
    if not condition:
        raise Failure(f"{what}: {seen}" if seen != "" else what)


def wait_for(what: str, condition: Callable[[], Any], timeout_s: float = TIMEOUT_S) -> Any:
    """Ask until the answer is true; returns it."""
    end = time.monotonic() + timeout_s
    while True:
        answer = condition()
        if answer:
            return answer
        check(time.monotonic() < end, f"waited {timeout_s:.0f} s in vain: {what}")
        time.sleep(0.01)


def free_port(
    host: str = "127.0.0.1", kind: socket.SocketKind = socket.SOCK_DGRAM, first: int = 0
) -> int:
    """One that was free a moment ago."""
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind((host, first))
        port: int = probe.getsockname()[1]
        return port


def free_ports(count: int) -> int:
    """The first of so many UDP ports in a row that nobody has.

    Tests that run side by side look from different ones, below those that the kernel gives out.
    """
    for port in range(20000 + os.getpid() * 16 % 8000, 32000, count):
        sockets = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(count)]
        try:
            for i, each in enumerate(sockets):
                each.bind(("0.0.0.0", port + i))
            return port
        except OSError:
            continue
        finally:
            for each in sockets:
                each.close()
    raise Failure("no free UDP ports")
