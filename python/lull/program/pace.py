# SPDX-License-Identifier: BSD-3-Clause
"""Pace: the clock that drivers wait on; tests put one in that waits for nothing."""

import time
from typing import Protocol


class Pace(Protocol):
    """Time that goes by."""

    def now(self) -> float:
        """Seconds since whenever."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let time go by."""
        ...


class RealPace:
    """The time of this machine."""

    def now(self) -> float:
        """Monotonic seconds."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(max(0.0, seconds))
