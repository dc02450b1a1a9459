# SPDX-License-Identifier: BSD-3-Clause
"""What is one flow and what is two: lull-flow on captures written here, packet by packet.

    flow_keys.py PROGRAM

Each capture goes through every scheduler with several workers: the same records, the same ends.
"""

import gzip
import ipaddress
import json
import re
import shutil
import struct
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "collectors"))

from collectors import ipfix_records
from command import Command
from verdict import check

FIN, SYN, RST, ACK = 1, 2, 4, 16
RAW = 101
A, B = "10.0.0.1", "10.0.0.2"
Packet = tuple[float, bytes]  # when, in s


class Trial(Command):
    """And captures."""

    def __init__(self, program: str, scratch: str) -> None:
        super().__init__(program, scratch)
        self.capture = self.scratch / "capture.pcap"
        text = self.call("--help").stdout
        found = re.search(r"--scheduler(.*?)--shadow", text, re.DOTALL)
        self.schedulers = re.findall(r"^ {30}([a-z]\S*)", found.group(1) if found else "",
                                     re.MULTILINE)
        check({"rr-burst", "crc32", "hash", "hrw", "subflow", "sticky"} < set(self.schedulers),
              "tells its schedulers", self.schedulers)

    def write(self, packets: list[Packet], link_type: int = RAW) -> None:
        parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link_type)]
        for time_s, data in sorted(packets, key=lambda packet: packet[0]):
            parts += [struct.pack("<IIII", 1000 + int(time_s), round(time_s % 1 * 1e6), len(data),
                                  len(data)), data]
        self.capture.write_bytes(b"".join(parts))

    def run(self, *options: object) -> list[dict[str, Any]]:
        run = self.call("--pcap", self.capture, "--identify=no", "--facts", "--records", "-",
                        *options)
        check(run.returncode == 0, f"ends well with {options}", run.stderr)
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        for line in lines:
            for fact in ("workers", "moves", "reordered"):
                del line[fact]
        return lines

    def records(self, packets: list[Packet], *options: object) -> list[dict[str, Any]]:
        """Those of one worker; all schedulers have the same."""
        self.write(packets)
        one = self.run("--workers", 1, *options)
        for index, scheduler in enumerate(self.schedulers):
            workers, order = (2, 4, 8)[index % 3], ("none", "drain")[index // 3 % 2]
            same = self.run("--workers", workers, "--scheduler", scheduler, "--order", order,
                            *options)
            check(same == one, f"{scheduler}, {workers} workers, {order}: the same", (one, same))
        total = sum(line["packets"] + line["packets_rev"] for line in one)
        check(total == len(packets), "all packets are in records", (total, len(packets)))
        return one


def ip(proto: int, source: str, target: str, payload: bytes, **more: int) -> bytes:
    if ":" in source:
        head = struct.pack(">IHBB", 6 << 28, len(payload), proto, 64)
    else:
        head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), more.get("id", 7),
                           more.get("fragment", 0), 64, proto, 0)
    return (head + ipaddress.ip_address(source).packed + ipaddress.ip_address(target).packed
            + payload)


def tcp(source: str, target: str, sport: int, dport: int, flags: int, data: bytes = b"") -> bytes:
    return ip(6, source, target,
              struct.pack(">HHIIBBHHH", sport, dport, 1000, 0, 0x50, flags, 0, 0, 0) + data)


def udp(source: str, target: str, sport: int, dport: int, data: bytes, **more: int) -> bytes:
    return ip(17, source, target, struct.pack(">HHHH", sport, dport, 8 + len(data), 0) + data,
              **more)


def connection(at_s: float, port: int, ends: tuple[tuple[bool, int], ...]) -> list[Packet]:
    """Hands shaken, some data, and @p ends; a packet each ms."""
    steps = [(True, SYN), (False, SYN | ACK), (True, ACK)] + [(True, ACK), (False, ACK)] * 4
    return [(at_s + 0.001 * i,
             tcp(A, B, port, 80, flags) if out else tcp(B, A, 80, port, flags))
            for i, (out, flags) in enumerate([*steps, *ends])]


BOTH = ((True, FIN | ACK), (False, FIN | ACK), (True, ACK))
RESET = ((False, RST | ACK),)
HALF = ((True, FIN | ACK), (False, ACK))


def connections_are_records(trial: Trial) -> None:
    """Three on each of 40 pairs of ports within 5 s, each closed in its own way."""
    packets = []
    for flow in range(40):
        for number, ends in enumerate((BOTH, RESET, HALF)):
            packets += connection(1.5 * number + 0.0001 * flow, 1000 + flow, ends)
    lines = trial.records(packets)
    check(len(lines) == 120, "a record each", len(lines))
    check(all(line["end"] == "closed" for line in lines), "ended as such",
          {line["end"] for line in lines})
    check(sorted(line["packets"] + line["packets_rev"] for line in lines)
          == [12] * 40 + [13] * 40 + [14] * 40, "nobody has packets of another", lines)
    check(all(line["tcp_flags"] & SYN for line in lines), "each begins with SYN")


def late_packets_are_no_records(trial: Trial) -> None:
    """FIN and ACK sent again, an RST: with their connection up to 5 s after its end."""
    packets = connection(0, 1000, BOTH)
    packets += [(at_s, tcp(B, A, 80, 1000, flags)) for at_s, flags in
                ((0.3, FIN | ACK), (1.3, FIN | ACK), (3.5, FIN | ACK), (8.4, RST))]
    packets.append((20, tcp(A, B, 1000, 80, ACK)))
    packets.append((21, tcp(A, B, 1000, 80, ACK)))
    lines = trial.records(packets)
    check([line["packets"] + line["packets_rev"] for line in lines] == [17, 1, 2],
          "late ones stay, what comes much later is something else", lines)
    check([line["end"] for line in lines] == ["closed", "closed", "end"], "ends", lines)
    lines = trial.records(packets, "--closed-timeout=1500ms")
    check([line["packets"] + line["packets_rev"] for line in lines] == [16, 2, 2],
          "as long as is asked for", lines)


def finished_flows_free_their_place(trial: Trial) -> None:
    """2000 flows, 200 at a time, through a table of 1024; they are closed, or it would be full."""
    packets = []
    for flow in range(2000):
        packets += connection(0.01 * flow, 1000 + flow, BOTH)
    trial.write(packets)
    for ends in ((), ("--closed-timeout=30",)):
        lines = trial.run("--flows-max=1024", "--workers=1", *ends)
        evicted = sum(line["end"] == "evicted" for line in lines)
        check((evicted > 0) == bool(ends), f"evicted with {ends}", evicted)


def tenants_stay_apart(trial: Trial) -> None:
    inside = udp(A, B, 4000, 53, b"question")
    answer = udp(B, A, 53, 4000, b"answer")

    def vxlan(vni: int, packet: bytes) -> bytes:
        frame = bytes(12) + b"\x08\x00" + packet
        return udp("192.0.2.1", "192.0.2.2", 50000 + vni, 4789,
                   struct.pack(">II", 8 << 24, vni << 8) + frame)

    packets = [(0.001 * i, vxlan(vni, packet)) for i, (vni, packet) in
               enumerate((vni, packet) for vni in (5, 6, 7) for packet in (inside, answer) * 5)]
    lines = trial.records(packets, "--inner")
    check(sorted((line["tunnel"], line["tunnel_id"], line["packets"], line["packets_rev"])
                 for line in lines) == [("vxlan", vni, 5, 5) for vni in (5, 6, 7)],
          "a record for each network", lines)
    lines = trial.records(packets, "--inner", "--key=vlan")
    check([(line["packets"], line["packets_rev"]) for line in lines] == [(15, 15)]
          and "tunnel" not in lines[0], "one where it is not part of the key", lines)
    gtp = [(0.001 * i, udp("192.0.2.1", "192.0.2.2", 2152, 2152,
                           struct.pack(">BBHI", 0x30, 255, len(packet), teid) + packet))
           for i, (teid, packet) in enumerate(((1, inside), (2, answer)) * 3)]
    check(len(trial.records(gtp, "--inner")) == 1, "both directions of a GTP flow are one")
    lines = trial.records(gtp, "--inner", "--key=vlan,teid")
    check([(line["tunnel"], line["tunnel_id"]) for line in lines] == [("gtp", 1), ("gtp", 2)],
          "two where the TEID is asked for", lines)


def fragments_of_tunnels_follow(trial: Trial) -> None:
    inside = udp(A, B, 4000, 53, bytes(1000))
    whole = bytes(12) + b"\x08\x00" + inside
    outer = struct.pack(">HHHH", 50000, 4789, 16 + len(whole), 0) + struct.pack(
        ">II", 8 << 24, 9 << 8) + whole
    packets = []
    for number in range(20):
        for part, (begin, end) in enumerate(((0, 600), (600, len(outer)))):
            packets.append((0.01 * number + 0.001 * part,
                            ip(17, "192.0.2.1", "192.0.2.2", outer[begin:end], id=number,
                               fragment=begin // 8 | (0x2000 if part == 0 else 0))))
    lines = trial.records(packets, "--inner")
    check([(line["src_port"], line["tunnel_id"], line["packets"], line["bytes"], line["fragments"],
            line["payload_bytes"]) for line in lines] == [(4000, 9, 40, 20 * 1028, 40, 20 * 1000)],
          "one flow, with all bytes of the packets inside", lines)


def pieces(number: int, data: bytes, sport: int, **more: int) -> list[bytes]:
    """A datagram of UDP from A to B in pieces of 64 bytes."""
    whole = struct.pack(">HHHH", sport, 53, 8 + len(data), 0) + data
    return [ip(17, A, B, whole[at:at + 64], id=number,
               fragment=at // 8 | (0x2000 if at + 64 < len(whole) else 0), **more)
            for at in range(0, len(whole), 64)]


def early_fragments_join_their_flow(trial: Trial) -> None:
    """30 datagrams of 6 flows, whose pieces come in order, the last one first, or mixed."""
    datagrams = [pieces(number, bytes(500), 1000 + number % 6) for number in range(30)]
    orders = {
        "in order": [(number, part) for number in range(30) for part in range(8)],
        "the last one first": [(number, 7 - part) for number in range(30) for part in range(8)],
        "mixed": sorted(((number, part) for number in range(30) for part in range(8)),
                        key=lambda place: (place[0] * 7 + place[1] * 53) % 211 + place[0] * 40),
    }
    expected: list[dict[str, Any]] = []
    for name, order in orders.items():
        packets = [(0.0001 * at, datagrams[number][part])
                   for at, (number, part) in enumerate(order)]
        trial.write(packets)
        lines = trial.records(packets) if name == "mixed" else trial.run()
        lines = [{member: line[member] for member in
                  ("src_ip", "src_port", "dst_port", "packets", "packets_rev", "bytes",
                   "fragments", "payload_bytes")} for line in lines]
        lines.sort(key=lambda line: int(line["src_port"]))
        expected = expected or lines
        check(len(lines) == 6 and lines == expected, f"{name}: the flows they are of", lines)


def early_fragments_wait_as_long_as_they_may(trial: Trial) -> None:
    first, *rest = pieces(1, bytes(100), 1000)
    trial.write([(0.0, rest[0]), (0.3, first), (0.4, udp(A, B, 1000, 53, b"x"))])
    for wait, ports in (("100ms", [0, 1000]), ("400ms", [1000]), ("0", [0, 1000])):
        lines = trial.run(f"--fragment-wait={wait}", "--workers=2", "--scheduler=rr-packet")
        check(sorted(line["src_port"] for line in lines) == ports, f"waits {wait}", lines)
        check(min(line["first_us"] for line in lines) == 1000_000_000, "stamps stay", lines)
    result = trial.scratch / "result.json"
    many = [(1e-5 * number, pieces(number, bytes(100), 1000)[1]) for number in range(1000)]
    trial.write([*many, (0.011, pieces(999, bytes(100), 1000)[0])])
    trial.run("--json", result)
    counted = json.loads(result.read_text(encoding="utf-8"))["dispatch"][0]
    check((counted["fragments"], counted["early"], counted["early_full"], counted["orphans"])
          == (1001, 1, 744, 999), "room for 256, the oldest ones go", counted)


def early_fragments_of_tunnels_follow(trial: Trial) -> None:
    whole = bytes(12) + b"\x08\x00" + udp(A, B, 4000, 53, bytes(1000))
    outer = struct.pack(">HHHH", 50000, 4789, 16 + len(whole), 0) + struct.pack(
        ">II", 8 << 24, 9 << 8) + whole
    packets = []
    for number in range(20):
        for part, (begin, end) in enumerate(((600, len(outer)), (0, 600))):
            packets.append((0.01 * number + 0.001 * part,
                            ip(17, "192.0.2.1", "192.0.2.2", outer[begin:end], id=number,
                               fragment=begin // 8 | (0x2000 if part == 1 else 0))))
    trial.write(packets)
    lines = trial.run("--inner", "--workers=2", "--scheduler=rr-packet")
    check([(line["src_port"], line["tunnel_id"], line["packets"], line["bytes"], line["fragments"],
            line["payload_bytes"]) for line in lines] == [(4000, 9, 40, 20 * 1028, 40, 20 * 1000)],
          "one flow, as if they came in order", lines)


def icmp_has_type_and_code(trial: Trial) -> None:
    packets = [(0.0, ip(1, A, B, struct.pack(">BBHHH", 8, 0, 0, 1, 1))),
               (1, ip(1, B, A, struct.pack(">BBHHH", 0, 0, 0, 1, 1))),
               (2, ip(1, A, "10.0.0.3", struct.pack(">BBHI", 3, 13, 0, 0)
                      + udp("10.0.0.3", A, 1, 2, b""))),
               (3, ip(58, "fd00::1", "fd00::2", struct.pack(">BBHI", 135, 0, 0, 0) + bytes(16)))]
    lines = trial.records(packets)
    check([(line["proto"], line["icmp_type"], line["icmp_code"]) for line in lines]
          == [(1, 8, 0), (1, 3, 13), (58, 135, 0)], "of the first packet", lines)
    check("icmp_type" not in trial.records([(0, udp(A, B, 1, 2, b""))])[0], "only ICMP has them")


def block(kind: int, body: bytes) -> bytes:
    """Of pcapng."""
    body += bytes(-len(body) % 4)
    size = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + size + body + size


def interfaces_tell_flows_apart(trial: Trial) -> None:
    packet = udp(A, B, 1, 2, b"x")
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    out += block(1, struct.pack("<HHI", RAW, 0, 0)) * 2
    for index in (0, 1, 1):
        out += block(6, struct.pack("<IIIII", index, 0, 1000000, len(packet), len(packet)) + packet)
    trial.capture.write_bytes(out)
    check([line["packets"] for line in trial.run()] == [3], "not by themselves")
    check("observation_point" not in trial.run()[0], "a place is told only when it is given")
    check(trial.run("--observation-point=7")[0]["observation_point"] == 7, "and then it is")
    lines = trial.run("--key=vlan,interface")
    check([(line["interface"], line["packets"]) for line in lines] == [(1, 1), (2, 2)],
          "where it is asked for", lines)


def interfaces_have_names(trial: Trial) -> None:
    """An options record for each that has a name or is described; read by ipfixDump."""
    def option(code: int, value: bytes) -> bytes:
        return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)

    if shutil.which("ipfixDump") is None:
        return
    packet = udp(A, B, 1, 2, b"x")
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    for options in (option(2, b"eth0"), b"", option(2, b"u\nplink") + option(3, b"a router")):
        out += block(1, struct.pack("<HHI", RAW, 0, 0) + options)
    for index in range(3):
        out += block(6, struct.pack("<IIIII", index, 0, 1000000, len(packet), len(packet)) + packet)
    trial.capture.write_bytes(out)
    other = trial.scratch / "other.pcapng"
    other.write_bytes(out.replace(b"eth0", b"eth1"))
    packed = trial.scratch / "packed.pcapng.gz"
    packed.write_bytes(gzip.compress(out))
    messages = trial.scratch / "names.ipfix"
    for captures, keys in (([trial.capture, other], "vlan,interface"), ([packed], "interface"),
                           ([trial.capture], "vlan")):
        inputs = [argument for capture in captures for argument in ("--pcap", capture)]
        run = trial.call(*inputs, "--identify=no", f"--key={keys}", "--ipfix", messages)
        check(run.returncode == 0, "ends well", run.stderr)
        records, complaints = ipfix_records(messages)
        check(complaints == "", "ipfixDump reads it", complaints)
        # Texts follow their lengths.
        names = [(record["10"], *(record[text].partition(")")[2].strip() for text in ("82", "83")))
                 for record in records if "82" in record]  # fmt: skip
        expected = [("1", "eth0", ""), ("3", "u?plink", "a router")] if "interface" in keys else []
        check(names == expected, "numbers and names", names)


def seeds_do_not_move_cuts(trial: Trial) -> None:
    packets = [(0.1 * i, udp(A, B, 1000 + i % 7, 53, b"x")) for i in range(300)]
    trial.write(packets)
    cut = [trial.run("--active-timeout=2", "--seed", seed) for seed in (0, 1, 4_000_000_000)]
    check(len(cut[0]) > 70, "there are cuts", len(cut[0]))
    check(len({line["first_us"] for line in cut[0]}) > 50, "not all at once")
    check(cut[0] == cut[1] == cut[2], "the same under every seed", cut)


def who_never_splits_reorders_nothing(trial: Trial) -> None:
    """40000 flows share buckets in pairs, at different workers, of which one is slow."""
    trial.write([(1e-5 * i, udp(A, B, i % 40000, 53, b"x")) for i in range(120_000)])
    for scheduler in ("crc32", "hrw"):
        result = trial.scratch / "result.json"
        run = trial.call("--pcap", trial.capture, "--identify=no", "--workers=4", "--order=none",
                         "--scheduler", scheduler, "--json", result, "--worker-delay=500ns")
        check(run.returncode == 0, "ends well", run.stderr)
        totals = json.loads(result.read_text(encoding="utf-8"))["totals"]
        check(totals["reordered"] == 0 and totals["recorded"] == 120_000,
              f"{scheduler} keeps the order of flows", totals)


def fragments_follow_from_afar(trial: Trial) -> None:
    """The first one 400 packets before, which workers that read have had in another lot."""
    # Their payload looks like a packet header of the file.
    filling = struct.pack("<IIII", 1000, 0, 60, 60) * 4
    packets = []
    for i in range(4000):
        source = f"10.1.{i % 100}.1"
        first = udp(source, B, 2000 + i % 100, 53, filling[8:], id=i, fragment=0x2000)
        later = ip(17, source, B, filling, id=i, fragment=8)
        packets += [(0.001 * i, first), (0.001 * (i + 200) + 0.0005, later)]
    lines = trial.records(packets)
    check(len(lines) == 100 and all(line["packets"] == 80 for line in lines),
          "each with the fragments of its flow", [len(lines), lines[0]])
    check(all(line["src_port"] >= 2000 for line in lines), "under its ports", lines[0])


def wrong_parts_are_refused(trial: Trial) -> None:
    trial.write([(0, udp(A, B, 1, 2, b""))])
    for parts in ("vnl", "", "vlan,", "none,vlan"):
        run = trial.call("--pcap", trial.capture, f"--key={parts}")
        check(run.returncode == 2 and "key: " in run.stderr, f"refuses --key={parts}", run.stderr)
    check(trial.run("--key=none")[0]["packets"] == 1, "takes none")


TESTS = (
    connections_are_records,
    late_packets_are_no_records,
    finished_flows_free_their_place,
    tenants_stay_apart,
    fragments_of_tunnels_follow,
    early_fragments_join_their_flow,
    early_fragments_wait_as_long_as_they_may,
    early_fragments_of_tunnels_follow,
    icmp_has_type_and_code,
    interfaces_tell_flows_apart,
    interfaces_have_names,
    seeds_do_not_move_cuts,
    who_never_splits_reorders_nothing,
    fragments_follow_from_afar,
    wrong_parts_are_refused,
)


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        trial = Trial(sys.argv[1], scratch)
        for test in TESTS:
            test(trial)
            print(f"{test.__name__}: ok", flush=True)


main()
