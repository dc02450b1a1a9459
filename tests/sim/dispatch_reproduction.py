# SPDX-License-Identifier: BSD-3-Clause
"""lull reproduce dispatch on the real simulator, broken five times: its verdicts must turn."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "netns"))

from lull.reproduce import dispatch, dispatch_run, reproduction
from lull.reproduce.dispatch_run import DispatchBench
from lull.reproduce.reproduction import NOT_REPRODUCED, REPRODUCED
from lull.sim.simulation import Pool
from verdict import check

SHORT = DispatchBench(packets=10_000, loads=(0.05, 0.2, 0.4, 0.5), seeds=1)
EVEN = ("Fig. 2", "crc32: the busiest worker over the mean")
IN_TURN = ("Fig. 2", "rr-burst: the busiest worker over the mean")
SPAN = ("Fig. 4", "loads without loss, largest over smallest")
RELIEF = ("Fig. 5", "hrw loses less than with one worker, at the same load")
ROWS = (EVEN, IN_TURN, SPAN, RELIEF)

Words = tuple[str, ...]


def told(words: Words, option: str, value: str) -> Words:
    """The same with another value of an option, where it is there."""
    if option not in words:
        return words
    at = words.index(option) + 1
    return (*words[:at], value, *words[at + 1:])  # fmt: skip


def skewed(words: Words) -> Words:
    """Half of all packets are of one flow."""
    return (*words, "--elephant", "50") if "--zipf" in words else words


# What is broken, and which rows must see it.
BREAKS: dict[str, tuple[Callable[[Words], Words], tuple[tuple[str, str], ...]]] = {
    "a scheduler that relieves nobody": (lambda words: (*words, "--threshold", "100"), (SPAN,)),
    "rings of 64": (lambda words: told(words, "--ring", "64"), (SPAN,)),
    "a flow with half of all packets, for uniform traffic": (skewed, (EVEN,)),
    "all to one worker, for all to two": (lambda words: told(words, "--target", "1"), (RELIEF,)),
    "an I/O core that keeps up with nothing": (
        lambda words: (*words, "--io-packet", "5us"), (SPAN, RELIEF),
    ),
}  # fmt: skip


def verdicts(
    pool: Pool, names: set[str], wrong: Callable[[Words], Words]
) -> dict[tuple[str, str], str]:
    """The simulated verdict of each row of these figures."""
    figures = [figure for figure in dispatch.figures() if figure.name in names]
    jobs = dispatch_run.plan(figures, SHORT)
    seen = dispatch_run.simulate(pool, [replace(job, words=wrong(job.words)) for job in jobs],
                                 lambda: None)  # fmt: skip
    return {
        (figure.name, claim.text): reproduction.simulated_half(claim, seen).verdict
        for figure in figures
        for claim in figure.claims
    }


def main() -> int:
    """Whole, all rows are reproduced; broken, those that must see it are not."""
    with Pool(Path(sys.argv[1])) as pool:
        whole = verdicts(pool, {name for name, _ in ROWS}, lambda words: words)
        for row in ROWS:
            check(whole[row] == REPRODUCED, f"{row[0]}: {row[1]}: whole", whole[row])
        for name, (wrong, turned) in BREAKS.items():
            broken = verdicts(pool, {figure for figure, _ in turned}, wrong)
            for row in turned:
                check(broken[row] == NOT_REPRODUCED, f"{name}: {row[0]}: {row[1]}", broken[row])
            print(f"{name}: {len(turned)} rows turned")
    return 0


if __name__ == "__main__":
    sys.exit(main())
