# SPDX-License-Identifier: BSD-3-Clause
"""Simulation request: what `lull sim` was asked for, as runs of lull-sim."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lull.errors import LullError
from lull.quantities import parse_rate
from lull.sim import load_traffic, sweep
from lull.sim import reply as sim_reply
from lull.sim.reply import SimReply

GOVERNORS = ("spin", "ramp", "objective")
TRAFFIC = "poisson:300k"
SIZE = "64"
LINK = "0"  # none, as lull-sim has it
MACHINE = "guest"


@dataclass(frozen=True)
class Request:
    """What the user wants; empty: as lull-sim has it."""

    governors: tuple[str, ...] = GOVERNORS
    traffic: tuple[str, ...] = ()
    pcap: str = ""
    size: str = ""
    link: str = ""
    objective: str = ""
    load: str = ""
    machine: str = ""
    single: dict[str, str] = field(default_factory=dict)  # option: value, the same everywhere
    further: tuple[str, ...] = ()                         # arguments that lull-sim checks


@dataclass(frozen=True)
class Point:
    """One combination of what is swept."""

    values: dict[str, str]  # of what the user gave a list, range or several of
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What became of one point: the governors' runs brought together again."""

    values: dict[str, str]
    reply: SimReply

    def as_data(self) -> dict[str, Any]:
        """For JSON."""
        return {"point": self.values, **self.reply.model_dump()}


def points(request: Request, capacity: Callable[[], float]) -> list[Point]:
    """Every combination, in order; capacity() is asked when a load needs it."""
    if request.pcap and (request.traffic or request.load):
        raise LullError("--pcap: brings its own traffic: leave --traffic and --load out", 2)
    axes = {"traffic": list(request.traffic or (() if request.pcap else ("",)))}
    if request.pcap:
        axes["traffic"] = [""]
    for name, text, kind in (("link", request.link, sweep.LINK),
                             ("objective", request.objective, sweep.OBJECTIVE),
                             ("load", request.load, sweep.LOAD)):
        axes[name] = sweep.values(f"--{name}", text, kind) if text else [""]
    swept = {name for name, found in axes.items() if len(found) > 1}
    possible = capacity() if request.load else 0.0
    return [Point({name: value for name, value in values.items() if name in swept},
                  tuple(_arguments(request, values, possible)))
            for values in sweep.product(axes)]


def _arguments(request: Request, values: dict[str, str], capacity_pps: float) -> list[str]:
    options = {"traffic": _traffic(request, values, capacity_pps), "pcap": request.pcap,
               "traffic-size": request.size, "link": values["link"],
               "max-latency": values["objective"], "machine": request.machine, **request.single}
    words = [word for name, value in options.items() if value
             for word in (f"--{name}", value)]
    return [*words, *request.further]


def _traffic(request: Request, values: dict[str, str], capacity_pps: float) -> str:
    traffic = values["traffic"]
    if not values["load"]:
        return traffic
    kind = traffic or "poisson"
    if ":" in kind:
        raise LullError(f"--load: brings the rate: give only the kind, as in --traffic "
                        f"{kind.partition(':')[0]}", 2)
    bps = parse_rate(values["link"] or LINK)
    size = load_traffic.mean_bytes(request.size or SIZE)
    return load_traffic.spec(kind, float(values["load"]),
                             load_traffic.possible_pps(bps, size, capacity_pps))


def jobs(request: Request, found: Sequence[Point]) -> list[tuple[str, ...]]:
    """Arguments of every run: one per point and governor, so that all cores have work."""
    return [(*point.arguments, "--governor", governor, "--json", "-")
            for point in found for governor in request.governors]


def gather(request: Request, found: Sequence[Point], texts: Sequence[str]) -> list[Outcome]:
    """The replies of jobs(), in its order, as one outcome per point."""
    count = len(request.governors)
    outcomes = []
    for index, point in enumerate(found):
        replies = [sim_reply.parse(text) for text in texts[index * count:(index + 1) * count]]
        first = replies[0]
        settings = {**first.settings, "governor": ",".join(request.governors)}
        outcomes.append(Outcome(point.values, first.model_copy(update={
            "settings": settings,
            "runs": [run for reply in replies for run in reply.runs],
            "simulated_pkts": sum(reply.simulated_pkts for reply in replies),
            "duration_s": round(sum(reply.duration_s for reply in replies), 6)})))
    return outcomes


def capacity_pps(text: str) -> float:
    """What --describe-machine says."""
    try:
        capacity = float(json.loads(text)["capacity_per_s"])
    except (ValueError, KeyError, TypeError):
        raise LullError("lull-sim: --describe-machine tells no capacity_per_s: rebuild it with "
                        "'make build'") from None
    if capacity <= 0:
        raise LullError("lull-sim: this machine has no capacity at all")
    return capacity


def stall_ns(text: str) -> float:
    """How often the machine that --describe-machine describes takes a core; 0: never."""
    try:
        return float(json.loads(text).get("stall", {}).get("every_ns", 0))
    except (ValueError, AttributeError, TypeError):
        return 0.0


def to_json(version: str, outcomes: Sequence[Outcome]) -> str:
    """Everything, for other programs."""
    data = {"program": "lull sim", "version": version,
            "points": [outcome.as_data() for outcome in outcomes]}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"
