#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What do resend requests repair, and how many do they take?

A GigE Vision camera in software loses packets on purpose, over veth into the kernel's sockets and
into DPDK; with 16 and 64 bit ids, and with answers that are lost like other packets. Writes
OUT/camera-resend.json and prints a table. Needs root. Judges nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

TREE = Path(__file__).resolve().parent.parent.parent
CAMERA, HOST = "10.9.0.1", "10.9.0.2"
GVCP_PORT, STREAM_PORT = 3956, 5000
TIMEOUT_S = 30.0
BACKENDS = ("kernel:v1", "dpdk:af_packet=v1")
CASES = {"16 bit ids": "", "64 bit ids": "--extended", "answers lost too": "--resend lossy"}


@dataclass
class Row:
    backend: str
    case: str
    frames: int
    complete: int
    lost: int  # packets, answers among them
    requested: int  # packets asked for
    requests: int  # messages
    missed: int  # by the receiver, of its own

    def text(self) -> str:
        share = 100 * self.complete / max(self.frames, 1)
        cost = self.requested / max(self.lost, 1)
        return (f"{self.backend:<18} {self.case:<17} {self.complete:>6} of {self.frames:<6}"
                f" {share:7.3f} %  {self.lost:>7} {self.requested:>9} {cost:7.4f}"
                f" {self.requests:>9} {self.missed:>6}")  # fmt: skip


class Place:
    """Two namespaces and a wire, gone afterwards."""

    def __init__(self) -> None:
        self.camera, self.host = (f"lull-bench-{os.getpid()}-{side}" for side in ("camera", "host"))
        self.runtime = tempfile.TemporaryDirectory(prefix="lull-bench-")
        self.env = {**os.environ, "RUNTIME_DIRECTORY": self.runtime.name}

    def __enter__(self) -> Place:
        for name in (self.camera, self.host):
            ip("netns", "add", name)
        ip("-n", self.camera, "link", "add", "v0", "type", "veth", "peer", "v1", "netns", self.host)
        for name, link, address in ((self.camera, "v0", CAMERA), (self.host, "v1", HOST)):
            ip("-n", name, "addr", "add", f"{address}/24", "dev", link)
            ip("-n", name, "link", "set", link, "up")
        return self

    def __exit__(self, *_: object) -> None:
        for name in (self.camera, self.host):
            subprocess.run(["ip", "netns", "del", name], check=False)
        self.runtime.cleanup()

    def start(self, namespace: str, program: Path, options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["ip", "netns", "exec", namespace, str(program), *options.split(), "--stats", "0"],
            stdout=subprocess.PIPE, text=True, env=self.env,
        )  # fmt: skip

    def listens(self) -> bool:
        shown = subprocess.run(["ip", "netns", "exec", self.camera, "cat", "/proc/net/udp"],
                               capture_output=True, text=True, check=True)  # fmt: skip
        return f":{GVCP_PORT:04X} " in shown.stdout


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def finish(program: subprocess.Popen[str], timeout_s: float) -> dict[str, Any]:
    said, _ = program.communicate(timeout=timeout_s)
    if program.returncode != 0:
        sys.exit(f"{program.args!r}: exit status {program.returncode}")
    result: dict[str, Any] = json.loads(said)
    return result


def measure(chosen: argparse.Namespace, backend: str, case: str) -> Row:
    apps = Path(chosen.build).resolve() / "apps"
    picture = f"width={chosen.width},height={chosen.height},pixel=bayer-rg12p"
    running: list[subprocess.Popen[str]] = []
    with Place() as place:
        try:
            running.append(place.start(
                place.camera, apps / "lull-cam-source/lull-cam-source",
                f"--protocol gvsp --bind {CAMERA} --width {chosen.width} --height {chosen.height}"
                f" --rate {chosen.rate} --pace spread:{500 / chosen.rate}ms --linger 1s --json -"
                f" --memory 64 --frames {chosen.frames} --lose {chosen.lose} {CASES[case]}",
            ))  # fmt: skip
            end = time.monotonic() + TIMEOUT_S
            while not place.listens() and time.monotonic() < end:
                time.sleep(0.02)
            running.append(place.start(
                place.host, apps / "lull-cam/lull-cam",
                f"--backend {backend} --unchecked --json - --frames {chosen.frames}"
                f" --duration {chosen.frames / chosen.rate + TIMEOUT_S}s"
                f" --stream protocol=gvsp,port={STREAM_PORT},control={CAMERA},resend=yes,{picture}"
                f",deadline={chosen.deadline},open=16,buffers=64",
            ))  # fmt: skip
            timeout_s = chosen.frames / chosen.rate + 2 * TIMEOUT_S
            receiver, source = (finish(each, timeout_s) for each in reversed(running))
        finally:
            for program in running:
                program.kill()
    stream = receiver["streams"][0]
    return Row(
        backend, case, source["frames"], stream["reasons"]["complete"],
        source["lost"] + source["refused"] + source["resend_lost"],
        stream["counters"]["requested"], stream["counters"]["requests"],
        receiver["totals"]["missed"],
    )  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--build", default=str(TREE / "build"), help="build directory")
    parser.add_argument("--out", type=Path, default=TREE / "out" / "bench")
    parser.add_argument("--frames", type=int, default=2000)
    parser.add_argument("--rate", type=int, default=50, help="frames per second")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=400)
    parser.add_argument("--lose", type=int, default=10000, help="of a million packets")
    parser.add_argument("--deadline", default="400ms", help="of a frame")
    parser.add_argument("--nice", type=int, default=0, help="priority of all programs")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    os.setpriority(os.PRIO_PROCESS, 0, chosen.nice)
    print(f"{'back end':<18} {'case':<17} {'complete':>16} {'':>9}  {'lost':>7} {'asked for':>9}"
          f" {'per one':>7} {'requests':>9} {'missed':>6}")  # fmt: skip
    rows = []
    for backend in BACKENDS:
        for case in CASES:
            rows.append(measure(chosen, backend, case))
            print(rows[-1].text(), flush=True)
    chosen.out.mkdir(parents=True, exist_ok=True)
    text = json.dumps([asdict(row) for row in rows], indent=1)
    (chosen.out / "camera-resend.json").write_text(text + "\n")
    return 0


sys.exit(main())
