# SPDX-License-Identifier: BSD-3-Clause
"""A lull-cam that only shows: it speaks --view with pictures, losses and figures of its own.

As a program: fake_lull_cam.py --view PATH [--cameras N] [--frames N]. Whatever
else lull-cam takes is ignored, but for `--backend bad:`, which it refuses as
lull-cam refuses what it does not know.
"""

import argparse
import asyncio
import contextlib
import io
import json
import math
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from PIL import Image

from lull.view import wire as view_wire

WIDTH, HEIGHT = 1920, 1280
BYTES = WIDTH * HEIGHT * 3 // 2
COLORS = ((200, 30, 30), (30, 160, 60), (40, 70, 200), (200, 160, 30))
TICK_S = 0.02
STATISTICS_S = 0.1


def color(stream: int, number: int) -> tuple[int, int, int]:
    """Each picture is of one colour: even ones that of the camera, odd ones the half of it."""
    red, green, blue = COLORS[stream % len(COLORS)]
    return (red, green, blue) if number % 2 == 0 else (red // 2, green // 2, blue // 2)


def jpeg(stream: int, number: int, width: int, quality: int = 80) -> bytes:
    picture = Image.new("RGB", (width, width * HEIGHT // WIDTH), color(stream, number))
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=quality)
    return out.getvalue()


def image(stream: int, number: int, partial: bool, width: int) -> dict[str, Any]:
    """The header; of a partial frame, rows 300..399 and a piece of row 400 are missing."""
    missing = [[0, 300, WIDTH, 100], [0, 400, 960, 1]] if partial else []
    return {
        "type": "image", "stream": stream, "number": number, "key": 7 * number,
        "reason": "deadline" if partial else "complete", "damaged": False, "width": WIDTH,
        "height": HEIGHT, "pixel": "bayer-rg12p", "view_width": width,
        "view_height": width * HEIGHT // WIDTH, "bytes": BYTES,
        "bytes_there": BYTES - (288_000 + 1440 if partial else 0), "missing": missing,
        "missing_more": False, "latency_us": 12.5,
    }


def statistics(t: float, cameras: int, frames: int) -> dict[str, Any]:
    bins = [[round(2 * 1.1**i, 3), round(100 * math.exp(-((i - 12) ** 2) / 30))]
            for i in range(40)]
    return {
        "type": "statistics", "t": t, "cpu_percent": 23.5, "steal_percent": 0.4,
        "pkts_s": 76_800.0, "missed": 3,
        "streams": [{
            "index": index, "frames": frames, "partial": frames // 10, "fps": 30.0,
            "mbit_s": 884.7, "duplicates": 1, "late": 2, "missing_bytes": 290_880,
            "latency_us": {"p50": 6.2, "p99": 31.0, "max": 88.0}, "latency_bins": bins,
        } for index in range(cameras)],
    }


class FakeLullCam:
    """The program on a socket; what its clients wrote is kept."""

    def __init__(self, path: Path, cameras: int = 2, tick_s: float = TICK_S) -> None:
        self.path = path
        self.cameras = cameras
        self.tick_s = tick_s
        self.lines: list[Any] = []
        self.sent = 0
        self.connections = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._work: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator["FakeLullCam"]:
        server = await asyncio.start_unix_server(self._client, self.path)
        try:
            yield self
        finally:
            server.close()
            for writer in list(self._writers):
                writer.close()
            for task in list(self._work):
                task.cancel()
            await asyncio.gather(*self._work, return_exceptions=True)
            self.path.unlink(missing_ok=True)

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.add(writer)
        for work in (self._listen(reader, writer), self._show(writer)):
            task = asyncio.create_task(work)
            self._work.add(task)
            task.add_done_callback(self._work.discard)

    async def _listen(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while line := await reader.readline():
                try:
                    self.lines.append(json.loads(line))
                except ValueError:
                    writer.write(view_wire.pack({"type": "error", "text": "no JSON"}))
                    continue
                if self.lines[-1].get("rate", 1) > 120:
                    writer.write(view_wire.pack({"type": "error", "text": "rate: at most 120"}))

    async def _show(self, writer: asyncio.StreamWriter) -> None:
        streams = [{"index": index, "name": f"cam{index}", "protocol": "gvsp"}
                   for index in range(self.cameras)]
        writer.write(view_wire.pack({
            "type": "hello", "version": 1, "program": "lull-cam 0.1.0", "backend": "kernel:lo",
            "streams": streams}))
        loop = asyncio.get_running_loop()
        number, told = 0, 0.0
        with contextlib.suppress(ConnectionError):
            while not writer.is_closing():
                width = self.lines[-1].get("width", 640) if self.lines else 640
                for stream in range(self.cameras):
                    writer.write(view_wire.pack(image(stream, number, number % 10 == 9, width),
                                                jpeg(stream, number, width)))
                if loop.time() - told >= STATISTICS_S:
                    told = loop.time()
                    writer.write(view_wire.pack(statistics(told, self.cameras, number)))
                await writer.drain()
                number += 1
                self.sent = number
                await asyncio.sleep(self.tick_s)
        self._writers.discard(writer)


async def show(path: Path, cameras: int, frames: int) -> int:
    fake = FakeLullCam(path, cameras)
    async with fake.serving():
        while frames == 0 or fake.sent < frames:
            await asyncio.sleep(TICK_S)
    if frames:
        print("lull-cam: stream cam0: the camera went away", file=sys.stderr)
    return 1 if frames else 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--view", type=Path, required=True)
    parser.add_argument("--cameras", type=int, default=2)
    parser.add_argument("--frames", type=int, default=0)
    parser.add_argument("--backend", default="")
    chosen, _ = parser.parse_known_args()
    if chosen.backend.startswith("bad:"):
        print("lull-cam: backend: bad: not a back end", file=sys.stderr)
        return 2
    return asyncio.run(show(chosen.view, chosen.cameras, chosen.frames))


if __name__ == "__main__":
    sys.exit(main())
