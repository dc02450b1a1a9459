# SPDX-License-Identifier: BSD-3-Clause
"""lull reproduce sleep on the real simulator, broken five times: its verdicts must turn."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "netns"))

from lull.reproduce import reproduction, run, sleep
from lull.reproduce.reproduction import NOT_REPRODUCED, REPRODUCED
from lull.sim.simulation import Pool
from verdict import check

SHORT = run.Bench(rounds=1, duration="100ms")
FIGURES = ("Fig. 4", "Fig. 8", "Fig. 10", "Table 1, Fig. 7")
UNCHANGED = ("Fig. 4", "speed with a sleep of 100 us against usleep(0)")
SENDER_FALLS = ("Fig. 8", "CPU of the sender falls as the sleep grows")
THRESHOLD = ("Fig. 8", "sleep from which the speed falls")
SLOWER = ("Table 1, Fig. 7", "256 bytes: speed then, against no sleep")
LOSSES = ("Fig. 10", "loss rises as the sleep grows")
SOARS = ("Fig. 10", "loss with the longest sleep")
EMPTIES = ("Fig. 8", "empty polling rate falls more than CPU before that")
ROWS = (UNCHANGED, SENDER_FALLS, THRESHOLD, SLOWER, LOSSES, SOARS, EMPTIES)

Words = list[str]


def told(words: Words, option: str, value: str) -> Words:
    """The same with another value of an option, where it is there."""
    if option not in words:
        return words
    at = words.index(option) + 1
    return [*words[:at], value, *words[at + 1:]]  # fmt: skip


def unrested(words: Words) -> Words:
    """A simulator that never sleeps."""
    return told(told(words, "--send-governor", "spin"), "--governor", "spin")


# What is broken, and which rows must see it.
BREAKS: dict[str, tuple[Callable[[Words], Words], tuple[tuple[str, str], ...]]] = {
    "rings of 64": (lambda words: told(words, "--ring", "64"), (UNCHANGED,)),
    "rings without an end": (lambda words: told(words, "--ring", "1048576"), (LOSSES, SOARS)),
    "no sleep at all": (unrested, (SENDER_FALLS, THRESHOLD, SLOWER, EMPTIES)),
    "the sender's sleep is always the same": (
        lambda words: told(words, "--send-governor", "fixed:50us"),
        (SENDER_FALLS, THRESHOLD, EMPTIES),
    ),
    "a producer that stores packets up": (
        lambda words: told(words, "--public-ring", "4096"), (THRESHOLD, SLOWER),
    ),
}  # fmt: skip


def verdicts(pool: Pool, wrong: Callable[[Words], Words]) -> dict[tuple[str, str], str]:
    """The simulated verdict of each row."""
    figures = [figure for figure in sleep.figures() if figure.name in FIGURES]
    plan = [(scenario, wrong(list(words))) for scenario, words in run.sim_plan(figures, SHORT)]
    seen = run.simulate(pool, plan, lambda: None)
    found = {}
    for figure in figures:
        for row in reproduction.rows(figure, run.curves(figure, seen), None, 1):
            found[figure.name, row.text] = row.simulated.verdict
    return found


def main() -> int:
    """Whole, all rows are reproduced; broken, those that must see it are not."""
    with Pool(Path(sys.argv[1])) as pool:
        whole = verdicts(pool, lambda words: words)
        for row in ROWS:
            check(whole[row] == REPRODUCED, f"{row[0]}: {row[1]}: whole", whole[row])
        for name, (wrong, turned) in BREAKS.items():
            broken = verdicts(pool, wrong)
            for row in turned:
                check(broken[row] == NOT_REPRODUCED, f"{name}: {row[0]}: {row[1]}", broken[row])
            print(f"{name}: {len(turned)} rows turned")
    return 0


if __name__ == "__main__":
    sys.exit(main())
