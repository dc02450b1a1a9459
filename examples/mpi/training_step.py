#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The communication of a training loop: every period all ranks sum a buffer of gradients.

    lull mpi run -n 2 -- /usr/bin/python3 examples/mpi/training_step.py --size 64 --period 1

Rank 0 keeps the time, as a rank with the slowest batch would; the others wait for it inside of
MPI. So their CPU at rest is what waiting costs them. Each element of each sum is checked. Needs
mpi4py and numpy, and knows nothing of what carries its messages.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import numpy
import numpy.typing
from mpi4py import MPI  # type: ignore[import-not-found]

MIB = 1 << 20
PATTERN = 1024  # elements, after which the gradients repeat
REST_MIN_S = 0.01  # of waiting, below which its CPU says nothing


@dataclass
class Clock:
    """Time that passed, and CPU of all threads of this process meanwhile."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    _from: tuple[float, float] = (0.0, 0.0)

    def begin(self) -> None:
        self._from = (time.monotonic(), time.process_time())

    def end(self) -> None:
        self.wall_s += time.monotonic() - self._from[0]
        self.cpu_s += time.process_time() - self._from[1]

    def percent(self) -> float | None:
        return 100 * self.cpu_s / self.wall_s if self.wall_s >= REST_MIN_S else None


@dataclass
class Rank:
    """What one rank measured."""

    rest: Clock = field(default_factory=Clock)  # while it waits for the next step
    whole: Clock = field(default_factory=Clock)
    reduce_s: list[float] = field(default_factory=list)
    wrong: int = 0  # elements of sums
    late: int = 0  # steps that began later than they should


def gradients(elements: int, rank: int, step: int) -> numpy.typing.NDArray[numpy.float32]:
    """Numbers whose sums a float holds exactly, others in each rank and step."""
    return (numpy.arange(elements, dtype=numpy.int64) % PATTERN + rank + step).astype(
        numpy.float32)


def expected(elements: int, ranks: int, step: int) -> numpy.typing.NDArray[numpy.float32]:
    """Their sum over all ranks."""
    pattern = numpy.arange(elements, dtype=numpy.int64) % PATTERN
    return (ranks * (pattern + step) + ranks * (ranks - 1) // 2).astype(numpy.float32)


def wait_for_step(comm: MPI.Comm, due: float, mine: Rank) -> None:
    """Until rank 0 says that the step begins."""
    go = numpy.zeros(1, dtype=numpy.int32)
    if comm.Get_rank() == 0:
        left = due - time.monotonic()
        mine.late += left < 0
        time.sleep(max(left, 0.0))
    comm.Bcast(go, root=0)


def train(comm: MPI.Comm, elements: int, period_s: float, steps: int) -> Rank:
    """One step to warm up, then those that count."""
    mine = Rank()
    total = numpy.empty(elements, dtype=numpy.float32)
    start = 0.0
    for step in range(steps + 1):
        gradient = gradients(elements, comm.Get_rank(), step)
        if step == 1:
            comm.Barrier()
            mine.whole.begin()
            start = time.monotonic()
        if step > 0:
            mine.rest.begin()
            wait_for_step(comm, start + step * period_s, mine)
            mine.rest.end()
        began = time.monotonic()
        comm.Allreduce(gradient, total, op=MPI.SUM)
        if step > 0:
            mine.reduce_s.append(time.monotonic() - began)
        mine.wrong += int(numpy.count_nonzero(
            total != expected(elements, comm.Get_size(), step)))
    mine.whole.end()
    return mine


def summary(ranks: list[Rank], elements: int, period_s: float) -> dict[str, Any]:
    """Of all ranks; an allreduce takes as long as the rank that ends last."""
    size_bytes = 4 * elements
    times = [max(each) for each in zip(*(one.reduce_s for one in ranks), strict=True)]
    median_s = statistics.median(times)
    waiting = [one.rest.percent() for one in ranks[1:]]
    known = [one for one in waiting if one is not None]
    return {
        "ranks": len(ranks),
        "size_bytes": size_bytes,
        "period_s": period_s,
        "steps": len(times),
        "late_steps": ranks[0].late,
        "wrong_elements": sum(one.wrong for one in ranks),
        "allreduce_s": {"median": median_s, "max": max(times)},
        "goodput_bps": 8 * size_bytes / median_s,
        # What a rank sends at least, by any algorithm.
        "link_bps": 8 * size_bytes / median_s * 2 * (len(ranks) - 1) / len(ranks),
        "cpu_rest_pct": max(known) if known else None,
        "cpu_rest_pct_by_rank": [None, *waiting],
        "cpu_pct": max(one.whole.percent() or 0.0 for one in ranks),
        "cpu_pct_by_rank": [one.whole.percent() for one in ranks],
        "library": MPI.Get_library_version().split(",")[0].strip("\0 "),
    }


def show(found: dict[str, Any]) -> None:
    reduce_s, rest = found["allreduce_s"], found["cpu_rest_pct"]
    print(f"{found['steps']} steps of {found['ranks']} ranks, "
          f"{found['size_bytes'] / MIB:g} MiB every {found['period_s']:g} s: "
          f"sums {'right' if not found['wrong_elements'] else 'WRONG'}")
    print(f"allreduce   {1000 * reduce_s['median']:.1f} ms, at most "
          f"{1000 * reduce_s['max']:.1f} ms")
    print(f"goodput     {found['goodput_bps'] / 1e9:.3f} Gb/s")
    print(f"CPU at rest {'not known: no rank waited' if rest is None else f'{rest:.1f} %'}")
    print(f"CPU in all  {found['cpu_pct']:.1f} %")
    if found["late_steps"]:
        print(f"{found['late_steps']} steps began late: a step takes longer than the period")


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--size", type=float, default=25.0, metavar="MIB",
                        help="size of the buffer in MiB [25, a bucket of PyTorch's DDP]")
    parser.add_argument("--period", type=float, default=1.0, metavar="S",
                        help="time from step to step [1]")
    parser.add_argument("--steps", type=int, default=10, metavar="N", help="steps that count [10]")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    chosen = parser.parse_args()
    if not (chosen.size * MIB >= 4 and chosen.period >= 0 and chosen.steps > 0):
        parser.error("--size of at least 4 bytes, --period of 0 or more, --steps of 1 or more")
    return chosen


def main() -> int:
    chosen, comm = options(), MPI.COMM_WORLD
    elements = int(chosen.size * MIB) // 4
    mine = train(comm, elements, chosen.period, chosen.steps)
    everything = comm.gather(mine, root=0)
    wrong = comm.allreduce(mine.wrong)
    if comm.Get_rank() == 0:
        found = summary(everything, elements, chosen.period)
        if chosen.json:
            print(json.dumps(found))
        else:
            show(found)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
