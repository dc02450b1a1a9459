# SPDX-License-Identifier: BSD-3-Clause
"""lull-flow on captures as they come from elsewhere: long, odd, packed, through a pipe.

    flow_captures.py PROGRAM CAPTURES
"""

import gzip
import json
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from command import Command
from verdict import check

ETHERNET = bytes(12) + b"\x08\x00"
SECTION = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)


class Trial(Command):
    """And captures, and records as objects."""

    def __init__(self, program: str, captures: str, scratch: str) -> None:
        super().__init__(program, scratch)
        self.captures = Path(captures).resolve()

    def records(self, *options: object) -> list[dict[str, Any]]:
        run = self.call("--records", "-", "--json", self.scratch / "result.json", *options)
        check(run.returncode == 0, f"ends well with {options}", run.stderr)
        totals = self.outcome()["totals"]
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        packets = sum(line["packets"] + line["packets_rev"] for line in lines)
        check(totals["dispatched"] == totals["recorded"] == packets, "all recorded", totals)
        return lines

    def outcome(self) -> dict[str, Any]:
        text = (self.scratch / "result.json").read_text(encoding="utf-8")
        result: dict[str, Any] = json.loads(text)
        return result


def datagram(port: int, payload: bytes = b"some") -> bytes:
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 28 + len(payload), 0, 0, 64, 17, 0,
                     bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2)))
    return ETHERNET + ip + struct.pack(">HHHH", port, 9, 8 + len(payload), 0) + payload


def segment(seq: int, payload: bytes, total: int | None = None) -> bytes:
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + len(payload) if total is None else total, 0, 0,
                     64, 6, 0, bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2)))
    return ETHERNET + ip + struct.pack(">HHIIBBHHH", 40000, 12345, seq, 1, 0x50, 0x18, 1000, 0,
                                       0) + payload


def pcap(path: Path, packets: Sequence[tuple[float, bytes]]) -> Path:
    with path.open("wb") as file:
        file.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        for when, frame in packets:
            file.write(struct.pack("<IIII", int(when), int(when % 1 * 1e6), len(frame),
                                   len(frame)) + frame)
    return path


def long_frames_keep_length_and_name(trial: Trial) -> None:
    """Of a card that joins segments: more than a buffer holds, and more than IP can say."""
    request = b"GET /index.html HTTP/1.1\r\nHost: example.org\r\nCookie: "
    request += b"x" * 20000 + b"\r\n\r\n"
    path = pcap(trial.scratch / "long.pcap", [(1, segment(1, request))])
    for workers in (1, 4):
        (record,) = trial.records("--pcap", path, "--workers", workers, "--scheduler", "rr-packet")
        check(record["bytes"] == 40 + len(request), "counts all bytes", record)
        if trial.outcome()["ndpi"] is not None:
            check(record["app"].startswith("HTTP"), "knows the protocol", record)
    huge = pcap(trial.scratch / "huge.pcap", [(1 + i, segment(1 + i, bytes(200000), total=0))
                                              for i in range(50)])
    (record,) = trial.records("--pcap", huge)
    check((record["packets"], record["bytes"]) == (50, 50 * 200040), "longer than IP says", record)
    # A port that they could leave by cannot read their memory.
    mixed = pcap(trial.scratch / "mixed.pcap", [(1, segment(1, request)), (2, datagram(1))])
    trial.records("--pcap", mixed, "--vdev", "net_null0", "--output", 0)
    totals = trial.outcome()["totals"]
    check((totals["output"], totals["output_drops"]) == (1, 1), "sends what can be sent", totals)


def a_wild_stamp_stops_no_timeout(trial: Trial) -> None:
    """Five pairs talk, are silent longer than the timeout, talk again: ten flows."""
    times = [1000 + i / 10 for i in range(5)] + [1100 + i / 10 for i in range(5)]
    packets = [(when, datagram(1 + i % 5)) for i, when in enumerate(times)]
    for wild in (4_000_000_000, 2000, 0):
        strange = [*packets[:3], (wild, datagram(3)), *packets[3:]]
        path = pcap(trial.scratch / "wild.pcap", strange)
        for workers in (1, 3):
            lines = trial.records("--pcap", path, "--workers", workers, "--identify=no")
            check(len(lines) == 10, "ten flows", lines)
            check(trial.outcome()["files"]["wild"] == 1, "counts it", trial.outcome()["files"])
            check(max(line["last_us"] for line in lines) == 1100_400_000, "in its time", lines)


def a_clock_that_is_set_back_stops_no_timeout(trial: Trial) -> None:
    times = [*range(9000, 9005), *range(100, 120), *range(200, 205)]
    path = pcap(trial.scratch / "back.pcap", [(when, datagram(7)) for when in times])
    lines = trial.records("--pcap", path, "--identify=no")
    check(sorted(line["packets"] for line in lines) == [5, 25], "the silence ends the flow", lines)


def stamps_that_fit_no_clock_split_no_flow(trial: Trial) -> None:
    """Two interfaces; one of them counts in seconds what is far more than these."""
    frame = datagram(5)
    padded = frame + bytes(-len(frame) % 4)
    blocks = SECTION
    for resolution in (6, 0):
        body = struct.pack("<HHIHHBxxxHH", 1, 0, 0, 9, 1, resolution, 0, 0)
        blocks += struct.pack("<II", 1, len(body) + 12) + body + struct.pack("<I", len(body) + 12)
    for i in range(60):
        which, ticks = (1, 1_700_000_000_000_000) if i == 7 else (0, (1000 + i) * 1_000_000)
        body = struct.pack("<IIIII", which, ticks >> 32, ticks & 0xFFFFFFFF, len(frame),
                           len(frame)) + padded
        blocks += struct.pack("<II", 6, len(body) + 12) + body + struct.pack("<I", len(body) + 12)
    path = trial.scratch / "saturated.pcapng"
    path.write_bytes(blocks)
    for options in ([], ["--active-timeout", "3600"]):
        lines = trial.records("--pcap", path, "--identify=no", *options)
        check(sum(line["packets"] for line in lines) == 60, "all packets", lines)
        check(len(lines) == 1, "one flow", lines)
    check(trial.outcome()["files"]["wild"] == 1, "counts it", trial.outcome()["files"])


def packed_or_piped_it_is_the_same(trial: Trial) -> None:
    options = ["--workers", 2, "--identify=no"]
    source = trial.captures / "http.pcap"
    plain = trial.records("--pcap", source, *options)
    packed = trial.scratch / "http.pcap.gz"
    packed.write_bytes(gzip.compress(source.read_bytes()))
    check(trial.records("--pcap", packed, *options) == plain, "gzip")
    if shutil.which("zstd") is not None:
        subprocess.run(["zstd", "-q", source, "-o", trial.scratch / "http.zst"], check=True)
        check(trial.records("--pcap", trial.scratch / "http.zst", *options) == plain, "zstd")
    for path in (source, packed):
        for through in ("cat", "head -c 9999999 <"):
            run = subprocess.run(
                f"{through} {path} | {trial.program} --pcap - --records - --workers 2 "
                "--identify=no",
                shell=True, capture_output=True, text=True, check=False)
            check([json.loads(line) for line in run.stdout.splitlines()] == plain, "a pipe",
                  run.stderr)


def a_filter_lets_through_what_matches(trial: Trial) -> None:
    """Beside a capture that has only these packets; link types that differ, in one run."""
    packets = [(1 + i, datagram(1 + i % 5)) for i in range(50)]
    path = pcap(trial.scratch / "all.pcap", packets)
    some = pcap(trial.scratch / "some.pcap", [entry for i, entry in enumerate(packets)
                                              if i % 5 in (1, 3)])
    for workers in (1, 3):
        lines = trial.records("--pcap", path, "--filter", "udp src port 2 or src port 4",
                              "--workers", workers, "--identify=no")
        result = trial.outcome()
        check(result["filtered"] == 30 and result["totals"]["rx"] == 20, "counts", result["totals"])
        check(lines == trial.records("--pcap", some, "--identify=no"), "the records of these")
    raw = trial.scratch / "raw.pcap"
    text = path.read_bytes()
    raw.write_bytes(text[:20] + struct.pack("<I", 101) + b"".join(
        struct.pack("<IIII", int(when), 0, len(frame) - 14, len(frame) - 14) + frame[14:]
        for when, frame in packets))
    lines = trial.records("--pcap", path, "--pcap", raw, "--filter", "udp port 5", "--identify=no")
    check([line["packets"] for line in lines] == [20], "of both links", lines)
    trial.records("--pcap", path, "--pcap", raw, "--filter", "ether broadcast or vlan")
    check(trial.outcome()["filtered"] == 100, "no answer, no packet", trial.outcome()["filtered"])
    run = trial.call("--pcap", path, "--filter", "udp prt 5")
    check(run.returncode != 0 and "filter:" in run.stderr, "refuses", run.stderr)


def a_filter_works_on_ports(trial: Trial) -> None:
    path = pcap(trial.scratch / "port.pcap", [(1 + i, datagram(1 + i % 5)) for i in range(50)])
    result = trial.scratch / "result.json"
    run = trial.call("--vdev", f"net_pcap0,rx_pcap={path}", "--filter", "src port 3",
                     "--records", "-", "--duration", "500ms", "--identify=no", "--json", result)
    check(run.returncode == 0, "ends well", run.stderr)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    check([(line["src_port"], line["packets"]) for line in lines] == [(3, 10)], "the flow", lines)
    check(trial.outcome()["filtered"] == 40, "counts", trial.outcome()["filtered"])


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        trial = Trial(sys.argv[1], sys.argv[2], scratch)
        long_frames_keep_length_and_name(trial)
        a_wild_stamp_stops_no_timeout(trial)
        a_clock_that_is_set_back_stops_no_timeout(trial)
        stamps_that_fit_no_clock_split_no_flow(trial)
        packed_or_piped_it_is_the_same(trial)
        probe = trial.call("--vdev", "net_null0", "--duration", "1ms", "--filter", "ip")
        if "built without libpcap" in probe.stderr:
            print("skipped: no libpcap")
            return
        a_filter_lets_through_what_matches(trial)
        a_filter_works_on_ports(trial)


if __name__ == "__main__":
    main()
