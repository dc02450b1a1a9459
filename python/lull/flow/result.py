# SPDX-License-Identifier: BSD-3-Clause
"""Flow result: what lull-flow --json writes at its end, as typed plain data."""

import json
from collections.abc import Sequence
from pathlib import Path

from lull.document import Document
from lull.errors import LullError

# Counters of the dispatcher that tell of flows that changed worker, or did not, and why.
MOVES = {"moves": "moved", "moves_inflight": "moved with packets under way",
         "held_order": "stayed for their order", "held_pin": "stayed in a new bucket",
         "relieved": "sent elsewhere for load", "retried": "found a ring full",
         "shadow_moves": "moves of the shadow"}


class Part(Document, keep_unknown=True):
    """Base of all parts: a newer program may say more."""


class Dispatch(Part):
    """What one I/O loop's dispatcher did."""

    pkts: int = 0
    worker_pkts: list[int] = []
    shadow_pkts: list[int] = []
    shadow_agreed: int = 0


class Conservation(Part):
    """Was every packet accounted for, each time somebody looked?"""

    checks: int = 0
    violations: int = 0
    first: str | None = None


class FlowResult(Part):
    """The whole file."""

    program: str
    version: str
    duration_s: float
    settings: dict[str, str]
    totals: dict[str, int]
    conservation: Conservation
    dispatch: list[Dispatch]

    def worker_pkts(self) -> list[int]:
        """Packets of each worker, from all I/O loops."""
        return _sums([one.worker_pkts for one in self.dispatch])

    def shadow_pkts(self) -> list[int]:
        """Packets each worker would have had of the shadow; all 0 without one."""
        return _sums([one.shadow_pkts for one in self.dispatch])

    def counter(self, name: str) -> int:
        """A counter of the dispatchers."""
        return sum(int(getattr(one, name, 0)) for one in self.dispatch)


def _sums(lists: Sequence[Sequence[int]]) -> list[int]:
    return [sum(column) for column in zip(*lists, strict=False)]


def load(path: Path) -> FlowResult:
    """Read it; complains where it does not fit."""
    try:
        found = FlowResult.model_validate(json.loads(path.read_bytes()))
    except OSError as error:
        raise LullError(f"{path}: {error.strerror}: lull-flow --json writes it") from None
    except ValueError:
        raise LullError(f"{path}: not a result of lull-flow: lull-flow --json writes "
                        "one") from None
    if found.program != "lull-flow":
        raise LullError(f"{path}: a result of {found.program}, not of lull-flow")
    return found


def imbalance(pkts: Sequence[float]) -> float:
    """The busiest worker's packets against their mean; 1: all alike."""
    return max(pkts) * len(pkts) / sum(pkts) if pkts and sum(pkts) else 1.0
