# SPDX-License-Identifier: BSD-3-Clause
"""Scene: the rails of one bed, and what is asked of a peer there."""

from __future__ import annotations

from dataclasses import dataclass

from lull.channel.bed_plan import Plan, Rail, rails

BED = "bench"
GOODPUT, LATENCY, WAIT, SILENCE = "goodput", "latency", "wait", "silence"
CHANGE, INCAST, FIRST, PERIODIC = "change", "incast", "first", "periodic"
CURVES = (SILENCE, CHANGE)  # recorded over time
MESSAGE_BYTES = {GOODPUT: 1 << 20, LATENCY: 64, WAIT: 64, SILENCE: 1 << 16, CHANGE: 1 << 16,
                 INCAST: 1 << 16, FIRST: 64, PERIODIC: 1 << 16}  # fmt: skip
SILENT_RAIL, CHANGED_RAIL = 1, 0
CHANGED_BPS = 50e6


@dataclass(frozen=True)
class Scene:
    """Where, and what for."""

    name: str
    what: str  # GOODPUT, LATENCY ...
    rails: str  # as `lull channel bed up --rails` has them
    offloads: bool = False
    nodes: int = 2
    seconds_min: float = 0.0  # less would tell nothing

    def plan(self) -> Plan:
        """The bed of this scene."""
        return Plan(id=BED, rails=self.rail_list(), control=True, offloads=self.offloads,
                    nodes=self.nodes)  # fmt: skip

    def rail_list(self) -> tuple[Rail, ...]:
        """Its rails."""
        return rails(self.rails)

    def sum_bps(self, without: int = -1) -> float:
        """What all rails carry together; 0 where one has no limit."""
        rates = [rail.port.rate_bps for number, rail in enumerate(self.rail_list())
                 if number != without]  # fmt: skip
        return sum(rate or 0 for rate in rates) if all(rates) else 0

    def meanwhile_bps(self) -> float:
        """The sum while a rail is silent, or slower."""
        if self.what == SILENCE:
            return self.sum_bps(without=SILENT_RAIL)
        return self.sum_bps(without=CHANGED_RAIL) + CHANGED_BPS

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
    Scene("change", CHANGE, "200M,200M,100M"),
    Scene("incast-4", INCAST, "200M", nodes=5),
    Scene("first", FIRST, "full", seconds_min=30.0),
    Scene("periodic", PERIODIC, _many(4, "200M")),
]
