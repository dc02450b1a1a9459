# SPDX-License-Identifier: BSD-3-Clause
"""What other programs read in a capture: tshark, nfpcapd with nfdump, ndpiReader.

Biflows have one key for both directions, the smaller (address, port) first, as in lull-flow;
protocols without ports have ports 0. Directions are counted from the first endpoint's side.
"""

from __future__ import annotations

import csv
import ipaddress
import json
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

TIMEOUT_S = 120
PORTS = (6, 17)
# The last of these that is there is the protocol behind all extension headers.
NEXT = ("ipv6.nxt", "ipv6.hopopts.nxt", "ipv6.routing.nxt", "ipv6.fraghdr.nxt", "ipv6.dstopts.nxt")
FIELDS = (
    "frame.time_epoch",
    "ip.src",
    "ip.dst",
    "ip.proto",
    "ip.len",
    "ipv6.src",
    "ipv6.dst",
    "ipv6.plen",
    *NEXT,
    "tcp.srcport",
    "tcp.dstport",
    "udp.srcport",
    "udp.dstport",
    "vlan.id",
)
IPV6_HEADER = 40


class Key(NamedTuple):
    """Endpoints as (packed address, port), in order."""

    ends: tuple[tuple[bytes, int], tuple[bytes, int]]
    proto: int
    vlan: int


def key_of(src: str, src_port: int, dst: str, dst_port: int, proto: int, vlan: int = 0
           ) -> tuple[Key, int]:
    """The key, and the direction: 0 when the first endpoint sent."""
    if proto not in PORTS:
        src_port = dst_port = 0
    a = (ipaddress.ip_address(src).packed, src_port)
    b = (ipaddress.ip_address(dst).packed, dst_port)
    return (Key((a, b), proto, vlan), 0) if a <= b else (Key((b, a), proto, vlan), 1)


@dataclass
class Flow:
    packets: list[int] = field(default_factory=lambda: [0, 0])
    bytes: list[int] = field(default_factory=lambda: [0, 0])
    first_ns: int = 0
    last_ns: int = 0
    direction: int = 0  # of the first packet

    def counts(self) -> tuple[int, ...]:
        return (*self.packets, *self.bytes)


def output_of(*command: str | Path) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {done.stderr.strip()}")
    return done.stdout


def nanoseconds(seconds: str) -> int:
    whole, _, part = seconds.partition(".")
    return int(whole) * 10**9 + int(part.ljust(9, "0")[:9])


class Packet(NamedTuple):
    time_ns: int
    key: Key
    direction: int
    bytes: int


def headers_of(row: dict[str, list[str]]) -> tuple[Key, int, int] | None:
    """Key, direction and IP bytes of the outer IP header; None: there is none."""

    def value(name: str) -> str:
        return row[name][0] if row[name] else ""

    if value("ip.src"):
        src, dst, proto = value("ip.src"), value("ip.dst"), int(value("ip.proto"))
        size = int(value("ip.len"))
    elif value("ipv6.src"):
        src, dst = value("ipv6.src"), value("ipv6.dst")
        proto = int(next(value(name) for name in reversed(NEXT) if value(name)))
        size = IPV6_HEADER + int(value("ipv6.plen"))
    else:
        return None
    # Of an ICMP error these would be the ports of the packet that it quotes.
    ports = {6: "tcp", 17: "udp"}.get(proto)
    ends = [int(value(f"{ports}.{end}") or 0) if ports else 0 for end in ("srcport", "dstport")]
    key, direction = key_of(src, ends[0], dst, ends[1], proto, int(value("vlan.id") or 0))
    return key, direction, size


def packet_of(row: dict[str, list[str]]) -> Packet | None:
    """A line of tshark; None: not IP."""
    outer = headers_of(row)
    if outer is None:
        return None
    key, direction, size = outer
    return Packet(nanoseconds(row["frame.time_epoch"][0]), key, direction, size)


def tshark_packets(capture: Path) -> list[Packet]:
    options = [word for name in FIELDS for word in ("-e", name)]
    text = output_of("tshark", "-n", "-r", capture, "-T", "fields", "-E", "separator=|",
                     "-E", "occurrence=a", "-o", "ip.defragment:FALSE", *options)
    rows = (
        dict(zip(FIELDS, (cell.split(",") for cell in line.split("|")), strict=True))
        for line in text.splitlines()
    )
    return [packet for packet in map(packet_of, rows) if packet is not None]


def flows_of(packets: list[Packet], idle_ns: int) -> dict[Key, list[Flow]]:
    """Records by their definition: they end at silences longer than idle_ns."""
    flows: dict[Key, list[Flow]] = defaultdict(list)
    last_clock: dict[Key, int] = {}
    clock_ns = 0
    for packet in packets:
        clock_ns = max(clock_ns, packet.time_ns)
        known = flows[packet.key]
        if not known or clock_ns > last_clock[packet.key] + idle_ns:
            known.append(Flow(first_ns=packet.time_ns, last_ns=packet.time_ns,
                              direction=packet.direction))
        last_clock[packet.key] = clock_ns
        flow = known[-1]
        flow.packets[packet.direction] += 1
        flow.bytes[packet.direction] += packet.bytes
        flow.first_ns = min(flow.first_ns, packet.time_ns)
        flow.last_ns = max(flow.last_ns, packet.time_ns)
    return flows


def nfdump_counts(capture: Path, scratch: Path) -> dict[Key, tuple[int, ...]]:
    """Packets and bytes per biflow as nfpcapd counts them; it knows no VLANs."""
    folder = scratch / f"nfdump-{capture.stem}"
    folder.mkdir()
    output_of("nfpcapd", "-r", capture, "-w", folder, "-e", "3600,3600")
    flows: dict[Key, Flow] = defaultdict(Flow)
    text = output_of("nfdump", "-R", folder, "-o", "json")
    rows: list[dict[str, Any]] = [] if "No matching flows" in text else json.loads(text)
    for row in rows:
        version = 4 if "src4_addr" in row else 6
        key, direction = key_of(row[f"src{version}_addr"], row.get("src_port", 0),
                                row[f"dst{version}_addr"], row.get("dst_port", 0), row["proto"])
        flows[key].packets[direction] += row["in_packets"]
        flows[key].bytes[direction] += row["in_bytes"]
    return {key: flow.counts() for key, flow in flows.items()}


def ndpi_labels(capture: Path, scratch: Path) -> dict[Key, str]:
    """Protocol per flow by ndpiReader, which tells no VLANs."""
    table = scratch / f"ndpi-{capture.stem}.csv"
    output_of("ndpiReader", "-q", "-v", "2", "-i", capture, "-C", table)
    labels = {}
    with table.open(newline="", encoding="utf-8", errors="replace") as file:
        lines = (line.lstrip("#") for line in file)
        for row in csv.DictReader(lines):
            key, _ = key_of(row["src_ip"], int(row["src_port"]), row["dst_ip"],
                            int(row["dst_port"]), int(row["protocol"]))
            labels[key] = row["ndpi_proto"]
    return labels
