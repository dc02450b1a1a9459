# SPDX-License-Identifier: BSD-3-Clause
"""mutate.py on functions small enough to list their mistakes, compiled and run."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "devtools"))
from mutate import Mutant, Writer

MAIN = """
#include <stdio.h>
#include <stdlib.h>
int lull_mutant_active;
unsigned char *lull_mutant_seen;
int main(int argc, char **argv)
{
	static unsigned char seen[1000];

	lull_mutant_active = atoi(argv[1]);
	if (lull_mutant_active < 0)
		lull_mutant_seen = seen;
	printf("%d\\n", f(atoi(argv[2]), atoi(argv[3])));
	for (int i = 0; i < 1000; i++)
		if (seen[i])
			printf("%d\\n", i);
	return argc != 4;
}
"""


def mutated(
    source: str,
    refused: set[int] | None = None,
    classic: list[tuple[str, str, str]] | None = None,
) -> tuple[str, list[Mutant]]:
    writer = Writer(
        "f.c", source.encode(), itertools.count(1), refused or set(), classic or []
    )
    return writer.write(), writer.mutants


class Program:
    """The function f(a, b) with all its mutants."""

    def __init__(
        self, folder: Path, source: str, classic: list[tuple[str, str, str]] | None = None
    ) -> None:
        text, self.mutants = mutated(source, None, classic)
        (folder / "f.c").write_text("#include <stdbool.h>\n" + text + MAIN)
        subprocess.run(["gcc", "-o", "f", "f.c"], cwd=folder, check=True)
        self.path = folder / "f"

    def call(self, number: int, a: int, b: int) -> int:
        run = subprocess.run([self.path, str(number), str(a), str(b)], capture_output=True,
                             check=True)
        return int(run.stdout)

    def seen(self, a: int, b: int) -> set[tuple[str, str]]:
        """Before and after of the mutants that this call sees."""
        run = subprocess.run([self.path, "-1", str(a), str(b)], capture_output=True, check=True)
        numbers = {int(word) for word in run.stdout.split()[1:]}
        return {(m.before, m.after) for m in self.mutants if m.number in numbers}

    def named(self, before: str, after: str) -> int:
        found = [m.number for m in self.mutants if (m.before, m.after) == (before, after)]
        assert len(found) == 1, [(m.before, m.after) for m in self.mutants]
        return found[0]


def test_each_mistake_is_one_of_its_own(tmp_path: Path) -> None:
    program = Program(tmp_path, """
static int f(int a, int b)
{
	int sum = 0;

	if (a < b && b != 3)
		sum += a;
	else
		return a - b;
	sum = sum * 2;
	return sum;
}
""")
    assert program.call(0, 1, 2) == 2
    assert program.call(0, 5, 2) == 3
    assert program.call(program.named("a < b", "a <= b"), 2, 2) == 4
    assert program.call(program.named("a < b && b != 3", "a < b || b != 3"), 5, 2) == 10
    assert program.call(program.named("if (a < b && b != 3)", "if (true)"), 5, 2) == 10
    assert program.call(program.named("if (a < b && b != 3)", "if (false)"), 1, 2) == -1
    assert program.call(program.named("sum += a;", "sum -= a"), 1, 2) == -2
    assert program.call(program.named("sum += a;", "nothing"), 1, 2) == 0
    assert program.call(program.named("a - b", "a + b"), 5, 2) == 7
    assert program.call(program.named("sum = sum * 2;", "nothing"), 1, 2) == 1
    assert program.call(program.named("2", "2 + 1"), 1, 2) == 3
    assert program.call(program.named("return sum;", "return 0;"), 1, 2) == 0
    # With no number chosen, and with any other, the function is what it was.
    last = program.mutants[-1].number
    assert program.call(last + 1, 1, 2) == 2


def test_else_stays_with_its_if(tmp_path: Path) -> None:
    program = Program(tmp_path, """
static int f(int a, int b)
{
	int n = 7;

	if (a)
		if (b)
			n = 1;
		else
			n = 2;
	else
		n = 3;
	return n;
}
""")
    for number in [0, program.mutants[-1].number + 1]:
        assert [program.call(number, a, b) for a, b in ((1, 1), (1, 0), (0, 1))] == [1, 2, 3]
    assert program.call(program.named("n = 2;", "nothing"), 1, 0) == 7
    assert program.call(program.named("n = 2;", "nothing"), 0, 0) == 3


def test_constants_and_asserts_stay() -> None:
    text, mutants = mutated("""
enum { SIZE = 4 + 4 };
static const int table[SIZE] = { 1 + 2, [3] = 4 };
static int f(int a, int b)
{
	static int once = 5;
	char room[SIZE + 1];

	LULL_ASSERT(a < b);
	(void)b;
	switch (a) {
	case 1:
		break;
	}
	return sizeof(room) > 2 ? once : table[0];
}
""")
    told = {(m.before, m.after) for m in mutants}
    constant = {"4 + 4", "1 + 2", "a < b", "5", "SIZE + 1", "(void)b;"}
    assert not {before for before, _ in told} & constant
    assert ("break;", "nothing") in told
    assert "static int once = 5;" in text


def test_same_texts_have_places_of_their_own() -> None:
    _, mutants = mutated("static int f(int a) { a++; a++; return a; }")
    places = [m.where() for m in mutants if m.after == "nothing"]
    assert places == ["f.c:f: a++; -> nothing", "f.c:f: a++; -> nothing (2)"]


def test_refused_numbers_are_left_out_and_the_others_keep_theirs() -> None:
    _, mutants = mutated("static int f(int a) { return a + 1; }")
    _, fewer = mutated("static int f(int a) { return a + 1; }", {mutants[0].number})
    assert fewer == mutants[1:]


def test_what_changes_nothing_is_not_seen(tmp_path: Path) -> None:
    program = Program(tmp_path, """
struct s { int n, *p; };
static int g(int a) { return a; }
static int f(int a, int b)
{
	struct s s = { a, a != 0 ? &b : 0 }, *at = &s;

	if (a < b)
		at->n = b;
	if (g(a) == 9)
		return a * b;
	return at->p != 0 && *at->p == 7 ? at->n + b : 0;
}
""")
    less = ("a < b", "a <= b")
    # at the edge only
    assert less in program.seen(2, 2)
    assert less not in program.seen(1, 2)
    # the branch that is taken in any case
    assert ("if (a < b)", "if (true)") in program.seen(3, 2)
    assert ("if (a < b)", "if (true)") not in program.seen(1, 2)
    assert ("if (a < b)", "if (false)") in program.seen(1, 2)
    # an assignment of what was there before, and one that is not reached
    kept = ("at->n = b;", "nothing")
    assert kept in program.seen(1, 2)
    assert kept not in program.seen(2, 2)
    # 2 + 2 is no other than 2 * 2, and a product that is not reckoned is not seen
    assert ("a * b", "a + b") in program.seen(9, 2)
    assert ("a * b", "a + b") not in program.seen(8, 2)
    # what might follow a pointer that is none counts as seen, and is not tried
    either = ("at->p != 0 && *at->p == 7", "at->p != 0 || *at->p == 7")
    assert either in program.seen(0, 1)
    assert program.call(0, 0, 1) == 0


def test_classic_mistakes_stand_beside_the_others(tmp_path: Path) -> None:
    program = Program(tmp_path, """
static int f(int a, int b)
{
	int n = a;

	if (b > 0)
		n += 10 * b;
	return n;
}
""", [("f", "10 * b", "0"), ("f", "n += 10 * b;", "n = b;"), ("g", "10 * b", "1")])
    classic = [m for m in program.mutants if m.classic]
    assert [(m.before, m.after) for m in classic] == [("10 * b", "0"), ("n += 10 * b;", "n = b;")]
    assert [program.call(m.number, 1, 2) for m in classic] == [1, 2]
    assert program.call(0, 1, 2) == 21


def test_what_is_equal_by_its_form_is_no_mutant() -> None:
    _, mutants = mutated("static int f(int a, int b) { return a > b ? a - b : 0; }")
    told = {(m.before, m.after) for m in mutants}
    assert ("a > b", "a >= b") not in told
    assert ("a > b", "a <= b") in told
    _, mutants = mutated("static int f(int a, int b) { return a > b ? a - b : 1; }")
    assert ("a > b", "a >= b") in {(m.before, m.after) for m in mutants}
