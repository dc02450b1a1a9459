# SPDX-License-Identifier: BSD-3-Clause
"""Flow records: the JSON lines that lull-flow writes, one flow each, read as they come."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lull.errors import LullError

# What every line has; first_us and last_us count from 1970.
NUMBERS = ("src_port", "dst_port", "proto", "vlan_id", "packets", "bytes", "packets_rev",
           "bytes_rev", "first_us", "last_us")
TEXTS = ("src_ip", "dst_ip", "app")
STDIN = Path("-")
PROTOCOLS = {1: "ICMP", 2: "IGMP", 6: "TCP", 17: "UDP", 41: "IPv6", 47: "GRE", 50: "ESP",
             51: "AH", 58: "ICMPv6", 88: "EIGRP", 89: "OSPF", 103: "PIM", 112: "VRRP",
             132: "SCTP"}

Record = dict[str, Any]


def protocol_name(number: int) -> str:
    """As people know it."""
    return PROTOCOLS.get(number, str(number))


def read(path: Path) -> Iterator[Record]:
    """Every record of a file, or of standard input; the file is never held as a whole."""
    if path == STDIN:
        yield from _records(sys.stdin.buffer, "standard input")
        return
    try:
        with path.open("rb") as lines:
            yield from _records(lines, str(path))
    except OSError as error:
        raise LullError(f"{path}: {error.strerror}: it is what lull-flow --records wrote") from None


def _records(lines: Any, name: str) -> Iterator[Record]:  # noqa: ANN401 - a binary file
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _record(line, f"{name}:{number}")


def _record(line: bytes, where: str) -> Record:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise LullError(f"{where}: not JSON ({error}): expected a line of lull-flow --records; "
                        "its last line may have been cut") from None
    if not isinstance(record, dict):
        raise LullError(f"{where}: not a flow record")
    for member in (*NUMBERS, *TEXTS):
        if not _fits(record.get(member), member in TEXTS):
            raise LullError(f"{where}: not a flow record: member {member} is missing or no "
                            f"{'text' if member in TEXTS else 'count'}")
    return record


def _fits(value: object, text: bool) -> bool:
    # A bool is an int to Python.
    return isinstance(value, str) if text else type(value) is int and value >= 0
