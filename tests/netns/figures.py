# SPDX-License-Identifier: BSD-3-Clause
"""What the figures of lull-gen must look like when nothing went wrong."""

from __future__ import annotations

from typing import Any

from world import Program, check, wait_for

NONE = ("lost", "duplicates", "reordered", "stale")


def check_all_back(result: dict[str, Any], count: int, what: str) -> None:
    want = dict.fromkeys(NONE, 0) | {"offered": count, "sent": count, "received": count}
    seen = {key: result[key] for key in want}
    check(seen == want, what, seen)
    check_latency(result)


def check_latency(result: dict[str, Any]) -> None:
    latency = result["latency_ns"]
    check(latency["count"] == result["received"], "a latency for each packet", latency["count"])
    order = [latency[key] for key in ("min", "p50", "p90", "p99", "p999", "max")]
    check(order == sorted(order), "percentiles rise", order)
    check(order[0] > 100 and order[-1] < 20_000_000_000, "latencies are plausible", order)
    bins = latency["bins"]
    check(sum(bins[1::2]) == latency["count"], "bins hold every packet", latency["count"])
    check(bins[0::2] == sorted(bins[0::2]), "bins rise")


def measure(gen: Program, spec: str, packets: int) -> dict[str, Any]:
    """A window of a running lull-gen: at least this many packets, and all of them back."""
    window = gen.ask("/lull/mark")["window"]
    wait_for("the window begins", lambda: gen.ask("/lull/loop,gen0")["window"] == window)
    gen.set(f"traffic={spec}")
    wait_for("packets leave", lambda: gen.ask("/lull/traffic,gen0")["offered"] >= packets)
    gen.set("traffic=off")

    def back() -> dict[str, Any] | None:
        figures: dict[str, Any] = gen.ask("/lull/traffic,gen0")
        return figures if figures["silent"] and figures["received"] == figures["sent"] else None

    figures: dict[str, Any] = wait_for("all packets come back", back)
    # a host busy with other things may let a ring run full, and then the generator says so
    figures["lost"] -= figures["rejected"]
    seen = {key: figures[key] for key in NONE}
    check(not any(seen.values()), f"nothing goes wrong with {spec}", seen)
    check(figures["latency_count"] >= packets, "latencies", figures["latency_count"])
    return figures
