# SPDX-License-Identifier: BSD-3-Clause
"""What README.md and the pages in docs/ tell to type is typed, and does what they promise.

pages.py CHECKOUT BUILD-FOLDER [PART-OF-A-BLOCK'S-NAME ...]

table.py says what becomes of each block. With LULL_LONG set those that take minutes run as well.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import cases
import place as places
from blocks import Block, fenced, spans
from table import BLOCKS, PRINTED, NotRun

SKIP = 77
README = "README.md"
# Folders of somebody's own; what a page creates itself may lie there.
PRIVATE = re.compile(r"(?<![\w.-])/(?:tmp|home|root|work|mnt|var/tmp)(?:/[\w.-]+)+")


def is_typed(block: Block) -> bool:
    """A command in a sentence that one would type as it stands."""
    begins = block.text.startswith(("./lull ", "build/", "sudo ", "cc ", "gst-launch-"))
    return begins or (block.page == README and " --" in block.text)


def blocks(root: Path) -> Iterator[Block]:
    pages = [README, *sorted(f"docs/{path.name}" for path in (root / "docs").glob("*.md"))]
    for page in pages:
        yield from fenced(root, page)
        yield from filter(is_typed, spans(root, page))


def entry(block: Block) -> str:
    """Its name in the table; "" when it has none."""
    found = [name for name in BLOCKS if block.name.startswith(name)]
    return max(found, key=len, default="")


def complaints(root: Path) -> Iterator[str]:
    """Blocks that nobody has looked at, entries of blocks that are gone, private folders."""
    used = set()
    for block in blocks(root):
        if block.page in PRINTED:
            continue
        name = entry(block)
        if not name:
            yield (f"{block.page}:{block.line}: not in tests/docs/table.py: say there how this is "
                   f"run, or why it is not: {block.text.splitlines()[0]}")
        used.add(name)
    for name in BLOCKS.keys() - used:
        yield f"tests/docs/table.py: there is no such block: {name}"
    yield from private_folders(root)


def private_folders(root: Path) -> Iterator[str]:
    """Commands that only one machine can run."""
    for block in blocks(root):
        if block.page in PRINTED:  # what a program started, with folders of its own
            continue
        created = re.findall(r"mkdir (?:-p )?(\S+?);?(?:\s|$)", block.text)
        for path in PRIVATE.findall(block.text):
            if not any(path == made or path.startswith(f"{made}/") for made in created):
                yield f"{block.page}:{block.line}: {path} is nobody else's folder: {block.name}"


class Report:
    """Cases in TAP, as they end."""

    def __init__(self) -> None:
        self.cases = self.failed = 0

    def case(self, name: str, what: Callable[[], None]) -> None:
        begin = time.monotonic()
        said = ""
        try:
            what()
        except places.Lacking as lacking:
            self.line("ok", f"{name} # SKIP {' '.join(str(lacking).split())}")
            return
        except (AssertionError, OSError, LookupError, ValueError) as failure:
            if not isinstance(failure, AssertionError):
                traceback.print_exc()
            said = str(failure) or repr(failure)
        self.failed += said != ""
        self.line("not ok" if said else "ok", f"{name} [{time.monotonic() - begin:.1f} s]")
        for line in said.splitlines():
            print(f"# {line}", flush=True)

    def line(self, outcome: str, text: str) -> None:
        self.cases += 1
        print(f"{outcome} {self.cases} - {text}", flush=True)


def run_all(place: places.Place, chosen: list[str]) -> int:
    report = Report()
    found = {entry(block): block for block in blocks(place.root) if block.page not in PRINTED}
    for name, case in BLOCKS.items():
        if chosen and not any(word in name for word in chosen):
            continue
        if isinstance(case, NotRun):
            print(f"# {name}: not run: {case.reason}")
            continue
        run = case
        report.case(name, lambda: run(place, found[name]))  # noqa: B023 - called at once
    for check in (cases.manual_pages, cases.names_and_numbers):
        if not chosen or check.__name__ in chosen:
            report.case(check.__name__, lambda: check(place))  # noqa: B023 - the same
    print(f"1..{report.cases}")
    return report.failed


def main() -> None:
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, lambda number, _frame: sys.exit(128 + number))
    root, build, *chosen = sys.argv[1:]
    wrong = list(complaints(Path(root)))
    inside = os.environ.get(places.INSIDE, "")
    if wrong and not inside:
        for number, line in enumerate(wrong, 1):
            print(f"not ok {number} - {line}")
        sys.exit(1)
    try:
        places.enter()
        place = places.Place(Path(root).resolve(), Path(build).resolve(), inside == "1")
    except places.Lacking as lacking:
        print(f"skipped: {lacking}")
        sys.exit(SKIP)
    sys.exit(1 if run_all(place, chosen) else 0)


main()
