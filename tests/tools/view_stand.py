# SPDX-License-Identifier: BSD-3-Clause
"""View stand: the server of lull view on a port of its own, and waiting for what it does."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from aiohttp.test_utils import TestClient, TestServer

from lull.view import server as view_server
from lull.view.feed import Feed

TIMEOUT_S = 20


@contextlib.asynccontextmanager
async def browsing(feed: Feed) -> AsyncIterator[TestClient[Any, Any]]:
    async with TestClient(TestServer(view_server.application(feed))) as client:
        yield client


async def until(condition: Any) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while not condition():
            await asyncio.sleep(0.01)
