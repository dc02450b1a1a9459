# SPDX-License-Identifier: BSD-3-Clause
"""What a page shows: its fenced blocks and the commands in its sentences, word by word."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PROMPT = "$ "
# Words that begin a command; a span of one word is a name and no command.
COMMAND = re.compile(
    r"(sudo|make|cc|\./lull|lull|lull-[a-z-]+|build/\S+|devtools/\S+|gst-\S+|ovs-\S+|nfcapd) \S"
)


@dataclass(frozen=True)
class Step:
    """A command, as typed, and what the page shows below it."""

    command: str
    shown: str = ""


@dataclass(frozen=True)
class Block:
    page: str
    line: int
    language: str
    text: str

    @property
    def name(self) -> str:
        """How the table calls it: the page and its first line."""
        return f"{self.page}: {self.text.splitlines()[0].strip()}"

    def steps(self) -> list[Step]:
        """With prompts: each command and its output; without: a command a line."""
        lines = self.text.replace("\\\n", "\\\0").splitlines()
        lines = [line.replace("\\\0", "\\\n") for line in lines]
        if not any(line.startswith(PROMPT) for line in lines):
            return [Step(line) for line in lines if line.strip() and not line.startswith("#")]
        steps: list[Step] = []
        for line in lines:
            if line.startswith(PROMPT):
                steps.append(Step(line.removeprefix(PROMPT)))
            else:
                steps[-1] = Step(steps[-1].command, f"{steps[-1].shown}{line}\n")
        return steps


def fenced(root: Path, page: str) -> list[Block]:
    """Every fenced block of a page."""
    found: list[Block] = []
    begin, language, inside = 0, "", []  # type: int, str, list[str]
    for number, line in enumerate((root / page).read_text(encoding="utf-8").splitlines(), 1):
        if not line.startswith("```"):
            inside.append(line)
        elif begin == 0:
            begin, language, inside = number, line.removeprefix("```"), []
        else:
            found.append(Block(page, begin, language, "\n".join(inside) + "\n"))
            begin = 0
    if begin:
        raise ValueError(f"{page}:{begin}: the block has no end")
    return found


def spans(root: Path, page: str) -> list[Block]:
    """Every command in the sentences of a page, by its line; one in brackets of a link too."""
    text = (root / page).read_text(encoding="utf-8")
    for block in fenced(root, page):
        text = text.replace(block.text, "\n" * block.text.count("\n"), 1)
    found = []
    for match in re.finditer(r"(?<!`)`([^`]+)`(?!`)", text):
        words = " ".join(match[1].split())
        if COMMAND.match(words):
            found.append(Block(page, text.count("\n", 0, match.start()) + 1, "span", words + "\n"))
    return found


def squeezed(text: str) -> str:
    """Without blanks: pages break lines where programs do not."""
    return "".join(text.split())


def missing(shown: str, said: str) -> str:
    """The first part of what a page shows that a program did not say; "..." stands for anything."""
    parts = [squeezed(part) for part in shown.split("...")]
    rest = squeezed(said)
    if len(parts) == 1:
        return "" if parts[0] == rest else parts[0]
    for part in parts:
        at = rest.find(part)
        if at < 0:
            return part
        rest = rest[at + len(part) :]
    return ""
