# SPDX-License-Identifier: BSD-3-Clause
"""lull-cam-source over loopback: its packets, its pictures, its faults and their log, its control.

Packets are read here by the letter of the protocols, not by the code that wrote them.
"""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from verdict import check, free_port, wait_for

TIMEOUT_S = 20
HOME = "127.0.0.1"
CAMERA = "127.0.0.2"  # no socket of this test takes the port it is going to bind
WIDTH, HEIGHT = 66, 33
FAULT_FRAMES = 15
GROUPS_STEP, WINDOWS, TWIST = 61, 1024, 257
RANDOM_PORT = 0
BAYER_RG12P = 0x010c0059

Span = tuple[int, int]
Event = dict[str, Any]


def counter_bytes(frame: int, count: int, samples: int, group_bytes: int, bits: int) -> bytes:
    """The counter pattern as the manual tells it; bits 8: bytes, 12: two samples in three bytes."""
    begin = frame % WINDOWS * GROUPS_STEP * samples
    values = [(s + TWIST * (s >> bits)) & ((1 << bits) - 1)
              for s in range(begin, begin + count // group_bytes * samples)]
    if bits == 8:
        return bytes(values)
    packed = bytearray()
    for low, high in zip(values[::2], values[1::2], strict=True):
        packed += (low | high << 12).to_bytes(3, "little")
    return bytes(packed)


class Receiver:
    """A socket whose datagrams are kept until the sender has ended.

    What a part of this test sends fits into the socket's usual buffer, however late we come.
    """

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((HOME, RANDOM_PORT))
        self.socket.settimeout(0.2)
        self.port: int = self.socket.getsockname()[1]
        self.packets: list[bytes] = []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.collect, daemon=True)
        self.thread.start()

    def collect(self) -> None:
        while True:
            try:
                self.packets.append(self.socket.recv(65536))
            except TimeoutError:
                if self.over.is_set():
                    return

    def end(self) -> list[bytes]:
        self.over.set()
        self.thread.join()
        self.socket.close()
        return self.packets


class Program(subprocess.Popen[str]):
    """Ends with the test, however that ends."""

    def __init__(self, command: list[str]) -> None:
        super().__init__(command, stderr=subprocess.PIPE, text=True)

    def __exit__(self, *reason: Any) -> None:
        self.kill()
        super().__exit__(*reason)


class Trial:
    """The program and a folder for what it writes."""

    def __init__(self, program: str, scratch: str) -> None:
        self.program = program
        self.scratch = Path(scratch)
        self.log = self.scratch / "log.jsonl"
        self.json = self.scratch / "result.json"

    def command(self, *options: object) -> list[str]:
        """On one CPU: loopback keeps the order of packets only there."""
        return [self.program, "--width", str(WIDTH), "--height", str(HEIGHT), "--rate", "200",
                "--pace", "spread:4ms", "--cpus", str(min(os.sched_getaffinity(0))),
                "--log", str(self.log), "--json", str(self.json), *map(str, options)]

    def result(self) -> dict[str, Any]:
        result: dict[str, Any] = json.loads(self.json.read_text(encoding="utf-8"))
        return result

    def events(self, *kinds: str) -> list[Event]:
        lines = self.log.read_text(encoding="utf-8").splitlines()
        return [event for event in map(json.loads, lines) if event["event"] in kinds]

    def send(self, *options: object) -> list[bytes]:
        receiver = Receiver()
        run = subprocess.run(self.command("--to", f"{HOME}:{receiver.port}", *options), check=False,
                             capture_output=True, text=True, timeout=TIMEOUT_S)
        packets = receiver.end()
        check(run.returncode == 0, f"ends well with {options}", run.stderr)
        return packets


# ---- RFC 4175 ----

def rtp_lines(packet: bytes, stride: int) -> tuple[int, int, bool, list[tuple[int, bytes]]]:
    """Sequence number, time, marker, and (offset in the picture, bytes) of 4:2:2 with 8 bit."""
    first, second, sequence, stamp, _source = struct.unpack_from("!BBHII", packet)
    check(first == 0x80, "version of RTP", first)
    at, headers = 14, []
    more = True
    while more:
        length, line, column = struct.unpack_from("!HHH", packet, at)
        more = column & 0x8000 != 0
        headers.append((length, line & 0x7fff, column & 0x7fff))
        at += 6
    pieces = []
    for length, line, column in headers:
        pieces.append((line * stride + column * 2, packet[at:at + length]))
        at += length
    check(at == len(packet), "a packet ends with its lines", len(packet))
    return sequence, stamp, second & 0x80 != 0, pieces


def gaps(pieces: list[tuple[int, bytes]], size: int) -> list[Span]:
    """What no piece covers, as (offset, bytes)."""
    found, at = [], 0
    for offset, data in sorted(pieces):
        if offset > at:
            found.append((at, offset - at))
        at = max(at, offset + len(data))
    return found + ([(at, size - at)] if at < size else [])


def joined(spans: list[list[int]]) -> list[Span]:
    out: list[Span] = []
    for offset, count in sorted(spans):
        if out and sum(out[-1]) == offset:
            out[-1] = (out[-1][0], out[-1][1] + count)
        else:
            out.append((offset, count))
    return out


def rfc4175(trial: Trial) -> None:
    size = WIDTH * HEIGHT * 2
    packets = trial.send("--packet", 500, "--frames", 10, "--first-packet", 65530)
    pieces: dict[int, list[tuple[int, bytes]]] = {}
    for number, packet in enumerate(packets):
        sequence, stamp, marker, found = rtp_lines(packet, WIDTH * 2)
        check(sequence == (65530 + number) & 0xffff, "packets count up", (number, sequence))
        check(len(packet) <= 500, "no packet is too long", len(packet))
        pieces.setdefault(stamp, []).extend(found)
        check(marker == (sum(len(data) for _, data in pieces[stamp]) == size), "marker at the end")
    check(sorted(pieces) == [450 * n for n in range(10)], "times count up", sorted(pieces))
    for stamp, found in pieces.items():
        picture = b"".join(data for _, data in sorted(found))
        check(gaps(found, size) == [], "pictures are whole")
        check(picture == counter_bytes(stamp // 450, size, 4, 4, 8), f"picture at {stamp}")
    result = trial.result()
    check(result["packets"] == len(packets) and result["frames"] == 10, "counts", result)
    check(result["bytes"] == sum(map(len, packets)), "counts bytes", result["bytes"])
    check(result["end"] == "frames" and trial.events("lose") == [], "nothing went wrong", result)


def segments(trial: Trial) -> None:
    """Cut apart by the kernel or one by one: the same packets, too large ones included."""
    for size in (500, 1400, 9000):
        options = ("--packet", size, "--frames", 3, "--pace", "burst", "--seed", 3,
                   "--lose", 20000)
        one, cut = (trial.send(*options, *more) for more in ((), ("--segment",)))
        check(len(one) > 3 and one == cut, "segments are packets", size)


def faults(trial: Trial) -> None:
    """What the log says is missing is what is missing, to the byte."""
    size = WIDTH * HEIGHT * 2
    options = ("--packet", 300, "--frames", FAULT_FRAMES, "--lose", 210000, "--duplicate", 50000,
               "--reorder", "50000,3", "--late", "20000,3ms", "--seed", 7)
    packets = trial.send(*options)
    lost = trial.events("lose")
    log = trial.log.read_text(encoding="utf-8")
    result = trial.result()
    for kind, key in (("lose", "lost"), ("duplicate", "duplicated"), ("reorder", "reordered"),
                      ("late", "late")):
        check(0 < result[key] == len(trial.events(kind)), f"logs what is {key}", result[key])
    seen = Counter(rtp_lines(packet, WIDTH * 2)[0] for packet in packets)
    for event in lost:
        check(seen[event["number"]] == 0, "a lost packet was sent", event)
    twice = {event["number"] for event in trial.events("duplicate")}
    check({number for number, times in seen.items() if times == 2} == twice, "sent twice")
    pieces: dict[int, list[tuple[int, bytes]]] = {450 * n: [] for n in range(FAULT_FRAMES)}
    for packet in packets:
        _, stamp, _, found = rtp_lines(packet, WIDTH * 2)
        pieces[stamp].extend(found)
    for stamp, found in pieces.items():
        missing = joined([span for event in lost if event["key"] == stamp
                          for span in event["bytes"]])
        check(gaps(found, size) == missing, f"missing at {stamp}", missing)
        whole = counter_bytes(stamp // 450, size, 4, 4, 8)
        check(all(data == whole[at:at + len(data)] for at, data in found), "bytes in their place")
    trial.send(*options)
    check(trial.log.read_text(encoding="utf-8") == log, "one seed, the same faults")


# ---- GigE Vision ----

class Client:
    """The other end of the control protocol."""

    def __init__(self, port: int) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((HOME, RANDOM_PORT))
        self.camera = (CAMERA, port)
        self.id = 0

    def ask(self, code: int, data: bytes = b"", flags: int = 1,
            times: int = 1) -> tuple[int, bytes]:
        """Status and content of the answer; asks so many times, as the camera may not be up."""
        self.id += 1
        message = struct.pack("!BBHHH", 0x42, flags, code, len(data), self.id) + data
        self.socket.settimeout(TIMEOUT_S / times)
        for _ in range(times):
            self.socket.sendto(message, self.camera)
            if flags & 1 == 0:
                return 0, b""
            answer = self.answer()
            if answer:
                status, about, size, _number = struct.unpack_from("!HHHH", answer)
                check(about == code + 1 and size == len(answer) - 8, "an answer", answer.hex())
                return status, answer[8:]
        sys.exit(f"cam_source: no answer to {code:#x}")

    def answer(self) -> bytes:
        """The answer to the last question, not another one to those before; empty: none came."""
        try:
            while True:
                answer = self.socket.recv(1000)
                if struct.unpack_from("!H", answer, 6)[0] == self.id:
                    return answer
        except TimeoutError:
            return b""

    def discover(self) -> bytes:
        status, device = self.ask(0x02, times=4 * TIMEOUT_S)
        check(status == 0 and len(device) == 248, "answers discovery", device.hex())
        return device

    def control(self, heartbeat_ms: int) -> bool:
        """Take it, and set how long we may be silent."""
        return self.write(0x0a00, 2) == 0 and self.write(0x0938, heartbeat_ms) == 0

    def request(self, block: int, first: int, last: int, extended: bool) -> None:
        if extended:
            self.ask(0x40, struct.pack("!HHIIQ", 0, 0, first, last, block), flags=0x10)
        else:
            self.ask(0x40, struct.pack("!HHII", 0, block, first, last), flags=0)

    def read(self, address: int) -> int:
        status, data = self.ask(0x80, struct.pack("!I", address))
        check(status == 0, f"reads {address:#x}", status)
        value: int = struct.unpack("!I", data)[0]
        return value

    def write(self, address: int, value: int) -> int:
        return self.ask(0x82, struct.pack("!II", address, value))[0]

    def memory(self, address: int, size: int) -> bytes:
        out = b""
        while len(out) < size:
            part = min(512, (size - len(out) + 3) & ~3)
            status, data = self.ask(0x84, struct.pack("!II", address + len(out), part))
            check(status == 0 and len(data) == part + 4, "reads memory", status)
            out += data[4:]
        return out[:size]


def start(client: Client, port: int, extended: bool) -> None:
    device = client.discover()
    check(device[36:40] == socket.inet_aton(CAMERA), "its address", device[36:40])
    check(device[72:76] == b"lull", "its maker", device[72:104])
    check(client.write(0x0d00, port) == 0x8006, "only who has control may write")
    wait_for("control", lambda: client.control(1000 * 3600))
    stranger = Client(client.camera[1])
    check(stranger.write(0x0a00, 2) == 0x8006, "gives control once")
    url = client.memory(0x0200, 64).split(b"\0")[0].decode()
    place, address, size = url.split(";")
    check(place.startswith("Local:"), "where the description is", url)
    xml = client.memory(int(address, 16), int(size, 16))
    check(b"AcquisitionStart" in xml and xml.endswith(b"</RegisterDescription>\n"), "describes")
    check(client.read(0x0934) & 4 == 4, "can send again")
    check(client.write(0x0100, 1) == 0x8004, "the width is fixed")
    check(client.ask(0x0098)[0] == 0x8001, "knows what it does not know")
    check(client.write(0x0d04, 528) == 0 and client.read(0x0d04) == 528, "takes a packet size")
    if extended:
        check(client.write(0x0960, 0x40000000) == 0, "takes 64 bit ids")
    client.write(0x0d18, struct.unpack("!I", socket.inet_aton(HOME))[0])
    client.write(0x0d00, port)
    check(client.write(0x0124, 1) == 0, "starts")


def gvsp_packet(packet: bytes, extended: bool) -> tuple[int, int, int, int, bytes]:
    """Block, packet, format, status (resent: 0x100) and content."""
    status, block, word = struct.unpack_from("!HHI", packet)
    if not extended:
        return block, word & 0xffffff, word >> 24, status, packet[8:]
    check(word >> 31 == 1, "says that ids are long", packet[:20].hex())
    long_block, number = struct.unpack_from("!QI", packet, 8)
    return long_block, number, word >> 24 & 0x7f, status or block << 8, packet[20:]


def gvsp(trial: Trial, extended: bool) -> None:
    size, head = WIDTH * HEIGHT * 3 // 2, 20 if extended else 8
    control = free_port(CAMERA)
    command = trial.command("--protocol", "gvsp", "--bind", CAMERA, "--control-port", control,
                            "--frames", 5, "--lose", "65534/2-3,65535/0", "--linger", "1h",
                            "--first", 65533, "--memory", 4)
    receiver = Receiver()
    with Program(command) as run:
        client = Client(control)
        start(client, receiver.port, extended)
        blocks = [n + 1 if extended else n % 65535 + 1 for n in range(65533, 65538)]
        per_frame = 2 + -(-size // (500 - head))
        wait_for("all packets but those lost", lambda: len(receiver.packets) >= 5 * per_frame - 3)
        for block, first, last in ((blocks[1], 2, 3), (blocks[2], 0, 0)):
            client.request(block, first, last, extended)
        wait_for("answers to requests", lambda: len(receiver.packets) >= 5 * per_frame)
        client.request(9, 1, 1, extended)
        wait_for("says what it has no more", lambda: len(receiver.packets) > 5 * per_frame)
        run.send_signal(signal.SIGTERM)
        _, stderr = run.communicate(timeout=TIMEOUT_S)
        check(run.returncode == 0, "ends well by a signal", stderr)
    packets = [gvsp_packet(packet, extended) for packet in receiver.end()]
    check(packets[-1][3] == 0x800c, "gone", packets[-1])
    check([packet[:2] for packet in packets if packet[3] == 0x100] ==
          [(blocks[1], 2), (blocks[1], 3), (blocks[2], 0)], "resent what was lost", packets)
    for number, block in enumerate(blocks):
        mine = sorted(packet for packet in packets[:-1] if packet[0] == block)
        check([packet[1] for packet in mine] == list(range(per_frame)), f"block {block} is whole")
        check([packet[2] for packet in mine] == [1] + [3] * (per_frame - 2) + [2], "formats")
        check(struct.unpack_from("!III", mine[0][4], 12) == (BAYER_RG12P, WIDTH, HEIGHT), "leader")
        picture = b"".join(packet[4] for packet in mine[1:-1])
        check(picture == counter_bytes(65533 + number, size, 2, 3, 12), f"picture {number}")
    result = trial.result()
    check(result["end"] == "signal" and result["lost"] == 3, "counts losses", result)
    check(result["resend_requests"] == 3 and result["resend_answered"] == 3 and
          result["resend_gone"] == 1, "counts answers", result)
    check([event["packet"] for event in trial.events("lose")] == [2, 3, 0], "logs losses")
    check([event["packet"] for event in trial.events("resent")] == [2, 3, 0], "logs answers")


def heartbeat(trial: Trial) -> None:
    """A client that falls silent loses the camera, and another one gets it."""
    control = free_port(CAMERA)
    command = trial.command("--protocol", "gvsp", "--bind", CAMERA, "--control-port", control)
    with Program(command) as run:
        silent, other = Client(control), Client(control)
        silent.discover()
        wait_for("control", lambda: silent.control(500))
        wait_for("the camera is free again", lambda: other.write(0x0a00, 2) == 0)
        check(silent.write(0x0938, 500) == 0x8006, "who was silent has no control any more")
        run.send_signal(signal.SIGINT)
        _, stderr = run.communicate(timeout=TIMEOUT_S)
        check(run.returncode == 0, "ends well", stderr)
    check(trial.result()["cameras"][0]["control"]["timeouts"] >= 1, "counts it")


# ---- mistakes ----

def mistakes(trial: Trial) -> None:
    for options, sentence, *status in (
            (["--to", "here"], "to: 'here' is not ADDRESS:PORT"),
            ([], "to: where shall the packets go?"),
            (["--protocol", "cmp"], "interface: cmp and rvf are sent on one, name it"),
            (["--protocol", "cmp", "--interface", "none0"], "interface: there is no 'none0'", 1),
            (["--protocol", "gvsp", "--to", f"{HOME}:9"], "bind: gvsp needs the address"),
            (["--to", f"{HOME}:9", "--pace", "slow"], "pace: 'slow' is not burst"),
            (["--to", f"{HOME}:9", "--lose", "2M"], "lose: '2M' is not parts per million"),
            (["--to", f"{HOME}:9", "--reorder", "5"], "reorder: '5' is not PPM,DEPTH"),
            (["--to", f"{HOME}:9", "--late", "5,3"], "late: '5,3' is not PPM,TIME"),
            (["--protocol", "cmp", "--interface", "lo", "--segment"], "segment: the kernel cuts"),
            (["--to", f"{HOME}:9", "--row-bytes", "10"], "row-bytes: 10 bytes do not hold"),
            (["--protocol", "gvsp", "--bind", HOME, "--pixel", "uyvy10"], "gvsp cannot carry", 1),
            (["--to", f"{HOME}:9", "--log", "/nowhere/x"], "log: cannot write '/nowhere/x'", 1)):
        run = subprocess.run([trial.program, *options], capture_output=True, text=True,
                             timeout=TIMEOUT_S, check=False)
        check([run.returncode] == (status or [2]), f"exit status, {sentence}", run.returncode)
        check(sentence in run.stderr and run.stderr.count("\n") == 1, f"says '{sentence}'",
              run.stderr)


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        trial = Trial(sys.argv[1], scratch)
        mistakes(trial)
        rfc4175(trial)
        segments(trial)
        faults(trial)
        gvsp(trial, extended=False)
        gvsp(trial, extended=True)
        heartbeat(trial)


main()
