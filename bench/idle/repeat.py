# SPDX-License-Identifier: BSD-3-Clause
"""Repeat: the command that a result is printed with, as anybody can type it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

TREE = Path(__file__).resolve().parent.parent.parent


def portable(arguments: Sequence[str], tree: Path = TREE) -> list[str]:
    """The same options without folders of this machine.

    A path below the checkout is told from there. An option with an absolute path elsewhere is
    left out, so that its default holds: where a build lies or results go changes no figure.
    """
    found: list[str] = []
    for word in arguments:
        option, equals, value = word.partition("=")
        path = Path(value if equals else word)
        if not path.is_absolute():
            found.append(word)
        elif path.is_relative_to(tree):
            found.append(f"{option}{equals}" * bool(equals) + str(path.relative_to(tree)))
        elif not equals and found and found[-1].startswith("--"):
            found.pop()
    return found
