# SPDX-License-Identifier: BSD-3-Clause
"""What the figures of lull-gen must look like when nothing went wrong."""

from __future__ import annotations

import time
from typing import Any

from verdict import check, wait_for
from world import Program

TRIES = 5
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


def come_back(gen: Program) -> dict[str, Any] | None:
    """The figures once all packets are back; None when nothing has come for 2 s."""
    last, since = -1, time.monotonic()
    while True:
        figures: dict[str, Any] = gen.ask("/lull/traffic,gen0")
        if figures["silent"] and figures["received"] == figures["sent"]:
            return figures
        if figures["received"] != last:
            last, since = figures["received"], time.monotonic()
        elif time.monotonic() - since > 2:
            return None
        time.sleep(0.02)


def measure_once(gen: Program, spec: str, packets: int) -> dict[str, Any] | None:
    """A window of a running lull-gen: at least this many packets."""
    window = gen.ask("/lull/mark")["window"]
    wait_for("the window begins", lambda: gen.ask("/lull/loop,gen0")["window"] == window)
    gen.set(f"traffic={spec}")
    wait_for("packets leave", lambda: gen.ask("/lull/traffic,gen0")["offered"] >= packets)
    gen.set("traffic=off")
    return come_back(gen)


def measure(gen: Program, spec: str, packets: int) -> dict[str, Any]:
    """The same with all packets back.

    A generator that the host held up for long catches up in one burst, and then the kernel's own
    queue behind a veth (1000 packets) may drop some: that is neither program's doing and does not
    happen again and again.
    """
    figures = None
    for _ in range(TRIES):
        figures = measure_once(gen, spec, packets)
        if figures is not None:
            break
    if figures is None:
        check(False, f"all packets of {spec} come back", gen.ask("/lull/traffic,gen0"))
        raise AssertionError
    # a host busy with other things may let a ring run full, and then the generator says so
    figures["lost"] -= figures["rejected"]
    seen = {key: figures[key] for key in NONE}
    check(not any(seen.values()), f"nothing goes wrong with {spec}", seen)
    check(figures["latency_count"] >= packets, "latencies", figures["latency_count"])
    return figures
