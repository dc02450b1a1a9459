# SPDX-License-Identifier: BSD-3-Clause
"""A public header as its reader sees it: what it declares, and the comment above each thing.

A comment belongs to the declaration in the next line. Its words in C are plain; "@p NAME" is a
parameter, "@param NAME" begins what is said of it, "@return" what comes back; "Threads:", "Memory:"
and "Errors:" begin a paragraph of that name. An example stands between @code and @endcode.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
# What is of no interest here: whitespace, C++, other preprocessor lines.
CPLUSPLUS = re.compile(r"#ifdef __cplusplus\n.*?#endif\n", re.DOTALL)
DIRECTIVE = re.compile(r"#(?:[^\n]*\\\n)*[^\n]*\n")
# With the line that leads to it.
EXAMPLE = re.compile(
    r"(?P<lead>^[^\n]+:\n\n)?^@code\n(?P<text>.*?)^@endcode$", re.DOTALL | re.MULTILINE
)
KEYS = "Threads|Memory|Errors"


@dataclass(frozen=True)
class Member:
    """A member of a struct, or a value of an enum."""

    text: str
    names: tuple[str, ...]
    comment: str


@dataclass(frozen=True)
class Item:
    """A declaration."""

    kind: str  # function, data, struct, enum, opaque, typedef, macro
    name: str
    line: int
    comment: str  # its text; "" when there is none
    text: str  # without comments, spaces squeezed
    members: tuple[Member, ...] = ()

    def parameters(self) -> dict[str, str]:
        """Parameters of a function, by name: the declaration of each."""
        inner = self.text[self.text.index("(") + 1 : self.text.rindex(")")]
        parts = [part.strip() for part in split(inner, ",")]
        return {last_name(part): part for part in parts if part not in ("void", "")}

    def returns(self) -> bool:
        return not re.match(r"(static inline )?void \w", self.text)


@dataclass(frozen=True)
class Header:
    path: Path
    comment: str  # of the file
    items: tuple[Item, ...]
    comments: tuple[tuple[int, str], ...]  # every one, with its line

    def examples(self) -> Iterator[tuple[int, str]]:
        """Each example and its line."""
        for line, comment in self.comments:
            for found in EXAMPLE.finditer(comment):
                yield line + comment.count("\n", 0, found.start("text")), found["text"]


def split(text: str, separator: str) -> list[str]:
    """At separators outside of all brackets."""
    parts, depth = [""], 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if char == separator and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
    return parts


def last_name(text: str) -> str:
    """Name that a declaration gives."""
    called = re.search(r"\(\*\s*(\w+)\)", text)
    if called:
        return called[1]
    words = re.findall(r"\w+", re.sub(r"\[[^]]*\]|=.*", "", text))
    return words[-1] if words else ""


def words_of(comment: str) -> str:
    """A comment without its stars."""
    inner = re.sub(r"^/\*+<?|\*+/$", "", comment)
    lines = [re.sub(r"^\s*\* ?", "", line.rstrip()) for line in inner.split("\n")]
    lines[0] = lines[0].strip()
    return "\n".join(lines).rstrip()


def squeezed(text: str) -> str:
    return " ".join(COMMENT.sub(" ", text).split())


def members(body: str, ends: str) -> Iterator[Member]:
    """Of the text between the braces of a struct (ends with ;) or an enum (with a comma)."""
    found: list[Member] = []
    before, text = "", ""
    for part in re.split(r"(/\*.*?\*/)", body, flags=re.DOTALL):
        if part.startswith("/**<") and found:
            last = found.pop()
            found.append(Member(last.text, last.names, words_of(part)))
        elif part.startswith("/**"):
            before = words_of(part)
        elif not part.startswith("/*"):
            *done, text = split(text + part, ends)
            for statement in map(squeezed, done):
                names = tuple(map(last_name, split(re.sub(r".*\}", "", statement), ",")))
                found.append(Member(statement, names, before))
                before = ""
            if text.strip() and ends == ",":
                # The last value has no comma; its comment may follow.
                found.append(Member(squeezed(text), (last_name(text),), before))
                before, text = "", ""
    yield from found


def declaration_end(text: str, begin: int) -> int:
    """Behind the declaration that begins there."""
    depth, position, body = 0, begin, False
    while True:
        comment = COMMENT.match(text, position)
        if comment:
            position = comment.end()
            continue
        char = text[position]
        if char == "{" and depth == 0:
            body = squeezed(text[begin:position]).endswith(")")
        depth += (char in "({[") - (char in ")}]")
        position += 1
        if depth == 0 and (char == ";" or (char == "}" and body)):
            return position


def declared(text: str, line: int, comment: str) -> Iterator[Item]:
    """What one declaration declares."""
    plain = squeezed(text)
    typed = re.match(r"(struct|enum) (\w+)( \{)?", plain)
    if plain.startswith("typedef "):
        called = re.search(r"(\w+)\(", plain)
        yield Item("typedef", called[1] if called else last_name(plain), line, comment, plain)
    elif typed and typed[3]:
        body = text[text.index("{") + 1 : text.rindex("}")]
        ends = ";" if typed[1] == "struct" else ","
        yield Item(typed[1], typed[2], line, comment, plain, tuple(members(body, ends)))
    elif typed and re.fullmatch(r"struct \w+;", plain):
        yield Item("opaque", typed[2], line, comment, plain)
    elif plain.startswith("extern "):
        for name in re.findall(r"(\w+)(?:\[\])?(?=[,;])", plain):
            yield Item("data", name, line, comment, plain)
    else:
        signature = re.sub(r"\s*\{.*", "", plain).rstrip(";") + ";"
        called = re.search(r"(\w+)\(", signature)
        if called is None:
            raise ValueError(f"line {line}: no declaration that is known here: {plain}")
        yield Item("function", called[1], line, comment, signature)


def parts(text: str) -> Iterator[tuple[int, str]]:
    """Comments, preprocessor lines and declarations, each with its place."""
    position = 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        skipped = CPLUSPLUS.match(text, position)
        if skipped:
            position = skipped.end()
            continue
        whole = COMMENT.match(text, position) or DIRECTIVE.match(text, position)
        end = whole.end() if whole else declaration_end(text, position)
        yield position, text[position:end]
        position = end


def read(path: Path) -> Header:
    text = path.read_text(encoding="utf-8")
    items: list[Item] = []
    above, file_comment = "", ""
    for position, part in parts(text):
        line = text.count("\n", 0, position) + 1
        if part.startswith("/**"):
            attached = not text.startswith("\n\n", position + len(part))
            above = words_of(part).strip() if attached else ""
            if "@file" in part:
                file_comment = words_of(part).strip().removeprefix("@file\n")
                above = ""
        elif part.startswith("/*"):
            continue
        elif part.startswith("#"):
            named = re.match(r"#define (\w+)(\([^)]*\))?(.*)", part, re.DOTALL)
            if named and named[3].strip():
                beside = COMMENT.search(part)
                comment = above or (words_of(beside[0]).strip() if beside else "")
                plain = squeezed(part.replace("\\\n", " "))
                items.append(Item("macro", named[1], line, comment, plain))
            above = ""
        else:
            items += declared(part, line, above)
            above = ""
    comments = tuple(
        (text.count("\n", 0, found.start()) + 1, words_of(found[0]))
        for found in COMMENT.finditer(text)
    )
    return Header(path, file_comment, tuple(items), comments)


def read_all(root: Path) -> list[Header]:
    return [read(path) for path in sorted((root / "include/lull").glob("*.h"))]
