# SPDX-License-Identifier: BSD-3-Clause
"""The tree as the checks see it: its files, without what is built or installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MADE = (".git", ".venv", "out", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache")


def files(*folders: str) -> Iterator[Path]:
    """Every file below the folders (none: the whole tree), relative to its root, sorted."""

    def walk(folder: Path) -> Iterator[Path]:
        for path in sorted(folder.iterdir()):
            made = path.name in MADE or path.name.endswith(".egg-info")
            if made or (folder == ROOT and path.name.startswith("build")):
                continue
            if path.is_dir() and not path.is_symlink():
                yield from walk(path)
            elif path.is_file():
                yield path.relative_to(ROOT)

    for folder in folders or ("",):
        if (ROOT / folder).is_dir():
            yield from walk(ROOT / folder)


def text(path: Path) -> str:
    """Contents of a file of the tree; bytes that are no UTF-8 become U+FFFD."""
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")


def is_script(path: Path) -> bool:
    """True for a file that begins with #!."""
    with (ROOT / path).open("rb") as file:
        return file.read(2) == b"#!"


def kind(path: Path) -> str:
    """Language of a source file: c, python, shell, meson, make; "" for anything else."""
    by_suffix = {".c": "c", ".h": "c", ".py": "python", ".sh": "shell"}
    by_name = {"meson.build": "meson", "Makefile": "make"}
    found = by_suffix.get(path.suffix) or by_name.get(path.name) or ""
    if not found and path.suffix == "" and is_script(path):
        first = text(path).split("\n", 1)[0]
        found = "python" if "python" in first else "shell" if "sh" in first else ""
    return found


def allowed(name: str) -> set[str]:
    """Entries of devtools/NAME: one per line, # begins a comment."""
    lines = (line.split("#")[0].strip() for line in text(Path("devtools", name)).splitlines())
    return {line for line in lines if line}


def verdict(check: str, looked_at: str, complaints: list[str]) -> None:
    """Print what was found and leave: status 1 when there is a complaint."""
    for complaint in complaints:
        print(complaint)
    if complaints:
        sys.exit(f"{check}: {len(complaints)} complaints about {looked_at}")
    print(f"{check}: {looked_at}, no complaint")
    sys.exit(0)
