# SPDX-License-Identifier: BSD-3-Clause
"""A program with a channel, without packets: the same answers, from a clock one hands in."""

from collections.abc import Callable
from typing import Any

PEERS_A_REPLY = 2
# Payload bits per second and packets lost per second of each path of the first peer.
PATHS = ((160e6, 20), (80e6, 10), (0.0, 0))
STATES = ("up", "suspect", "down")
RAILS = ("kernel:r0", "kernel:r1", "kernel:r2")
NAMES = ("b", "c", "d")
SINCE_NS = 5 * 10**9  # that they have been there when the first look is taken
PATH_ZERO = ("tx_pkts", "tx_bytes", "rx_pkts", "rx_bytes", "acked_pkts", "late_pkts",
             "timeouts", "suspects", "downs", "ups")


class SimulatedChannel:
    """State of the program; answer() is what the telemetry socket gives."""

    def __init__(self, now_ns: Callable[[], int], pid: int = 4713) -> None:
        self._clock = now_ns
        self._began_ns = now_ns() - SINCE_NS
        self.pid = pid
        self.peers = 3
        self.security = "open"
        self.counters = {"rx_pkts": 5, "forged": 0, "strangers": 0}
        self.loops = ["channel0"]
        self.waits = "window"
        self.busy = 0
        self.missed = 0

    def answer(self, request: str) -> Any:
        command, _, parameter = request.partition(",")
        handler = getattr(self, "answer_" + command.removeprefix("/lull/"), None)
        if handler is None:
            return None
        return handler(parameter) if parameter else handler()

    def seconds(self) -> float:
        return (self._clock() - self._began_ns) / 1e9

    def answer_info(self) -> dict[str, Any]:
        return {"program": "lull-channel-perf", "version": "0.1.0", "pid": self.pid,
                "loops": self.loops, "dpdk": "", "started_ns": self._began_ns,
                "now_ns": self._clock()}

    def answer_loop(self, name: str) -> dict[str, Any]:
        """A tenth of a CPU, three quarters at rest."""
        passed = self._clock() - self._began_ns
        return {"name": name, "kind": "channel", "now_ns": self._clock(),
                "thread_cpu_ns": passed // 10, "rest_ns": passed * 3 // 4}

    def answer_channel(self) -> dict[str, Any]:
        return {"now_ns": self._clock(), "name": "a", "security": self.security, "endpoint": 0,
                "spread": "pull", "control": "delay", "governor": "phase",
                "max_latency_ns": 1_000_000, "own_loop": 0, "peer_count": self.peers,
                "rail_count": len(RAILS), "operations": 8, "operations_max": 4096,
                "unexpected": 0, "sends": 100, "send_bytes": 1 << 20, "receives": 0,
                "receive_bytes": 0, "failures": 0, "memory_bytes": 1 << 24, "short_count": 1200,
                "short_p50_ns": 7_500, "short_p99_ns": 95_000, "long_count": 0, "long_p50_ns": 0,
                "long_p99_ns": 0, **self.counters}

    def answer_channel_rails(self) -> dict[str, Any]:
        count = len(RAILS)
        return {"now_ns": self._clock(), "rail": list(range(count)), "text": list(RAILS),
                "mtu_bytes": [1500] * count, "mbps": [200, 100, 0], "up": [1, 1, 0],
                "rx_pkts": [10] * count, "tx_pkts": [20] * count,
                "missed_pkts": [self.missed, 0, 0]}

    def answer_channel_peers(self, first: str = "0") -> dict[str, Any]:
        numbers = list(range(int(first), min(self.peers, int(first) + PEERS_A_REPLY)))
        end = int(first) + PEERS_A_REPLY
        sent = [round(self.seconds() * sum(bps for bps, _ in PATHS) / 8) if n == 0 else 0
                for n in numbers]
        zero = [0] * len(numbers)
        return {"now_ns": self._clock(), "next": end if end < self.peers else 0, "peer": numbers,
                "name": [NAMES[n] for n in numbers], "up": [1] * len(numbers),
                "busy": [self.busy if n == 0 else 0 for n in numbers],
                "since_ns": [self._began_ns] * len(numbers),
                "heard_ns": [self._clock() - 2_000_000] * len(numbers),
                "piece_bytes": [1424] * len(numbers), "path_count": [len(PATHS)] * len(numbers),
                "rest_ns_max": [1_000_000] * len(numbers), "sent_messages": [40] * len(numbers),
                "sent_bytes": sent, "received_messages": zero, "received_bytes": zero,
                "sending": [8] * len(numbers), "receiving": zero, "unexpected_pieces": zero,
                "waits": [self.waits if n == 0 else "nothing" for n in numbers]}

    def answer_channel_paths(self, peer: str) -> dict[str, Any]:
        if int(peer) >= self.peers:
            return {}
        paths = PATHS if peer == "0" else ()
        delivered = [round(bps / 8 * self.seconds()) for bps, _ in paths]
        count = len(paths)
        return {"now_ns": self._clock(), "peer": int(peer), "name": NAMES[int(peer)],
                "rail": list(range(count)), "remote_rail": list(range(count)),
                "state": list(STATES[:count]), "state_since_ns": [self._began_ns] * count,
                "base_rtt_ns": [50_000] * count, "srtt_ns": [300_000, 250_000, 0][:count],
                "rttvar_ns": [1000] * count,
                "rate_bps": [round(bps) for bps, _ in paths], "window_pkts": [64] * count,
                "under_way_pkts": [60, 10, 0][:count], "credit_pkts": [128] * count,
                "offered_bytes": [round(1.01 * value) for value in delivered],
                "delivered_bytes": delivered,
                "lost_pkts": [round(lost * self.seconds()) for _, lost in paths],
                "resent_pkts": [round(lost * self.seconds()) for _, lost in paths],
                "duplicate_pkts": [0] * count, **{name: [0] * count for name in PATH_ZERO}}
