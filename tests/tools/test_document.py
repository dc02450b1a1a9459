# SPDX-License-Identifier: BSD-3-Clause
"""Documents: what fits, what does not and where, and that they go to JSON and back."""

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from lull.document import Document, DocumentError, Pattern, item


class Part(Document):
    name: Annotated[str, Pattern("^[a-z]+$")]
    share: float = 0
    notes: list[str] = []


class Whole(Document, keep_unknown=True):
    parts: list[Part]
    count: int = 0
    pair: tuple[int, float] | None = None
    kinds: dict[str, int] = {}
    by_size: dict[int, float] = {}
    state: Literal["on", "off"] = "on"
    first: Part = item(default_factory=lambda: Part(name="none"))
    seen: list[int] = item(default_factory=list, hidden=True)
    told: Any = None
    where: Path = Path()

    def check(self) -> None:
        if self.count < 0 or self.model_extra.get("limit", 0) > 9:
            raise ValueError("too small or too large")


def test_there_and_back() -> None:
    whole = Whole.model_validate({
        "parts": [{"name": "a", "share": 1, "more": 1}], "count": 2.0, "pair": [1, 2],
        "kinds": {"x": 1}, "by_size": {"64": 1}, "state": "off", "seen": [1], "told": {"a": [None]},
        "where": "/tmp", "later": 7})
    assert isinstance(whole.parts[0].share, float)
    assert whole.count == 2
    assert whole.pair == (1, 2.0)
    assert whole.by_size == {64: 1.0}
    assert whole.model_extra == {"later": 7}
    dumped = whole.model_dump(exclude={"told"})
    assert dumped["parts"] == [{"name": "a", "share": 1.0, "notes": []}], "unknown: left out there"
    assert "seen" not in dumped
    assert dumped["later"] == 7
    again = Whole.model_validate_json(whole.model_dump_json())
    assert again.model_copy(update={"seen": [1]}) == whole
    assert again.model_dump() == whole.model_dump()


@pytest.mark.parametrize(("change", "said"), [
    ({"parts": 3}, "parts: a list is needed, not a number"),
    ({"parts": [{"share": 1}]}, "parts.0.name: is missing"),
    ({"parts": [{"name": "A"}]}, "parts.0.name: 'A' does not match"),
    ({"parts": [{"name": "a", "share": "1"}]}, "parts.0.share: a number is needed, not a text"),
    ({"parts": [{"name": "a", "share": True}]}, "parts.0.share: a number is needed, not True"),
    ({"parts": ["a"]}, "parts.0: an object is needed, not a text"),
    ({"count": 1.5}, "count: a whole number is needed, not 1.5"),
    ({"count": True}, "count: a whole number is needed, not True"),
    ({"pair": [1]}, "pair: 2 values are needed, not 1"),
    ({"pair": [1, "x"]}, "pair.1: a number is needed, not a text"),
    ({"kinds": {"x": None}}, "kinds.x: a whole number is needed, not null"),
    ({"by_size": {"x": 1}}, "by_size: a whole number is needed, not a text"),
    ({"state": "maybe"}, "state: 'maybe' is none of 'on', 'off'"),
    ({"where": 1}, "where: a path is needed, not a number"),
    ({"count": -1}, "too small or too large"),
    ({"limit": 10}, "too small or too large"),
])
def test_what_does_not_fit(change: dict[str, Any], said: str) -> None:
    with pytest.raises(DocumentError) as caught:
        Whole.model_validate({"parts": [], **change})
    assert str(caught.value).startswith(said)


def test_not_an_object() -> None:
    for text in ("[]", "3", "null", "{", '{"parts": [}'):
        with pytest.raises(DocumentError):
            Whole.model_validate_json(text)


def test_each_has_lists_of_its_own() -> None:
    one, other = Part(name="a"), Part(name="b")
    one.notes.append("x")
    assert other.notes == []


def test_made_by_the_program_is_checked_too() -> None:
    with pytest.raises(DocumentError, match="share: a number is needed"):
        Part(name="a", share="1")  # type: ignore[arg-type]
    part = Part(name="a")
    with pytest.raises(AttributeError):
        part.share = 2  # type: ignore[misc]
    with pytest.raises(DocumentError, match="share"):
        part.model_copy(update={"share": "x"})
