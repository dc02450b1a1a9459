# SPDX-License-Identifier: BSD-3-Clause
"""A lull-flow without packets: the same answers, from a clock one hands in; nothing is random."""

from collections.abc import Callable
from typing import Any

WORKERS = 4
# Packets per second there and back, and bytes of a packet, of each flow; the first is IPv6.
FLOWS = ((9000, 1000, 1200), (500, 500, 100), (40, 0, 60))
BEGAN_US = 1_700_000_000_000_000


class SimulatedFlows:
    """State of the program; answer() is what the telemetry socket gives."""

    def __init__(self, now_ns: Callable[[], int], pid: int = 4712) -> None:
        self._clock = now_ns
        self._began_ns = now_ns() - 10**9
        self.pid = pid
        self.drop_ring = 0
        self.violations = 0
        self.late = False  # the lightest flow appears only at the second look
        self._looks = 0

    def answer(self, request: str) -> Any:
        command = request.partition(",")[0]
        handler = getattr(self, "answer_" + command.removeprefix("/lull/"), None)
        return handler() if handler else None

    def seconds(self) -> float:
        return (self._clock() - self._began_ns) / 1e9

    def answer_info(self) -> dict[str, Any]:
        return {"program": "lull-flow", "version": "0.1.0", "pid": self.pid, "loops": [],
                "dpdk": "DPDK 22.11.11", "started_ns": self._began_ns, "now_ns": self._clock()}

    def answer_settings(self) -> dict[str, str]:
        return {"scheduler": "sticky"}

    def answer_flow(self) -> dict[str, Any]:
        rx = round(self.seconds() * sum(there + back for there, back, _ in FLOWS))
        return {"now_ns": self._clock(), "rx": rx, "dispatched": rx - self.drop_ring,
                "not_ip": 7, "malformed": 0, "truncated": 0, "link": 0,
                "drop_ring": self.drop_ring, "missed": 0, "nombuf": 0, "errors": 0,
                "unrecorded": 0, "recorded": rx, "records": round(self.seconds() * 20),
                "evicted": 0, "in_flight": 12, "open": 900, "open_flows": 3, "filtered": 0,
                "reordered": 0, "output": 0,
                "output_drops": 0, "checks": 5, "violations": self.violations,
                "dispatch_pkts": rx, "dispatch_moves": 2,
                "worker_pkts": [rx // 2, rx // 4, rx // 4, 0], "shadow_pkts": [0] * WORKERS}

    def answer_flow_top(self) -> dict[str, Any]:
        self._looks += 1
        flows = FLOWS[:-1] if self.late and self._looks == 1 else FLOWS
        count, seconds = len(flows), self.seconds()
        there = [round(flow[0] * seconds) for flow in flows]
        back = [round(flow[1] * seconds) for flow in flows]
        return {"now_ns": self._clock(),
                "src": ["[2001:db8::1]:443", "192.0.2.1:5353", "192.0.2.7:0"][:count],
                "dst": ["[2001:db8::2]:50000", "192.0.2.2:53", "192.0.2.8:0"][:count],
                "proto": [6, 17, 1][:count], "vlan_id": [0, 12, 0][:count],
                "packets": there, "packets_rev": back,
                "bytes": [pkts * flow[2] for pkts, flow in zip(there, flows, strict=True)],
                "bytes_rev": [pkts * flow[2] for pkts, flow in zip(back, flows, strict=True)],
                "first_us": [BEGAN_US] * count, "last_us": [BEGAN_US] * count,
                "app": ["TLS.YouTube", "DNS", ""][:count], "workers": [0b1011, 1, 2][:count]}
