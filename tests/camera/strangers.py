# SPDX-License-Identifier: BSD-3-Clause
"""A stranger who knows port and ids, and cannot spoil the pictures of a camera under control.

strangers.py LULL-CAM LULL-CAM-SOURCE
"""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from lull_cam import TIMEOUT_S, Pair
from rights import take
from verdict import check, free_ports

FRAMES = 60
LEADER, TRAILER, PAYLOAD = 1, 2, 3
DATA = 1364  # of a payload packet
MONO8 = 0x01080001


def gvsp(block: int, kind: int, packet: int, body: bytes) -> bytes:
    return struct.pack("!HHI", 0, block, kind << 24 | packet) + body


def leader(time: int, width: int, height: int) -> bytes:
    return struct.pack("!HHQIIIIIHH", 0, 1, time, MONO8, width, height, 0, 0, 0, 0)


def disturb(sender: socket.socket, port: int, stop: threading.Event) -> None:
    """Leaders, huge ones too, data and ends of blocks that the camera is at, and of stale ones."""
    while not stop.is_set():
        for block in (*range(1, FRAMES + 2), *range(30000, 30010)):
            for packet in (
                gvsp(block, LEADER, 0, leader(block, 320, 240)),
                gvsp(block, LEADER, 0, leader(7, 16384, 16384)),
                gvsp(block, PAYLOAD, 1 + block % 50, b"\xff" * DATA),
                gvsp(block, TRAILER, 60, bytes(8)),
            ):
                sender.sendto(packet, ("127.0.0.1", port))
            if stop.wait(0.0005):
                return


def camera_keeps_its_pictures(stand: Pair, from_port_of: str, source: str, harm: bool) -> None:
    """The stranger has another address, or that of the camera and another port."""
    port = free_ports(1)
    camera = subprocess.Popen(
        [stand.source, "--protocol", "gvsp", "--bind", stand.camera, "--width", "320", "--height",
         "240", "--pixel", "mono8", "--rate", "60", "--pattern", "counter", "--stats", "0",
         "--cpus", str(min(os.sched_getaffinity(0)))],
        cwd=stand.scratch, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    stop = threading.Event()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        stranger.bind((from_port_of, 0))
        thread = threading.Thread(target=disturb, args=(stranger, port, stop))
        thread.start()
        try:
            run = stand.start(
                *("--backend", "kernel:lo", "--unchecked", "--frames", str(FRAMES)),
                *("--duration", str(TIMEOUT_S // 2), "--stream",
                  f"protocol=gvsp,port={port},control={stand.camera},deadline=300ms,packet-bytes="
                  f"{DATA + 36}{source}"),
            )  # fmt: skip
            run.end()
        finally:
            stop.set()
            thread.join()
            camera.kill()
            camera.communicate()
    result = stand.written()
    (stream,) = result["streams"]
    strangers = stream["counters"]["source_mismatch"]
    if harm:
        check(strangers == 0, "any source was asked for", stream)
        return
    check(result["fetched"] == FRAMES and stream["partial"] == 0, "all are whole", stream)
    check(strangers > 100, "strangers are counted", stream["counters"])
    for counter in ("restarts", "duplicates", "oversize", "outside", "late"):
        check(stream["assembler"][counter] == 0, counter, stream["assembler"])


def main() -> None:
    take("namespaces", wish=True)
    for name, address, source, harm in (
        ("another address", "127.0.0.77", "", False),
        ("another port", "", "", False),
        ("whoever it is, when the user says so", "127.0.0.77", ",source=any", True),
    ):
        with tempfile.TemporaryDirectory() as scratch:
            stand = Pair(sys.argv[1], sys.argv[2], scratch)
            camera_keeps_its_pictures(stand, address or stand.camera, source, harm)
        print(f"strangers: {name}: ok", flush=True)


main()
