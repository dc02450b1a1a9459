# SPDX-License-Identifier: BSD-3-Clause
"""Reproduction of dispatch, its runs: lull-flow-sim, lull-flow on a capture, dispatch-cost."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from lull.errors import LullError
from lull.flow import capture as flow_capture
from lull.flow import result as flow_result
from lull.reproduce.dispatch import (
    HRW,
    ONE,
    PAPER,
    SCHEDULERS,
    THRESHOLDS,
    TRAFFICS,
    WORKERS,
    DispatchFigure,
    Shown,
)
from lull.sim import flow_reply as flow_sim_reply
from lull.sim.flow_reply import FlowRun
from lull.sim.simulation import Pool

# Of the example program that the text builds on; the text names none.
BURST, RING = "144", "1024"
ODDS_LOAD = "0.7"
FLOWS = 10_000
Advance = Callable[[], None]


@dataclass(frozen=True)
class DispatchBench:
    """What the text leaves open, chosen here."""

    seed: int = 1
    packets: int = 500_000
    loads: tuple[float, ...] = tuple(step / 20 for step in range(1, 21))
    rounds: int = 9  # of dispatch-cost
    capture_packets: int = 200_000


QUICK = DispatchBench(packets=100_000, loads=(0.1, 0.3, 0.5, 0.7), rounds=3,
                      capture_packets=20_000)


@dataclass(frozen=True)
class Job:
    """One run of lull-flow-sim: of a traffic and scheduler, or at a threshold."""

    words: tuple[str, ...]
    traffic: str = ""
    scheduler: str = ""
    threshold: int = 0


def plan(figures: Sequence[DispatchFigure], bench: DispatchBench) -> list[Job]:
    """Every run that the figures want, each once."""
    same = ("--workers", str(WORKERS), "--burst", BURST, "--flush-burst", BURST, "--ring", RING,
            "--flows", str(FLOWS), "--packets", str(bench.packets), "--start", "cold",
            "--seed", str(bench.seed), "--json", "-")
    loads = ",".join(f"{load:g}" for load in bench.loads)
    traffics = dict.fromkeys(traffic for figure in figures for traffic in figure.traffics)
    jobs = [Job(("--scheduler", scheduler, *TRAFFICS[traffic], "--load", loads, *same), traffic,
                scheduler) for traffic in traffics for scheduler in SCHEDULERS]
    if any(figure.name == "Table 1" for figure in figures):
        jobs += [Job(("--scheduler", PAPER, *TRAFFICS[ONE], "--load", ODDS_LOAD, "--watch", BURST,
                      "--threshold", str(threshold), *same), threshold=threshold)
                 for threshold in THRESHOLDS]
    return jobs


def simulate(pool: Pool, jobs: Sequence[Job], advance: Advance) -> Shown:
    """Run them all."""
    runs: dict[tuple[str, str], list[FlowRun]] = {}
    odds: dict[int, FlowRun] = {}
    for index, text in pool.run([job.words for job in jobs]):
        job, found = jobs[index], flow_sim_reply.parse(text)
        if not found or any(run.scheduler != (job.scheduler or PAPER) for run in found):
            raise LullError("lull-flow-sim ran another scheduler than it was asked for: rebuild "
                            "it with 'make build'")
        if job.threshold:
            odds[job.threshold] = found[0]
        else:
            runs[job.traffic, job.scheduler] = sorted(found, key=lambda run: run.load)
        advance()
    return Shown(runs=runs, odds=odds)


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


class CostRow(BaseModel):
    """One row of dispatch-cost."""

    workers: int
    row: str
    ns_median: float


class Costs(BaseModel):
    """All of them."""

    rows: list[CostRow]


def live_costs(pool: Pool, bench: DispatchBench, folder: Path) -> dict[str, float]:
    """Time per packet by scheduler, in ns."""
    path = folder / "costs.json"
    pool.one(("--workers", str(WORKERS), "--rounds", str(bench.rounds), "--no-peers",
              "--json", str(path)))
    try:
        rows = Costs.model_validate(json.loads(path.read_bytes())).rows
    except (OSError, ValueError, ValidationError):
        raise LullError("dispatch-cost: result not understood: rebuild it with "
                        "'make bench'") from None
    found = {one.row: one.ns_median for one in rows if one.row in SCHEDULERS}
    if HRW not in found or set(found) < set(SCHEDULERS):
        raise LullError("dispatch-cost left out a scheduler: rebuild it with 'make bench'")
    return found
