# SPDX-License-Identifier: BSD-3-Clause
"""How GStreamer and ffmpeg keep a picture in memory, and what RFC 4175 makes of it.

Written from the formats' definitions, not from lull: receivers are judged by it.
"""

from __future__ import annotations

from collections.abc import Callable

GREY = 128  # of what a sender cuts off at the right edge


def up(value: int, step: int) -> int:
    return -(-value // step) * step


def rows_of(plane: bytes, stride: int, used: int, height: int) -> list[bytes]:
    return [plane[row * stride :][:used] for row in range(height)]


def even(bits_per_pixel: int, group: int) -> Callable[[bytes, int, int], bytes]:
    """Pixels that lie in memory as on the wire, rows padded to 4 bytes."""

    def wire(picture: bytes, width: int, height: int) -> bytes:
        used = width * bits_per_pixel // 8
        stride = up(-(-width * bits_per_pixel // 8), 4)
        lack = up(width * bits_per_pixel, group * 8) // 8 - used
        return b"".join(
            row + bytes([GREY]) * lack for row in rows_of(picture, stride, used, height)
        )

    return wire


def ayuv(picture: bytes, _width: int, _height: int) -> bytes:
    """Cb Y Cr of Alpha Y Cb Cr."""
    pixels = len(picture) // 4
    out = bytearray(3 * pixels)
    out[0::3], out[1::3], out[2::3] = picture[2::4], picture[1::4], picture[3::4]
    return bytes(out)


def i420(picture: bytes, width: int, height: int) -> bytes:
    """2 x 2 pixels: Y00 Y01 Y10 Y11 Cb Cr; even widths."""
    stride, lines = up(width, 4), up(height, 2)
    chroma_stride = up(up(width, 2) // 2, 4)
    luma = rows_of(picture, stride, width, lines)
    rest = picture[stride * lines :]
    planes = [
        rows_of(rest[at * chroma_stride * lines // 2 :], chroma_stride, width // 2, lines // 2)
        for at in (0, 1)
    ]
    out = bytearray()
    for pair in range(lines // 2):
        row = bytearray(3 * width)
        row[0::6], row[1::6] = luma[2 * pair][0::2], luma[2 * pair][1::2]
        row[2::6], row[3::6] = luma[2 * pair + 1][0::2], luma[2 * pair + 1][1::2]
        row[4::6], row[5::6] = planes[0][pair], planes[1][pair]
        out += row
    return bytes(out)


def y41b(picture: bytes, width: int, height: int) -> bytes:
    """4 pixels: Cb Y0 Y1 Cr Y2 Y3; widths of whole groups."""
    stride, chroma_stride = up(width, 4), up(width, 16) // 4
    luma = rows_of(picture, stride, width, height)
    rest = picture[stride * height :]
    blue = rows_of(rest, chroma_stride, width // 4, height)
    red = rows_of(rest[chroma_stride * height :], chroma_stride, width // 4, height)
    out = bytearray()
    for y in range(height):
        row = bytearray(width * 6 // 4)
        row[0::6], row[3::6] = blue[y], red[y]
        row[1::6], row[2::6] = luma[y][0::4], luma[y][1::4]
        row[4::6], row[5::6] = luma[y][2::4], luma[y][3::4]
        out += row
    return bytes(out)


def yuv422p10(picture: bytes, width: int, height: int) -> bytes:
    """Cb Y0 Cr Y1 of 10 bits, from planes of 16-bit samples, little endian."""
    planes = memoryview(picture).cast("H")
    luma, half = planes[: width * height], width * height // 2
    blue = planes[width * height :][:half]
    red = planes[width * height + half :][:half]
    out = bytearray()
    for i in range(half):
        group = blue[i] << 30 | luma[2 * i] << 20 | red[i] << 10 | luma[2 * i + 1]
        out += group.to_bytes(5, "big")
    return bytes(out)


# a name of GStreamer -> bytes of a picture in memory, and its wire form
MEMORY_BYTES: dict[str, Callable[[int, int], int]] = {
    "uyvy": lambda width, height: up(width * 2, 4) * height,
    "uyvp": lambda width, height: up((width * 10 + 3) // 4, 4) * height,
    "rgb": lambda width, height: up(width * 3, 4) * height,
    "bgr": lambda width, height: up(width * 3, 4) * height,
    "rgba": lambda width, height: width * 4 * height,
    "bgra": lambda width, height: width * 4 * height,
    "ayuv": lambda width, height: width * 4 * height,
    "i420": lambda width, height: (
        up(width, 4) * up(height, 2) + up(up(width, 2) // 2, 4) * up(height, 2)
    ),
    "y41b": lambda width, height: (up(width, 4) + 2 * (up(width, 16) // 4)) * height,
}
WIRE: dict[str, Callable[[bytes, int, int], bytes]] = {
    "uyvy": even(16, 4),
    "uyvp": even(20, 5),
    "rgb": even(24, 3),
    "bgr": even(24, 3),
    "rgba": even(32, 4),
    "bgra": even(32, 4),
    "ayuv": ayuv,
    "i420": i420,
    "y41b": y41b,
}
