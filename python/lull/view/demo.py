# SPDX-License-Identifier: BSD-3-Clause
"""View demo: a sender on loopback, and what lull-cam must be told to receive it.

Four kinds of real senders; none needs a network card, a camera or root.
"""

import shutil
import socket
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace

from lull.errors import LullError
from lull.program.child import find_program

HOST = "127.0.0.1"
RATE = 30
PORTS_TRIED = 64
CAMERAS_MOST = 32
# Loopback carries 64 KiB; with headers these fit the 8 KiB that the kernel reckons for them.
PACKET_BYTES = 7600
# Sender, receiver and browser share this machine: nothing is said about a network by this.
DEADLINE = "deadline=100ms"
PACE_BITS = 500_000_000  # of the packets of a picture
PATTERNS = (
    "pattern=smpte", "pattern=zone-plate kx2=9 ky2=9 kt=3", "pattern=ball", "pattern=pinwheel",
    "pattern=smpte horizontal-speed=4", "pattern=spokes", "pattern=snow", "pattern=colors",
)
FFMPEG_SOURCES = ("testsrc2", "mandelbrot", "testsrc", "smptehdbars")
ARAVIS = "arv-fake-gv-camera-0.8"


SO_RCVBUFFORCE = 33
ROOMY_BYTES = 4 << 20


@dataclass(frozen=True)
class Demo:
    """Who sends, and how it is received."""

    words: str
    receiver: list[str]
    senders: list[list[str]]
    sender_first: bool = False


def plan(kind: str, cameras: int, lose_percent: float) -> Demo:
    """The demo of a kind; "auto" is GStreamer where it is installed."""
    if kind == "auto":
        kind = "gstreamer" if gstreamer_is_there() else "lull"
    if lose_percent > 0 and kind not in ("gstreamer", "lull"):
        raise LullError(f"--lose: {kind} cannot lose packets; take --demo lull", 2)
    if cameras > 1 and kind == "aravis":
        raise LullError("--cameras: the fake camera of aravis is one", 2)
    demo = KINDS[kind](cameras, lose_percent)
    # What the self-check would refuse is known: pictures are small for that.
    return demo if is_roomy() else replace(demo, receiver=[*demo.receiver, "--unchecked"])


def is_roomy() -> bool:
    """Does the kernel grant a socket buffer that holds large pictures? To root it does."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOMY_BYTES)
        except PermissionError:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ROOMY_BYTES)
        return probe.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) >= ROOMY_BYTES


def _size(width: int, height: int) -> tuple[int, int]:
    """Half of it each way where buffers are small."""
    return (width, height) if is_roomy() else (width // 2, height // 2)


def gstreamer_is_there() -> bool:
    """Both the program and the element that makes RTP of raw video."""
    inspect = shutil.which("gst-inspect-1.0")
    return (inspect is not None and shutil.which("gst-launch-1.0") is not None
            and subprocess.run([inspect, "--exists", "rtpvrawpay"], check=False,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               ).returncode == 0)


def gstreamer(cameras: int, lose_percent: float) -> Demo:
    """Pictures of videotestsrc, as RTP (RFC 4175) by rtpvrawpay."""
    program = _need("gst-launch-1.0", "gstreamer1.0-tools gstreamer1.0-plugins-good")
    width, height = _size(640, 480)
    first = free_ports(2 * cameras)
    lose = f"identity drop-probability={lose_percent / 100:g} !" if lose_percent > 0 else ""
    words: list[str] = []
    for camera in range(cameras):
        words += (f"videotestsrc is-live=true {PATTERNS[camera % len(PATTERNS)]} ! "
                  f"video/x-raw,format=RGB,width={width},height={height},framerate={RATE}/1 ! "
                  f"rtpvrawpay mtu={PACKET_BYTES} ! {lose} "
                  f"udpsink host={HOST} port={first + 2 * camera} sync=false "
                  f"max-bitrate={PACE_BITS}").split()
    streams = _rtp_streams(cameras, first, f"width={width},height={height},pixel=rgb8", "gst")
    return Demo("GStreamer: videotestsrc ! rtpvrawpay ! udpsink", streams,
                [[program, "-q", *words]])


def ffmpeg(cameras: int, _lose_percent: float) -> Demo:
    """Pictures of ffmpeg's test sources, as RTP by its own muxer."""
    program = _need("ffmpeg", "ffmpeg")
    width, height = _size(640, 480)
    first = free_ports(2 * cameras)
    senders = []
    for camera in range(cameras):
        source = FFMPEG_SOURCES[camera % len(FFMPEG_SOURCES)]
        senders.append([program, "-nostdin", "-loglevel", "error", "-re", "-f", "lavfi", "-i",
                        f"{source}=size={width}x{height}:rate={RATE}", "-pix_fmt", "uyvy422",
                        "-c:v", "rawvideo", "-f", "rtp", "-rtpflags", "skip_rtcp",
                        f"rtp://{HOST}:{first + 2 * camera}?pkt_size={PACKET_BYTES}"])
    streams = _rtp_streams(cameras, first, f"width={width},height={height},pixel=uyvy8", "ffmpeg")
    return Demo("ffmpeg: -f rtp, rawvideo", streams, senders)


def aravis(_cameras: int, _lose_percent: float) -> Demo:
    """The fake GigE Vision camera of aravis, controlled by lull-cam."""
    program = _need(ARAVIS, "aravis-tools")
    return Demo("aravis: its fake GigE Vision camera",
                ["--backend", "kernel:lo", "--stream", f"protocol=gvsp,control={HOST},"
                 f"name=aravis0,packet-bytes={PACKET_BYTES},{DEADLINE}"],
                [[program, "-i", "lo"]], sender_first=True)


def lull(cameras: int, lose_percent: float) -> Demo:
    """Our own camera in software: a 12-bit Bayer sensor over GVSP."""
    width, height = _size(960, 640)
    first = free_ports(cameras)
    sender = [str(find_program("lull-cam-source")), "--protocol", "gvsp", "--bind", HOST,
              "--to", f"{HOST}:{first}", "--cameras", str(cameras), "--apart", "ports",
              "--width", str(width), "--height", str(height), "--pixel", "bayer-rg12p",
              "--pattern", "bars", "--packet", str(PACKET_BYTES), "--rate", str(RATE),
              "--pace", "spread:20ms", "--lose", str(round(lose_percent * 10_000)),
              "--control-port", str(free_ports(cameras)), "--stats", "0"]
    streams = []
    for camera in range(cameras):
        streams += ["--stream", f"protocol=gvsp,port={first + camera},address={HOST},"
                    f"name=lull{camera},width={width},height={height},pixel=bayer-rg12p,"
                    f"{DEADLINE}"]
    return Demo("lull-cam-source: 12-bit Bayer over GVSP", ["--backend", "kernel:lo", *streams],
                [sender])


KINDS: dict[str, Callable[[int, float], Demo]] = {
    "gstreamer": gstreamer, "ffmpeg": ffmpeg, "aravis": aravis, "lull": lull,
}


def free_ports(count: int) -> int:
    """The first of so many UDP ports in a row that nobody has."""
    for _ in range(PORTS_TRIED):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind((HOST, 0))
            first = probe.getsockname()[1] & ~1
        if all(_is_free(port) for port in range(first, first + count)):
            return int(first)
    raise LullError(f"no {count} UDP ports in a row are free on {HOST}: ask for fewer cameras")


def _is_free(port: int) -> bool:
    if port >= 1 << 16:
        return False
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def _rtp_streams(cameras: int, first: int, picture: str, name: str) -> list[str]:
    """RTP ports are even: the one above is for RTCP."""
    words = ["--backend", "kernel:lo"]
    for camera in range(cameras):
        words += ["--stream", f"protocol=rfc4175,port={first + 2 * camera},address={HOST},"
                  f"name={name}{camera},{picture},{DEADLINE}"]
    return words


def _need(program: str, packages: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise LullError(f"{program} is not installed: apt-get install {packages}, or take "
                        "--demo lull")
    return path
