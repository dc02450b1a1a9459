#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does one core receive eight cameras while a browser looks on and packets are kept?

Eight cameras of `lull camera latency` into lull-cam with --view, which a viewer reads all the time,
and --packets, which keeps the last 64 MiB of packets. Prints a row for each receiver and each form
of it, with the pictures that the viewer got. Needs root and two CPUs. Judges nothing.
"""

from __future__ import annotations

import argparse
import os
import socket
import struct
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

TREE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TREE / "python"))

from lull.camera.latency import RECEIVERS, Settings, summarise  # noqa: E402
from lull.camera.latency_run import Bench, Programs, aside  # noqa: E402
from lull.camera.latency_wire import Wire  # noqa: E402
from lull.program.pace import RealPace  # noqa: E402
from lull.program.tree import Tree  # noqa: E402

MTU = 3498
HEAD = "receiver frames complete partial lost missed MB/s CPU pictures p50_us p99_us"


class Loaded(Bench):
    """The same runs, with more for the receiver to do."""

    more: tuple[str, ...] = ()

    def _child(self, program: Path, words: list[str], namespace: list[str]) -> Any:
        own = self.more if program == self.programs.cam else ()
        return super()._child(program, [*words, *own], namespace)


class Viewer:
    """Reads what a browser would, as fast as it comes."""

    def __init__(self, path: Path) -> None:
        self.pictures = 0
        self._path = path
        self._stop = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self) -> None:
        self._stop = True
        self._thread.join()

    def _run(self) -> None:
        while not self._stop:
            try:
                with socket.socket(socket.AF_UNIX) as end:
                    end.settimeout(1)
                    end.connect(str(self._path))
                    self._read(end)
            except OSError:
                time.sleep(0.05)

    def _read(self, end: socket.socket) -> None:
        file = end.makefile("rb")
        while len(lengths := file.read(8)) == 8:
            head, body = struct.unpack("!II", lengths)
            if b'"image"' in file.read(head):
                self.pictures += 1
            file.read(body)


def run(bench: Loaded, receiver: str, scratch: Path) -> str:
    path = scratch / "view"
    bench.more = ("--view", str(path), "--packets", str(scratch / "kept.pcapng"),
                  "--packets-when", "partial")  # fmt: skip
    viewer = Viewer(path)
    one = bench.one(receiver, bench.settings.cameras[0], 1)
    viewer.end()
    row = summarise([one], one.picture_bytes)
    flaws = f"  INVALID: {'; '.join(one.flaws())}" if one.flaws() else ""
    cells = (RECEIVERS[receiver].title.replace(" ", "_"), one.sent.frames, one.complete,
             one.partial, one.lost(), one.missed, f"{row.mb_s or 0:.0f}", f"{one.cpu_pct():.0f}%",
             viewer.pictures, f"{row.fetched.p50:.1f}", f"{row.fetched.p99:.1f}")  # fmt: skip
    return " ".join(map(str, cells)) + flaws


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--build", type=Path, default=TREE / "build", help="build directory")
    parser.add_argument("--receivers", default="dpdk,dpdk-direct,dpdk-phase", metavar="A,B")
    parser.add_argument("--cameras", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--nice", type=int, default=-20)
    chosen = parser.parse_args()
    build = chosen.build.resolve()
    send, receive = sorted(os.sched_getaffinity(0))[:2]
    settings = Settings(cameras=[chosen.cameras], seconds=chosen.seconds, rounds=1, mtu=MTU,
                        nice=chosen.nice, send_cpu=send, receive_cpu=receive)  # fmt: skip
    programs = Programs(build / "apps/lull-cam/lull-cam",
                        build / "apps/lull-cam-source/lull-cam-source")  # fmt: skip
    print(HEAD, flush=True)
    with Wire(MTU) as wire, tempfile.TemporaryDirectory() as scratch:
        bench = Loaded(settings, programs, wire, RealPace(), Tree(Path("/")),
                       frozenset(os.sched_getaffinity(0)))  # fmt: skip
        with aside(bench.cpus_used()):
            for receiver in chosen.receivers.split(","):
                print(run(bench, receiver, Path(scratch)), flush=True)


main()
