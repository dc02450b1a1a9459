# SPDX-License-Identifier: BSD-3-Clause
"""Look: rails, peers and paths of a channel at one moment, and what changed since another."""

from dataclasses import dataclass, field
from typing import Any

from lull.program.channel_replies import Channel, Path, Peer, Rail
from lull.program.replies import Info, Loop
from lull.program.telemetry import Telemetry

# Counters of a packet that somebody should look at; the usual ones are not among them.
BAD_PACKETS = ("short_pkts", "bad_version", "bad_type", "bad_path", "bad_range", "bad_head",
               "bad_ack", "bad_grant", "forged", "replayed", "strangers", "hellos_refused")


@dataclass(frozen=True)
class PathRates:
    """What a path did between two looks."""

    offered_bps: float
    delivered_bps: float
    lost_per_s: float
    resent_per_s: float
    duplicates_per_s: float


@dataclass(frozen=True)
class PeerRates:
    """Payload of whole messages and pieces, between two looks."""

    sent_bps: float
    received_bps: float


@dataclass(frozen=True)
class LoopRates:
    """What the thread that moves packets did between two looks."""

    cpu_pct: float
    rest_pct: float


@dataclass(frozen=True)
class Look:
    """Everything at one moment."""

    channel: Channel
    rails: list[Rail]
    peers: list[Peer]
    paths: dict[int, list[Path]]  # by number of the peer
    loops: list[Loop]


@dataclass
class Watch:
    """Looks at a channel again and again."""

    telemetry: Telemetry
    info: Info = field(init=False)
    now: Look = field(init=False)
    before: Look | None = None

    def __post_init__(self) -> None:
        self.info = self.telemetry.info()
        self.now = self._read()

    def look(self) -> None:
        """Read everything once more."""
        self.before, self.now = self.now, self._read()

    def _read(self) -> Look:
        channel, rails = self.telemetry.channel(), self.telemetry.channel_rails()
        peers = self.telemetry.channel_peers()
        paths = {one.peer: self.telemetry.channel_paths(one.peer) for one in peers}
        return Look(channel, rails, peers, paths, self.telemetry.loops(self.info))

    def seconds(self) -> float:
        """Between the two looks; 0 before the second."""
        if self.before is None:
            return 0.0
        return (self.now.channel.now_ns - self.before.channel.now_ns) / 1e9

    def path_rates(self, peer: int, path: Path) -> PathRates | None:
        """None for a path seen once, or one that began anew."""
        old = self._old_path(peer, path)
        if old is None or path.offered_bytes < old.offered_bytes:
            return None
        seconds = self.seconds()
        return PathRates(8 * (path.offered_bytes - old.offered_bytes) / seconds,
                         8 * (path.delivered_bytes - old.delivered_bytes) / seconds,
                         (path.lost_pkts - old.lost_pkts) / seconds,
                         (path.resent_pkts - old.resent_pkts) / seconds,
                         (path.duplicate_pkts - old.duplicate_pkts) / seconds)

    def _old_path(self, peer: int, path: Path) -> Path | None:
        if self.before is None or self.seconds() <= 0:
            return None
        ends = (path.rail, path.remote_rail)
        old = (one for one in self.before.paths.get(peer, [])
               if (one.rail, one.remote_rail) == ends)
        return next(old, None)

    def peer_rates(self, peer: Peer) -> PeerRates | None:
        """None for one that is new."""
        if self.before is None or self.seconds() <= 0:
            return None
        for old in self.before.peers:
            if (old.peer, old.since_ns) == (peer.peer, peer.since_ns):
                return PeerRates(8 * (peer.sent_bytes - old.sent_bytes) / self.seconds(),
                                 8 * (peer.received_bytes - old.received_bytes) / self.seconds())
        return None

    def loop_rates(self) -> LoopRates | None:
        """Of all loops together; of a channel without one of its own, or seen once, None."""
        if self.before is None or not self.now.loops:
            return None
        pairs = [(old, new) for old in self.before.loops for new in self.now.loops
                 if old.name == new.name and new.now_ns > old.now_ns]
        if not pairs:
            return None
        passed = sum(new.now_ns - old.now_ns for old, new in pairs)
        return LoopRates(
            100 * sum(new.thread_cpu_ns - old.thread_cpu_ns for old, new in pairs) / passed,
            100 * sum(new.rest_ns - old.rest_ns for old, new in pairs) / passed)

    def bad_packets(self) -> dict[str, int]:
        """Counters of packets that were refused, those that are not 0."""
        counted = {name: self.now.channel.count(name) for name in BAD_PACKETS}
        return {name: count for name, count in counted.items() if count}


def as_data(watch: Watch) -> dict[str, Any]:
    """Everything known, for JSON; rates are null for what was seen once."""
    now = watch.now

    def rates(found: PathRates | PeerRates | LoopRates | None) -> dict[str, float] | None:
        return None if found is None else dict(vars(found))

    return {
        "info": watch.info.model_dump(),
        "channel": now.channel.model_dump(),
        "loop": rates(watch.loop_rates()),
        "rails": [one.model_dump() for one in now.rails],
        "peers": [
            {**one.model_dump(), "rates": rates(watch.peer_rates(one)),
             "paths": [{**path.model_dump(), "rates": rates(watch.path_rates(one.peer, path))}
                       for path in now.paths[one.peer]]}
            for one in now.peers],
    }
