# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for lull-flow-sim, lull-flow and dispatch-cost: same options, figures by rule of thumb.

LULL_FAKE tells what to do wrong; LULL_FAKE_LOG is a file that gets a line per run.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

# Share of a worker's capacity that is lost to: nothing, hashing to all, to two workers, to one.
KNEES = {"uniform": 0.8, "zipf": 0.6, "elephant": 0.35, "2": 0.3, "1": 0.1}
SPREADS = ("rr-burst", "subflow-paper", "subflow", "sticky")
CHOICES = {"--scheduler", "--zipf", "--elephant", "--target", "--load", "--watch", "--threshold",
           "--workers", "--burst", "--flush-burst", "--flush-time", "--ring", "--flows", "--packets",
           "--start", "--seed", "--json", "--pcap", "--order", "--stats", "--rounds"}
COSTS = {"stage only": 3.0, "rr-burst": 11.0, "crc32": 12.0, "hrw": 15.0, "subflow-paper": 19.0,
         "subflow": 17.0, "sticky": 16.0}


def options(words: list[str]) -> dict[str, str]:
    """As --name value pairs."""
    found: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word == "--no-peers":
            continue
        if word not in CHOICES:
            print(f"fake: {word}: no such option", file=sys.stderr)
            sys.exit(2)
        found[word.removeprefix("--")] = next(rest)
    return found


def knee(asked: dict[str, str]) -> float:
    """Load up to which nothing is lost."""
    if asked["scheduler"] in SPREADS:
        return 0.7
    if "target" in asked:
        return KNEES[asked["target"]]
    return KNEES["elephant" if "elephant" in asked else
                 "uniform" if asked.get("zipf") == "0" else "zipf"]


def simulated(asked: dict[str, str]) -> dict[str, Any]:
    """A run per load."""
    runs = []
    for word in asked["load"].split(","):
        load, best, packets = float(word), knee(asked), int(asked["packets"])
        lost = round(packets * max(0.0, 1 - best / load))
        workers = [(packets - lost) // 4] * 4
        runs.append({"scheduler": asked["scheduler"], "load": load, "offered": packets,
                     "lost": lost, "loss_ppm": 1e6 * lost / packets, "watched": 100,
                     "watched_lost_pct": float(asked.get("threshold", 0)) / 2,
                     "worker": [{"packets": pkts} for pkts in workers]})
    return {"program": "lull-flow-sim", "runs": runs}


def packets_in(capture: str) -> int:
    """By their length: all are alike."""
    return (Path(capture).stat().st_size - 24) // (16 + 60)


def recorded(asked: dict[str, str]) -> dict[str, Any]:
    """The result of reading a capture."""
    packets = packets_in(asked["pcap"])
    shares = [packets - 3 * (packets // 4), *[packets // 4] * 3]
    return {"program": "lull-flow", "version": "0.1.0", "duration_s": 1.0, "settings": {},
            "totals": {}, "conservation": {},
            "dispatch": [{"pkts": packets, "worker_pkts": shares}]}


def main() -> int:
    """Answer as the program whose name comes first."""
    name, *words = sys.argv[1:]
    fault, log = os.environ.get("LULL_FAKE", ""), os.environ.get("LULL_FAKE_LOG")
    if log:
        with open(log, "a", encoding="utf-8") as file:  # noqa: PTH123 - one write, whole lines
            file.write(f"{name} {' '.join(words)}\n")
    if fault == f"babble {name}":
        print("hello")
        return 0
    asked = options(words)
    if name == "lull-flow-sim":
        print(json.dumps(simulated(asked)))
    elif name == "lull-flow":
        found = recorded(asked)
        if fault == "lose":
            found["dispatch"][0]["worker_pkts"][0] -= 1
        Path(asked["json"]).write_text(json.dumps(found))
    else:
        rows = [{"workers": 4, "row": row, "ns_median": ns} for row, ns in COSTS.items()
                if fault != "omit" or row != "hrw"]
        Path(asked["json"]).write_text(json.dumps({"rows": rows}))
    return 0


sys.exit(main())
