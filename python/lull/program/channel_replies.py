# SPDX-License-Identifier: BSD-3-Clause
"""Channel replies: what a program with a channel says by telemetry, as typed plain data.

Tables come as a list per column, since replies do not nest; rows() turns them round. Times are of
the program's monotonic clock.
"""

from typing import Any, TypeVar

from lull.program.replies import Reply


class Channel(Reply):
    """/lull/channel: settings, and counters since the start."""

    now_ns: int
    name: str
    security: str
    spread: str
    control: str
    governor: str = ""
    max_latency_ns: int = 0
    own_loop: int = 0
    operations: int = 0
    operations_max: int = 0
    unexpected: int = 0  # messages that wait for a receive
    memory_bytes: int = 0
    short_count: int = 0
    short_p50_ns: int = 0
    short_p99_ns: int = 0
    long_count: int = 0
    long_p50_ns: int = 0
    long_p99_ns: int = 0


class Rail(Reply):
    """A local port."""

    rail: int
    text: str  # as it was configured
    mtu_bytes: int
    mbps: int  # 0: not known
    up: int
    rx_pkts: int
    tx_pkts: int
    missed_pkts: int  # lost for want of room here
    neighbours: int = 0  # processes of this node that are reached directly
    direct_rx_pkts: int = 0  # from them
    direct_tx_pkts: int = 0  # to them


class Peer(Reply):
    """Another node."""

    peer: int
    name: str
    up: int
    busy: int  # no path answers, and it is not given up yet
    since_ns: int
    heard_ns: int
    rest_ns_max: int
    sent_messages: int
    sent_bytes: int
    received_messages: int
    received_bytes: int
    sending: int
    receiving: int
    waits: str  # nothing, window, credit, path


class Path(Reply):
    """A pair of rails, one at each end."""

    rail: int
    remote_rail: int
    state: str  # none, join, small, up, suspect, down
    state_since_ns: int
    base_rtt_ns: int
    srtt_ns: int
    rttvar_ns: int
    rate_bps: int
    window_pkts: int
    under_way_pkts: int
    credit_pkts: int
    offered_bytes: int
    delivered_bytes: int
    lost_pkts: int
    resent_pkts: int
    duplicate_pkts: int


Row = TypeVar("Row", bound=Reply)


class Columns(Reply):
    """A table, a list per column."""

    now_ns: int

    def check(self) -> None:
        """One value of each column for each row."""
        columns = self._columns().values()
        if len({len(column) for column in columns}) > 1:
            raise ValueError("columns differ in length")

    def _columns(self) -> dict[str, list[Any]]:
        return {name: value for name, value in self.model_extra.items()
                if isinstance(value, list)}

    def _rows(self, model: type[Row]) -> list[Row]:
        columns = self._columns()
        return [model.model_validate(dict(zip(columns, values, strict=True)))
                for values in zip(*columns.values(), strict=True)]


class Rails(Columns):
    """/lull/channel_rails."""

    def rows(self) -> list[Rail]:
        """Rail by rail."""
        return self._rows(Rail)


class Peers(Columns):
    """/lull/channel_peers[,FIRST]."""

    next: int = 0  # number to go on with; 0: that was all

    def rows(self) -> list[Peer]:
        """Peer by peer."""
        return self._rows(Peer)


class Paths(Columns):
    """/lull/channel_paths,PEER; empty when the peer is gone."""

    now_ns: int = 0

    def rows(self) -> list[Path]:
        """Path by path."""
        return self._rows(Path)
