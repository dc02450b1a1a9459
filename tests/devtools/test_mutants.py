# SPDX-License-Identifier: BSD-3-Clause
"""devtools/mutants: what it draws, keeps and reckons; building and running take the real tree."""

from __future__ import annotations

import argparse
import importlib.machinery
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "devtools"))
import mutant_tests
from mutate import Mutant

DEVTOOLS = Path(mutant_tests.__file__).parent


def load() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("mutants", str(DEVTOOLS / "mutants"))
    spec = importlib.util.spec_from_loader("mutants", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module
    loader.exec_module(module)
    return module


mutants = load()


def mutant(number: int, classic: bool = False) -> Mutant:
    return Mutant(number, "core/idle/a.c", number, "f", f"x + {number}", "0", 0, classic)


def program(folder: Path, text: str, name: str = "unit-a") -> mutant_tests.Test:
    path = folder / name
    path.write_text("#!/bin/sh\n# lull_mutant_active\n" + text)
    path.chmod(0o755)
    return mutant_tests.Test("a", (str(path),), folder, {})


def test_interval_holds_the_share() -> None:
    low, high = mutants.interval(90, 100)
    # Wilson's, from the formula by hand
    assert (round(low, 4), round(high, 4)) == (0.8256, 0.9448)
    assert mutants.interval(0, 0) == (0, 1)
    assert mutants.interval(50, 50)[1] == pytest.approx(1)
    wide, narrow = mutants.interval(9, 10), mutants.interval(900, 1000)
    assert wide[0] < narrow[0] < 0.9 < narrow[1] < wide[1]


def test_classic_mutants_come_first_and_a_seed_draws_the_same() -> None:
    all_of_them = [mutant(n, n in (7, 30)) for n in range(50)]

    def numbers(**options: object) -> list[int]:
        args = {"classic": False, "sample": None, "minutes": None, "seed": 1} | options
        return [m.number for m in mutants.drawn(all_of_them, argparse.Namespace(**args))]

    assert numbers() == [7, 30] + [n for n in range(50) if n not in (7, 30)]
    assert numbers(classic=True) == [7, 30]
    assert len(numbers(sample=10)) == 12
    assert numbers(sample=10)[:2] == [7, 30]
    assert numbers(sample=10) == numbers(sample=10)
    assert numbers(sample=10) != numbers(sample=10, seed=2)
    assert sorted(numbers(minutes=1)) == list(range(50))


def test_a_list_names_places_with_reasons(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    (tmp_path / "devtools").mkdir()
    path = tmp_path / "devtools/mutants-classic.txt"
    assert mutants.entries("mutants-classic.txt") == []
    path.write_text("# why\n\ncore/idle/a.c:f: x -> y -> 1 + a::b  # because  # of this\n")
    assert mutants.classics("core/idle/a.c") == [("f", "x", "y -> 1 + a::b  # because")]
    assert mutants.classics("core/idle/b.c") == []
    for wrong in ("core/idle/a.c:f: x -> y", "core/idle/a.c:f: x  # why", "x -> y  # why"):
        path.write_text(wrong + "\n")
        with pytest.raises(SystemExit, match=r"mutants-classic\.txt: not `FILE:FUNCTION"):
            mutants.entries("mutants-classic.txt")


def test_a_mutant_is_killed_by_a_test_that_sees_it(tmp_path: Path) -> None:
    test = program(tmp_path, 'test "$LULL_MUTANT" != 2\n')
    other = program(tmp_path, "exit 1\n", "unit-b")
    seen = mutant_tests.Reach(test, 0.01, frozenset({1, 2}))
    blind = mutant_tests.Reach(other, 0.01, frozenset())
    assert mutants.judge(mutant(1), [seen, blind], 10) == "survived"
    assert mutants.judge(mutant(2), [seen, blind], 10) == "killed by a"
    assert mutants.judge(mutant(3), [seen, blind], 10) == "not reached"
    # it is known by now, and no patience is left for what is not
    assert mutants.judge(mutant(2), [seen], 0) == "killed by a"
    fresh = mutant_tests.Reach(test, 0.01, frozenset({2}))
    assert mutants.judge(mutant(2), [fresh], 0) == "survived"


def test_an_endless_loop_is_a_kill(tmp_path: Path) -> None:
    test = program(tmp_path, "while :; do :; done\n")
    passed, took_s = mutant_tests.run_test(test, {}, 0.5)
    assert not passed
    assert took_s < 5


def test_what_is_known_of_a_program_holds_until_it_changes(tmp_path: Path) -> None:
    count = tmp_path / "count"
    text = f"echo >>{count}; printf '\\1' | dd of=$LULL_MUTANT_SEEN bs=1 seek=5 conv=notrunc\n"
    test = program(tmp_path, text)
    known = mutant_tests.Known(tmp_path / "known.json")
    one = known.get(test, 5)
    assert one is not None
    assert one.seen == {5}
    one.passed.add(5)
    known.write()
    again = mutant_tests.Known(tmp_path / "known.json").get(test, 5)
    assert again is not None
    assert again.seen == {5}
    assert again.passed == {5}
    assert not again.failed
    assert count.read_text() == "\n"
    changed = program(tmp_path, text + "true\n")
    anew = mutant_tests.Known(tmp_path / "known.json").get(changed, 5)
    assert anew is not None
    assert anew.passed == set()
    assert count.read_text() == "\n\n"


def test_table_counts_what_has_a_reason_apart(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    (tmp_path / "devtools").mkdir()
    allow = tmp_path / "devtools/mutants-allow.txt"
    allow.write_text(f"{mutant(1).where()}  # it is equal\n")
    all_of_them = [mutant(n) for n in range(20)] + [mutant(99, True)]
    verdicts = [(m, "survived" if m.number in (1, 2) else "killed by a") for m in all_of_them]
    assert mutants.table(verdicts, all_of_them, 90)
    told = capsys.readouterr().out
    assert "| core/idle | 20 | 20 | 18 | 1 | 1 | 94.7 |" in told
    assert "classic mutants: 1 of 1 killed" in told
    assert "core/idle/a.c:2: survived: core/idle/a.c:f: x + 2 -> 0" in told
    assert "x + 1" not in told
    assert not mutants.table(verdicts, all_of_them, 95)
    # a part has an interval, a classic survivor fails all
    assert mutants.table(verdicts[3:], all_of_them, 90)
    assert "| core/idle | 20 | 17 | 17 | 0 | 0 | 100.0 (81.6 to 100.0) |" in capsys.readouterr().out
    verdicts[-1] = (all_of_them[-1], "survived")
    assert not mutants.table(verdicts, all_of_them, 90)
    # a reason for what is killed is out of date, and so is one for what is gone
    allow.write_text(f"{mutant(3).where()}  # not so\n{mutant(77).where()}  # gone\n")
    mutants.table(verdicts, all_of_them, 0)
    told = capsys.readouterr().out
    assert f"no longer true: {mutant(3).where()}" in told
    assert f"no longer true: {mutant(77).where()}" in told
