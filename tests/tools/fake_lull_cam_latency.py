# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for lull-cam and lull-cam-source: same options and JSON, no packets.

The first argument tells which. LULL_FAKE tells what to do wrong; LULL_FAKE_LOG is a file that gets
a line per run.
"""

import json
import os
import signal
import sys
import time
from typing import Any

# p50 in ns by back end; each round has frames at that, one at three times, one at ten.
TYPICAL_NS = {"kernel": 40_000, "kernel-busy": 3_000, "dpdk": 2_000}
LINGER_S = 0.15
PICTURE = 1000


def histogram(values: list[int]) -> dict[str, Any]:
    """As lull programs write it."""
    bins: dict[int, int] = {}
    for value in values:
        shift = max(0, value.bit_length() - 7)
        bins[value >> shift << shift] = bins.get(value >> shift << shift, 0) + 1
    return {"count": len(values), "mean": sum(values) / max(1, len(values)),
            "min": min(values, default=0), "max": max(values, default=0),
            "bins": [number for low in sorted(bins) for number in (low, bins[low])]}


def stream(typical_ns: int, frames: int) -> dict[str, Any]:
    """One camera; its first frame is not whole."""
    done = [typical_ns] * (frames - 3) + [3 * typical_ns, 10 * typical_ns]
    return {"frames": frames, "partial": 1,
            "reasons": {"complete": frames - 1, "deadline": 1, "superseded": 0, "restart": 0,
                        "flush": 0},
            "assembler": {"bytes": PICTURE * frames}, "sent_done_ns": histogram(done),
            "sent_fetched_ns": histogram([value + 5_000 for value in done]),
            "fetched_ns": histogram([value // 2 for value in done])}


def cam(asked: dict[str, str], fault: str) -> dict[str, Any]:
    """A receiver."""
    kind = asked["backend"].partition(":")[0]
    cameras = int(asked["cameras"])
    wall_ns = 1_000_000_000
    streams = [stream(TYPICAL_NS[kind], int(asked["frames"]) // cameras) for _ in range(cameras)]
    if fault == "mute":
        for one in streams:
            del one["sent_done_ns"]
    busy = 0.9 if fault == "shared" else 1.0
    return {"machine": {"dpdk": "22.11.99"},
            "totals": {"missed": 7, "gaps_late": 2, "wall_ns": wall_ns,
                       "cpu_ns": round(wall_ns * (0.1 if kind == "kernel" else busy)),
                       "steal_ns": wall_ns // 20 if fault == "stolen" else 0},
            "gap_ns": histogram([200] * 2000 + [90_000]), "streams": streams,
            "findings": [{"subject": "ring", "grade": 1, "text": "short", "remedy": "longer"},
                         {"subject": "core", "grade": 0, "text": "fine", "remedy": ""}]}


def source(asked: dict[str, str]) -> dict[str, Any]:
    """A sender that keeps its rate."""
    cameras, frames = int(asked["cameras"]), int(asked["frames"])
    return {"frames": cameras * frames, "packets": cameras * frames * 10, "refused": 0,
            "sending_s": (frames - 1) / float(asked["rate"]),
            "cameras": [{"behind_ns_max": 100_000}] * cameras}


def main() -> int:
    """Answer."""
    fault, log = os.environ.get("LULL_FAKE", ""), os.environ.get("LULL_FAKE_LOG")
    which, *words = sys.argv[1:]
    if log:
        with open(log, "a", encoding="utf-8") as file:  # noqa: PTH123 - one write, whole lines
            file.write(" ".join([which, f"nice={os.nice(0)}", *words]) + "\n")
    words = [word for word in words if word not in ("--sent-stamp", "--segment", "--direct")]
    asked = {key.removeprefix("--"): value
             for key, value in zip(words[::2], words[1::2], strict=True)}
    if which == fault:
        print(f"lull-{which}: frames: 3 is too few", file=sys.stderr)
        return 1
    if which == "cam":
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        print("lull-cam: receiving 1 stream from here", file=sys.stderr, flush=True)
        time.sleep(LINGER_S)
    answer = cam(asked, fault) if which == "cam" else source(asked)
    with open(asked["json"], "w", encoding="utf-8") as file:  # noqa: PTH123 - as programs do
        json.dump(answer, file)
    return 0


sys.exit(main())
