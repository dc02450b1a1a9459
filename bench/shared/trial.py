# SPDX-License-Identifier: BSD-3-Clause
"""Trial: ours beside a peer whose knob was turned until it keeps the same bound."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sample import Limits, Sample, disturbances, kept

UNTUNED_X = 1.2  # of a peer's CPU that breaks the bound whatever its knob


@dataclass(frozen=True)
class Trial:
    """One program at one rate in one round."""

    pair: str  # ours and its peer
    rate: str
    round: int
    ours: Sample
    untuned: Sample  # knob at the objective
    tuned: Sample | None  # none: no setting keeps the bound
    untuned_us: int
    tuned_us: int

    @staticmethod
    def of(data: dict[str, Any]) -> Trial:
        """From JSON."""
        samples = {
            name: Sample.of(data[name]) if data[name] else None
            for name in ("ours", "untuned", "tuned")
        }
        return Trial(**{**data, **samples})

    def as_json(self) -> dict[str, Any]:
        """For the file."""
        return asdict(self)

    def disturbed(self, limits: Limits) -> bool:
        """One window of the two or three does not count."""
        windows = [self.ours, self.untuned, *([self.tuned] if self.tuned else [])]
        return any(disturbances(window, limits) for window in windows)

    def tuned_keeps(self, bound_us: float) -> bool:
        """The knob that was found kept the bound in the window, too."""
        return self.tuned is not None and kept(self.tuned, bound_us)

    def peer_cpu_pct(self, bound_us: float) -> float:
        """What ours may take at most: as much as the tuned peer, more where none keeps it."""
        if self.tuned is not None and self.tuned_keeps(bound_us):
            return self.tuned.cpu_pct
        return UNTUNED_X * self.untuned.cpu_pct

    def cheaper(self, bound_us: float) -> bool:
        """Ours takes no more than that."""
        return self.ours.cpu_pct <= self.peer_cpu_pct(bound_us)

    def worse(self, bound_us: float) -> bool:
        """Ours breaks a bound that the tuned peer keeps."""
        return self.tuned_keeps(bound_us) and not kept(self.ours, bound_us)
