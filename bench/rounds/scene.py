# SPDX-License-Identifier: BSD-3-Clause
"""Scene: the rails of one bed, and what is asked of a peer there."""

from __future__ import annotations

from dataclasses import dataclass

from lull.channel.bed_plan import Plan, Rail, rails

Column = tuple[str, str, float]  # figure, title, factor


@dataclass(frozen=True)
class Kind:
    """What is asked."""

    word: str
    title: str  # of its tables, before the rails
    columns: tuple[Column, ...]
    bytes: int  # of a message
    curve: bool = False  # recorded over time, while a rail changes


_CURVE = (("before_share", "before", 1.0), ("there_ms", "its share of the rest after ms", 1.0),
          ("silent_share", "of the rest meanwhile", 1.0), ("back_ms", "back after ms", 1.0),
          ("after_share", "after", 1.0))  # fmt: skip
GOODPUT = Kind("goodput", "messages of 1 MiB from node a to b",
               (("share_pct", "goodput / sum %", 1), ("goodput_bps", "Mb/s", 1e-6)),
               1 << 20)  # fmt: skip
LATENCY = Kind("latency", "half a round trip of 64 B",
               (("p50_us", "p50 us", 1), ("p99_us", "p99 us", 1), ("max_us", "max us", 1),
                ("mean_us", "mean us", 1)), 64)  # fmt: skip
WAIT = Kind("wait", "both sides are idle, b waits for a message,",
            (("wait_cpu_pct", "CPU % of who waits", 1),), 64)  # fmt: skip
SILENCE = Kind("silence",
               "one rail is silent for 2 s, goodput as shares of the sum of rails,",
               (("went_on", "1: went on to its end", 1), ("zero_ms", "at zero ms", 1), *_CURVE),
               1 << 16, curve=True)  # fmt: skip
SILENT = Kind("silent",
              "one rail is silent from 3 s on and stays so, shares of the sum of rails,",
              (("went_on", "1: went on to its end", 1), ("zero_ms", "at zero ms", 1), *_CURVE[:3]),
              1 << 16, curve=True)  # fmt: skip
CHANGE = Kind("change", "one rail has 50 Mb/s for 2 s, goodput as shares of the sum of rails,",
              (("below_ms", "below 90 % ms", 1), *_CURVE), 1 << 16, curve=True)  # fmt: skip
# Beside the figures of each kind.
WORK: tuple[Column, ...] = (
    ("cpu_a_pct", "CPU % a", 1.0), ("cpu_b_pct", "CPU % b", 1.0),
    ("cpu_program-a_pct", "of that its node's program", 1.0))  # fmt: skip
SILENT_RAIL, CHANGED_RAIL = 1, 0
CHANGED_BPS = 50e6


@dataclass(frozen=True)
class Scene:
    """Where, and what for."""

    name: str
    what: Kind
    rails: str  # as `lull channel bed up --rails` has them
    offloads: bool = False
    nodes: int = 2
    seconds_min: float = 0.0  # less would tell nothing
    place: str = ""  # where it is, for titles; else its rails are told

    def plan(self, bed: str) -> Plan:
        """The bed of this scene."""
        return Plan(id=bed, rails=self.rail_list(), control=True, offloads=self.offloads,
                    nodes=self.nodes)  # fmt: skip

    def rail_list(self) -> tuple[Rail, ...]:
        """Its rails."""
        return rails(self.rails)

    def title(self) -> str:
        """Of its table."""
        return f"{self.name}: {self.what.title} {self.place or f'over {self.rails}'}"

    def sum_bps(self, without: int = -1) -> float:
        """What all rails carry together; 0 where one has no limit."""
        rates = [rail.port.rate_bps for number, rail in enumerate(self.rail_list())
                 if number != without]  # fmt: skip
        return sum(rate or 0 for rate in rates) if all(rates) else 0

    def meanwhile_bps(self) -> float:
        """The sum while a rail is silent, or slower."""
        if self.what == CHANGE:
            return self.sum_bps(without=CHANGED_RAIL) + CHANGED_BPS
        return self.sum_bps(without=SILENT_RAIL)

    @property
    def bytes(self) -> int:
        """Of a message."""
        return self.what.bytes


def many(count: int, rail: str) -> str:
    """So many rails alike."""
    return ",".join([rail] * count)
