#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Half a round trip over one TCP connection of the kernel, TCP_NODELAY, one message at a time.

    tcp_pingpong.py serve PORT
    tcp_pingpong.py ask ADDRESS PORT SECONDS BYTES

The asker prints one line of JSON. Python takes some 10 us of each way.
"""

from __future__ import annotations

import json
import socket
import sys
import time


def take(end: socket.socket, size: int) -> bytes:
    """One whole message; b"" at the end."""
    data = b""
    while len(data) < size:
        more = end.recv(size - len(data))
        if not more:
            return b""
        data += more
    return data


def serve(port: int) -> None:
    """Send back what comes, in messages of the first 4 bytes' length."""
    with socket.create_server(("", port)) as listener:
        end, _ = listener.accept()
        with end:
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            size = int.from_bytes(take(end, 4), "little")
            while data := take(end, size):
                end.sendall(data)


def ask(address: str, port: int, seconds: float, size: int) -> None:
    """One at a time."""
    samples = []
    message = bytes(size)
    with socket.create_connection((address, port)) as end:
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        end.sendall(size.to_bytes(4, "little"))
        end.sendall(message)
        take(end, size)
        begin = time.monotonic_ns()
        until = begin + round(seconds * 1e9)
        while begin < until:
            end.sendall(message)
            take(end, size)
            now = time.monotonic_ns()
            samples.append((now - begin) / 2e3)
            begin = now
    samples.sort()
    count = len(samples)
    print(json.dumps({"messages": count, "p50_us": samples[count // 2],
                      "p99_us": samples[count * 99 // 100], "max_us": samples[-1]}))  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]))
    else:
        ask(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]))
