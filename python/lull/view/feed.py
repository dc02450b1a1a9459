# SPDX-License-Identifier: BSD-3-Clause
"""View feed: what lull-cam says, handed on to any number of browsers.

A browser that is slow gets fewer pictures: of each camera only the newest one
waits for it, and no more than IN_FLIGHT are on their way that it has not
drawn.
"""

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lull.errors import LullError
from lull.view import wire as view_wire
from lull.view.recent import RecentOfAll

IN_FLIGHT = 2
HISTORY = 240  # statistics: two minutes
ERRORS_MOST = 8
CONNECT_S = 0.1
AGAIN_S = 0.5
DEFAULTS = {"width": 640, "rate": 15, "quality": 80}
UNSEEN = {"rate": 0}  # nobody looks
RANGES = {"width": (16, 8192), "rate": (1, 120), "quality": (1, 100)}  # all of which lull-cam takes


class Mailbox:
    """What one browser has yet to be sent."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._errors: deque[str] = deque(maxlen=ERRORS_MOST)
        self._images: dict[int, bytes] = {}
        self._under_way: dict[int, int] = {}
        self._changed = asyncio.Event()

    def put_text(self, kind: str, text: str) -> None:
        """A text takes the place of an older one of its kind."""
        if kind == "error":
            self._errors.append(text)
        else:
            self._texts.pop(kind, None)
            self._texts[kind] = text
        self._changed.set()

    def put_image(self, stream: int, image: bytes) -> None:
        """An image takes the place of an older one of its camera."""
        self._images.pop(stream, None)
        self._images[stream] = image
        self._changed.set()

    def drawn(self, stream: int) -> None:
        """The browser is done with an image; of a camera that it was sent nothing of, nothing."""
        if self._under_way.get(stream, 0) > 0:
            self._under_way[stream] -= 1
            self._changed.set()

    async def next(self) -> str | bytes:
        """What is to be sent now."""
        while True:
            if self._texts:
                return self._texts.pop(next(iter(self._texts)))
            if self._errors:
                return self._errors.popleft()
            for stream in self._images:
                if self._under_way.get(stream, 0) < IN_FLIGHT:
                    self._under_way[stream] = self._under_way.get(stream, 0) + 1
                    return self._images.pop(stream)
            self._changed.clear()
            await self._changed.wait()


class Feed:
    """The connection to lull-cam, and who is told of it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._boxes: set[Mailbox] = set()
        self._writer: asyncio.StreamWriter | None = None
        self._last: dict[str, str] = {}
        self._images: dict[int, bytes] = {}
        self._history: deque[dict[str, Any]] = deque(maxlen=HISTORY)
        self._recent = RecentOfAll()
        self.settings = dict(DEFAULTS)
        self.hello = asyncio.Event()
        self.say("receiver", "waiting", f"waiting for lull-cam at {path}")

    @contextlib.contextmanager
    def subscription(self) -> Iterator[Mailbox]:
        """A mailbox that gets everything from now on, and what stands already."""
        box = Mailbox()
        for kind, text in self._last.items():
            box.put_text(kind, text)
        box.put_text("settings", self._settings_text())
        box.put_text("history", json.dumps({"type": "history", "points": list(self._history)}))
        for stream, image in self._images.items():
            box.put_image(stream, image)
        self._boxes.add(box)
        self._ask()
        try:
            yield box
        finally:
            self._boxes.discard(box)
            self._ask()

    def say(self, who: str, state: str, text: str) -> None:
        """How the receiver or a sender is: waiting, live, ended or failed."""
        self._tell(who, json.dumps({"type": who, "state": state, "text": text}))

    def change(self, wanted: dict[str, Any], asker: Mailbox) -> None:
        """Settings of the previews, which all browsers share; who asks for what cannot be is told,
        and nothing changes.
        """
        known = {key: value for key, value in wanted.items() if key in RANGES}
        for key, value in known.items():
            least, most = RANGES[key]
            if type(value) is not int or not least <= value <= most:
                asker.put_text("error", json.dumps({
                    "type": "error", "text": f"{key}: a whole number from {least} to {most}"}))
                return
        self.settings.update(known)
        for box in self._boxes:
            box.put_text("settings", self._settings_text())
        self._ask()

    async def run(self) -> None:
        """Connect, and connect again, until cancelled."""
        while True:
            try:
                reader, self._writer = await asyncio.open_unix_connection(self._path)
            except OSError:
                await asyncio.sleep(CONNECT_S)
                continue
            try:
                await self._receive(reader)
            except LullError as error:
                self._tell("error", json.dumps({"type": "error", "text": str(error)}))
            finally:
                self._writer.close()
                self._writer = None
            self.say("receiver", "waiting", f"lull-cam has closed {self._path}; waiting for it")
            await asyncio.sleep(AGAIN_S)

    async def _receive(self, reader: asyncio.StreamReader) -> None:
        self._ask()
        while (message := await view_wire.read(reader)) is not None:
            try:
                self._take(message)
            except (LookupError, TypeError, ValueError, AttributeError) as error:
                raise LullError(f"lull-cam sent a message of type '{message.kind}' that is not "
                                f"understood ({error!r}): are both of the same version?") from None

    def _take(self, message: view_wire.Message) -> None:
        if message.kind == "image":
            self._images[message.stream] = message.packed()
            for box in self._boxes:
                box.put_image(message.stream, self._images[message.stream])
        elif message.kind == "statistics":
            statistics = self._recent.look(message.header)
            self._history.append(_without_bins(statistics))
            self._tell("statistics", json.dumps(statistics))
        else:
            if message.kind == "hello":
                self._welcome(message)
            self._tell(message.kind, message.text())

    def _welcome(self, message: view_wire.Message) -> None:
        """A new lull-cam: what the one before showed is over."""
        self._images.clear()
        self._history.clear()
        self._recent = RecentOfAll()
        self._last.pop("statistics", None)
        self.say("receiver", "live", f"{message.header.get('program', 'lull-cam')} receives")
        self.hello.set()

    def _tell(self, kind: str, text: str) -> None:
        if kind != "error":
            self._last[kind] = text
        for box in self._boxes:
            box.put_text(kind, text)

    def _settings_text(self) -> str:
        return json.dumps({"type": "settings", **self.settings})

    def _ask(self) -> None:
        """Tell lull-cam how large, how often and how good previews are to be."""
        if self._writer is not None and not self._writer.is_closing():
            wanted = self.settings if self._boxes else UNSEEN
            self._writer.write(json.dumps(wanted).encode() + b"\n")


def _without_bins(statistics: dict[str, Any]) -> dict[str, Any]:
    """What the lines over time need; histograms are large."""
    streams = [{key: value for key, value in stream.items() if key != "latency_bins"}
               for stream in statistics["streams"]]
    return {**statistics, "streams": streams}
