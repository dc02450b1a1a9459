# SPDX-License-Identifier: BSD-3-Clause
"""A small tree with some scripts of devtools/ and files of the test's own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

DEVTOOLS = Path(__file__).resolve().parents[2] / "devtools"


def tree_with(root: Path, scripts: list[str], files: dict[str, str]) -> Path:
    """Make it; the scripts find their root from where they lie."""
    for name in scripts:
        (root / "devtools").mkdir(exist_ok=True)
        shutil.copy(DEVTOOLS / name, root / "devtools" / name)
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def run(root: Path, *command: str) -> tuple[int, str]:
    """Exit status and all that was said."""
    done = subprocess.run(
        [root / command[0], *command[1:]],
        cwd=root,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.returncode, done.stdout
