# SPDX-License-Identifier: BSD-3-Clause
"""Histogram of latencies in ns, as lull programs write it: bins with 64 parts to each octave."""

from collections.abc import Iterator, Sequence

from lull.document import Document

PARTS = 64
MILLION = 1_000_000


class Histogram(Document):
    """How many had which value."""

    count: int = 0
    mean: float = 0.0
    min: int = 0
    max: int = 0
    bins: list[int] = []  # low, weight, low, weight ... by rising low

    def check(self) -> None:
        """The bins add up."""
        if len(self.bins) % 2 or sum(self.bins[1::2]) != self.count:
            raise ValueError("the bins do not hold as many as the histogram counts")

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Lowest value and weight of each bin."""
        return zip(self.bins[::2], self.bins[1::2], strict=True)

    def quantile(self, ppm: int) -> int:
        """The value that this share of a million does not exceed, as exact as the bins are."""
        left = max(1, -(-self.count * ppm // MILLION))
        for low, weight in self.pairs():
            if weight >= left:
                return min(high(low), self.max)
            left -= weight
        return self.max

    def at_least(self) -> list[tuple[int, float]]:
        """For each bin the share of values that reach it; the largest value closes the list."""
        left, points = self.count, []
        for low, weight in self.pairs():
            points.append((low, left / self.count))
            left -= weight
        if points:
            points.append((self.max, points[-1][1]))
        return points


def high(low: int) -> int:
    """The largest value of the bin that begins at low."""
    return low + (1 << max(0, low.bit_length() - PARTS.bit_length())) - 1


def pool(found: Sequence[Histogram]) -> Histogram:
    """All of them as one."""
    some = [one for one in found if one.count]
    if not some:
        return Histogram()
    weights: dict[int, int] = {}
    for one in some:
        for low, weight in one.pairs():
            weights[low] = weights.get(low, 0) + weight
    count = sum(one.count for one in some)
    return Histogram(
        count=count, mean=sum(one.mean * one.count for one in some) / count,
        min=min(one.min for one in some), max=max(one.max for one in some),
        bins=[number for low in sorted(weights) for number in (low, weights[low])])
