#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long after its last packet has the application a picture: kernel, polled kernel, DPDK?

`lull camera latency` with every receiver, one camera and eight; writes OUT/camera-latency.json,
.md, .html and .svg. Needs root and two quiet CPUs. Judges nothing; --help of the command tells what
else can be asked, and what is not known here goes to it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent.parent
NAME = "camera-latency"
RECEIVERS = (
    "kernel,kernel-direct,kernel-busy,kernel-busy-direct,dpdk,dpdk-direct,dpdk-xdp,dpdk-phase"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--build", default=str(TREE / "build"), help="build directory")
    parser.add_argument("--out", type=Path, default=TREE / "out" / "bench")
    chosen, more = parser.parse_known_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    stem = chosen.out.resolve() / NAME
    words = ["--receivers", RECEIVERS, "--json", f"{stem}.json", "--plot", f"{stem}.svg"]
    environment = {
        **os.environ,
        "LULL_BUILD": str(Path(chosen.build).resolve()),
        "PYTHONPATH": str(TREE / "python"),
    }
    command = [sys.executable, "-m", "lull", "camera", "latency"]
    status = subprocess.run([*command, *words, *more], env=environment, check=False).returncode
    for kind in ("html", "md"):
        if status == 0:
            drawn = [*command, "--from", f"{stem}.json", "--output", f"{stem}.{kind}"]
            done = subprocess.run(drawn, env=environment, stdout=subprocess.DEVNULL, check=False)
            status = done.returncode
    return status


sys.exit(main())
