# SPDX-License-Identifier: BSD-3-Clause
"""Scene: the rails of one bed, and what is asked of a peer there."""

from __future__ import annotations

from dataclasses import dataclass

from lull.channel.bed_plan import Plan, Rail, rails

BED = "bench"
GOODPUT, LATENCY, WAIT, SILENCE = "goodput", "latency", "wait", "silence"
MESSAGE_BYTES = {GOODPUT: 1 << 20, LATENCY: 64, WAIT: 64, SILENCE: 1 << 16}
SILENT_RAIL = 1


@dataclass(frozen=True)
class Scene:
    """Where, and what for."""

    name: str
    what: str  # GOODPUT, LATENCY, WAIT, SILENCE
    rails: str  # as `lull channel bed up --rails` has them
    offloads: bool = False

    def plan(self) -> Plan:
        """The bed of this scene."""
        return Plan(id=BED, rails=self.rail_list(), control=True, offloads=self.offloads)

    def rail_list(self) -> tuple[Rail, ...]:
        """Its rails."""
        return rails(self.rails)

    def sum_bps(self, without: int = -1) -> float:
        """What all rails carry together; 0 where one has no limit."""
        rates = [rail.port.rate_bps for number, rail in enumerate(self.rail_list())
                 if number != without]  # fmt: skip
        return sum(rate or 0 for rate in rates) if all(rates) else 0

    @property
    def bytes(self) -> int:
        """Of a message."""
        return MESSAGE_BYTES[self.what]


def _many(count: int, rail: str) -> str:
    return ",".join([rail] * count)


SCENES = [
    Scene("2x200", GOODPUT, _many(2, "200M")),
    Scene("4x200", GOODPUT, _many(4, "200M")),
    Scene("8x100", GOODPUT, _many(8, "100M")),
    Scene("200+100+50", GOODPUT, "200M,100M,50M"),
    Scene("4x100+4x50", GOODPUT, _many(4, "100M") + "," + _many(4, "50M")),
    Scene("200+200+100+50", GOODPUT, "200M,200M,100M,50M"),
    Scene("4x200-loss-0.1", GOODPUT, _many(4, "200M:loss=0.1%")),
    Scene("4x200-loss-1", GOODPUT, _many(4, "200M:loss=1%")),
    Scene("one-full", GOODPUT, "full"),
    Scene("64B", LATENCY, "full"),
    Scene("64B-loss-1", LATENCY, "full:loss=1%"),
    Scene("wait", WAIT, "full"),
    Scene("silence", SILENCE, _many(3, "100M")),
]
