# SPDX-License-Identifier: BSD-3-Clause
"""lull view: who may look, how many, and for how long they may say nothing."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient

from lull.errors import LullError
from lull.view import server as view_server
from lull.view.feed import Feed
from view_stand import browsing, until, visiting

ANYWHERE = "0.0.0.0:0"


@pytest.fixture
def path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="lull-") as folder:
        yield Path(folder) / "view"


# ---- who may look ----


def sweeping(client: TestClient[Any, Any],
             site: view_server.Site) -> tuple[web.Server, asyncio.Task[None]]:
    """What ends connections of a test's server."""
    assert client.server.runner is not None
    server = client.server.runner.server
    assert isinstance(server, web.Server)
    return server, asyncio.create_task(site.sweep(server))


async def hang_up(*writers: asyncio.StreamWriter) -> None:
    for writer in writers:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


def test_browsers_are_counted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_server, "BROWSERS_MOST", 2)

    async def work() -> None:
        async with visiting(Feed(path)) as (client, site):
            async with client.ws_connect("/live"), client.ws_connect("/live"):
                answer = await client.get("/live")
                assert (answer.status, await answer.text()) == (503, "2 browsers look already\n")
                assert (await client.get("/")).status == 200
            await until(lambda: not site.sockets)
            async with client.ws_connect("/live"):
                pass

    asyncio.run(work())


def test_connections_that_ask_nothing_end(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that get pictures stay, and so does one that has just come."""
    monkeypatch.setattr(view_server, "SWEEP_S", 0.01)
    monkeypatch.setattr(view_server, "SILENT_S", 0.2)

    async def work() -> None:
        async with visiting(Feed(path)) as (client, site):
            _, task = sweeping(client, site)
            async with client.ws_connect("/live") as browser:
                silent = await asyncio.open_connection(client.host, client.port)
                half = await asyncio.open_connection(client.host, client.port)
                half[1].write(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
                assert await asyncio.wait_for(silent[0].read(), 10) == b""
                assert await asyncio.wait_for(half[0].read(), 10) == b""
                await browser.send_json({"width": 1})  # it is answered, so it is still there
                async with asyncio.timeout(10):
                    while "a whole number" not in await browser.receive_str():
                        pass
                assert (await client.get("/")).status == 200
                await hang_up(silent[1], half[1])
            task.cancel()

    asyncio.run(work())


def test_connections_are_counted(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_server, "SWEEP_S", 0.01)
    monkeypatch.setattr(view_server, "CONNECTIONS_MOST", 3)

    async def work() -> None:
        async with visiting(Feed(path)) as (client, site):
            server, task = sweeping(client, site)
            crowd = [await asyncio.open_connection(client.host, client.port) for _ in range(9)]
            await until(lambda: len(server.connections) == 3)
            assert (await client.get("/")).status == 200
            await hang_up(*(writer for _, writer in crowd))
            task.cancel()

    asyncio.run(work())


def test_names_are_looked_up_once_and_nobody_waits(path: Path,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    asked = threading.Event()
    answer = threading.Event()

    def slow() -> str:
        assert not asked.is_set()
        asked.set()
        answer.wait(10)
        return "Machine.example"

    monkeypatch.setattr("socket.getfqdn", slow)

    async def work() -> None:
        async with visiting(Feed(path)) as (client, site):
            known = {"Host": "machine.example"}
            assert (await client.get("/", headers=known)).status == 403
            assert (await client.get("/", headers={"Host": "localhost"})).status == 200
            answer.set()
            await until(lambda: "machine.example" in site.names)
            assert (await client.get("/", headers=known)).status == 200

    asyncio.run(work())


@pytest.mark.parametrize(("headers", "status"), [
    ({}, 200),
    ({"Host": "localhost:9"}, 200),
    ({"Host": "192.0.2.1"}, 200),
    ({"Host": "[::1]:80", "Origin": "http://[::1]:80"}, 200),
    ({"Host": "localhost", "Origin": "http://localhost"}, 200),
    ({"Host": "evil.example"}, 403),
    ({"Host": "evil.example", "Origin": "http://evil.example"}, 403),
    ({"Host": "127.0.0.1:80", "Origin": "http://evil.example"}, 403),
    ({"Host": "127.0.0.1:80", "Origin": "http://127.0.0.1:81"}, 403),
    ({"Host": "127.0.0.1:80", "Origin": "null"}, 403),
    ({"Host": "[::1"}, 403),
])
def test_pages_of_others_are_refused(path: Path, headers: dict[str, str], status: int) -> None:
    async def work() -> None:
        async with browsing(Feed(path)) as client:
            for place in ("/", "/view.js", "/live"):
                answer = await client.get(place, headers=headers)
                expected = 400 if place == "/live" and status == 200 else status
                assert answer.status == expected, place
                assert answer.headers["Content-Security-Policy"]

    asyncio.run(work())


def test_every_part_of_the_page_is_there_and_nothing_else(path: Path) -> None:
    async def work() -> None:
        async with browsing(Feed(path)) as client:
            page = await (await client.get("/")).text()
            assert "https://" not in page
            assert page.count("http") == 0
            for part in sorted(view_server.PAGE.iterdir()):
                place = "/" if part.name == "index.html" else f"/{part.name}"
                answer = await client.get(place)
                assert answer.status == 200
                assert await answer.text() == part.read_text()
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
            for place in ("/index.html", "/..%2fview_feed.py", "/view_feed.py"):
                assert (await client.get(place)).status == 404
            assert (await client.post("/")).status == 405

    asyncio.run(work())


# ---- where it listens ----


@pytest.mark.parametrize(("address", "host"), [
    ("127.0.0.1:0", "127.0.0.1"), (":0", "127.0.0.1"), ("[::1]:0", "[::1]"),
    ("localhost:0", "127.0.0.1"), (ANYWHERE, "127.0.0.1"),
])
def test_listens_where_it_is_told(address: str, host: str) -> None:
    if host == "[::1]" and not Path("/proc/net/if_inet6").exists():
        pytest.skip("no IPv6 here")
    with view_server.listen(address) as bound:
        assert view_server.url(bound) == f"http://{host}:{bound.getsockname()[1]}/"
        assert view_server.is_private(bound) == (address != ANYWHERE)


def test_a_port_that_is_taken_has_a_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LullError, match=r"already in use.*port 0"):
            view_server.listen(f"127.0.0.1:{port}")


@pytest.mark.parametrize("address", ["", "8080x", "127.0.0.1", "127.0.0.1:", "1.2.3.4:70000"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(LullError, match="not ADDRESS:PORT"):
        view_server.listen(address)
