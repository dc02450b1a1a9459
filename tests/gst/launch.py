# SPDX-License-Identifier: BSD-3-Clause
"""lullcamerasrc in pipelines of gst-launch-1.0, beside lull-cam and foreign senders.

launch.py PLUGIN LULL-CAM LULL-CAM-SOURCE CAPTURES
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "camera"))

import captures
from rights import skip
from verdict import Failure, check, free_ports

TIMEOUT_S = 60
NEEDED = ("videotestsrc", "videoconvert", "rtpvrawpay", "udpsink", "filesink", "pngenc")
# capture: port, protocol, what to know
CAPTURES = {
    "r4175_rgb_64x48": (5004, "rfc4175", "width=64,height=48,pixel=rgb8"),
    "r4175_uyvp_64x48": (5004, "rfc4175", "width=64,height=48,pixel=uyvy10"),
    "r4175_ayuv_64x48": (5004, "rfc4175", "width=64,height=48,pixel=yuv444"),
    "r4175_uyvy_320x240_3hdr": (5004, "rfc4175", "width=320,height=240,pixel=uyvy8"),
    "r4175_uyvy_interlaced_64x48": (5004, "rfc4175", "width=64,height=48,pixel=uyvy8,interlaced"),
    "r4175_ffmpeg_yuv422p10_64x48": (5006, "rfc4175", "width=64,height=48,pixel=uyvy10"),
}
# GStreamer's name, ours, width, height: what rtpvrawpay sends
FOREIGN = (
    ("UYVY", "uyvy8", 160, 120),
    ("RGB", "rgb8", 63, 47),
    ("BGRA", "bgra8", 61, 48),
    ("I420", "yuv420", 64, 48),
    ("Y41B", "yuv411", 64, 48),
    ("UYVP", "uyvy10", 64, 48),
)
FRAMES = 4


class Running:
    """A pipeline that plays."""

    def __init__(self, stand: Stand, pipeline: str, *options: str) -> None:
        self.log = stand.scratch / "launch.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                ["gst-launch-1.0", "-m", *options, *pipeline.split()],
                cwd=stand.scratch,
                env=stand.env,
                stdout=log,
                stderr=log,
            )

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def playing(self) -> None:
        """From here on a live source takes what comes."""
        end = time.monotonic() + TIMEOUT_S
        pattern = r'from element "pipeline0" \(state-changed\).*new-state=\(GstState\)playing'
        # without a first buffer its sink is not there yet, but the source is
        source = r'from element "lullcamerasrc\d+" \(state-changed\).*new-state=\(GstState\)playing'
        while not re.search(f"{pattern}|{source}", self.said()):
            check(self.process.poll() is None, "plays", self.said())
            check(time.monotonic() < end, "plays in time", self.said())
            time.sleep(0.01)

    def end(self, status: int = 0) -> str:
        try:
            self.process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failure(f"a pipeline does not end: {self.said()}") from None
        check(self.process.returncode == status, f"exit status {status}", self.said())
        return self.said()


class Stand:
    """What is tested, and an empty directory to call it in."""

    def __init__(self, scratch: str) -> None:
        plugin, lull_cam, source, captures = (Path(word).resolve() for word in sys.argv[1:5])
        self.lull_cam, self.source, self.captures = lull_cam, source, captures
        self.scratch = Path(scratch)
        self.env = dict(
            os.environ,
            GST_PLUGIN_PATH=str(plugin.parent),
            GST_REGISTRY=str(plugin.parent / "registry.bin"),
            G_DEBUG="fatal-criticals",
        )

    def call(self, *words: str | Path) -> str:
        run = subprocess.run(
            words, cwd=self.scratch, env=self.env, timeout=TIMEOUT_S, check=False,
            capture_output=True, text=True,
        )  # fmt: skip
        check(run.returncode == 0, " ".join(map(str, words)), run.stdout + run.stderr)
        return run.stdout + run.stderr

    def launch(self, pipeline: str) -> str:
        return Running(self, pipeline).end()

    def recorded(self, *words: str | Path) -> bytes:
        """What lull-cam makes of the same, one picture after the other."""
        shutil.rmtree(self.scratch / "record", ignore_errors=True)
        self.call(self.lull_cam, *words, "--record", "record", "--stats", "0")
        return b"".join(each.read_bytes() for each in sorted(self.scratch.glob("record/*.raw")))

    def bytes_of(self, name: str) -> bytes:
        return (self.scratch / name).read_bytes()


# ---- tests ----


def is_inspected(stand: Stand) -> None:
    said = stand.call("gst-inspect-1.0", "lullcamerasrc")
    for word in ("backend", "stream", "drop-partial", "statistics", "rggb12le", "UYVP", "BSD"):
        check(word in said, f"gst-inspect-1.0 names {word}", said)


def gives_what_lull_cam_records(stand: Stand) -> None:
    for name, (port, protocol, known) in CAPTURES.items():
        backend = f"pcap:{stand.captures / name}.pcap"
        stream = f"protocol={protocol},port={port},{known}"
        said = stand.launch(
            f"lullcamerasrc backend={backend} stream={stream} ! filesink location=out.raw"
        )
        check("lull-frame" not in said, f"{name} is whole", said)
        same = stand.recorded("--backend", backend, "--stream", stream)
        check(len(same) > 0 and stand.bytes_of("out.raw") == same, f"the bytes of {name}")


def tells_what_is_missing(stand: Stand) -> None:
    backend = f"pcap:{stand.captures}/gvsp_lossy_128x96.pcap"
    said = stand.launch(
        f"lullcamerasrc backend={backend} stream=protocol=gvsp,port=34033 ! fakesink"
    )
    stand.recorded(
        *("--backend", backend, "--stream", "protocol=gvsp,port=34033"),
        *("--missing", "missing.jsonl"),
    )
    told = {
        int(number): [int(each) for each in spans.split(",")]
        for number, spans in re.findall(
            r"lull-frame, number=\(guint64\)(\d+).*missing=\(guint64\)< ([\d, ]+) >", said
        )
    }
    lines = map(json.loads, (stand.scratch / "missing.jsonl").read_text().splitlines())
    known = {line["number"]: [each for span in line["missing"] for each in span] for line in lines}
    check(len(known) > 0 and told == known, "missing", (told, known))


def draws_as_documented(stand: Stand) -> None:
    """The pipeline in docs/camera.md, on a capture of the tree."""
    docs = stand.captures.parents[2] / "docs" / "camera.md"
    shown = re.search(r"\$ (gst-launch-1.0 lullcamerasrc(?:.*\\\n)*.*)", docs.read_text())
    check(shown is not None, "a pipeline in", docs)
    assert shown is not None
    words = shlex.split(shown[1].replace("tests/data/camera", str(stand.captures)))
    stand.call(*words)
    check(stand.bytes_of("camera.png").startswith(b"\x89PNG\r\n"), "a picture")


def sender(port: int) -> str:
    """All foreign formats at once, each picture also to a file."""
    return " ".join(
        f"videotestsrc num-buffers={FRAMES} pattern=ball ! video/x-raw,format={name},"
        f"width={width},height={height},framerate=20/1 ! tee name=t{i} "
        f"t{i}. ! queue ! filesink location=sent{i}.raw "
        f"t{i}. ! queue ! videoconvert ! video/x-raw,format=BGRx ! filesink location=shown{i}.raw "
        f"t{i}. ! queue ! rtpvrawpay mtu=1400 ! udpsink host=127.0.0.1 port={port + i}"
        for i, (name, _, width, height) in enumerate(FOREIGN)
    )


def receiver(port: int) -> str:
    return " ".join(
        "lullcamerasrc backend=kernel:lo unchecked=true "
        f"stream=protocol=rfc4175,port={port + i},width={width},height={height},pixel={ours},"
        f"deadline=60s num-buffers={FRAMES} ! tee name=t{i} "
        f"t{i}. ! queue ! filesink location=got{i}.raw "
        f"t{i}. ! queue ! videoconvert ! video/x-raw,format=BGRx ! filesink location=seen{i}.raw"
        for i, (_, ours, width, height) in enumerate(FOREIGN)
    )


def receives_from_rtpvrawpay(stand: Stand) -> None:
    port = free_ports(len(FOREIGN))
    run = Running(stand, receiver(port))
    run.playing()
    stand.call("gst-launch-1.0", "-q", *sender(port).split())
    run.end()
    for i, (name, _, width, _) in enumerate(FOREIGN):
        check(stand.bytes_of(f"shown{i}.raw") == stand.bytes_of(f"seen{i}.raw"), f"{name} as shown")
        # else rows end with bytes that nobody has written
        if width % 4 == 0:
            same = stand.bytes_of(f"sent{i}.raw") == stand.bytes_of(f"got{i}.raw")
            check(same, f"{name} as sent")


def unpacked(picture: bytes) -> bytes:
    """12 bits packed, least significant first, in 16 each."""
    out = bytearray()
    for i in range(0, len(picture), 3):
        low, middle, high = picture[i : i + 3]
        out += bytes((low, middle & 0xF, middle >> 4 | (high & 0xF) << 4, high >> 4))
    return bytes(out)


def receives_bayer_of_12_bits(stand: Stand) -> None:
    port, words = free_ports(2), "width=128,height=40,pixel=bayer-rg12p,deadline=60s"
    camera = [
        str(stand.source), "--protocol", "gvsp", "--bind", "127.0.0.1", "--to",
        f"127.0.0.1:{port}", "--control-port", str(port + 1), "--width", "128", "--height", "40",
        "--pixel", "bayer-rg12p", "--frames", str(FRAMES), "--rate", "20", "--stats", "0",
    ]  # fmt: skip
    run = Running(
        stand,
        f"lullcamerasrc backend=kernel:lo unchecked=true num-buffers={FRAMES} "
        f"stream=protocol=gvsp,port={port},{words} "
        "! video/x-bayer,format=rggb12le ! filesink location=bayer.raw",
    )
    run.playing()
    stand.call(*camera)
    run.end()
    # the source makes the same pictures each time
    cam = subprocess.Popen(
        [str(stand.lull_cam), "--backend", "kernel:lo", "--unchecked", "--stats", "0", "--stream",
         f"protocol=gvsp,port={port},{words}", "--frames", str(FRAMES), "--record", "again"],
        cwd=stand.scratch, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert cam.stderr is not None
    check("receiving" in cam.stderr.readline(), "lull-cam receives")
    stand.call(*camera)
    cam.communicate(timeout=TIMEOUT_S)
    frames = [each.read_bytes() for each in sorted(stand.scratch.glob("again/*.raw"))]
    check(len(frames) == FRAMES and len(set(frames)) == FRAMES, "frames that differ", len(frames))
    same = b"".join(unpacked(each) for each in frames)
    check(stand.bytes_of("bayer.raw") == same, "samples of 12 bits")


def names_the_matrix(stand: Stand) -> None:
    """Of YUV, as the number of the format tells it; matrix= has the last word."""
    packets = captures.gvsp(1, 0x2100041, 64, 48, bytes(64 * 48 * 2), 1400)  # YCbCr709_422_8
    file = captures.write(stand.scratch / "yuv.pcap", [captures.udp(each) for each in packets])
    for keys, matrix in (("", "bt709"), (",matrix=bt601", "bt601")):
        stream = f"protocol=gvsp,port={captures.UDP_PORT}{keys}"
        caps = f"video/x-raw,format=YUY2,colorimetry={matrix}"
        stand.launch(f"lullcamerasrc backend={file} stream={stream} ! {caps} "
                     "! filesink location=yuv.raw")  # fmt: skip
        check(stand.bytes_of("yuv.raw") == bytes(64 * 48 * 2), f"a picture by {matrix}")


def ends_by_signal(stand: Stand) -> None:
    """Without packets, and with -e, which sends an end through the pipeline."""
    for options in ((), ("-e",)):
        stream = f"protocol=gvsp,port={free_ports(1)}"
        line = f"lullcamerasrc backend=kernel:lo unchecked=true stream={stream} ! fakesink"
        run = Running(stand, line, *options)
        run.playing()
        run.process.send_signal(signal.SIGINT)
        said = run.end()
        check("handling interrupt" in said, "is interrupted", said)


def leaks_nothing(stand: Stand) -> None:
    stand.env.update(GST_TRACERS="leaks", GST_DEBUG="GST_TRACER:7", GST_DEBUG_NO_COLOR="1")
    name, port = "r4175_uyvy_320x240_3hdr", 5004
    stream = f"protocol=rfc4175,port={port},width=320,height=240,pixel=uyvy8"
    line = f"lullcamerasrc backend=pcap:{stand.captures / name}.pcap stream={stream}"
    for rest in ("fakesink", "videoconvert ! video/x-raw,format=RGB ! queue ! fakesink"):
        said = stand.launch(f"{line} ! {rest}")
        check("format string: object-alive" in said, "the tracer is on", said)
        alive = re.findall(r"object-alive, type-name=\(string\)[^%].*", said)
        check(not alive, "nothing is alive in the end", alive)


TESTS: tuple[Callable[[Stand], None], ...] = (
    is_inspected,
    gives_what_lull_cam_records,
    tells_what_is_missing,
    draws_as_documented,
    receives_from_rtpvrawpay,
    receives_bayer_of_12_bits,
    names_the_matrix,
    ends_by_signal,
    leaks_nothing,
)


def why_not() -> str:
    """What is missing for these tests; "" when nothing is."""
    if sys.argv[1] == "none":
        return "a build with GStreamer"
    if shutil.which("gst-launch-1.0") is None or shutil.which("gst-inspect-1.0") is None:
        return "gstreamer1.0-tools"
    for element in NEEDED:
        known = subprocess.run(["gst-inspect-1.0", "--exists", element], check=False)
        if known.returncode != 0:
            return f"{element} (gstreamer1.0-plugins-base, gstreamer1.0-plugins-good)"
    return ""


def main() -> None:
    reason = why_not()
    if reason:
        skip(f"needs {reason}")
    for test in TESTS:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as scratch:
            test(Stand(scratch))
        print(f"launch: {test.__name__}: ok ({time.monotonic() - begin:.1f} s)", flush=True)


if __name__ == "__main__":
    main()
