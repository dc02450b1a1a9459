# SPDX-License-Identifier: BSD-3-Clause
"""Watching: show something that changes, over and over, on a terminal or as plain lines."""

from collections.abc import Callable, Sequence
from typing import Protocol, TextIO

from rich.console import Console, RenderableType
from rich.live import Live

from lull.program.pace import Pace


class Picture(Protocol):
    """What is watched."""

    def look(self) -> None:
        """Read everything once more."""

    def render(self, width: int) -> RenderableType:
        """The whole picture, for a terminal."""

    def lines(self) -> Sequence[str]:
        """The same in a few plain lines."""


def watch(picture: Picture, pace: Pace, file: TextIO, interval_s: float,
          count: int | None = None, check: Callable[[], None] | None = None) -> None:
    """Show it until looking fails, count looks are over, or the user has seen enough."""
    console = Console(file=file, highlight=False)
    looks = 0

    def one() -> bool:
        nonlocal looks
        pace.sleep(interval_s)
        if check is not None:
            check()
        picture.look()
        looks += 1
        return count is None or looks < count

    if not console.is_terminal:
        while True:
            more = one()
            for line in picture.lines():
                print(line, file=file, flush=True)
            if not more:
                return
    with Live(console=console, auto_refresh=False, screen=count is None) as live:
        live.update(picture.render(console.width), refresh=True)
        while True:
            more = one()
            live.update(picture.render(console.width), refresh=True)
            if not more:
                return
