# SPDX-License-Identifier: BSD-3-Clause
"""Load traffic: a kind of traffic and a share of what is possible, as a traffic spec.

A load is the mean rate over the most that can come and be handled: the smaller
of the link's packet rate and of the capacity of the simulated thread.
"""

from lull.errors import LullError

KINDS = ("constant", "poisson", "onoff", "tidal", "selfsimilar")
WIRE_EXTRA_BYTES = 20  # preamble and gap
PEAK = 0.95            # of what is possible: no peak of onoff and tidal lies beyond
ON_US = 5_000
TIDE = "200ms"


def link_pps(link_bps: float, wire_bytes: float) -> float:
    """Packets of a size (with CRC) that a link can carry in a second."""
    return link_bps / (8 * (wire_bytes + WIRE_EXTRA_BYTES))


def possible_pps(link_bps: float, wire_bytes: float, capacity_pps: float) -> float:
    """What 100 % load means; link 0: none."""
    return min(link_pps(link_bps, wire_bytes), capacity_pps) if link_bps else capacity_pps


def spec(kind: str, load_pct: float, possible: float) -> str:
    """The traffic, as lull-gen and lull-sim take it."""
    rate = possible * load_pct / 100
    if round(rate) == 0:
        return "off"
    if kind in ("constant", "poisson", "selfsimilar"):
        return f"{kind}:{round(rate)}"
    if kind == "onoff":
        # A quarter of the time at four times the rate, or more time when the peak forbids it.
        on_share = min(1.0, max(0.25, load_pct / 100 / PEAK))
        off_us = max(1, round(ON_US * (1 - on_share) / on_share))
        return f"onoff:{round(rate / on_share)},{ON_US}us,{off_us}us"
    if kind == "tidal":
        high = max(rate, min(possible * PEAK, 1.9 * rate))
        return f"tidal:{round(max(0.0, 2 * rate - high))}-{round(high)},{TIDE}"
    raise LullError(f"{kind}: no kind of traffic that a load can be given for: "
                    f"{', '.join(KINDS)}", 2)


def mean_bytes(size: str) -> float:
    """Mean of a list SIZE[:WEIGHT],... on the wire."""
    total = weights = 0.0
    for part in size.split(","):
        bytes_text, _, weight_text = part.partition(":")
        try:
            weight = float(weight_text or 1)
            total += float(bytes_text) * weight
        except ValueError:
            raise LullError(f"--traffic-size: {size}: a load needs bytes, as 64 or "
                            "64:7,570:4,1518:1", 2) from None
        weights += weight
    if total <= 0:
        raise LullError(f"--traffic-size: {size}: no bytes at all", 2)
    return total / weights
