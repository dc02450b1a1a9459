# SPDX-License-Identifier: BSD-3-Clause
"""Knob: the largest setting that keeps a bound, by bisection of what is measured."""

from __future__ import annotations

from collections.abc import Callable


class Knob:
    """A search; what is measured is taken to grow with the setting."""

    def __init__(self, first: int, most: int, grain: int, tries: int) -> None:
        """From first on; settings of most and above are taken to break the bound."""
        self.first = first
        self.grain = max(1, grain)
        self.tries = tries
        self.broken = most
        self.best: int | None = None  # none keeps it
        self.probes: list[tuple[int, bool]] = []

    def next(self) -> int | None:
        """What to try; none: found, or given up."""
        if len(self.probes) >= self.tries:
            return None
        if not self.probes:
            return self.first
        low = self.best or 0
        if self.broken - low <= self.grain:
            return None
        middle = (low + self.broken) // 2
        return middle if middle > low else None

    def tell(self, setting: int, keeps: bool) -> None:
        """What came of it."""
        self.probes.append((setting, keeps))
        if keeps:
            self.best = max(setting, self.best or 0)
        else:
            self.broken = min(setting, self.broken)


def tune(knob: Knob, keeps: Callable[[int], bool]) -> int | None:
    """The largest that keeps it. What breaks it once is asked again: moments of others pass."""
    while (setting := knob.next()) is not None:
        knob.tell(setting, keeps(setting) or keeps(setting))
    return knob.best
