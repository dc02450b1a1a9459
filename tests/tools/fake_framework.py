# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for the program lull-model: same options and JSON, figures by rule of thumb."""

import json
import os
import sys
from typing import Any

from lull.quantities import parse_ns

SLACK_NS, REST_COST_NS = 75_000, 16_000


def side(rest: str, pps: float, size: int) -> dict[str, Any]:
    """One measured thread."""
    kind, _, time_text = rest.partition(":")
    asked = parse_ns(time_text) if time_text else {"none": 0.0}.get(kind, 300_000.0)
    slept = 0.0 if kind in ("none", "block") else asked + SLACK_NS
    cpu = 100 * REST_COST_NS / (REST_COST_NS + slept)
    return {"rest": rest, "cpu_pct": cpu, "empty_pct": cpu / 2, "empty_requested_pct": cpu / 2,
            "usage_pct": cpu, "usage_requested_pct": cpu, "bps": pps * size * 8, "pps": pps,
            "rest_requested_mean_ns": asked}


def main() -> int:
    """Answer."""
    words = sys.argv[1:]
    with open(os.environ["LULL_FAKE_LOG"], "a", encoding="utf-8") as file:  # noqa: PTH123
        file.write(f"{os.getpid()} {' '.join(words)}\n")
    if "--burst-cost" in words:
        print(json.dumps({"burst_cost": [
            {"burst": burst, "size": size if burst else 0, "samples": 9, "rx_ns": 40 + 20 * burst,
             "tx_ns": None if burst == 0 else 30 + 20 * burst}
            for size in (64, 1500) for burst in (0, 1, 64, 128)]}))
        return 0
    asked = dict(zip(words[::2], words[1::2], strict=True))
    if os.environ.get("LULL_FAKE") == "babble":
        print("{}")
        return 0
    rate, size = float(asked["--rate"]), int(asked["--size"])
    print(json.dumps({
        "program": "lull-model", "sender": side(asked["--send-rest"], rate, size),
        "receiver": side(asked["--receive-rest"], rate, size), "lost": 0, "loss_ppm": 0.0}))
    return 0


sys.exit(main())
