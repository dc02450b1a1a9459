# SPDX-License-Identifier: BSD-3-Clause
"""devtools/testlog.py: what tests are said to have done, and why they left out what they did."""

import testlog
from testlog import NO_REASON, Count

CMOCKA = """\
[==========] tests: Running 4 test(s).
[ RUN      ] a__works
[       OK ] a__works
[ RUN      ] b__needs_more
skipped: needs IPv6
[  SKIPPED ] b__needs_more
[ RUN      ] c__says_nothing
[  SKIPPED ] c__says_nothing
[ RUN      ] d__crashes
"""
CMOCKA_END = """\
[==========] tests: 4 test(s) run.
[  SKIPPED ] tests: 2 test(s), listed below:
[  SKIPPED ] b__needs_more
[  SKIPPED ] c__says_nothing
[  FAILED  ] tests: 1 test(s), listed below:
[  FAILED  ] d__crashes
"""
TAP = """\
1..4
ok 1 - works
not ok 2 - fails
ok 3 - a port # SKIP needs a NIC
ok 4 - odd # skip
"""
PYTEST = """\
.s.s                                                                     [100%]
SKIPPED [2] ../tests/tools/test_wrap.py:396: needs dpdk-testpmd
SKIPPED [1] ../tests/tools/test_view.py:374: no IPv6 here
FAILED test_wrap.py::test_dies - AssertionError: no
2 passed, 3 skipped, 1 failed in 3.20s
"""


def count(result: str, stdout: str, name: str = "lull:suite / one") -> Count:
    return testlog.count_test({"name": name, "result": result, "stdout": stdout})


def numbers(counted: Count) -> tuple[int, int, int]:
    return counted.passed, counted.failed, counted.skipped


def test_cmocka_cases_and_what_each_said() -> None:
    for text in (CMOCKA, CMOCKA + CMOCKA_END):
        counted = count("FAIL", text)
        assert numbers(counted) == (1, 1, 2)
        assert counted.reasons == [("needs IPv6", "one"), (NO_REASON, "one")]
        assert counted.failures == [
            "lull:suite / one: FAIL, 1 passed, 1 failed, 2 skipped\n  d__crashes"]


def test_tap() -> None:
    counted = count("FAIL", TAP)
    assert numbers(counted) == (1, 1, 2)
    assert counted.reasons == [("needs a NIC", "one"), (NO_REASON, "one")]
    assert counted.failures == ["lull:suite / one: FAIL, 1 passed, 1 failed, 2 skipped\n  fails"]


def test_pytest() -> None:
    counted = count("FAIL", PYTEST)
    assert numbers(counted) == (2, 1, 3)
    assert counted.reasons == [
        ("needs dpdk-testpmd", "one"), ("needs dpdk-testpmd", "one"), ("no IPv6 here", "one")]
    assert counted.failures[0].endswith("\n  test_wrap.py::test_dies")
    without = count("OK", "..s [100%]\n2 passed, 1 skipped in 0.10s\n")
    assert (numbers(without), without.reasons) == ((2, 0, 1), [(NO_REASON, "one")])


def test_programs_without_cases() -> None:
    assert numbers(count("OK", "kernel: 20000 packets\nok (3 s)\n")) == (1, 0, 0)
    assert numbers(count("FAIL", "")) == (0, 1, 0)
    assert numbers(count("TIMEOUT", "")) == (0, 1, 0)
    assert numbers(count("OK", "")) == (1, 0, 0)


def test_whole_tests_that_skip() -> None:
    said = count("SKIP", "nfcapd: skipped, no nfcapd\nskipped: needs nfcapd\n")
    assert (numbers(said), said.reasons) == ((0, 0, 1), [("needs nfcapd", "one")])
    assert count("SKIP", "1..0 # SKIP needs root\n").reasons == [("needs root", "one")]
    silent = count("SKIP", "this and that\n")
    assert (numbers(silent), silent.reasons) == ((0, 0, 1), [(NO_REASON, "one")])


def test_a_crash_is_a_failure_even_if_all_cases_passed() -> None:
    counted = count("FAIL", "[ RUN      ] a\n[       OK ] a\n")
    assert numbers(counted) == (1, 1, 0)


def test_skips_are_grouped_by_reason() -> None:
    total = Count()
    for name in ("b", "a", "b"):
        total.add(count("SKIP", "skipped: needs root\n", f"lull:x / {name}"))
    total.add(count("SKIP", "skipped: needs IPv6\n", "lull:x / c"))
    total.add(count("SKIP", "", "lull:x / d"))
    assert list(total.skips()) == [
        "3 x needs root (b, a)", "1 x needs IPv6 (c)", f"1 x {NO_REASON} (d)"]
