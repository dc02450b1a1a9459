# SPDX-License-Identifier: BSD-3-Clause
"""View wire: the messages that lull-cam --view sends, and that go on to the browser.

On the socket of lull-cam: two lengths of 4 bytes (big endian), a header in
JSON, a body. To the browser: text for what has no body, otherwise the length
of the header, the header, the body.
"""

import asyncio
import json
import struct
from dataclasses import dataclass
from typing import Any

from lull.errors import LullError

LENGTHS = struct.Struct("!II")
HEADER_LENGTH = struct.Struct("!I")
HEADER_MOST = 1 << 20
BODY_MOST = 64 << 20


@dataclass(frozen=True)
class Message:
    """One message; `raw` is its header as it came."""

    header: dict[str, Any]
    raw: bytes
    body: bytes

    @property
    def kind(self) -> str:
        """What it is about: hello, image, statistics, error."""
        return str(self.header.get("type", ""))

    @property
    def stream(self) -> int:
        """The camera of an image."""
        return int(self.header.get("stream", 0))

    def text(self) -> str:
        """Its header, for a browser."""
        return self.raw.decode()

    def packed(self) -> bytes:
        """Header and body, for a browser."""
        return HEADER_LENGTH.pack(len(self.raw)) + self.raw + self.body


async def read(reader: asyncio.StreamReader) -> Message | None:
    """The next message, None at the end."""
    try:
        header_length, body_length = LENGTHS.unpack(await reader.readexactly(LENGTHS.size))
        if header_length > HEADER_MOST or body_length > BODY_MOST:
            raise LullError("this is not what lull-cam --view speaks: a message of "
                            f"{header_length} + {body_length} bytes")
        raw = await reader.readexactly(header_length)
        body = await reader.readexactly(body_length)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
    try:
        header = json.loads(raw)
    except ValueError:
        header = None
    if not isinstance(header, dict):
        raise LullError("this is not what lull-cam --view speaks: a header that is no JSON object")
    return Message(header, raw, body)


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    """A message as lull-cam writes it."""
    raw = json.dumps(header).encode()
    return LENGTHS.pack(len(raw), len(body)) + raw + body
