# SPDX-License-Identifier: BSD-3-Clause
"""View stand: the server of lull view on a port of its own, and waiting for what it does."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from aiohttp.test_utils import TestClient, TestServer

from lull.view import server as view_server
from lull.view.feed import Feed

TIMEOUT_S = 20


@contextlib.asynccontextmanager
async def visiting(feed: Feed) -> AsyncIterator[tuple[TestClient[Any, Any], view_server.Site]]:
    site = view_server.Site(feed)
    async with TestClient(TestServer(site.app)) as client:
        yield client, site


@contextlib.asynccontextmanager
async def browsing(feed: Feed) -> AsyncIterator[TestClient[Any, Any]]:
    async with visiting(feed) as (client, _):
        yield client


async def until(condition: Any) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while not condition():
            await asyncio.sleep(0.01)
