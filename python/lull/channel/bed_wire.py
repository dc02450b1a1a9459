# SPDX-License-Identifier: BSD-3-Clause
"""Bed wire: the port of a bed's switch in the words of nft, tc and ip, and what they count."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from lull.channel.bed_plan import Plan, Port, changed_port

PARTS_PER_MILLION = 1_000_000
ETHERNET_BYTES = 14
BURST, LIMIT = "64k", "200k"
UNSHAPED = "100gbit"  # what a port that was shaped has for "full": its counters go on
_COUNTERS = ("seen", "lost", "silenced", "large")




@dataclass(frozen=True)
class PortLook:
    """The wire's own counters of one port: what was sent towards a node, and what became of it."""

    rail: int
    node: str
    port: Port
    seen_pkts: int
    seen_bytes: int
    lost_pkts: int  # by the loss that was asked for
    silenced_pkts: int
    large_pkts: int
    queue_drops: int  # the shaper's queue was full
    backlog_pkts: int
    delivered_pkts: int  # to the node
    delivered_bytes: int
    sent_pkts: int  # by the node, to all others
    sent_bytes: int


def _counter(device: str, name: str) -> str:
    return f"{device.replace('.', '_')}_{name}"


def table(plan: Plan) -> str:
    """Counters and an empty chain for each port; rules come by chain()."""
    lines = ["table netdev bed {"]
    for node in plan.names():
        for i in plan.of(node):
            device = f"{node}.r{i}"
            lines += [f"counter {_counter(device, name)} {{ }}" for name in _COUNTERS]
            lines += [f"chain {device.replace('.', '_')} {{",
                      f'type filter hook egress device "{device}" priority 0; policy accept;',
                      "}"]
    return "\n".join([*lines, "}"]) + "\n"


def chain(device: str, port: Port) -> str:
    """The rules of a port, all at once."""
    chain = f"netdev bed {device.replace('.', '_')}"
    lines = [f"flush chain {chain}", f"add rule {chain} counter name {_counter(device, 'seen')}"]
    if port.silent:
        lines.append(f"add rule {chain} counter name {_counter(device, 'silenced')} drop")
    if port.largest_bytes is not None:
        lines.append(f"add rule {chain} meta length > {port.largest_bytes + ETHERNET_BYTES} "
                     f"counter name {_counter(device, 'large')} drop")
    if port.loss:
        parts = round(port.loss * PARTS_PER_MILLION)
        lines.append(f"add rule {chain} numgen random mod {PARTS_PER_MILLION} < {parts} "
                     f"counter name {_counter(device, 'lost')} drop")
    return "\n".join(lines) + "\n"


def netem_words(port: Port) -> list[str]:
    """What a port asks of netem."""
    words = ["limit", "100000"]
    if port.delay_ns or port.jitter_ns:
        words += ["delay", f"{port.delay_ns / 1000:.0f}us", f"{port.jitter_ns / 1000:.0f}us"]
    if port.reorder:
        words += ["reorder", f"{100 * port.reorder:g}%"]
    if port.duplicate:
        words += ["duplicate", f"{100 * port.duplicate:g}%"]
    return words


def counters(text: str) -> dict[str, dict[str, int]]:
    """By name: packets and bytes."""
    return {one["counter"]["name"]: one["counter"]
            for one in json.loads(text)["nftables"] if "counter" in one}


def port_look(rail: int, node: str, link: dict[str, Any], counted: dict[str, dict[str, int]],
              shapers: list[dict[str, Any]]) -> PortLook:
    """A port, from what ip, nft and tc print as JSON."""
    port = Port()
    for word in str(link.get("ifalias", "")).split():
        port = changed_port(port, word)
    named = {name: counted.get(_counter(link["ifname"], name), {"packets": 0, "bytes": 0})
             for name in _COUNTERS}
    stats = link["stats64"]
    return PortLook(
        rail=rail, node=node, port=port,
        seen_pkts=named["seen"]["packets"], seen_bytes=named["seen"]["bytes"],
        lost_pkts=named["lost"]["packets"], silenced_pkts=named["silenced"]["packets"],
        large_pkts=named["large"]["packets"],
        queue_drops=sum(one.get("drops", 0) for one in shapers if one["kind"] == "tbf"),
        backlog_pkts=sum(one.get("qlen", 0) for one in shapers if one.get("root")),
        delivered_pkts=stats["tx"]["packets"], delivered_bytes=stats["tx"]["bytes"],
        sent_pkts=stats["rx"]["packets"], sent_bytes=stats["rx"]["bytes"])
