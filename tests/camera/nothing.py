# SPDX-License-Identifier: BSD-3-Clause
"""lull-cam that receives no image says why, and its exit status does.

nothing.py LULL-CAM
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

import captures
from verdict import check, free_ports

TREE = Path(__file__).resolve().parents[2]
CAPTURE = f"pcap:{TREE}/tests/data/camera/r4175_rgb_64x48.pcap"
SIZE = "width=64,height=48,pixel=rgb8"
CASES = (
    (f"protocol=rfc4175,port=5004,{SIZE}", ""),
    (f"protocol=rfc4175,port=5005,{SIZE}", "14 packets came, none for a stream: see port="),
    (f"protocol=rfc4175,port=5004,source=192.0.2.1,{SIZE}",
     "14 of 14 packets came from another source: see source="),
    ("protocol=rfc4175,port=5004,width=32,height=24,pixel=rgb8", "see protocol=, width=, height="),
    ("protocol=rfc4175,port=5004,width=64,height=48,pixel=mono16", "height= and pixel="),
    ("protocol=gvsp,port=5004", "of 14 packets were of another protocol"),
)  # fmt: skip


def by_hand(folder: Path) -> list[tuple[str, str, str]]:
    """Backend, stream and reason."""
    packets = captures.gvsp(1, 0x1080001, 64, 48, b"x" * 3072, 1024)
    cut = [captures.udp(packet) for packet in packets]
    rows = captures.rvf(7, 0, 4, 64, [bytes(64)] * 8)
    cut_file = captures.write(folder / "cut.pcap", cut, snap=60)
    whole_file = captures.write(folder / "whole.pcap", cut)
    rvf_file = captures.write(folder / "rvf.pcap", [captures.ethernet(0x22F0, p) for p in rows])
    cmp_file = captures.write(folder / "cmp.pcap", [captures.ethernet(0x99FE, cmp_line())] * 3)
    return [
        (cut_file, "protocol=gvsp,port=20202", "4 packets came without their end: record"),
        (whole_file, "protocol=gvsp,port=20202,buffers=2,memory=6143",
         "5 of 5 packets were of images larger than the buffers may become: see memory="),
        (whole_file, "protocol=gvsp,port=20202,buffers=2,memory=6144", ""),
        (rvf_file, "protocol=rvf", "8 of 8 packets were of pixels that their protocol does not"),
        (rvf_file, "protocol=rvf,pixel=mono8", ""),
        (cmp_file, "protocol=cmp", "does not describe: name them by pixel="),
    ]  # fmt: skip


def cmp_line() -> bytes:
    """One line of pixels of a type that camera and receiver agree upon."""
    csi2 = struct.pack("!HHHHBBIH", 3, 0, 1, 1, 0x30, 0, 0, 60) + bytes(60)
    return bytes((1, 0, 0, 1, 1, 2, 0, 0)) + struct.pack("!QIBBH", 9, 1, 0, 0x0C, len(csi2)) + csi2


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        silent = (f"protocol=gvsp,port={free_ports(1)}", "no packet came; is the camera on")
        runs = [("--backend", CAPTURE, *case) for case in CASES]
        runs += [("--backend", *case) for case in by_hand(Path(folder))]
        for *backend, stream, why in (*runs, ("--backend", "kernel:lo", *silent)):
            ran = subprocess.run(
                [sys.argv[1], *backend, "--stream", stream, "--duration", "2s", "--stats", "0",
                 "--json", str(result)], capture_output=True, text=True, check=False, timeout=60,
            )  # fmt: skip
            check(ran.returncode == (1 if why else 0), f"{stream}: exit status", ran.stderr)
            check(("no image: " in ran.stderr) == bool(why), f"{stream}: only then", ran.stderr)
            check(why in ran.stderr, f"{stream}: why", ran.stderr)
            told = json.loads(result.read_text())["end"]
            check(told in ("input", "duration"), f"{stream}: the result is there", told)


if __name__ == "__main__":
    main()
