# SPDX-License-Identifier: BSD-3-Clause
"""Flow records as lull-flow writes them, made up: by rule, nothing random."""

import json
from pathlib import Path
from typing import Any

BEGAN_US = 1_700_000_000_000_000
FACTS = {"workers": [0, 3], "moves": 2, "reordered": 1, "fragments": 0, "end": "idle",
         "exact": True}


def record(index: int = 0, **more: Any) -> dict[str, Any]:
    """One flow; every third is UDP, those of low index are heavy."""
    udp = index % 3 == 2
    return {"src_ip": f"192.0.2.{index % 200}", "src_port": 50000 + index % 1000,
            "dst_ip": "2001:db8::1" if index % 5 == 0 else f"198.51.100.{index % 7}",
            "dst_port": 53 if udp else 443, "proto": 17 if udp else 6, "vlan_id": 0,
            "packets": 1000 // (index + 1) + 1, "bytes": 100_000 // (index + 1) + 60,
            "packets_rev": 2, "bytes_rev": 120, "first_us": BEGAN_US + 1000 * index,
            "last_us": BEGAN_US + 1000 * index + 500_000, "app": "DNS" if udp else "TLS",
            "payload_bytes": 10, "payload_bytes_rev": 0, "tcp_flags": 0 if udp else 27,
            "tcp_flags_rev": 18, "tcp_state": "" if udp else "closed"} | more


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one, separators=(",", ":")) + "\n" for one in records))
    return path
