# SPDX-License-Identifier: BSD-3-Clause
"""lull view: what comes from lull-cam reaches browsers, and never more than they draw."""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from fake_lull_cam import BYTES, COLORS, FakeLullCam, color, image, jpeg
from lull.errors import LullError
from lull.view import feed as view_feed
from lull.view import wire as view_wire
from lull.view.feed import Feed, Mailbox
from lull.view.recent import LOOKS, Recent
from view_stand import TIMEOUT_S, browsing, until

ANYWHERE = "0.0.0.0:0"


@pytest.fixture
def path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="lull-") as folder:
        yield Path(folder) / "view"


@contextlib.asynccontextmanager
async def feeding(path: Path) -> AsyncIterator[Feed]:
    feed = Feed(path)
    task = asyncio.create_task(feed.run())
    try:
        yield feed
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def first(browser: aiohttp.ClientWebSocketResponse, kind: str, **members: Any) -> Any:
    """The next message of a kind with these members; images as (header, body)."""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            message = await browser.receive()
            assert message.type in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY), message
            body = b""
            if message.type == aiohttp.WSMsgType.BINARY:
                (length,) = view_wire.HEADER_LENGTH.unpack_from(message.data)
                header = json.loads(message.data[4:4 + length])
                body = message.data[4 + length:]
                await browser.send_json({"drawn": header["stream"]})
            else:
                header = json.loads(message.data)
            if header["type"] == kind and members.items() <= header.items():
                return (header, body) if body else header


# ---- wire ----


def read(*pieces: bytes) -> list[view_wire.Message]:
    async def work() -> list[view_wire.Message]:
        reader = asyncio.StreamReader()
        for piece in pieces:
            reader.feed_data(piece)
        reader.feed_eof()
        found = []
        while (message := await view_wire.read(reader)) is not None:
            found.append(message)
        return found

    return asyncio.run(work())


def test_messages_are_read_however_they_are_cut() -> None:
    whole = view_wire.pack({"type": "hello"}) + view_wire.pack({"type": "image", "stream": 3},
                                                               b"JPEG")
    for cut in (1, 7, 8, 20, len(whole) - 1):
        hello, picture = read(whole[:cut], whole[cut:])
        assert (hello.kind, hello.body) == ("hello", b"")
        assert (picture.kind, picture.stream, picture.body) == ("image", 3, b"JPEG")


def test_a_message_that_ends_early_is_the_end() -> None:
    whole = view_wire.pack({"type": "hello"}, b"body")
    assert read(whole[:-1]) == []


@pytest.mark.parametrize("junk", [
    b"\xff\xff\xff\xff\x00\x00\x00\x00", b"\x00\x00\x00\x02\xff\xff\xff\xff{}",
    b"\x00\x00\x00\x02\x00\x00\x00\x00[]", b"\x00\x00\x00\x02\x00\x00\x00\x00{]",
    b"\x00\x00\x00\x01\x00\x00\x00\x00\xff",
])
def test_what_is_not_spoken_by_lull_cam_is_refused(junk: bytes) -> None:
    with pytest.raises(LullError, match="not what lull-cam --view speaks"):
        read(junk)


# ---- mailbox ----


async def drain(box: Mailbox) -> list[str | bytes]:
    """All that may be sent at once."""
    found: list[str | bytes] = []
    with contextlib.suppress(TimeoutError):
        while True:
            found.append(await asyncio.wait_for(box.next(), 0.05))
    return found


def test_only_the_newest_image_of_each_camera_waits() -> None:
    box = Mailbox()
    for number in range(50):
        box.put_image(0, b"a%d" % number)
        box.put_image(1, b"b%d" % number)
    assert asyncio.run(drain(box)) == [b"a49", b"b49"]


def test_no_more_images_are_under_way_than_the_browser_draws() -> None:
    async def work() -> None:
        box = Mailbox()
        sent: list[str | bytes] = []
        for number in range(50):
            box.put_image(0, b"%d" % number)
            if number < 5:
                sent += await drain(box)
        assert sent == [b"0", b"1"]
        assert await drain(box) == []
        box.drawn(0)
        assert await drain(box) == [b"49"]
        box.put_image(1, b"other camera")
        assert await drain(box) == [b"other camera"]

    asyncio.run(work())


def test_texts_go_first_and_replace_older_ones_of_their_kind() -> None:
    box = Mailbox()
    box.put_image(0, b"image")
    box.put_text("statistics", "old")
    box.put_text("hello", "hello")
    box.put_text("statistics", "new")
    for number in range(view_feed.ERRORS_MOST + 3):
        box.put_text("error", f"error {number}")
    assert asyncio.run(drain(box)) == [
        "hello", "new", *(f"error {number}" for number in range(3, 11)), b"image"]


# ---- recent latency ----


def test_percentiles_are_those_of_the_last_seconds() -> None:
    recent = Recent()
    bins: dict[float, int] = {}

    def look(**add: int) -> dict[str, float]:
        for name, count in add.items():
            low = float(name[1:])
            bins[low] = bins.get(low, 0) + count
        return recent.add([[low, count] for low, count in bins.items()])

    assert look() == {}
    assert look(_8=100) == {"p50": 9.0, "p99": 9.0}
    assert look(_8=97, _800=3) == {"p50": 9.0, "p99": 900.0}
    for _ in range(LOOKS):
        slow = look(_8=100)
    assert slow == {"p50": 9.0, "p99": 9.0}
    for _ in range(LOOKS):
        slow = look()
    assert slow == {}
    bins.clear()
    assert look(_16=10) == {"p50": 18.0, "p99": 18.0}


# ---- feed and server ----


def test_a_browser_sees_what_lull_cam_shows(path: Path) -> None:
    async def work() -> None:
        async with FakeLullCam(path).serving(), feeding(path) as feed, browsing(feed) as client:
            await feed.hello.wait()
            async with client.ws_connect("/live") as browser:
                hello = await first(browser, "hello")
                assert [stream["name"] for stream in hello["streams"]] == ["cam0", "cam1"]
                statistics = await first(browser, "statistics")
                assert statistics["streams"][1]["latency_bins"]
                header, body = await first(browser, "image", stream=1, reason="complete")
                assert body == jpeg(1, header["number"], header["view_width"])
                assert color(1, 0) == COLORS[1]
                header, _ = await first(browser, "image", reason="deadline")
                assert header == image(header["stream"], header["number"], True,
                                       header["view_width"])
                assert header["bytes"] == BYTES > header["bytes_there"]

    asyncio.run(work())


def test_who_comes_later_gets_what_stands_and_the_past_without_histograms(path: Path) -> None:
    async def work() -> None:
        async with FakeLullCam(path).serving(), feeding(path) as feed, browsing(feed) as client:
            async with client.ws_connect("/live") as browser:
                for _ in range(4):
                    await first(browser, "statistics")
            async with client.ws_connect("/live") as browser:
                seen: dict[str, Any] = {}
                async with asyncio.timeout(TIMEOUT_S):
                    while not {"hello", "receiver", "settings", "history"} <= seen.keys():
                        text = json.loads(await browser.receive_str())
                        seen[text["type"]] = text
                assert seen["receiver"]["state"] == "live"
                assert seen["settings"] == {"type": "settings", **view_feed.DEFAULTS}
                assert len(seen["history"]["points"]) >= 4
                for point in seen["history"]["points"]:
                    assert {"latency_us", "recent_us", "fps"} <= point["streams"][0].keys()
                    assert "latency_bins" not in point["streams"][0]

    asyncio.run(work())


def test_a_browser_that_draws_nothing_holds_nobody_up(path: Path) -> None:
    async def kinds(browser: aiohttp.ClientWebSocketResponse) -> list[str]:
        """What comes until the tenth statistics."""
        found: list[str] = []
        async with asyncio.timeout(TIMEOUT_S):
            while found.count("statistics") < 10:
                message = await browser.receive()
                text = message.type == aiohttp.WSMsgType.TEXT
                found.append(json.loads(message.data)["type"] if text else "image")
        return found

    async def work() -> None:
        fake = FakeLullCam(path, tick_s=0)
        async with (fake.serving(), feeding(path) as feed, browsing(feed) as client,
                    client.ws_connect("/live") as lazy, client.ws_connect("/live") as eager):
            for _ in range(30):
                await first(eager, "image", stream=0)
            assert (await kinds(lazy)).count("image") == fake.cameras * view_feed.IN_FLIGHT

    asyncio.run(work())


def test_settings_go_to_lull_cam_and_to_all_browsers(path: Path) -> None:
    async def work() -> None:
        fake = FakeLullCam(path)
        async with fake.serving(), feeding(path) as feed, browsing(feed) as client:
            await until(lambda: view_feed.UNSEEN in fake.lines)
            async with client.ws_connect("/live") as one, client.ws_connect("/live") as other:
                await until(lambda: view_feed.DEFAULTS in fake.lines)
                for wrong in ({"width": 1}, {"width": 9000, "rate": 9}, {"quality": "high"},
                              {"rate": True}, {"rate": 0}, {"quality": 101}):
                    await one.send_json(wrong)
                    assert "a whole number from" in (await first(one, "error"))["text"]
                await one.send_json({"width": 320, "else": 1})
                await first(other, "settings", width=320, quality=80, rate=15)
                await until(lambda: fake.lines[-1] == {"width": 320, "rate": 15, "quality": 80})
                await first(other, "image", view_width=320)
                await one.send_str("no JSON")
                await one.send_str("[1]")
                assert all(line in (view_feed.DEFAULTS, view_feed.UNSEEN, {
                    **view_feed.DEFAULTS, "width": 320}) for line in fake.lines)
            await until(lambda: fake.lines[-1] == view_feed.UNSEEN)
        assert fake.connections == 1

    asyncio.run(work())


def test_lull_cam_may_go_and_come_back(path: Path) -> None:
    async def work() -> None:
        async with (feeding(path) as feed, browsing(feed) as client,
                    client.ws_connect("/live") as browser):
            assert (await first(browser, "receiver"))["state"] == "waiting"
            async with FakeLullCam(path).serving():
                await first(browser, "receiver", state="live")
                await first(browser, "image")
            gone = await first(browser, "receiver", state="waiting")
            assert "has closed" in gone["text"]
            async with FakeLullCam(path, cameras=3).serving():
                assert len((await first(browser, "hello"))["streams"]) == 3

    asyncio.run(work())


@pytest.mark.parametrize(("said", "told"), [
    (b"HTTP/1.1 400 Bad Request\r\n\r\n", "not what lull-cam --view speaks"),
    (view_wire.pack({"type": "statistics"}), "type 'statistics' that is not understood"),
    (view_wire.pack({"type": "statistics", "streams": [1]}), "are both of the same version"),
    (view_wire.pack({"type": "image", "stream": "front"}, b"JPEG"), "type 'image'"),
])
def test_what_is_not_understood_is_told(path: Path, said: bytes, told: str) -> None:
    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        writer.close()

    async def work() -> None:
        async with (feeding(path) as feed, browsing(feed) as client,
                    client.ws_connect("/live") as browser):
            server = await asyncio.start_unix_server(talk, path)
            assert told in (await first(browser, "error"))["text"]
            await first(browser, "error")  # and it tries again
            server.close()

    asyncio.run(work())


def test_what_was_drawn_of_cameras_that_are_not_there_is_forgotten() -> None:
    async def work() -> None:
        box = view_feed.Mailbox()
        for stream in range(1000):
            box.drawn(stream)
        assert not box._under_way

    asyncio.run(work())
