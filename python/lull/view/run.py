# SPDX-License-Identifier: BSD-3-Clause
"""View run: receiver and senders as children, the feed, the server, until a signal comes."""

import asyncio
import contextlib
import inspect
import signal
import socket
import sys
import tempfile
import webbrowser
from collections.abc import AsyncIterator, Coroutine, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from lull.errors import LullError
from lull.program.child import START_TIMEOUT_S, Child
from lull.program.pace import RealPace
from lull.view import server as view_server
from lull.view.demo import Demo
from lull.view.feed import Feed

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
LOOK_S = 0.2


@dataclass(frozen=True)
class Request:
    """What is to be shown, and where."""

    listen: str
    open_browser: bool = False
    attach: Path | None = None
    receiver: Path | None = None
    arguments: Sequence[str] = ()
    demo: Demo | None = None


@dataclass
class Show:
    """What runs."""

    feed: Feed
    stop: asyncio.Event
    receiver: Child | None = None
    senders: list[Child] = field(default_factory=list)
    failure: LullError | None = None


def run(request: Request) -> int:
    """Show it until a signal comes."""
    with view_server.listen(request.listen) as bound:
        return asyncio.run(_run(request, bound))


async def _run(request: Request, bound: socket.socket) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        loop.add_signal_handler(number, stop.set)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lull-view-")))
        show = Show(Feed(request.attach or folder / "view"), stop)
        async with _background(show.feed.run(), stop):
            await _start(request, show, folder / "view", stack)
            if stop.is_set():
                return 0
            await _serve(request, show, bound)
    if show.failure is not None:
        raise show.failure
    return 0


async def _start(request: Request, show: Show, path: Path, stack: contextlib.ExitStack) -> None:
    """The receiver, and the senders before or after it."""
    demo = request.demo
    pace = RealPace()

    def start_senders() -> None:
        for command in demo.senders if demo is not None else ():
            show.senders.append(stack.enter_context(Child(Path(command[0]), command[1:], pace)))

    if demo is not None and demo.sender_first:
        start_senders()
    if request.receiver is not None:
        arguments = ["--view", str(path), "--stats", "0", *request.arguments]
        show.receiver = stack.enter_context(Child(request.receiver, arguments, pace))
        await _greeting(show)
    if demo is not None and not demo.sender_first and not show.stop.is_set():
        start_senders()
    if show.senders and demo is not None:
        show.feed.say("sender", "live", demo.words)


async def _greeting(show: Show) -> None:
    """Wait until lull-cam has said hello, or why it cannot."""
    assert show.receiver is not None
    end = asyncio.get_running_loop().time() + START_TIMEOUT_S
    while not (show.feed.hello.is_set() or show.stop.is_set()):
        show.receiver.check()
        if asyncio.get_running_loop().time() > end:
            raise LullError(f"lull-cam says nothing after {START_TIMEOUT_S:g} s: run it alone "
                            "with --check")
        await asyncio.sleep(LOOK_S / 4)


async def _serve(request: Request, show: Show, bound: socket.socket) -> None:
    site = view_server.Site(show.feed)
    # aiohttp before 3.9 takes it elsewhere, and needs none.
    known = inspect.signature(web.BaseRunner.__init__).parameters
    timeout: dict[str, Any] = {"shutdown_timeout": 2.0} if "shutdown_timeout" in known else {}
    runner = web.AppRunner(site.app, access_log=None, handle_signals=False, **timeout)
    await runner.setup()
    assert runner.server is not None
    try:
        await web.SockSite(runner, bound).start()
        where = view_server.url(bound)
        print(f"lull view: {where}  (Ctrl-C ends it)", flush=True)
        if not view_server.is_private(bound):
            print(f"lull: whoever reaches {request.listen} sees the cameras", file=sys.stderr)
        if request.open_browser:
            await asyncio.to_thread(webbrowser.open, where)
        async with (_background(_watch(show), show.stop),
                    _background(site.sweep(runner.server), show.stop)):
            await show.stop.wait()
    finally:
        await runner.cleanup()


async def _watch(show: Show) -> None:
    """Tell the page, and the terminal, who has ended and why."""
    senders = list(show.senders)
    receiver = show.receiver
    while True:
        if receiver is not None and (status := receiver.ended()) is not None:
            _tell(show, "receiver", receiver, status)
            if status != 0:
                show.failure = receiver.failure(status)
            receiver = None
        for sender in senders:
            if (status := sender.ended()) is not None:
                _tell(show, "sender", sender, status)
        senders = [sender for sender in senders if sender.ended() is None]
        await asyncio.sleep(LOOK_S)


def _tell(show: Show, who: str, child: Child, status: int) -> None:
    if status == 0:
        state, text = "ended", f"{child.name} has ended"
    else:
        state, text = "failed", str(child.failure(status))
    show.feed.say(who, state, text)
    print(f"lull: {text}", file=sys.stderr, flush=True)


@contextlib.asynccontextmanager
async def _background(work: Coroutine[None, None, None],
                      stop: asyncio.Event) -> AsyncIterator[None]:
    """Something that goes on meanwhile; should it fail, all ends."""
    task = asyncio.create_task(work)
    task.add_done_callback(lambda _task: stop.set())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
