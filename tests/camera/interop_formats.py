# SPDX-License-Identifier: BSD-3-Clause
"""Pixel formats of GigE Vision as lull draws them and as ffmpeg does, from the same bytes.

interop_formats.py LULL-CAM
"""

from __future__ import annotations

import array
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

import captures
from pictures import png_pixels
from rights import skip
from verdict import check

TIMEOUT_S = 60
SEED = 20261128
WIDTH, HEIGHT = 64, 32
BLOCK, EDGE = 16, 3  # pixels of a side of what is alike, and of them those that see the next block
APART = 1  # of 255: ffmpeg rounds where we cut
# Cb and Cr of each pixel that has them, without a filter between pixels
EXACT = "neighbor+accurate_rnd+full_chroma_int+full_chroma_inp"


class Format(NamedTuple):
    name: str  # of GenICam
    code: int
    foreign: str  # ffmpeg's
    bits: int  # of a pixel
    used: int = 8  # bits of a sample; more than 8: in 16
    alike: bool = False  # a pixel depends on those beside it, which each program sees in its way
    matrix: str = "bt601"


FORMATS = (
    Format("Mono8", 0x01080001, "gray", 8),
    Format("Mono10", 0x01100003, "gray10le", 16, 10),
    Format("Mono12", 0x01100005, "gray12le", 16, 12),
    Format("Mono14", 0x01100025, "gray14le", 16, 14),
    Format("Mono16", 0x01100007, "gray16le", 16, 16),
    Format("RGB8", 0x02180014, "rgb24", 24),
    Format("BGR8", 0x02180015, "bgr24", 24),
    Format("RGBa8", 0x02200016, "rgba", 32),
    Format("BGRa8", 0x02200017, "bgra", 32),
    Format("RGB16", 0x02300033, "rgb48le", 48, 16),
    Format("BGR16", 0x0230004B, "bgr48le", 48, 16),
    Format("YUV422_8", 0x02100032, "yuyv422", 16, alike=True),
    Format("YUV422_8_UYVY", 0x0210001F, "uyvy422", 16, alike=True),
    Format("YCbCr709_422_8", 0x02100041, "yuyv422", 16, alike=True, matrix="bt709"),
    Format("YCbCr709_422_8_CbYCrY", 0x02100045, "uyvy422", 16, alike=True, matrix="bt709"),
    Format("BayerGR8", 0x01080008, "bayer_grbg8", 8, alike=True),
    Format("BayerRG8", 0x01080009, "bayer_rggb8", 8, alike=True),
    Format("BayerGB8", 0x0108000A, "bayer_gbrg8", 8, alike=True),
    Format("BayerBG8", 0x0108000B, "bayer_bggr8", 8, alike=True),
    Format("BayerGR16", 0x0110002E, "bayer_grbg16le", 16, 16, alike=True),
    Format("BayerRG16", 0x0110002F, "bayer_rggb16le", 16, 16, alike=True),
    Format("BayerGB16", 0x01100030, "bayer_gbrg16le", 16, 16, alike=True),
    Format("BayerBG16", 0x01100031, "bayer_bggr16le", 16, 16, alike=True),
)


def samples(form: Format, draw: random.Random, pixels: int) -> bytes:
    """Every bit of them counts."""
    size = pixels * form.bits // 8
    if form.name.startswith("Y"):  # ffmpeg turns round what is far beyond black and white
        return bytes(draw.randint(16, 235) for _ in range(size))
    if form.used == 8:
        return draw.randbytes(size)
    return array.array("H", (draw.getrandbits(form.used) for _ in range(size // 2))).tobytes()


def picture(form: Format) -> bytes:
    draw = random.Random(f"{SEED} {form.name}")
    if not form.alike:
        return samples(form, draw, WIDTH * HEIGHT)
    rows = b""
    for _ in range(HEIGHT // BLOCK):
        two = [[samples(form, draw, 2) for _ in range(WIDTH // BLOCK)] for _ in range(2)]
        pair = b"".join(b"".join(each * (BLOCK // 2) for each in row) for row in two)
        rows += pair * (BLOCK // 2)
    return rows


def drawn_here(lull_cam: str, scratch: Path, pictures: list[bytes]) -> list[bytes]:
    """All in one stream, as of a camera that is set up anew again and again."""
    packets = []
    for number, (form, pixels) in enumerate(zip(FORMATS, pictures, strict=True)):
        packets += captures.gvsp(number + 1, form.code, WIDTH, HEIGHT, pixels, 1400)
    backend = captures.write(scratch / "formats.pcap", [captures.udp(each) for each in packets])
    stream = f"protocol=gvsp,port={captures.UDP_PORT}"
    words = ["--backend", backend, "--stream", stream, "--record", str(scratch / "here"),
             "--format", "png", "--stats", "0"]  # fmt: skip
    subprocess.run([lull_cam, *words], check=True, stderr=subprocess.PIPE, timeout=TIMEOUT_S)
    files = sorted((scratch / "here").glob("*.png"))
    check(len(files) == len(FORMATS), "a picture of each format", len(files))
    return [png_pixels(file.read_bytes())[2] for file in files]


def drawn_there(scratch: Path, pictures: list[bytes]) -> list[bytes]:
    inputs: list[str] = []
    outputs: list[str] = []
    for number, (form, pixels) in enumerate(zip(FORMATS, pictures, strict=True)):
        raw = scratch / f"{number}.raw"
        raw.write_bytes(pixels)
        inputs += ["-f", "rawvideo", "-pixel_format", form.foreign]
        inputs += ["-video_size", f"{WIDTH}x{HEIGHT}", "-i", str(raw)]
        scale = f"scale=flags={EXACT}:in_color_matrix={form.matrix}:sws_dither=none,format=rgb24"
        outputs += ["-map", str(number), "-vf", scale, "-f", "rawvideo", f"{raw}.rgb"]
    command = ["ffmpeg", "-v", "error", *inputs, *outputs]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    check(ran.returncode == 0, "ffmpeg", ran.stderr)
    return [(scratch / f"{number}.raw.rgb").read_bytes() for number in range(len(pictures))]


def grey_as_rgb(pixels: bytes) -> bytes:
    """A PNG of one channel has it once."""
    return bytes(value for value in pixels for _ in range(3))


def differ(form: Format, here: bytes, there: bytes) -> int:
    """The largest distance of any two bytes."""
    if len(here) * 3 == len(there):
        here = grey_as_rgb(here)
    check(len(here) == len(there) == WIDTH * HEIGHT * 3, form.name, (len(here), len(there)))
    inside = range(EDGE, BLOCK - EDGE) if form.alike else range(BLOCK)
    pixels = [y * WIDTH + x for y in range(HEIGHT) for x in range(WIDTH)
              if y % BLOCK in inside and x % BLOCK in inside]  # fmt: skip
    return max(abs(here[3 * at + channel] - there[3 * at + channel])
               for at in pixels for channel in range(3))  # fmt: skip


def main() -> None:
    if shutil.which("ffmpeg") is None:
        skip("needs ffmpeg")
    pictures = [picture(form) for form in FORMATS]
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        here = drawn_here(sys.argv[1], scratch, pictures)
        there = drawn_there(scratch, pictures)
    apart = {
        form.name: differ(form, one, other)
        for form, one, other in zip(FORMATS, here, there, strict=True)
    }
    print("\n".join(f"{form}: {distance} of 255 apart" for form, distance in apart.items()))
    wrong = [form for form, distance in apart.items() if distance > APART]
    check(not wrong, "as ffmpeg draws it", wrong)


main()
