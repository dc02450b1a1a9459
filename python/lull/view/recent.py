# SPDX-License-Identifier: BSD-3-Clause
"""View recent: percentiles of the last seconds, from histograms that count since the start."""

from collections import deque
from typing import Any

LOOKS = 10  # statistics come twice a second
BIN_RATIO = 1.125  # from one bin to the next at most

Bins = dict[float, int]


class Recent:
    """The last histograms of one camera."""

    def __init__(self) -> None:
        self._past: deque[Bins] = deque(maxlen=LOOKS + 1)

    def add(self, latency_bins: list[list[float]]) -> dict[str, float]:
        """p50 and p99 of what has come since the oldest look that is kept."""
        bins = {low: int(count) for low, count in latency_bins}
        if self._past and sum(bins.values()) < sum(self._past[-1].values()):
            self._past.clear()
        self._past.append(bins)
        before = self._past[0] if len(self._past) > 1 else {}
        new = {low: count - before.get(low, 0) for low, count in sorted(bins.items())}
        return {} if not any(new.values()) else {"p50": quantile(new, 0.5),
                                                  "p99": quantile(new, 0.99)}


def quantile(bins: Bins, share: float) -> float:
    """The value below which this share lies: the upper end of its bin."""
    wanted = share * sum(bins.values())
    below = 0
    for low, count in bins.items():
        below += count
        if count > 0 and below >= wanted:
            return round(low * BIN_RATIO, 3)
    return 0.0


class RecentOfAll:
    """Adds `recent_us` to the statistics of each camera."""

    def __init__(self) -> None:
        self._streams: dict[int, Recent] = {}

    def look(self, statistics: dict[str, Any]) -> dict[str, Any]:
        """The statistics with it."""
        streams = []
        for stream in statistics["streams"]:
            recent = self._streams.setdefault(stream["index"], Recent())
            streams.append({**stream, "recent_us": recent.add(stream["latency_bins"])})
        return {**statistics, "streams": streams}
