# SPDX-License-Identifier: BSD-3-Clause
"""devtools/build: a warning stops those who change lull, and nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest
from tree_with import run, tree_with

PROJECT = """project('p', 'c', default_options: ['warning_level=3'])
executable('p', 'p.c')
if get_option('tests')
  executable('p_test', 'p.c')
endif
"""
OPTIONS = "option('tests', type: 'boolean', value: true)\n"
CLEAN = "int main(void) { return 0; }\n"
WARNS = "int main(void) { int unused; return 0; }\n"
WRONG = "int main(void) { int unused; return nothing; }\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project of one file, built strictly and without a warning."""
    files = {"meson.build": PROJECT, "meson_options.txt": OPTIONS, "p.c": CLEAN}
    root = tree_with(tmp_path, ["build"], files)
    assert run(root, "devtools/build", "strict")[0] == 0
    return root


def test_plain_build__takes_a_warning_for_one(tmp_path: Path) -> None:
    files = {"meson.build": PROJECT, "meson_options.txt": OPTIONS, "p.c": WARNS}
    status, said = run(tree_with(tmp_path, ["build"], files), "devtools/build")
    assert status == 0
    assert "[-Wunused-variable]" in said


@pytest.mark.parametrize("what", ["tests", "strict"])
def test_build_after_a_plain_one__adds_tests(tmp_path: Path, what: str) -> None:
    files = {"meson.build": PROJECT, "meson_options.txt": OPTIONS, "p.c": CLEAN}
    root = tree_with(tmp_path, ["build"], files)
    assert run(root, "devtools/build")[0] == 0
    assert not (root / "build/p_test").exists()
    assert run(root, "devtools/build", what)[0] == 0
    assert (root / "build/p_test").exists()


def test_strict_build__takes_a_warning_for_an_error(root: Path) -> None:
    (root / "p.c").write_text(WARNS)
    status, said = run(root, "devtools/build", "strict")
    assert status == 1
    assert "-Werror" in said
    assert "once more" not in said


@pytest.mark.parametrize("what", [[], ["tests"]])
def test_build_after_a_strict_one__is_not_stopped_by_a_warning(root: Path, what: list[str]) -> None:
    (root / "p.c").write_text(WARNS)
    status, said = run(root, "devtools/build", *what)
    assert status == 0
    assert "once more without taking them for errors" in said
    assert run(root, "devtools/build", "strict")[0] == 1  # and strict is strict again


def test_build_after_a_strict_one__keeps_it_when_nothing_warns(root: Path) -> None:
    status, said = run(root, "devtools/build")
    assert status == 0
    assert "no work to do" in said


def test_build__of_what_is_wrong_fails(root: Path) -> None:
    (root / "p.c").write_text(WRONG.replace("int unused; ", ""))
    status, said = run(root, "devtools/build")
    assert status == 1
    assert "once more" not in said
    (root / "p.c").write_text(WRONG)
    assert run(root, "devtools/build")[0] == 1


def test_build__refuses_what_it_does_not_know(root: Path) -> None:
    status, said = run(root, "devtools/build", "test")
    assert status == 2
    assert said == "build: not 'test': tests, strict or nothing\n"
