# SPDX-License-Identifier: BSD-3-Clause
"""Flow summary: any number of flow records in a bounded amount of memory."""

import heapq
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from lull.flow.record import Record, protocol_name

BINS_MAX = 240
FIRST_BIN_US = 1000
TALKERS_MAX = 200_000
FLOWS_MAX = 10


@dataclass
class Volume:
    """Something counted in three ways."""

    flows: int = 0
    packets: int = 0
    octets: int = 0

    def add(self, flows: int, packets: int, octets: int) -> None:
        """Count some more."""
        self.flows += flows
        self.packets += packets
        self.octets += octets


class Volumes:
    """Volumes by name; of very many names only heavy ones are kept."""

    def __init__(self, names_max: int = TALKERS_MAX) -> None:
        self._names_max = names_max
        self._volumes: dict[str, Volume] = {}
        self.exact = True

    def add(self, name: str, packets: int, octets: int) -> None:
        """Count a flow."""
        self._volumes.setdefault(name, Volume()).add(1, packets, octets)
        if len(self._volumes) > self._names_max:
            self.exact = False
            self._volumes = dict(self.heaviest(self._names_max // 2))

    def heaviest(self, count: int) -> list[tuple[str, Volume]]:
        """Those with most bytes, heaviest first."""
        return heapq.nsmallest(count, self._volumes.items(),
                               key=lambda item: (-item[1].octets, item[0]))

    def total(self) -> Volume:
        """All that are kept."""
        whole = Volume()
        for one in self._volumes.values():
            whole.add(one.flows, one.packets, one.octets)
        return whole


@dataclass
class Moment:
    """What happened in one bin of time."""

    begun: int = 0
    ended: int = 0
    octets: float = 0


@dataclass(frozen=True)
class Slice:
    """A bin of time, ready to be drawn."""

    begin_us: int
    begun_per_s: float
    active: int
    bps: float


class Timeline:
    """Bins as wide as the time between first and last packet asks for; a flow's bytes are spread
    evenly over its time.
    """

    def __init__(self) -> None:
        self.width_us = FIRST_BIN_US
        self._bins: dict[int, Moment] = {}
        self._low = self._high = -1

    def add(self, first_us: int, last_us: int, octets: int) -> None:
        """Count a flow."""
        self._low = first_us if self._low < 0 else min(self._low, first_us)
        self._high = max(self._high, last_us)
        while self._high // self.width_us - self._low // self.width_us >= BINS_MAX:
            self._widen()
        first, last = first_us // self.width_us, last_us // self.width_us
        self._at(first).begun += 1
        self._at(last).ended += 1
        for index in range(first, last + 1):
            begin, end = index * self.width_us, (index + 1) * self.width_us
            share = ((min(last_us, end) - max(first_us, begin)) / (last_us - first_us)
                     if first < last else 1.0)
            self._at(index).octets += share * octets

    def slices(self) -> list[Slice]:
        """Every bin from the first to the last, empty ones too."""
        if self._low < 0:
            return []
        made, active, seconds = [], 0, self.width_us / 1e6
        for index in range(self._low // self.width_us, self._high // self.width_us + 1):
            moment = self._bins.get(index, Moment())
            active += moment.begun
            made.append(Slice(index * self.width_us, moment.begun / seconds, active,
                              8 * moment.octets / seconds))
            active -= moment.ended
        return made

    def _at(self, index: int) -> Moment:
        return self._bins.setdefault(index, Moment())

    def _widen(self) -> None:
        before, self._bins = self._bins, {}
        self.width_us *= 2
        for index, moment in before.items():
            into = self._at(index // 2)
            into.begun += moment.begun
            into.ended += moment.ended
            into.octets += moment.octets


@dataclass
class Summary:
    """Everything that a report shows of the records."""

    whole: Volume = field(default_factory=Volume)
    apps: Volumes = field(default_factory=Volumes)
    protocols: Volumes = field(default_factory=Volumes)
    talkers: Volumes = field(default_factory=Volumes)
    timeline: Timeline = field(default_factory=Timeline)
    flows: list[Record] = field(default_factory=list)  # heaviest first
    # Of records with scheduling facts: how many workers a flow had, how often it moved.
    workers: Counter[int] = field(default_factory=Counter)
    moves: Counter[int] = field(default_factory=Counter)
    reordered: int = 0
    inexact: int = 0


def octets_of(record: Record) -> int:
    """IP bytes of both directions."""
    return int(record["bytes"] + record["bytes_rev"])


def summarise(records: Iterable[Record]) -> Summary:
    """Read all of them once."""
    summary = Summary()
    heap: list[tuple[int, int, Record]] = []
    for number, record in enumerate(records):
        packets, octets = record["packets"] + record["packets_rev"], octets_of(record)
        summary.whole.add(1, packets, octets)
        summary.apps.add(record["app"] or "unknown", packets, octets)
        summary.protocols.add(protocol_name(record["proto"]), packets, octets)
        for name in {record["src_ip"], record["dst_ip"]}:
            summary.talkers.add(name, packets, octets)
        summary.timeline.add(record["first_us"], max(record["first_us"], record["last_us"]),
                             octets)
        # The number decides between equal ones: records cannot be compared.
        entry = (octets, -number, record)
        if len(heap) < FLOWS_MAX:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)
        _facts(summary, record)
    summary.flows = [record for _, _, record in sorted(heap, key=lambda item: item[:2],
                                                       reverse=True)]
    return summary


def _facts(summary: Summary, record: Record) -> None:
    if "workers" not in record:
        return
    summary.workers[len(record["workers"])] += 1
    summary.moves[record["moves"]] += 1
    summary.reordered += record["reordered"]
    summary.inexact += not record["exact"]
