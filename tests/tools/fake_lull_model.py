# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for the program lull-model over rings: same options and JSON, figures by rule of thumb.

LULL_FAKE tells what to do wrong; LULL_FAKE_LOG is a file that gets a line per run.
"""

import json
import os
import sys
from typing import Any

from lull.quantities import parse_ns

SLACK_NS = 55_000
RING_PKTS = 1024
OPTIONS = ("size", "link", "max-rest", "warmup", "duration", "rate", "send-rest", "receive-rest",
           "json")


def side(rest: str, pps: float, size: int) -> dict[str, Any]:
    """One side: the longer it sleeps the less CPU it takes, and the more slips its ring."""
    name, _, time = rest.partition(":")
    slept_ns = parse_ns(time) + SLACK_NS if time else 0 if name in ("none", "block") else 200_000
    kept = min(1.0, RING_PKTS / 2 / (pps * slept_ns / 1e9)) if pps * slept_ns else 1.0
    cpu = 99.0 if name in ("none", "block") else 100 * 5_000 / (slept_ns + 5_000)
    return {"rest": rest, "cpu_pct": cpu, "empty_pct": cpu / 2, "usage_pct": cpu,
            "empty_requested_pct": cpu / 2, "usage_requested_pct": cpu, "packets_per_s": pps * kept,
            "bits_per_s": pps * kept * size * 8, "rests": 10.0, "rest_mean_ns": float(slept_ns),
            "rest_requested_mean_ns": 0.0, "bursts": 10.0, "burst_mean_pkts": 32.0,
            "steal_ns": 0, "total_taken": round(pps * kept), "missed": 0}


def answer(asked: dict[str, str]) -> dict[str, Any]:
    """Both sides."""
    size = int(asked["size"])
    sender = side(asked["send-rest"], float(asked["rate"]), size)
    receiver = side(asked["receive-rest"], sender["packets_per_s"], size)
    lost = sender["total_taken"] - receiver["total_taken"]
    return {"sender": sender, "receiver": {**receiver, "lost": lost}, "lost": lost,
            "loss_ppm": 1e6 * lost / max(1, sender["total_taken"])}


def costs() -> dict[str, Any]:
    """A little for the call, a little for each packet."""
    rows = [{"burst": 0, "size": 0, "samples": 1001, "rx_ns": 5.0, "tx_ns": 5.0}]
    rows += [{"burst": burst, "size": size, "samples": 1001, "rx_ns": 5 + 0.6 * burst,
              "tx_ns": 5 + 0.7 * burst} for burst in (1, 8, 64) for size in (64, 1500)]
    return {"burst_cost": rows}


def main() -> int:
    """Answer."""
    fault, log = os.environ.get("LULL_FAKE", ""), os.environ.get("LULL_FAKE_LOG")
    words = sys.argv[1:]
    if log:
        with open(log, "a", encoding="utf-8") as file:  # noqa: PTH123 - one write, whole lines
            file.write(" ".join(words) + "\n")
    if fault == "refuse":
        print("lull-model: --send-rest: 'nap' is not one of none (spin)", file=sys.stderr)
        return 1
    if fault == "babble":
        print("hello")
        return 0
    if words[0] == "--burst-cost":
        found = costs()
    else:
        asked = dict(zip((word.removeprefix("--") for word in words[::2]), words[1::2],
                         strict=True))
        unknown = set(asked) - set(OPTIONS)
        if unknown:
            sys.exit(f"lull-model: {unknown}: no such option")
        found = answer(asked)
        if fault == "half":
            found["receiver"] = None
    print(json.dumps({"program": "lull-model", "version": "0.1.0",
                      "machine": {"dpdk": "22.11.0"}, **found}))
    return 0


sys.exit(main())
