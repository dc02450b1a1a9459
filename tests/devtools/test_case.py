# SPDX-License-Identifier: BSD-3-Clause
"""tests/case.h: what is a case, which of them run, and when a test program fails."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from tree_with import run

TESTS = Path(__file__).resolve().parents[1]
CASES = """
#include <stdio.h>
#include "case.h"

static int
set_up(void **state)
{
	static int seven = 7;

	*state = &seven;
	return 0;
}

TEST(zebra__first)
{
	puts("zebra");
}

TEST_WITH(apple__with_state, set_up, NULL)
{
	assert_int_equal(*(int *)*state, 7);
}

TEST(mouse__fails)
{
	assert_int_equal(1, FAILS);
}
"""
GROUP = """
#include <stdio.h>
#include "case.h"

static int
begin(void **state)
{
	(void)state;
	puts("begun");
	return STATUS;
}

static int
end(void **state)
{
	(void)state;
	puts("ended");
	return 0;
}

TEST(one)
{
	puts("one");
}

TEST(two)
{
	puts("two");
}

TEST_GROUP(begin, end);
"""


def build(folder: Path, source: str, *flags: str) -> tuple[int, str]:
    """Compile a test program as meson does; exit status and what the compiler said."""
    (folder / "some_test.c").write_text(source)
    command = [*shlex.split(os.environ.get("CC", "cc")), "-std=c11", "-D_GNU_SOURCE", "-O2"]
    command += ["-Wall", "-Wextra", "-Wpedantic", "-Wstrict-prototypes", "-Wmissing-prototypes"]
    command += ["-Wshadow", "-Werror", *flags, f"-I{TESTS}", "-o", str(folder / "some")]
    command += [str(folder / "some_test.c"), str(TESTS / "case.c"), "-lcmocka"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.returncode, done.stderr


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three cases; what they compare is equal."""
    assert build(tmp_path, CASES, "-DFAILS=1") == (0, "")
    return tmp_path


def ran(said: str) -> list[str]:
    """Names of the cases that began, in that order."""
    return [line.split()[-1] for line in said.splitlines() if line.startswith("[ RUN")]


def test_program__runs_cases_in_the_order_of_the_file(root: Path) -> None:
    status, said = run(root, "some")
    assert status == 0, said
    assert ran(said) == ["zebra__first", "apple__with_state", "mouse__fails"]
    assert "Running 3 test(s)" in said


def test_program__runs_the_cases_named(root: Path) -> None:
    status, said = run(root, "some", "mouse__fails", "zebra__first")
    assert status == 0, said
    assert ran(said) == ["zebra__first", "mouse__fails"]


def test_program__lists_its_cases(root: Path) -> None:
    said = "zebra__first\napple__with_state\nmouse__fails\n"
    assert run(root, "some", "--list") == (0, said)


def test_program__fails_when_a_case_fails(tmp_path: Path) -> None:
    build(tmp_path, CASES, "-DFAILS=2")
    status, said = run(tmp_path, "some")
    assert status == 1
    assert "[  FAILED  ] mouse__fails" in said
    assert run(tmp_path, "some", "zebra__first")[0] == 0


def test_program__as_many_failures_as_the_status_of_a_skip(tmp_path: Path) -> None:
    cases = "".join(f"TEST(case_{i})\n{{\n\tfail();\n}}\n" for i in range(77))
    build(tmp_path, '#include "case.h"\n' + cases)
    assert run(tmp_path, "some")[0] == 1


def test_program__refuses_a_case_it_does_not_have(root: Path) -> None:
    status, said = run(root, "some", "zebra__first", "zebra")
    assert status == 2
    assert said == "some: has no case 'zebra'; --list names them\n"


@pytest.mark.parametrize("words", [[], ["--list"], ["zebra"]])
def test_program__without_a_case_fails(tmp_path: Path, words: list[str]) -> None:
    build(tmp_path, '#include "case.h"\n\nvoid nothing(void);\n')
    assert run(tmp_path, "some", *words) == (1, "some: has no case\n")


def test_case__twice_does_not_compile(tmp_path: Path) -> None:
    status, said = build(tmp_path, CASES + "TEST(zebra__first)\n{\n}\n", "-DFAILS=1")
    assert status != 0
    assert "redefinition of" in said
    assert "zebra__first" in said


def test_group__stands_around_all_cases(tmp_path: Path) -> None:
    assert build(tmp_path, GROUP, "-DSTATUS=0") == (0, "")
    status, said = run(tmp_path, "some")
    assert status == 0
    printed = [line for line in said.splitlines() if not line.startswith("[")]
    assert printed == ["begun", "one", "two", "ended"]


def test_group__that_cannot_begin_fails(tmp_path: Path) -> None:
    build(tmp_path, GROUP, "-DSTATUS=-1")
    status, said = run(tmp_path, "some")
    assert status == 1
    assert "one" not in said.splitlines()
