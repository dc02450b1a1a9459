# SPDX-License-Identifier: BSD-3-Clause
"""Check: what one look of the doctor found."""

from typing import Any, Literal

from lull.document import Document

Status = Literal["ok", "note", "warn", "fail"]


class Check(Document):
    """One thing looked at."""

    name: str
    status: Status
    found: str
    remedy: str = ""
    data: dict[str, Any] = {}
