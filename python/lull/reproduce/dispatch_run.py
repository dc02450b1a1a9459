# SPDX-License-Identifier: BSD-3-Clause
"""Reproduction of dispatch, its runs: lull-flow-sim, lull-flow on a capture, dispatch-cost."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lull.document import Document
from lull.errors import LullError
from lull.flow import capture as flow_capture
from lull.flow import result as flow_result
from lull.reproduce.dispatch import (
    EIGHTH,
    HRW,
    ONE,
    PAPER,
    SCHEDULERS,
    THRESHOLDS,
    TRAFFICS,
    TWO,
    WORKERS,
    DispatchFigure,
    Shown,
)
from lull.sim import flow_reply as flow_sim_reply
from lull.sim.flow_reply import FlowRun
from lull.sim.simulation import Pool

# Of the example program that the text builds on; the text names none.
BURST, RING = "144", "1024"
FLUSH_TIME = "20ms"  # a million loops there: what is staged waits for its 144 packets
ODDS_LOAD = "0.7"
LARGE = 0.4
FLOWS = 10_000
Advance = Callable[[], None]


@dataclass(frozen=True)
class DispatchBench:
    """What the text leaves open, chosen here."""

    seed: int = 1
    packets: int = 200_000
    loads: tuple[float, ...] = tuple(step / 20 for step in range(1, 21))
    seeds: int = 8
    rounds: int = 9  # of dispatch-cost
    capture_packets: int = 200_000


QUICK = DispatchBench(packets=50_000, loads=(0.1, 0.3, 0.5, 0.7), seeds=2, rounds=3,
                      capture_packets=20_000)


@dataclass(frozen=True)
class Job:
    """One run of lull-flow-sim: of a traffic and scheduler, or at a threshold."""

    words: tuple[str, ...]
    traffic: str = ""
    scheduler: str = ""
    threshold: int = 0
    turn: int = 0  # of the seed


def every_load(bench: DispatchBench) -> list[float]:
    """The loads to be tried, and an eighth of the larger ones: lull-flow-sim takes 32 at most."""
    eighths = {round(load / EIGHTH, 6) for load in bench.loads if load >= LARGE}
    return sorted(eighths | set(bench.loads))


def plan(figures: Sequence[DispatchFigure], bench: DispatchBench) -> list[Job]:
    """Every run that the figures want, each once."""
    traffics = dict.fromkeys(traffic for figure in figures for traffic in figure.traffics)
    jobs = []
    for turn in range(bench.seeds):
        same = ("--workers", str(WORKERS), "--burst", BURST, "--flush-burst", BURST,
                "--flush-time", FLUSH_TIME, "--ring", RING,
                "--flows", str(FLOWS), "--packets", str(bench.packets), "--start", "cold",
                "--seed", str(bench.seed + turn), "--json", "-")
        for traffic in traffics:
            loads = every_load(bench) if traffic in (ONE, TWO) else bench.loads
            words = ",".join(f"{load:g}" for load in loads)
            jobs += [Job(("--scheduler", scheduler, *TRAFFICS[traffic], "--load", words, *same),
                         traffic, scheduler, turn=turn) for scheduler in SCHEDULERS]
        if any(figure.name == "Table 1" for figure in figures):
            jobs += [Job(("--scheduler", PAPER, *TRAFFICS[ONE], "--load", ODDS_LOAD, "--watch",
                          BURST, "--threshold", str(threshold), *same), threshold=threshold,
                         turn=turn) for threshold in THRESHOLDS]
    return jobs


def simulate(pool: Pool, jobs: Sequence[Job], advance: Advance) -> list[Shown]:
    """Run them all; what each seed showed."""
    turns = 1 + max((job.turn for job in jobs), default=-1)
    runs: list[dict[tuple[str, str], list[FlowRun]]] = [{} for _ in range(turns)]
    odds: list[dict[int, FlowRun]] = [{} for _ in range(turns)]
    for index, text in pool.run([job.words for job in jobs]):
        job, found = jobs[index], flow_sim_reply.parse(text)
        if not found or any(run.scheduler != (job.scheduler or PAPER) for run in found):
            raise LullError("lull-flow-sim ran another scheduler than it was asked for: rebuild "
                            "it with 'make build'")
        if job.threshold:
            odds[job.turn][job.threshold] = found[0]
        else:
            runs[job.turn][job.traffic, job.scheduler] = sorted(found, key=lambda run: run.load)
        advance()
    return [Shown(runs=runs[turn], odds=odds[turn]) for turn in range(turns)]


def live_shares(pool: Pool, bench: DispatchBench, folder: Path,
                advance: Advance) -> dict[str, list[int]]:
    """What lull-flow gives each worker of a capture made for it."""
    capture = folder / "uniform.pcap"
    flow_capture.write(capture, bench.capture_packets, FLOWS, bench.seed)
    found = {}
    for scheduler in SCHEDULERS:
        result = folder / f"{scheduler}.json"
        pool.one(("--pcap", str(capture), "--workers", str(WORKERS), "--scheduler", scheduler,
                  "--order", "none", "--burst", BURST, "--flush-burst", BURST, "--ring", RING,
                  "--stats", "0", "--json", str(result)))
        found[scheduler] = flow_result.load(result).worker_pkts()
        if len(found[scheduler]) != WORKERS or sum(found[scheduler]) != bench.capture_packets:
            raise LullError(f"lull-flow handed on {sum(found[scheduler])} of "
                            f"{bench.capture_packets} packets to {len(found[scheduler])} workers; "
                            "this is a bug in lull, please report it")
        advance()
    return found


class CostRow(Document):
    """One row of dispatch-cost."""

    workers: int
    row: str
    ns_median: float


class Costs(Document):
    """All of them."""

    rows: list[CostRow]


def live_costs(pool: Pool, bench: DispatchBench, folder: Path) -> dict[str, float]:
    """Time per packet by scheduler, in ns."""
    path = folder / "costs.json"
    pool.one(("--workers", str(WORKERS), "--rounds", str(bench.rounds), "--no-peers",
              "--json", str(path)))
    try:
        rows = Costs.model_validate(json.loads(path.read_bytes())).rows
    except (OSError, ValueError):
        raise LullError("dispatch-cost: result not understood: rebuild it with "
                        "'make bench'") from None
    found = {one.row: one.ns_median for one in rows if one.row in SCHEDULERS}
    if HRW not in found or set(found) < set(SCHEDULERS):
        raise LullError("dispatch-cost left out a scheduler: rebuild it with 'make bench'")
    return found
