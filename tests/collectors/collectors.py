# SPDX-License-Identifier: BSD-3-Clause
"""What other people's collectors make of our records: nothing lost, nothing changed.

collectors.py KAFKA_STAND PROGRAM [ARGUMENT ...]: the program, given --records or --ipfix or --kafka
and a destination, writes the same records there each time. KAFKA_STAND may be "-".
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from rights import skip
from verdict import check, free_port, wait_for

TIMEOUT_S = 60
IN_UTC = {**os.environ, "TZ": "UTC"}
# (source, port, destination, port, protocol, first ms, last ms) -> counters
Flow = tuple[str, int, str, int, int, int, int]
Flows = Counter[tuple[Flow, tuple[int, ...]]]


class Missing(Exception):
    """A tool that is not installed."""


def tool(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")
    if found is None:
        raise Missing(name)
    return found


def udp_socket(port: int) -> tuple[int, int] | None:
    """Bytes that wait at this port and datagrams dropped there; None: nobody listens."""
    for line in Path("/proc/net/udp").read_text(encoding="ascii").splitlines()[1:]:
        fields = line.split()
        if int(fields[1].split(":")[1], 16) == port:
            return int(fields[4].split(":")[1], 16), int(fields[12])
    return None


@contextmanager
def listening(command: list[str], port: int, log: Path, stop: signal.Signals) -> Iterator[None]:
    """Run a UDP collector; at the end it has read everything, and has ended."""
    with (
        log.open("w") as out,
        subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=IN_UTC) as run,
    ):
        try:
            wait_for(command[0], lambda: udp_socket(port) is not None or run.poll() is not None)
            check(run.poll() is None, f"{command[0]} starts", log.read_text())
            yield
            wait_for(f"{command[0]} to read", lambda: (udp_socket(port) or (0, 0))[0] == 0)
            check((udp_socket(port) or (0, 1))[1] == 0, f"{command[0]}: its socket dropped some")
        finally:
            run.send_signal(stop)
            try:
                run.wait(timeout=TIMEOUT_S)
            except subprocess.TimeoutExpired:
                run.kill()


def moment_ms(text: str) -> int:
    moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)


def address(text: str) -> str:
    """One spelling, whoever wrote it."""
    return str(ipaddress.ip_address(text))


def flows_of(records: list[dict[str, Any]], *members: str) -> Flows:
    flows: Flows = Counter()
    for record in records:
        key: Flow = (
            address(record["src_ip"]), record["src_port"],
            address(record["dst_ip"]), record["dst_port"], record["proto"],
            record["first_us"] // 1000, record["last_us"] // 1000,
        )  # fmt: skip
        flows[key, tuple(record[member] for member in members)] += 1
    return flows


class Program:
    """What exports; its JSON lines are the truth here, held to other oracles elsewhere."""

    def __init__(self, command: list[str], scratch: Path) -> None:
        self.command = command
        self.scratch = scratch
        self.run("--records", str(scratch / "truth.json"))
        self.text = (scratch / "truth.json").read_text(encoding="ascii")
        self.records: list[dict[str, Any]] = [json.loads(line) for line in self.text.splitlines()]
        check(len(self.records) > 0, "there are records", command)

    def is_lull_flow(self) -> bool:
        """Has it options, or only destinations?"""
        return Path(self.command[0]).name == "lull-flow"

    def run(self, *destinations: str) -> None:
        run = subprocess.run([*self.command, *destinations], capture_output=True, text=True,
                             timeout=TIMEOUT_S, check=False)  # fmt: skip
        check(run.returncode == 0, " ".join([*self.command, *destinations]), run.stderr)


def check_same(seen: Flows, expected: Flows, who: str) -> None:
    lacking, extra = expected - seen, seen - expected
    check(not lacking and not extra, f"{who} has the same records",
          f"{sum(expected.values())} expected, {sum(lacking.values())} lack, as "
          f"{list(lacking)[:2]}; {sum(extra.values())} too many, as {list(extra)[:2]}")  # fmt: skip


BIFLOW = ("packets", "bytes", "packets_rev", "bytes_rev", "vlan_id", "tcp_flags")


def nfdump_flags(text: str) -> int:
    return sum(1 << (7 - place) for place, letter in enumerate(text[-8:]) if letter != ".")


def nfdump_flows(path: Path) -> Flows:
    listing = subprocess.run([tool("nfdump"), "-r", str(path), "-o", "json"], check=True,
                             capture_output=True, text=True, env=IN_UTC)  # fmt: skip
    flows: Flows = Counter()
    for row in json.loads(listing.stdout):
        key: Flow = (
            address(row.get("src4_addr") or row["src6_addr"]), row.get("src_port", 0),
            address(row.get("dst4_addr") or row["dst6_addr"]), row.get("dst_port", 0),
            row["proto"], moment_ms(row["first"]), moment_ms(row["last"]),
        )  # fmt: skip
        vlan = max(row.get("src_vlan", 0), row.get("dst_vlan", 0))
        back = row.get("out_packets", 0), row.get("out_bytes", 0)
        flags = nfdump_flags(row.get("tcp_flags", ""))
        flows[key, (row["in_packets"], row["in_bytes"], *back, vlan, flags)] += 1
    return flows


def nfcapd(program: Program, scratch: Path, _stand: str) -> None:
    port, files, log = free_port(), scratch / "nfcapd", scratch / "nfcapd.log"
    files.mkdir()
    command = [tool("nfcapd"), "-p", str(port), "-b", "127.0.0.1", "-w", str(files), "-t", "86400",
               "-B", str(4 << 20)]  # fmt: skip
    with listening(command, port, log, signal.SIGTERM):
        program.run("--ipfix", f"udp://127.0.0.1:{port}")
    check("Sequence Errors: 0, Bad Packets: 0" in log.read_text(), "nfcapd finds no gap",
          log.read_text())  # fmt: skip
    seen: Flows = Counter()
    for path in files.glob("nfcapd.*"):
        seen += nfdump_flows(path)
    check_same(seen, flows_of(program.records, *BIFLOW), "nfcapd")


NFACCTD = """daemonize: false
nfacctd_ip: 127.0.0.1
nfacctd_port: {port}
nfacctd_disable_checks: false
nfacctd_time_new: true
nfacctd_pipe_size: 4194304
plugin_pipe_size: 40960000
plugins: print[flows]
aggregate[flows]: src_host, dst_host, src_port, dst_port, proto, vlan, tcpflags, \
timestamp_start, timestamp_end
print_output[flows]: json
print_output_file[flows]: {output}
print_output_file_append[flows]: true
print_refresh_time[flows]: 1
print_num_protos[flows]: true
num_protos: true
"""


def nfacctd_flows(output: Path) -> Flows:
    flows: Flows = Counter()
    for line in output.read_text(encoding="ascii").splitlines() if output.exists() else ():
        row = json.loads(line)
        key: Flow = (
            address(row["ip_src"]), row["port_src"], address(row["ip_dst"]), row["port_dst"],
            int(row["ip_proto"]), moment_ms(row["timestamp_start"]),
            moment_ms(row["timestamp_end"]),
        )  # fmt: skip
        vlan = row["vlan"] if "vlan" in row else row["vlan_in"]  # before and from pmacct 1.7.8 on
        counters = row["packets"], row["bytes"], vlan, int(row["tcp_flags"])
        flows[key, counters] += 1
    return flows


def aggregated(flows: Flows) -> Flows:
    """Records alike but for packets and bytes added up, as nfacctd does."""
    sums: dict[tuple[Flow, tuple[int, ...]], list[int]] = {}
    for (key, (packets, size, *rest)), times in flows.items():
        into = sums.setdefault((key, tuple(rest)), [0, 0])
        into[0] += packets * times
        into[1] += size * times
    return Counter({(key, (*into, *rest)): 1 for (key, rest), into in sums.items()})


def nfacctd_once(program: Program, scratch: Path, settle_s: float) -> Flows:
    port, log = free_port(), scratch / "nfacctd.log"
    output, config = scratch / "nfacctd.json", scratch / "nfacctd.conf"
    output.unlink(missing_ok=True)
    config.write_text(NFACCTD.format(port=port, output=output))
    with listening([tool("nfacctd"), "-f", str(config)], port, log, signal.SIGINT):
        program.run("--ipfix", f"udp://127.0.0.1:{port}")
        time.sleep(settle_s)
    check("expecting flow" not in log.read_text(), "nfacctd finds no gap", log.read_text())
    return aggregated(nfacctd_flows(output))


def nfacctd(program: Program, scratch: Path, _stand: str) -> None:
    """It knows no biflows: it takes the direction of the first packet.

    Its writer, a process of its own, writes when told to end and drops what it has not read by
    then, and nothing tells how far it is. So it gets longer and longer, while records lack.
    """
    expected = aggregated(flows_of(program.records, "packets", "bytes", "vlan_id", "tcp_flags"))
    for settle_s in (2, 4, 8, 16, 32):
        seen = nfacctd_once(program, scratch, settle_s)
        if sum(seen.values()) >= sum(expected.values()):
            break
    check_same(seen, expected, "nfacctd")


IPFIX_FIELD = re.compile(r"^\t\((\S+)\)\s*(?:\(S\))?\s*\w+ : (.*)$")


def ipfix_records(path: Path) -> tuple[list[dict[str, str]], str]:
    """Data records by element number, and complaints."""
    dump = subprocess.run([tool("ipfixDump"), "-i", str(path), "-d"], capture_output=True,
                          text=True, check=False, env=IN_UTC)  # fmt: skip
    records: list[dict[str, str]] = []
    for line in dump.stdout.splitlines():
        match = IPFIX_FIELD.match(line)
        if line.startswith("--- data record"):
            records.append({})
        elif match and records:
            records[-1][match[1]] = match[2].strip()
    complaints = "" if dump.returncode == 0 else f"status {dump.returncode} "
    return records, complaints + dump.stderr.strip()


def ipfix_flows(records: list[dict[str, str]]) -> Flows:
    flows: Flows = Counter()
    for record in records:
        if "149" in record:
            continue  # totals
        key: Flow = (
            address(record.get("8") or record["27"]), int(record["7"]),
            address(record.get("12") or record["28"]), int(record["11"]), int(record["4"]),
            moment_ms(record["152"]), moment_ms(record["153"]),
        )  # fmt: skip
        name = record.get("96", "").partition(")")[2].strip()
        counters = [int(record[element]) for element in ("2", "1", "29305/2", "29305/1", "58", "6",
                                                         "29305/6")]  # fmt: skip
        flows[key, (*counters, *name.encode())] += 1
    return flows


def ipfix_messages(stream: bytes) -> list[bytes]:
    messages = []
    while stream:
        size = int.from_bytes(stream[2:4], "big")
        messages.append(stream[:size])
        stream = stream[size:]
    return messages


def check_ipfix(program: Program, path: Path, who: str) -> None:
    members = ("packets", "bytes", "packets_rev", "bytes_rev", "vlan_id", "tcp_flags",
               "tcp_flags_rev")  # fmt: skip
    expected: Flows = Counter()
    for record in program.records:
        ((key, counters),) = flows_of([record], *members)
        expected[key, (*counters, *record["app"].encode())] += 1
    records, complaints = ipfix_records(path)
    check(complaints == "", f"{who} has no complaint", complaints)
    check_same(ipfix_flows(records), expected, who)
    totals = [record for record in records if "149" in record]
    check(len(totals) > 0, f"{who} has the totals")
    check(int(totals[-1]["163"]) == len(program.records), f"{who}: flows in the totals", totals)
    check(int(totals[-1]["42"]) == len(program.records), f"{who}: records in the totals", totals)


def ipfix_file(program: Program, scratch: Path, _stand: str) -> None:
    path, gap = scratch / "flows.ipfix", scratch / "gap.ipfix"
    tool("ipfixDump")
    program.run("--ipfix", str(path))
    check_ipfix(program, path, "ipfixDump")
    messages = ipfix_messages(path.read_bytes())
    check(len(messages) > 3, "records enough for several messages", len(messages))
    gap.write_bytes(b"".join([*messages[:2], *messages[3:]]))
    check("sequence" in ipfix_records(gap)[1], "ipfixDump would have found a gap")


class Server(threading.Thread):
    """Takes one connection, or datagrams, until the other side is done."""

    def __init__(self, listener: socket.socket) -> None:
        super().__init__(daemon=True)
        self.listener = listener
        self.received = b""
        self.done = False
        self.start()

    def run(self) -> None:
        if self.listener.type == socket.SOCK_DGRAM:
            self.listener.settimeout(0.2)
            while not self.done:
                try:
                    while True:
                        self.received += self.listener.recv(65536)
                except TimeoutError:
                    continue
            return
        self.listener.listen()
        connection, _ = self.listener.accept()
        with connection:
            while block := connection.recv(65536):
                self.received += block

    def finish(self, size: int) -> bytes:
        """All that came; of datagrams there must be this much."""
        if self.listener.type == socket.SOCK_DGRAM:
            wait_for(f"{size} bytes in datagrams", lambda: len(self.received) >= size)
            self.done = True
        self.join(TIMEOUT_S)
        check(not self.is_alive(), "the connection ends")
        self.listener.close()
        return self.received


def server(kind: socket.SocketKind, path: Path | None = None) -> tuple[Server, str]:
    listener = socket.socket(socket.AF_UNIX if path else socket.AF_INET, kind)
    if path is None:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    listener.bind(str(path) if path else ("127.0.0.1", 0))
    if kind == socket.SOCK_STREAM:
        listener.listen()
    return Server(listener), str(path) if path else f"127.0.0.1:{listener.getsockname()[1]}"


def ipfix_tcp(program: Program, scratch: Path, _stand: str) -> None:
    path = scratch / "tcp.ipfix"
    tool("ipfixDump")
    collector, where = server(socket.SOCK_STREAM)
    program.run("--ipfix", f"tcp://{where}")
    path.write_bytes(collector.finish(0))
    check_ipfix(program, path, "ipfixDump behind TCP")


def json_everywhere(program: Program, scratch: Path, _stand: str) -> None:
    """The same lines, whatever they travel through."""
    truth = program.text.encode()
    ways = (("tcp://", socket.SOCK_STREAM, None), ("udp://", socket.SOCK_DGRAM, None),
            ("unix:", socket.SOCK_STREAM, scratch / "socket"))  # fmt: skip
    for scheme, kind, path in ways:
        collector, where = server(kind, path)
        program.run("--records", scheme + where)
        check(collector.finish(len(truth)) == truth, f"--records {scheme}: the same lines")
    shown = subprocess.run([*program.command, "--records", "-"], stdout=subprocess.PIPE,
                           timeout=TIMEOUT_S, check=True)  # fmt: skip
    check(shown.stdout == truth, "--records -: the same lines")


def several_at_once(program: Program, scratch: Path, _stand: str) -> None:
    lines, messages = scratch / "both.json", scratch / "both.ipfix"
    tool("ipfixDump")
    program.run("--records", str(lines), "--ipfix", str(messages))
    check(lines.read_text(encoding="ascii") == program.text, "the same lines beside IPFIX")
    check_ipfix(program, messages, "ipfixDump beside JSON")


def kafka(program: Program, scratch: Path, stand: str) -> None:
    if stand == "-":
        raise Missing("librdkafka")
    properties: list[str] = []
    if program.is_lull_flow():
        secrets = scratch / "kafka.properties"
        secrets.write_text("# what nobody shall see\nlinger.ms=1\n", encoding="ascii")
        properties = ["--kafka-property", "compression.type=gzip",
                      "--kafka-properties", str(secrets)]  # fmt: skip
    count = len(program.records)
    with subprocess.Popen([stand, "flows", str(count)], stdout=subprocess.PIPE, text=True) as run:
        check(run.stdout is not None, "kafka_stand starts")
        brokers = run.stdout.readline().strip() if run.stdout else ""
        program.run("--kafka", f"{brokers}/flows", *properties)
        seen, _ = run.communicate(timeout=TIMEOUT_S)
    check(run.returncode == 0, "all messages arrive", f"{len(seen.splitlines())} of {count}")
    check(Counter(seen.splitlines()) == Counter(program.text.splitlines()), "each once, unchanged")


def ipfix_settings(program: Program, scratch: Path, _stand: str) -> None:
    if not program.is_lull_flow():
        return
    one, other = scratch / "one.ipfix", scratch / "other.ipfix"
    program.run("--ipfix", str(one), "--ipfix", str(other), "--ipfix-domain", "7700", "--facts",
                "--ipfix-enterprise", "64999", "--ipfix-message", "600")  # fmt: skip
    messages = ipfix_messages(one.read_bytes())
    check({int.from_bytes(message[12:16], "big") for message in messages} == {7700}, "the domain")
    check(300 < max(map(len, messages)) <= 600, "the longest message", max(map(len, messages)))
    check((64999).to_bytes(4, "big") in messages[0], "the enterprise number", messages[0])
    check(ipfix_messages(other.read_bytes())[0][16:] == messages[0][16:], "two of one kind")
    check(len(ipfix_messages(other.read_bytes())) == len(messages), "both have all")


def refusals_of_settings(program: Program, scratch: Path, stand: str) -> None:
    if not program.is_lull_flow():
        return
    secrets = scratch / "wrong.properties"
    secrets.write_text("sasl.username=me\nmypassword\n", encoding="ascii")
    wrong = [
        (["--ipfix", "udp://a:1", "--ipfix", "udp://a:1"], "twice"),
        (["--ipfix-message", "100"], "512"),
        ([word for port in range(1, 10) for word in ("--records", f"udp://a:{port}")], "at most 8"),
        (["--kafka-property", "sasl.password=mypassword"], "--kafka-properties"),
        (["--kafka-property", "ssl.key.pem=mypassword"], "--kafka-properties"),
    ]
    if stand != "-":
        wrong += [
            (["--kafka", "a/b", "--kafka-property", "compression.type=brick"], "brick"),
            (["--kafka", "a/b", "--kafka-property", "linger"], "NAME=VALUE"),
            (["--kafka", "a/b", "--kafka-properties", str(secrets)], "line 2"),
            (["--kafka", "a/b", "--kafka-properties", str(scratch / "none")], "No such file"),
        ]
    for options, remedy in wrong:
        run = subprocess.run([*program.command, *options], capture_output=True, text=True,
                             timeout=TIMEOUT_S, check=False)  # fmt: skip
        check(run.returncode == 2 and remedy in run.stderr, f"{options}: says {remedy}", run.stderr)
        check("mypassword" not in run.stderr, f"{options}: keeps the secret", run.stderr)


def refusals(program: Program, scratch: Path, _stand: str) -> None:
    wrong = {
        ("--records", "localhost:9000"): "udp://localhost:9000",
        ("--ipfix", "127.0.0.1:4739"): "udp://127.0.0.1:4739",
        ("--ipfix", "-"): "FILE",
        ("--records", "sctp://a:1"): "tcp://",
        ("--records", "udp://::1:2055"): "brackets",
        ("--records", "tcp://localhost:0"): "65535",
        ("--records", f"{scratch}/none/file"): "No such file",
        ("--records", f"tcp://127.0.0.1:{free_port(kind=socket.SOCK_STREAM)}"): "refused",
        ("--records", "/dev/full"): "No space left",
    }
    for (option, value), remedy in wrong.items():
        run = subprocess.run([*program.command, option, value], capture_output=True, text=True,
                             timeout=TIMEOUT_S, check=False)  # fmt: skip
        check(run.returncode != 0 and remedy in run.stderr, f"{option} {value}: says {remedy}",
              run.stderr)  # fmt: skip


CASES = (refusals, refusals_of_settings, ipfix_settings, json_everywhere, ipfix_file, ipfix_tcp,
         several_at_once, nfcapd, nfacctd, kafka)


def main() -> None:
    stand, command = sys.argv[1], sys.argv[2:]
    skipped = []
    with tempfile.TemporaryDirectory() as scratch:
        program = Program(command, Path(scratch))
        for case in CASES:
            try:
                case(program, Path(scratch), stand)
                print(f"{case.__name__}: ok")
            except Missing as missing:
                skipped.append(str(missing))
                print(f"{case.__name__}: skipped, no {missing}")
    if skipped:
        skip(f"needs {' and '.join(skipped)}")


if __name__ == "__main__":
    main()
