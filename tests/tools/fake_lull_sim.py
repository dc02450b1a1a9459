# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for the program lull-sim: same options and JSON, figures by rule of thumb.

LULL_FAKE tells what to do wrong; LULL_FAKE_LOG is a file that gets a line per run.
"""

import json
import os
import sys
import time
from typing import Any

from lull.quantities import parse_ns

OVERSHOOT_NS, REST_COST_NS = 17_000, 16_000
OPTIONS = ("governor", "send-governor", "send-max-latency", "receive-governor", "traffic",
           "traffic-size", "pcap",
           "link", "ring", "held", "burst", "max-latency", "percentile", "loss", "max-rest",
           "seed", "duration", "warmup", "public-ring", "machine", "iteration-cost", "sweep-rest",
           "path", "json", "describe-machine", "rest", "kalman-step", "trace-kalman", "pps-max",
           "line-bursts", "queues", "round-bursts", "interrupt")
SWITCHES = ("count-left",)


def options(arguments: list[str]) -> dict[str, str]:
    """As --name value pairs."""
    found: dict[str, str] = {}
    words = iter(arguments)
    for word in words:
        name = word.removeprefix("--")
        if name in SWITCHES:
            found[name] = "yes"
            continue
        if not word.startswith("--") or name not in OPTIONS:
            sys.exit(refuse(f"{word}: no such option", 2))
        found[name] = next(words)
    return found


def refuse(words: str, status: int) -> int:
    """One line on standard error."""
    print(f"lull-sim: {words}", file=sys.stderr)
    return status


def latency(ns: float, count: int) -> dict[str, float]:
    """All of it at one value, a little more at the tail."""
    return {"count": count, "mean": ns / 2, "p50": ns / 2, "p99": ns, "p999": ns * 1.2,
            "max": ns * 1.5}


def run(governor: str, side: str, asked: dict[str, str]) -> dict[str, Any]:
    """One governor's figures."""
    name, _, rest_text = governor.partition(":")
    objective_ns = parse_ns(asked["max-latency"])
    cap_ns = parse_ns(asked["max-rest"])
    rest_ns = {"spin": 0.0, "yield": 1.0, "objective": objective_ns - 2 * OVERSHOOT_NS}.get(
        name, min(cap_ns, parse_ns(rest_text) if rest_text else cap_ns))
    infeasible = name == "objective" and rest_ns < 20_000
    if infeasible:
        rest_ns = 0
    packets = 0 if asked["traffic"] == "off" else 100_000
    slept = rest_ns + OVERSHOOT_NS if rest_ns else 0
    cpu = 100 * REST_COST_NS / (slept + REST_COST_NS) if rest_ns else 100.0
    return {
        "governor": name, "rest_ns": parse_ns(rest_text) if rest_text else 0, "side": side,
        "duration_ns": 10**9, "cpu_pct": round(cpu, 3), "busy_pct": 1.0, "offered_per_s": packets,
        "offered": packets, "delivered": packets, "lost": 0, "loss_ppm": 0.0,
        "bytes": 64 * packets, "bits_per_s": 512.0 * packets,
        "latency_ns": latency(slept + 300, packets), "added_ns": latency(slept, packets),
        "rests": 1000, "rest_mean_ns": slept, "rest_p99_ns": slept, "wakes_per_s": 1000.0,
        "empty_pct": round(cpu - 1, 3), "usage_pct": round(cpu, 3),
        "empty_requested_pct": round(cpu - 1, 3), "usage_requested_pct": round(cpu, 3),
        "power_w": 5.0, "energy_j": 5.0, "cpu_bound_pct": 3.0,
        "verdict": {"state": "none" if name != "objective" else
                    "infeasible" if infeasible else "feasible",
                    "binding": "latency", "rest_ns": rest_ns, "predicted_ns": objective_ns,
                    "text": f"infeasible: {objective_ns:.0f} ns are too few" if infeasible else
                    "feasible: rests" if name == "objective" else "no objective: rests"},
        "feasible_pct": 0.0 if infeasible or name != "objective" else 100.0,
        "counters": {"iterations": 5000},
    }


def sweep(text: str, asked: dict[str, str]) -> list[dict[str, float]]:
    """The fixed sleeps between two ends."""
    ends, _, steps = text.partition(",")
    low, _, high = ends.partition("-")
    count = int(steps)
    points = []
    for step in range(count):
        rest_ns = parse_ns(low) * (parse_ns(high) / parse_ns(low)) ** (step / max(1, count - 1))
        made = run(f"fixed:{rest_ns:.0f}ns", "receive", {**asked, "max-rest": "1s"})
        points.append({"rest_ns": round(rest_ns), "cpu_pct": made["cpu_pct"],
                       "added_p50_ns": made["added_ns"]["p50"],
                       "added_p99_ns": made["added_ns"]["p99"],
                       "added_p999_ns": made["added_ns"]["p999"], "lost": 0})
    return points


def main() -> int:
    """Answer."""
    fault = os.environ.get("LULL_FAKE", "")
    log = os.environ.get("LULL_FAKE_LOG")
    if log:
        with open(log, "a", encoding="utf-8") as file:  # noqa: PTH123 - one write, whole lines
            file.write(f"{os.getpid()} {' '.join(sys.argv[1:])}\n")
    if sys.argv[1:] == ["--version"]:
        print("lull-sim 0.1.0")
        return 0
    asked = {"traffic": "poisson:300k", "max-latency": "100us", "max-rest": "1ms", "seed": "1",
             "percentile": "99", "governor": "objective", "link": "0", "machine": "guest",
             **options(sys.argv[1:])}
    if "describe-machine" in asked:
        print(json.dumps({"name": asked["describe-machine"], "capacity_per_s": 20_000_000,
                          "burst": [{"pkts": 0, "ns": 60}, {"pkts": 64, "ns": 2800}]}))
        return 0
    if fault == "hang":
        time.sleep(60)
    if fault == "die":
        os.abort()
    if fault == "babble":
        print("hello")
        return 0
    if asked["traffic"].startswith("nonsense"):
        return refuse(f"traffic: {asked['traffic']}: no such kind", 2)
    if "pcap" in asked and not os.access(asked["pcap"], os.R_OK):
        return refuse(f"{asked['pcap']}: No such file or directory", 1)
    sides = ("send", "receive") if asked.get("path") == "send-receive" else ("receive",)
    runs = [run(asked.get(f"{side}-governor", governor), side, asked)
            for governor in asked["governor"].split(",") for side in sides]
    print(json.dumps({
        "program": "lull-sim", "version": "0.1.0", "settings": asked, "runs": runs,
        "sweep": sweep(asked["sweep-rest"], asked) if "sweep-rest" in asked else [],
        "simulated_pkts": 100_000 * len(runs), "duration_s": 0.004}))
    return 0


sys.exit(main())
