# SPDX-License-Identifier: BSD-3-Clause
"""What bench/channel reckons: goals and verdicts, rounds that are kept, shares of what is up.

Its modules have names that other benches use too, so they are loaded in a process of their own.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TREE = Path(__file__).resolve().parents[2]
BENCH = TREE / "bench" / "channel"


def ask(code: str, *words: object) -> Any:
    """Run a piece of Python beside the bench; what it prints as JSON."""
    done = subprocess.run([sys.executable, "-c", code, *map(str, words)], check=False, cwd=BENCH,
                          capture_output=True, text=True,
                          env={"PATH": "/usr/bin",
                               "PYTHONPATH": ":".join(
                                   str(TREE / folder) for folder in
                                   ("python", "bench/idle", "bench/rounds", "bench/mpi"))})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def one(scene: str, peer: str, flaw: str = "", error: str = "", number: int = 1,
        **figures: float) -> dict[str, Any]:
    return {"scene": scene, "peer": peer, "number": number, "figures": figures, "flaw": flaw,
            "error": error, "commands": ["a$ x"]}


VERDICTS = """
import json, sys
import goal, goals, scenes
from result import Result, Round
made = Result({}, {}, {}, [Round(**one) for one in json.loads(sys.argv[1])], scenes.SCENES)
print(json.dumps([[v.goal.number, v.goal.figure, v.limit, v.found, v.said]
                  for v in goal.verdicts(made, goals.goals())]))
"""


def verdicts(*rounds: dict[str, Any]) -> list[list[Any]]:
    found: list[list[Any]] = ask(VERDICTS, json.dumps(rounds))
    return found


@pytest.mark.parametrize(("share", "said"), [(95.0, "met"), (94.99, "not met")])
def test_a_goal_is_judged_by_the_median(share: float, said: str) -> None:
    rounds = [one("2x200", "lull dpdk open", number=number, share_pct=value)
              for number, value in enumerate((10, share, 99))]
    assert verdicts(*rounds) == [[1, "share_pct", 95, share, said]]


def test_what_does_not_count() -> None:
    invalid = one("2x200", "lull dpdk open", flaw="INVALID: x", share_pct=99)
    assert verdicts(invalid)[0][4] == "no valid round"
    failed = one("2x200", "lull dpdk open", error="it broke")
    assert verdicts(failed)[0][4] == "not met: it broke"
    assert verdicts(one("2x200", "mptcp", share_pct=99)) == []


def test_a_bound_that_another_row_sets() -> None:
    ours = one("64B", "lull dpdk open spin", p50_us=6.1)
    (alone,) = verdicts(ours)
    assert alone[2] is None
    assert alone[4] == "no figure of libfabric tcp;ofi_rxm"
    other = one("64B", "libfabric tcp;ofi_rxm", mean_us=10)
    assert verdicts(ours, other)[0][2:] == [6.0, 6.1, "not met"]
    ours["figures"]["p50_us"] = 5.9
    assert verdicts(ours, other)[0][4] == "met"
    other["flaw"] = "INVALID: x"
    assert verdicts(ours, other)[0][4] == "no valid round"


def test_a_time_that_never_came() -> None:
    found = {row[1]: row[4] for row in verdicts(one("silence", "lull kernel open", zero_ms=3))}
    assert found == {"zero_ms": "met", "there_ms": "not met: never", "back_ms": "not met: never"}


def test_every_goal_names_a_row_that_there_is() -> None:
    unknown = ask("""
import json, pathlib
import compare, goals
from scenes import SCENES
peers = {peer.name: peer for peer in compare.all_peers(pathlib.Path("build"))}
scenes = {where.name: where for where in SCENES}
print(json.dumps([[goal.scene, goal.peer] for goal in goals.goals()
                  if goal.scene not in scenes or goal.peer not in peers
                  or not peers[goal.peer].takes(scenes[goal.scene])
                  or goal.beside and not (goal.beside[0] in peers and peers[
                      goal.beside[0]].takes(scenes[goal.scene]))]))
""")
    assert unknown == []


LEDGER = """
import json, pathlib, sys
from ledger import Ledger
from result import Result, Round
ledger = Ledger(pathlib.Path(sys.argv[1]))
made = Result({"commit": "x"}, {"seconds": 3}, {})
ledger.begin(made)
for one in json.loads(sys.argv[2]):
    ledger.add(Round(**one))
with ledger.path.open("a") as file:
    file.write('{"scene": "64')
first = ledger.load()
ledger.add(Round(**json.loads(sys.argv[2])[0]))
print(json.dumps([len(first.rounds), len(ledger.load().rounds), first.rounds[1].figures]))
"""


def test_a_killed_run_keeps_its_rounds(tmp_path: Path) -> None:
    rounds = [one("64B", "tcp", p50_us=1), one("64B", "tcp", number=2, p50_us=2)]
    path = tmp_path / "x.jsonl"
    assert ask(LEDGER, path, json.dumps(rounds)) == [2, 3, {"p50_us": 2}]
    assert ask(LEDGER, path, json.dumps(rounds)) == [2, 3, {"p50_us": 2}]
    assert (tmp_path / "x.before.jsonl").read_text().count("\n") == 4


RESUMED = """
import argparse, json, pathlib, sys
import compare, comparison
from result import Round
words = ["--rounds", "2", "--scenes", "64B", "--rows", sys.argv[1]]
chosen = comparison.options(compare.BENCH).parse_args(words)
measured = []
def measure(peer, where, number, seconds, bed):
    measured.append([peer.name, number, seconds])
    return Round(where.name, peer.name, number, {"p50_us": 1}, "", "", ["x"])
comparison.measure = measure
earlier = [Round(**one) for one in json.loads(sys.argv[2])]
list(comparison.Comparison(compare.BENCH, chosen).rounds(earlier))
print(json.dumps(measured))
"""


def test_only_what_is_missing_is_measured() -> None:
    rows = "64B/tcp*,*/UCX*"
    assert ask(RESUMED, rows, "[]") == [
        ["tcp, one at a time", 1, 3], ["UCX tcp", 1, 3],
        ["tcp, one at a time", 2, 3], ["UCX tcp", 2, 3]]
    earlier = [one("64B", "UCX tcp", p50_us=1),
               one("64B", "tcp, one at a time", flaw="INVALID: x", p50_us=1)]
    assert ask(RESUMED, rows, json.dumps(earlier)) == [
        ["tcp, one at a time", 2, 3], ["UCX tcp", 2, 3], ["tcp, one at a time", 3, 3]]


PULLED = """
import json
from pulled import Run, rates_of
run = Run([200e6, 100e6], 0, 50_000_000, 94.0, step_s=0.1, pulled_s=1.0, back_s=2.0)
# Full rates: 37.5 MB/s with both, 12.5 MB/s with the second alone; a last step of half a length.
run.steps = [0] + [3_750_000] * 9 + [1_250_000] * 10 + [3_750_000] * 5 + [1_875_000]
at_s, rates = rates_of([0.05 * i for i in range(9)], [[i * 1000, 0] for i in range(9)])
print(json.dumps([run.share_pct(), run.span_s(), run.up_bps(0.5), run.up_bps(1.5),
                  at_s[0], rates[0][0]]))
"""


def test_the_share_of_what_is_up_at_each_moment() -> None:
    share, span, up, rest, at_s, rate = ask(PULLED)
    assert share == pytest.approx(100)
    assert span == pytest.approx([0.1, 2.55])
    assert (up, rest) == (300e6, 100e6)
    assert (at_s, rate) == (pytest.approx(0.2), pytest.approx(8e-6 * 4000 / 0.2))


CHANGED = """
import json
import scene
from recovery import Curve
from scenes import SCENES
where = next(one for one in SCENES if one.what == scene.CHANGE)
at = [0.01 * i for i in range(800)]
def rate(t):  # half of what is up; for 0.2 s after the change nothing
    return 0 if 3 <= t < 3.2 else 62.5e6 * 0.5 * (0.7 if 3 <= t < 5 else 1)
curve = Curve(at, [0], 3.0, 5.0)
for t in at[1:]:
    curve.bytes.append(curve.bytes[-1] + round(0.01 * rate(t)))
print(json.dumps([where.sum_bps(), where.meanwhile_bps(), curve.figures(where)]))
"""


def test_a_rail_that_changes_its_speed() -> None:
    whole, meanwhile, figures = ask(CHANGED)
    assert (whole, meanwhile) == (500e6, 350e6)
    assert figures["before_share"] == pytest.approx(0.5, rel=0.02)
    assert figures["there_ms"] == pytest.approx(200, abs=30)
    assert figures["back_ms"] == pytest.approx(0, abs=30)
    assert figures["below_ms"] == pytest.approx(200 + 45, abs=30)
