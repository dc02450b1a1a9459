# SPDX-License-Identifier: BSD-3-Clause
"""lull-cam from its command line to its result: captures, loopback, files, what it refuses.

lull_cam.py LULL-CAM CAPTURES
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

import captures
from command import Command
from pictures import fill, gvsp_missing, png_pixels
from verdict import check, free_ports, wait_for

TIMEOUT_S = 60
SEED = 20261122
WHOLE = {
    "program", "version", "end", "settings", "machine", "duration_s", "totals", "cpu_pct",
    "steal_pct", "valid", "gap_ns", "latency_from", "fetched", "fetched_partial", "recorded",
    "streams", "findings",
}  # fmt: skip
# Of the receiving thread, where there is one of the library's.
CLASS = {"sched_policy", "sched_class", "sched_changes", "sched_forced", "run_wait_ns",
         "cpu_latency_ns"}
STREAM = {
    "name", "protocol", "frames", "partial", "reasons", "counters", "assembler", "latency_ns",
    "fetched_ns", "assembly_ns", "period_ns",
}  # fmt: skip
FIGURES = {
    "count", "mean", "min", "p50", "p90", "p99", "p995", "p999", "p9999", "p99999", "max", "bins",
}  # fmt: skip
# capture: port, what to know beforehand, frames, partial, packets, packets for no stream
VIDEO = {
    "rgb_64x48": (5004, "width=64,height=48,pixel=rgb8", 2, 0, 14, 0),
    "uyvp_64x48": (5004, "width=64,height=48,pixel=uyvy10", 2, 0, 12, 0),
    "i420_64x48": (5004, "width=64,height=48,pixel=yuv420", 2, 0, 8, 0),
    "y41b_64x48": (5004, "width=64,height=48,pixel=yuv411", 1, 0, 4, 0),
    "ayuv_64x48": (5004, "width=64,height=48,pixel=yuv444", 1, 0, 7, 0),
    "uyvy_320x240_3hdr": (5004, "width=320,height=240,pixel=uyvy8", 1, 0, 113, 0),
    "uyvy_interlaced_64x48": (5004, "width=64,height=48,pixel=uyvy8,interlaced", 2, 0, 12, 0),
    "ffmpeg_yuv422p10_64x48": (5006, "width=64,height=48,pixel=uyvy10", 2, 0, 12, 0),
    # of all but the last packet the capture has only the first IP fragment
    "uyvy_jumbo_640x64": (5004, "width=640,height=64,pixel=uyvy8", 1, 1, 1, 9),
}
WIDTH, HEIGHT = 64, 48
ROW_BYTES = 3 * WIDTH


class Running:
    """The program while it receives."""

    def __init__(self, program: str, scratch: Path, words: list[str]) -> None:
        self.process = subprocess.Popen(
            [program, *words],
            cwd=scratch,
            text=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        check(line.startswith("lull-cam: receiving "), "says that it receives", line)

    def end(self, status: int = 0) -> str:
        """What it said on stderr, a few lines: they fit into the pipe."""
        self.process.wait(timeout=TIMEOUT_S)
        assert self.process.stderr is not None
        # communicate() would lose what came along with the first line
        errors = self.process.stderr.read()
        check(self.process.returncode == status, f"exit status {status}", errors)
        return errors

    def sums_up(self) -> None:
        """In one line; before it stands that a user may have no better scheduling class."""
        said = re.sub(r"\A.* runs in the ordinary class: .*\n", "", self.end())
        check(re.fullmatch(r"lull-cam: \d+ frames, .*\n", said) is not None, "sums up", said)


class Stand(Command):
    """And captures."""

    def __init__(self, program: str, captures: str, scratch: str) -> None:
        super().__init__(program, scratch)
        self.captures = Path(captures).resolve()

    def start(self, *words: str) -> Running:
        words = (*words, "--stats", "0", "--json", "result.json")
        return Running(self.program, self.scratch, [*words])

    def written(self) -> dict[str, Any]:
        result: dict[str, Any] = json.loads((self.scratch / "result.json").read_text())
        check(result.keys() - CLASS == WHOLE, "members", result.keys() ^ WHOLE)
        for stream in result["streams"]:
            check(stream.keys() == STREAM, "members of a stream", stream.keys() ^ STREAM)
        return result

    def capture(self, name: str, stream: str, *words: str) -> dict[str, Any]:
        backend = f"pcap:{self.captures / name}.pcap"
        run = self.start("--backend", backend, "--stream", stream, *words)
        run.sums_up()
        result = self.written()
        check(result["end"] == "input", "the end of the capture", result["end"])
        return result

    def lines(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.scratch / name).read_text().splitlines()]

class Pair(Stand):
    """With lull-cam-source, and an address of its camera that no test beside this one takes."""

    def __init__(self, program: str, source: str, scratch: str) -> None:
        super().__init__(program, scratch, scratch)
        self.source = str(Path(source).resolve())
        pid = os.getpid()
        self.camera = f"127.{100 + pid % 100}.{pid // 100 % 250}.{1 + pid // 25000 % 250}"


# ---- a sender ----


def row_packet(number: int, row: int, data: bytes) -> bytes:
    """RFC 4175: one row of a picture in RGB."""
    sequence = number * HEIGHT + row
    marker = 0x80 if row == HEIGHT - 1 else 0
    rtp = struct.pack("!BBHII", 0x80, marker | 96, sequence & 0xFFFF, 3000 * number, 7)
    return rtp + struct.pack("!HHHH", sequence >> 16, len(data), row, 0) + data


def picture(camera: int, number: int) -> bytes:
    return random.Random(f"{SEED} {camera} {number}").randbytes(ROW_BYTES * HEIGHT)


def send(port: int, camera: int, numbers: range, lost: frozenset[tuple[int, int]]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for number in numbers:
            pixels = picture(camera, number)
            for row in range(HEIGHT):
                if (number, row) not in lost:
                    data = pixels[row * ROW_BYTES :][:ROW_BYTES]
                    sender.sendto(row_packet(number, row, data), ("127.0.0.1", port))
            # A picture fits into the smallest buffer; who may not ask for more gets that.
            wait_for("fetched", lambda: queued_bytes(port) == 0)


def queued_bytes(port: int) -> int:
    """That sockets on this port still hold."""
    held = 0
    for line in Path("/proc/net/udp").read_text().splitlines()[1:]:
        words = line.split()
        if int(words[1].split(":")[1], 16) == port:
            held += int(words[4].split(":")[1], 16)
    return held


VIDEO_STREAM = f"protocol=rfc4175,width={WIDTH},height={HEIGHT},pixel=rgb8,deadline=1h"

# ---- tests ----


def helps(stand: Stand) -> None:
    for option, pattern in (
        ("--help", "--stream"),
        ("--man", r"\.TP"),
        ("--version", r"\d"),
        ("--help-stream", "(?s)protocol=.*uyvy10.*policy="),
    ):
        stand.shows(option, pattern)


def refuses(stand: Stand) -> None:
    video = "protocol=rfc4175,port=5004,width=64,height=48,pixel=rgb8"
    pcap = f"--backend pcap:{stand.captures}/r4175_rgb_64x48.pcap"
    for words, pattern in (
        ("", "--backend"),
        ("--backend kernel:lo", "--stream"),
        (f"{pcap} --stream port=5004", "stream 0: protocol: missing"),
        (f"{pcap} --stream {video} --stream {video},pixe=5", "stream 1: .*pixe.*pixel"),
        (f"{pcap} --stream {video},width=many", "width: 'many'"),
        (f"{pcap} --stream {video},width=70000", "width: .*70000.*65535"),
        (f"{pcap} --stream {video},deadline", "deadline: needs a value, deadline=TIME"),
        (f"{pcap} --stream {video},pixel=rgb9", "pixel: 'rgb9'.*bayer-rg12p"),
        (f"{pcap} --stream {video},policy=oldest", "policy: .*fail-stop"),
        (f"{pcap} --stream {video},name=a/b", "name: 'a/b'"),
        (f"{pcap} --stream {video},buffers=1", "buffers: .*2..256"),
        (f"{pcap} --stream {video} --control 10.0.0.1 --cameras 2", "cameras: .*2"),
        (f"{pcap} --stream protocol=cmp --cameras 2", "cameras: .*port="),
        (f"{pcap} --stream {video},port=65535 --cameras 2", "65536"),
        (f"{pcap} --stream {video},name=a --stream {video},name=a", "name: .*0 and 1.*'a'"),
        (f"{pcap} --stream {video} --format png", "--record"),
        (f"{pcap} --stream {video} --cpu 0-1", "cpu: one"),
        (f"{pcap} --stream {video} --governor lazy", "phase"),
        (f"{pcap} --nonsense", "nonsense"),
    ):
        stand.refused(words, pattern)
    for words, pattern in (
        (f"--backend ether:lo --stream {video}", "kernel:IF.*pcap:FILE"),
        (f"--backend kernel:none9 --stream {video}", "none9"),
        (f"--backend pcap:none.pcap --stream {video}", "none.pcap"),
        (f"{pcap} --stream protocol=rtp,port=5004", "stream cam0: protocol: 'rtp'.*gvsp"),
        (f"{pcap} --stream {video},address=here", "address: 'here'"),
        (f"{pcap} --stream protocol=rfc4175,port=5004", "width, height and pixel"),
        (f"{pcap} --stream protocol=gvsp", "port: missing"),
        (f"{pcap} --stream {video} --cpu 1023", "1023"),
        (f"{pcap} --stream {video} --missing none/file", "none/file"),
        (f"{pcap} --stream {video} --record none/folder", "none/folder"),
    ):
        stand.refused(words, pattern, status=1)
    run = stand.call(*pcap.split(), "--stream", video, "--json", "-", "--missing", "-")
    check(run.returncode == 2 and "stdout" in run.stderr, "stdout once", run.stderr)


def checks_itself(stand: Stand) -> None:
    run = stand.call(
        "--backend",
        f"pcap:{stand.captures}/r4175_rgb_64x48.pcap",
        "--stream",
        "protocol=rfc4175,port=5004,width=64,height=48,pixel=rgb8",
        "--check",
    )
    check(run.returncode == 0 and run.stderr == "", "nothing wrong", run.stderr)
    check(re.search(r"^fine +capture: \d+ bytes", run.stdout) is not None, "lines", run.stdout)


def reads_captures(stand: Stand) -> None:
    for name, (port, known, frames, partial, packets, unclaimed) in VIDEO.items():
        stream = f"protocol=rfc4175,port={port},{known},name=front"
        result = stand.capture(f"r4175_{name}", stream)
        seen, totals = result["streams"][0], result["totals"]
        check(seen["name"] == "front" and seen["protocol"] == "rfc4175", "whose", seen)
        check((seen["frames"], seen["partial"]) == (frames, partial), f"frames of {name}", seen)
        check(seen["reasons"]["complete"] == frames - partial, f"complete of {name}", seen)
        check(sum(seen["reasons"].values()) == frames, f"reasons of {name}", seen)
        check(totals["pkts"] == seen["counters"]["pkts"] == packets, f"packets of {name}", totals)
        check(totals["unclaimed"] == unclaimed, f"for no stream in {name}", totals)
        check(seen["assembler"]["used"] == packets, f"used of {name}", seen)
        check((result["fetched"], result["fetched_partial"]) == (frames, partial), name, result)
        for figure in (*(seen[key] for key in seen if key.endswith("_ns")), result["gap_ns"]):
            check(figure.keys() == FIGURES, "a histogram", figure)
            check(sum(figure["bins"][1::2]) == figure["count"], "bins", figure)
            check(figure["min"] <= figure["p50"] <= figure["p99"] <= figure["max"], "order", figure)
        check(seen["latency_ns"]["count"] == frames, f"latencies of {name}", seen["latency_ns"])


def tells_what_is_missing(stand: Stand) -> None:
    for name, port, frames in (("gvsp_lossy_128x96", 34033, 12), ("gvsp_session", 54412, 7)):
        stream = f"protocol=gvsp,port={port},name=top"
        result = stand.capture(name, stream, "--missing", "missing.jsonl")
        lines = stand.lines("missing.jsonl")
        known = gvsp_missing(stand.captures / f"{name}.pcap", port, 128 * 96)
        check(len(known) > 0, "something is missing in", name)
        told = {line["key"] & 0xFFFF: line["missing"] for line in lines}
        check(told == known, f"missing in {name}", (told, known))
        check(result["streams"][0]["frames"] == frames, f"frames of {name}", result["streams"])
        check(result["streams"][0]["partial"] == len(known), name, result["streams"])
        for line in lines:
            there = line["bytes"] - sum(size for _, size in line["missing"])
            check(line["bytes_there"] == there and not line["missing_more"], "bytes there", line)
            check(line["stream"] == "top" and line["reason"] in ("deadline", "flush"), "why", line)
            check((line["width"], line["height"], line["pixel"]) == (128, 96, "mono8"), name, line)


def records_pictures(stand: Stand) -> None:
    stream = "protocol=rfc4175,port=5004,width=64,height=48,pixel=rgb8"
    stand.capture("r4175_rgb_64x48", stream, "--record", "raw")
    stand.capture("r4175_rgb_64x48", stream, "--record", "png", "--format", "png")
    raw, png = stand.lines("raw/frames.jsonl"), stand.lines("png/frames.jsonl")
    check(len(raw) == len(png) == 2, "two frames", raw)
    for one, other in zip(raw, png, strict=True):
        pixels = (stand.scratch / "raw" / one["file"]).read_bytes()
        check(len(pixels) == 64 * 48 * 3 == one["bytes"], "a picture", one)
        drawn = png_pixels((stand.scratch / "png" / other["file"]).read_bytes())
        check(drawn == (64, 48, pixels), "PNG and raw agree", other)
    grey = "protocol=gvsp,port=34033"
    stand.capture("gvsp_lossy_128x96", grey, "--record", "grey", "--format", "png")
    stand.capture("gvsp_lossy_128x96", grey, "--record", "bytes")
    for line in stand.lines("bytes/frames.jsonl"):
        pixels = (stand.scratch / "bytes" / line["file"]).read_bytes()
        file = stand.scratch / "grey" / line["file"].replace(".raw", ".png")
        width, height, seen = png_pixels(file.read_bytes())
        # what is missing is as old as the buffer, which may be another one
        same = fill(seen, pixels, line["missing"]) == pixels
        check((width, height) == (128, 96) and same, "grey PNG", line)
    yuv = "protocol=rfc4175,port=5004,width=64,height=48,pixel=uyvy10"
    result = stand.capture("r4175_uyvp_64x48", yuv, "--record", "yuv", "--format", "png")
    check(result["recorded"] == 2, "recorded", result["recorded"])
    for line in stand.lines("yuv/frames.jsonl"):
        width, height, pixels = png_pixels((stand.scratch / "yuv" / line["file"]).read_bytes())
        check((width, height, len(pixels)) == (64, 48, 64 * 48 * 3), "YUV as RGB", line)


def records_what_no_picture_shows(stand: Stand) -> None:
    """One frame of unknown pixels among others does not end a recording of pictures."""
    packets = []
    for block, code in ((1, 0x1080001), (2, 0x1080FFF), (3, 0x1080001)):
        packets += captures.gvsp(block, code, 64, 48, bytes(range(64)) * 48, 1000)
    file = captures.write(stand.scratch / "odd.pcap", [captures.udp(packet) for packet in packets])
    words = ["--stream", "protocol=gvsp,port=20202", "--record", "odd", "--format", "png"]
    errors = stand.start("--backend", file, *words).end()
    check("pixels unknown, 64 x 48: such frames are recorded raw" in errors, "says so", errors)
    names = [line["file"] for line in stand.lines("odd/frames.jsonl")]
    wanted = ["cam0-00000000.png", "cam0-00000001.raw", "cam0-00000002.png"]
    check(names == wanted, "all three", names)
    check({path.name for path in (stand.scratch / "odd").iterdir()} == {*wanted, "frames.jsonl"},
          "files", names)  # fmt: skip


def draws_formats(stand: Stand) -> None:
    """One grey in formats of any depth, and one colour by both matrices."""
    grey = {
        "Mono10": (0x1100003, "<H", 512), "Mono12": (0x1100005, "<H", 2048),
        "Mono14": (0x1100025, "<H", 8192), "Mono16": (0x1100007, "<H", 32768),
        "BayerRG12": (0x1100011, "<H", 2048), "RGB12": (0x230001A, "<HHH", 2048),
    }  # fmt: skip
    for name, (code, layout, value) in grey.items():
        pixel = struct.pack(layout, *[value] * (len(layout) - 1))
        check(drawn(stand, code, pixel * 64 * 48) == {bytes((128, 128, 128))}, name, "")
    for name, code in (("Mono12Packed", 0x10C0006), ("BayerRG12Packed", 0x10C002B)):
        check(drawn(stand, code, b"\x80\x00\x80" * 32 * 48) == {bytes((128,) * 3)}, name, "")
    check(drawn(stand, 0x10A0058, bytes((0, 2, 8, 32, 128)) * 16 * 48) == {bytes((128,) * 3)},
          "BayerRG10p", "")  # fmt: skip
    wide = drawn(stand, 0x1100007, struct.pack("<H", 2048) * 64 * 48, ",bits=12")
    check(wide == {bytes((128,) * 3)}, "bits of 16", wide)
    red = bytes((81, 90, 81, 240)) * 32 * 48  # full red of BT.601
    old, new = drawn(stand, 0x2100032, red), drawn(stand, 0x2100032, red, ",matrix=bt709")
    check(all(r > 250 and g < 5 and b < 5 for r, g, b in old), "YUYV by BT.601", old)
    check(old != new and all(r > 250 and b < 25 for r, _, b in new), "by BT.709", new)
    for code, bt709 in ((0x210003E, False), (0x2100041, True)):  # YCbCr601_422_8, YCbCr709_422_8
        check(drawn(stand, code, red) == (new if bt709 else old), "as the number says", code)
    check(drawn(stand, 0x2100041, red, ",matrix=bt601") == old, "unless told otherwise", "")


def drawn(stand: Stand, code: int, pixels: bytes, keys: str = "") -> set[bytes]:
    """The colours of a PNG of 64 x 48 pixels."""
    packets = [captures.udp(packet) for packet in captures.gvsp(1, code, 64, 48, pixels, 1400)]
    file = captures.write(stand.scratch / "format.pcap", packets)
    words = ["--stream", f"protocol=gvsp,port=20202{keys}", "--record", "drawn", "--format", "png"]
    stand.start("--backend", file, *words).end()
    _, _, rgb = png_pixels((stand.scratch / "drawn" / "cam0-00000000.png").read_bytes())
    return {rgb[at : at + 3] for at in range(0, len(rgb), 3)}


def names_cut_captures(stand: Stand) -> None:
    """Packets that are there in part are counted, and an end in the middle of one is told."""
    whole = [captures.udp(p) for p in captures.gvsp(1, 0x1080001, 64, 48, bytes(3072), 1000)]
    longer = [captures.udp(p) for p in captures.gvsp(2, 0x1080001, 64, 48, bytes(3072), 1500)]
    file = captures.write(stand.scratch / "cut.pcap", [*whole, *longer], 1100, cut_end=3)
    words = ["--stream", "protocol=gvsp,port=20202"]
    errors = stand.start("--backend", file, *words).end()
    check("2 more packets came without their end" in errors, "says so", errors)
    result = stand.written()
    check(result["totals"]["cut"] == 2, "counted", result["totals"])
    texts = [line["text"] for line in result["findings"] if line["subject"] == "capture"]
    cut = "first 1100 bytes (snaplen) of 2 packets"
    check(any(cut in text for text in texts), "snaplen", texts)
    check(any(re.search(r"ends early: .* at byte \d+", text) for text in texts), "end", texts)


def receives_two_cameras(stand: Stand) -> None:
    """Pictures over loopback, one row of one lost: it alone is not whole, and says which."""
    for backend in ("kernel:lo", "kernel-busy:lo"):
        port, lost = free_ports(2), frozenset({(5, 17)})
        run = stand.start(
            *("--backend", backend, "--cameras", "2", "--frames", "40", "--unchecked"),
            *("--stream", f"{VIDEO_STREAM},port={port},buffers=64,name=side"),
            *("--record", "two", "--missing", "missing.jsonl"),
        )
        send(port, 0, range(20), frozenset())
        send(port + 1, 1, range(20), lost)
        run.sums_up()
        result = stand.written()
        check(result["end"] == "frames" and result["fetched"] == 40, "all frames", result)
        check([each["name"] for each in result["streams"]] == ["side0", "side1"], "names", result)
        check([each["partial"] for each in result["streams"]] == [0, 1], "partial", result)
        missing = stand.lines("missing.jsonl")
        check(len(missing) == 1 and missing[0]["reason"] == "superseded", "why", missing)
        check(missing[0]["missing"] == [[17 * ROW_BYTES, ROW_BYTES]], "which row", missing)
        for line in stand.lines("two/frames.jsonl"):
            camera, number = int(line["stream"][-1]), line["number"]
            seen = (stand.scratch / "two" / line["file"]).read_bytes()
            sent = picture(camera, number)
            there = fill(seen, sent, line["missing"])
            check(there == sent, "the picture that was sent", line)


def ends_by_signal(stand: Stand) -> None:
    index = stand.scratch / "signal"
    for number in (signal.SIGINT, signal.SIGTERM):
        port = free_ports(1)
        run = stand.start(
            *("--backend", "kernel:lo", "--stream", f"{VIDEO_STREAM},port={port}", "--unchecked"),
            *("--record", "signal"),
        )
        send(port, 0, range(3), frozenset())
        wait_for("three frames", lambda: len(list(index.glob("*.raw"))) == 3)
        run.process.send_signal(number)
        run.sums_up()
        result = stand.written()
        check(result["end"] == "signal" and result["fetched"] == 3, "what there was", result)
        for file in index.iterdir():
            file.unlink()


def ends_in_time(stand: Stand) -> None:
    stream = f"{VIDEO_STREAM},port={free_ports(1)}"
    words = ["--backend", "kernel:lo", "--stream", stream, "--unchecked", "--duration", "100ms"]
    run = stand.call(*words, "--stats", "20ms", "--json", "result.json")
    # Nothing came: that is told, and the result is there all the same.
    check(run.returncode == 1 and stand.written()["end"] == "duration", "duration", run.stderr)
    check("no image: no packet came" in run.stderr, "why", run.stderr)
    check(re.search(r" s  frames 0\.0/s  partial 0 ", run.stderr) is not None, "stats", run.stderr)


def stops_by_policy(stand: Stand) -> None:
    """A recorder that hangs keeps the buffers: the stream stops, and that is an error."""
    port, pipe = free_ports(1), stand.scratch / "hang" / "cam0-00000000.raw"
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    run = stand.start(
        *("--backend", "kernel:lo", "--unchecked", "--record", "hang"),
        *("--stream", f"{VIDEO_STREAM},port={port},buffers=2,policy=fail-stop"),
    )
    # When the last ones have been fetched the first have been dealt with.
    send(port, 0, range(10), frozenset())
    reader = threading.Thread(target=pipe.read_bytes)
    reader.start()
    errors = run.end(status=1)
    reader.join(TIMEOUT_S)
    said = re.search(r"^lull-cam: stream cam0: stopped.*buffers", errors, re.M)
    check(said is not None, "why", errors)
    result = stand.written()
    check(result["end"] == "fail-stop", "the end", result["end"])
    check(result["streams"][0]["assembler"]["stopped"] > 0, "stopped", result["streams"])


def tells_of_a_full_disk(stand: Stand) -> None:
    run = stand.call(
        *("--backend", f"pcap:{stand.captures}/gvsp_lossy_128x96.pcap"),
        *("--stream", "protocol=gvsp,port=34033", "--missing", "/dev/full", "--json", "full.json"),
    )
    check(run.returncode == 1 and "/dev/full" in run.stderr, "cannot write", run.stderr)
    check(not (stand.scratch / "full.json").exists(), "no result")


TESTS: tuple[Callable[[Stand], None], ...] = (
    helps,
    refuses,
    checks_itself,
    reads_captures,
    tells_what_is_missing,
    records_pictures,
    records_what_no_picture_shows,
    draws_formats,
    names_cut_captures,
    receives_two_cameras,
    ends_by_signal,
    ends_in_time,
    stops_by_policy,
    tells_of_a_full_disk,
)


def main() -> None:
    for test in TESTS:
        with tempfile.TemporaryDirectory() as scratch:
            test(Stand(sys.argv[1], sys.argv[2], scratch))
        print(f"lull_cam: {test.__name__}: ok", flush=True)


if __name__ == "__main__":
    main()
