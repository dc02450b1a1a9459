# SPDX-License-Identifier: BSD-3-Clause
"""devtools/check-layers: who asks which DPDK this is."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tree_with import run, tree_with

ASKS = "#if RTE_VERSION >= RTE_VERSION_NUM(24, 11, 0, 0)\n#endif\n"
SCRIPTS = ["check-layers", "tree.py"]


def check(root: Path, name: str, text: str) -> tuple[int, str]:
    return run(tree_with(root, SCRIPTS, {name: text}), "devtools/check-layers")


def test_version__may_be_asked_in_one_file(tmp_path: Path) -> None:
    assert check(tmp_path, "engine/dpdk/dpdk_version.h", ASKS)[0] == 0


@pytest.mark.parametrize("name", ["engine/dpdk/port.c", "plugin/life.c", "tests/engine/stand.h"])
def test_version__may_not_be_asked_elsewhere(tmp_path: Path, name: str) -> None:
    status, said = check(tmp_path, name, ASKS)
    assert status == 1
    where = "engine/dpdk/dpdk_version.h"
    assert f"{name}:1: what differs between releases of DPDK is in {where}" in said


@pytest.mark.parametrize("word", ["RTE_VER_YEAR", "RTE_VER_MONTH", "RTE_VERSION_NUM(1, 2, 3, 4)"])
def test_version__has_many_names(tmp_path: Path, word: str) -> None:
    assert check(tmp_path, "engine/dpdk/port.c", f"int x = {word};\n")[0] == 1


def library(root: Path, **sources: str) -> str:
    """A static library of these files."""
    for name, text in sources.items():
        (root / f"{name}.c").write_text(text)
        subprocess.run(["gcc", "-c", f"{name}.c", "-o", f"{name}.c.o"], cwd=root, check=True)
    objects = [f"{name}.c.o" for name in sources]
    subprocess.run(["ar", "rcs", "libx.a", *objects], cwd=root, check=True)
    return "libx.a"


def test_circles__are_found_whatever_their_length(tmp_path: Path) -> None:
    root = tree_with(tmp_path, SCRIPTS, {"devtools/circles-allow.txt": "# none\n"})
    calls_b = "int b(void); int a(void) { return b(); }"
    line = library(root, a=calls_b, b="int b(void) { return 0; }")
    assert run(root, "devtools/check-layers", line)[0] == 0
    circle = library(
        root,
        a=calls_b,
        b="int c(void); int b(void) { return c(); }",
        c="int a(void); int c(void) { return a(); }",
        d="int a(void); int d(void) { return a(); }",
    )
    status, said = run(root, "devtools/check-layers", circle)
    assert status == 1
    assert "a b c: call each other in a circle" in said
    (root / "devtools/circles-allow.txt").write_text("a b c # a reason\n")
    assert run(root, "devtools/check-layers", circle)[0] == 0


def test_version__as_a_text_may_be_shown(tmp_path: Path) -> None:
    assert check(tmp_path, "plugin/life.c", "puts(rte_version());\n")[0] == 0
