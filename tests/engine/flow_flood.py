# SPDX-License-Identifier: BSD-3-Clause
"""A flood of forged SYNs around real flows: what lull-flow says of both.

    flow_flood.py PROGRAM

Real flows are whole, every packet has a record or a counter, and who is not answered costs nDPI
nothing: the flood has more flows than there are states for names.
"""

import json
import random
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from command import Command
from verdict import check

SYN, ACK = 2, 16
RAW = 101
FORGED = 80_000  # more than 65536 states of nDPI
REAL = 50
SPAN_S = 4.0
SERVER = (192 << 24) + 1
PORT = 9999  # tells no protocol
GET = b"GET / HTTP/1.1\r\nHost: lull.example\r\nUser-Agent: test\r\n\r\n"
OKAY = b"HTTP/1.1 200 OK\r\nServer: test\r\nContent-Length: 5\r\n\r\nhello"
Packet = tuple[float, bytes]


def tcp(client: int, port: int, out: bool, flags: int, data: bytes = b"") -> bytes:
    ends = [(client, port), (SERVER, PORT)]
    (source, sport), (target, dport) = ends if out else reversed(ends)
    return struct.pack(">BBHHHBBHIIHHIIBBHHH", 0x45, 0, 40 + len(data), 7, 0, 64, 6, 0, source,
                       target, sport, dport, 1000, 1000, 0x50, flags, 8192, 0, 0) + data


def real(number: int, begin_s: float) -> list[Packet]:
    """Answered within 10 ms, asks, and is silent for a second now and then."""
    client, port = (10 << 24) + (number << 8) + 5, 30_000 + number
    steps = [(0, True, SYN, b""), (0.005, False, SYN | ACK, b""), (0.01, True, ACK, b""),
             (0.011, True, ACK, GET), (0.02, False, ACK, OKAY)]
    steps += [(1 + 0.5 * i, i % 2 == 0, ACK, b"") for i in range(3)]
    return [(begin_s + after, tcp(client, port, out, flags, data))
            for after, out, flags, data in steps]


def write(path: Path, packets: list[Packet]) -> None:
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, RAW)]
    for time_s, data in sorted(packets, key=lambda packet: packet[0]):
        parts += [struct.pack("<IIII", 1000 + int(time_s), round(time_s % 1 * 1e6), len(data),
                              len(data)), data]
    path.write_bytes(b"".join(parts))


def scene(path: Path) -> int:
    """How many packets it has."""
    chance = random.Random(7)
    packets = [packet for i in range(REAL) for packet in real(i, 3.35 + i * 0.005)]
    for i in range(FORGED):
        client, port = chance.randrange(64 << 24, 128 << 24), chance.randrange(1024, 65536)
        packets.append((SPAN_S * i / FORGED, tcp(client, port, True, SYN)))
    write(path, packets)
    return len(packets)


class Trial(Command):
    def __init__(self, program: str, scratch: str) -> None:
        super().__init__(program, scratch)
        self.capture = self.scratch / "capture.pcap"
        self.packets = scene(self.capture)

    def run(self, *options: object) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        result = self.scratch / "result.json"
        run = self.call("--pcap", self.capture, "--facts", "--records", "-", "--json", result,
                        *options)
        check(run.returncode == 0, f"ends well with {options}", run.stderr)
        return ([json.loads(line) for line in run.stdout.splitlines()],
                json.loads(result.read_text(encoding="utf-8")))

    def check_real(self, records: list[dict[str, Any]]) -> None:
        own = [record for record in records if record["src_ip"].startswith("10.")]
        check(len(own) == REAL, "each real flow has one record", len(own))
        for record in own:
            check((record["packets"], record["packets_rev"]) == (5, 3), "it is whole", record)


def names_for_those_who_answer(trial: Trial) -> None:
    records, _ = trial.run("--flows-max", 262144)
    if all(record["app"] == "" for record in records):
        print("without nDPI: no names")
        return
    trial.check_real(records)
    named = [record["app"] for record in records if record["src_ip"].startswith("10.")]
    check(named == ["HTTP"] * REAL, "a flood takes no state of nDPI", named)


def half_open_flows_go_first(trial: Trial) -> None:
    """A table of 2048 places, 20 thousand SYNs per second: a tenth of a second."""
    for workers in (1, 2):
        records, result = trial.run("--flows-max", 2048, "--identify=no", "--workers", workers,
                                    "--scheduler", "hrw")
        trial.check_real(records)
        check(sum(r["packets"] + r["packets_rev"] for r in records) == trial.packets,
              "all packets are in records")
        evicted = sum(table["half_open_evicted"] for table in result["tables"])
        check(FORGED - workers * 2048 <= evicted <= FORGED, "the flood gave way", evicted)
        check(all("sampling_interval" not in record for record in records), "nothing is sampled")


def samples_tell_what_they_stand_for(trial: Trial) -> None:
    records, result = trial.run("--flows-max", 2048, "--identify=no", "--half-open-rate", 1000)
    trial.check_real(records)
    table = result["tables"][0]
    recorded = sum(record["packets"] + record["packets_rev"] for record in records)
    check(table["left_out"] > FORGED / 2, "most of the flood is left out", table)
    check(recorded + table["left_out_pkts"] == trial.packets, "every packet is accounted for",
          (recorded, table))
    check(result["totals"]["unrecorded"] == table["left_out_pkts"], "left out: unrecorded",
          result["totals"])
    forged = [record for record in records if not record["src_ip"].startswith("10.")]
    check(any("sampling_interval" in record for record in forged), "samples say so")
    check(all(record["end"] == "evicted" for record in forged if "sampling_interval" in record),
          "only what was evicted is a sample")
    stands_for = sum(record.get("sampling_interval", 1) for record in forged)
    check(abs(stands_for - FORGED) < FORGED / 10, "their intervals tell the size of the flood",
          stands_for)


TESTS = (names_for_those_who_answer, half_open_flows_go_first, samples_tell_what_they_stand_for)


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        trial = Trial(sys.argv[1], scratch)
        for test in TESTS:
            test(trial)
            print(f"{test.__name__}: ok", flush=True)


main()
