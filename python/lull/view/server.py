# SPDX-License-Identifier: BSD-3-Clause
"""View server: the page, its parts, and a WebSocket with what the feed says.

Pages of other origins are refused, and so are names of this machine that it
does not know: a page elsewhere could have its own name lead here.
"""

import asyncio
import contextlib
import ipaddress
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit

from aiohttp import WSCloseCode, WSMsgType, web

from lull.errors import LullError
from lull.view.feed import Feed, Mailbox

PAGE = Path(__file__).parent / "page"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript",
         ".svg": "image/svg+xml"}
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
MESSAGE_MOST = 4096
HEARTBEAT_S = 20.0
BROWSERS_MOST = 32     # that get pictures
CONNECTIONS_MOST = 128
SILENT_S = 10.0        # a connection without a request; browsers open some to have them
SWEEP_S = 0.5
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Site:
    """The pages of one feed, and who looks at them."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.names = {"localhost", socket.gethostname().lower()}
        self.sockets: set[web.WebSocketResponse] = set()
        self._at_work: set[object] = set()

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._guard(request, handler)

        self.app = web.Application(middlewares=[guard])
        self.app.cleanup_ctx.append(self._full_name)
        parts = {path.name: path for path in sorted(PAGE.iterdir()) if path.suffix in TYPES}
        for name, path in parts.items():
            place = "/" if name == "index.html" else f"/{name}"
            self.app.router.add_get(place, _part(path.read_bytes(), TYPES[path.suffix]))
        self.app.router.add_get("/live", self._live)
        self.app.on_shutdown.append(self._hang_up)

    async def sweep(self, server: web.Server) -> None:
        """End connections that ask nothing for SILENT_S, and the oldest of them beyond
        CONNECTIONS_MOST, until cancelled.
        """
        loop = asyncio.get_running_loop()
        idle_since: dict[web.RequestHandler, float] = {}
        while True:
            await asyncio.sleep(SWEEP_S)
            open_now, now = server.connections, loop.time()
            idle_since = {one: idle_since.get(one, now) for one in open_now
                          if one not in self._at_work}
            crowd = len(open_now) - CONNECTIONS_MOST
            for one, since in sorted(idle_since.items(), key=lambda item: item[1]):
                if crowd > 0 or now - since > SILENT_S:
                    one.force_close()
                    crowd -= 1

    async def _full_name(self, _app: web.Application) -> AsyncIterator[None]:
        """The long name of this machine, asked for once: name servers may take their time."""
        task = asyncio.create_task(asyncio.to_thread(socket.getfqdn))
        task.add_done_callback(lambda done: None if done.cancelled() or done.exception()
                               else self.names.add(done.result().lower()))
        yield
        task.cancel()

    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not _is_known(request.host, self.names):
            raise web.HTTPForbidden(text=f"{request.host}: not a name of this machine; use its "
                                    "address\n", headers=HEADERS)
        origin = request.headers.get("Origin")
        if origin is not None and urlsplit(origin).netloc != request.host:
            raise web.HTTPForbidden(text="pages of other origins are refused\n", headers=HEADERS)
        self._at_work.add(request.protocol)
        try:
            response = await handler(request)
        except web.HTTPException as error:
            error.headers.update(HEADERS)
            raise
        finally:
            self._at_work.discard(request.protocol)
        if not response.prepared:
            response.headers.update(HEADERS)
        return response

    async def _live(self, request: web.Request) -> web.WebSocketResponse:
        if len(self.sockets) >= BROWSERS_MOST:
            raise web.HTTPServiceUnavailable(text=f"{BROWSERS_MOST} browsers look already\n")
        answer = web.WebSocketResponse(max_msg_size=MESSAGE_MOST, heartbeat=HEARTBEAT_S,
                                       compress=False)
        await answer.prepare(request)
        self.sockets.add(answer)
        with self.feed.subscription() as box:
            sender = asyncio.create_task(_send(answer, box))
            try:
                async for message in answer:
                    if message.type == WSMsgType.TEXT:
                        _take(self.feed, box, message.data)
            finally:
                self.sockets.discard(answer)
                sender.cancel()
                with contextlib.suppress(asyncio.CancelledError, ConnectionError):
                    await sender
        return answer

    async def _hang_up(self, _app: web.Application) -> None:
        for answer in list(self.sockets):
            await answer.close(code=WSCloseCode.GOING_AWAY, message=b"lull view ends")


def listen(address: str) -> socket.socket:
    """A listening socket for ADDRESS:PORT, [ADDRESS]:PORT or a port."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not (port.isdecimal() and int(port) < 1 << 16):
        raise LullError(f"--listen {address}: not ADDRESS:PORT, as in 127.0.0.1:8080", 2)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, int(port)), family=family)
    except OSError as error:
        raise LullError(f"--listen {address}: {error.strerror}: choose another one; with port 0 "
                        "one is found") from None


def url(bound: socket.socket) -> str:
    """Where a browser on this machine finds it."""
    host, port = bound.getsockname()[:2]
    if ipaddress.ip_address(host).is_unspecified:
        host = "127.0.0.1" if bound.family == socket.AF_INET else "::1"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def is_private(bound: socket.socket) -> bool:
    """Does nobody but this machine reach it?"""
    return ipaddress.ip_address(bound.getsockname()[0]).is_loopback


def _part(content: bytes, kind: str) -> Handler:
    async def answer(_request: web.Request) -> web.Response:
        return web.Response(body=content, content_type=kind, charset="utf-8")

    return answer


def _is_known(host: str, names: set[str]) -> bool:
    """An address, or what this machine calls itself."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name in names
    return True


async def _send(answer: web.WebSocketResponse, box: Mailbox) -> None:
    with contextlib.suppress(ConnectionError):
        while not answer.closed:
            item = await box.next()
            if isinstance(item, str):
                await answer.send_str(item)
            else:
                await answer.send_bytes(item)


def _take(feed: Feed, box: Mailbox, text: str) -> None:
    """What the page says: {"drawn": STREAM}, or settings of the previews."""
    try:
        wanted = json.loads(text)
    except ValueError:
        return
    if not isinstance(wanted, dict):
        return
    if type(wanted.get("drawn")) is int:
        box.drawn(wanted["drawn"])
    elif wanted:
        feed.change(wanted, box)
