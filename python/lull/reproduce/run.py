# SPDX-License-Identifier: BSD-3-Clause
"""Reproduction runs: the same scenario in the simulator and live, as one observation."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lull.document import Document
from lull.errors import LullError
from lull.reproduce.disturbance import Watch
from lull.reproduce.reproduction import (
    BLOCK,
    USLEEP,
    Curves,
    Figure,
    Observation,
    Rest,
    Scenario,
    Side,
)
from lull.sim import load_traffic
from lull.sim import reply as sim_reply
from lull.sim.reply import SimRun
from lull.sim.simulation import Pool

LINK, LINK_BPS = "1G", 1e9
RING, BURST = "1024", "64"
MAX_REST = "1ms"  # of policies that search: the text knows none; ours by default
FIXED_REST = "10ms"  # longer than any fixed sleep here
IDLE_PPS = 1  # live, for "nothing arrives": as little as the producer can make
SETTLE_S = 2  # before a policy that searches is measured


@dataclass(frozen=True)
class Bench:
    """What the text leaves open, chosen here."""

    seed: int = 1
    rounds: int = 8  # simulations of each run, each with a seed of its own
    duration: str = "1s"
    live_ms: int = 500
    tries: int = 3   # of a live run, until nothing else took the CPUs
    objective_us: int = 1100  # of the receiver: what the longest rest allowed takes
    public_ring: int = 64


def rate_pps(size: int) -> int:
    """What the producer makes: what the link can carry."""
    return round(load_traffic.link_pps(LINK_BPS, size))


def send_objective_us(size: int) -> int:
    """Of the sender: what a burst takes on the wire; holding packets longer costs speed."""
    return int(1e6 * int(BURST) / load_traffic.link_pps(LINK_BPS, size))


def _max_rest(scenario: Scenario) -> str:
    return MAX_REST if scenario.searches() else FIXED_REST


# ---- simulated ----


def sim_arguments(scenario: Scenario, bench: Bench, turn: int = 0) -> list[str]:
    """One scenario, as lull-sim takes it."""
    words = ["--machine", "paper", "--link", LINK, "--ring", RING, "--burst", BURST,
             "--max-latency", f"{bench.objective_us}us", "--max-rest", _max_rest(scenario),
             "--seed", str(bench.seed + turn), "--duration", bench.duration]
    if scenario.size:
        words += ["--path", "send-receive", "--public-ring", str(bench.public_ring),
                  "--traffic", f"constant:{rate_pps(scenario.size)}",
                  "--traffic-size", str(scenario.size), "--send-governor", _governor(scenario.send),
                  "--send-max-latency", f"{send_objective_us(scenario.size)}us",
                  "--pps-max", str(rate_pps(scenario.size))]
    else:
        words += ["--traffic", "off"]
    if "kalman" in (scenario.send.kind, scenario.receive.kind):
        words += ["--kalman-step", f"{scenario.kalman_step_us:g}us"]
    if scenario.searches():
        words += ["--warmup", f"{SETTLE_S}s"]
    return [*words, "--governor", _governor(scenario.receive), "--json", "-"]


def _governor(rest: Rest) -> str:
    """A delay that spins is a thread that polls; usleep(0) is what yield does."""
    if rest.kind in ("none", BLOCK):
        return "spin"
    if rest.kind == USLEEP:
        return f"fixed:{rest.us:g}us" if rest.us else "yield"
    return rest.kind


def sim_observation(text: str) -> Observation:
    """What lull-sim said about one scenario."""
    reply = sim_reply.parse(text)
    sides = {run.side: run for run in reply.runs}
    if "receive" not in sides:
        raise LullError("lull-sim left the receiving side out: rebuild it with 'make build'")
    receive = sides["receive"]
    return Observation(
        send=_sim_side(sides["send"]) if "send" in sides else Side(cpu_pct=0),
        receive=_sim_side(receive),
        loss_ppm=1e6 * receive.lost / receive.offered if receive.offered else 0.0)


def _sim_side(run: SimRun) -> Side:
    asked_ns = run.counters.get("rest_requested_ns", 0)
    mean_ns = float(asked_ns) / run.rests if run.rests else 0.0
    return Side(cpu_pct=run.cpu_pct, empty_pct=run.empty_pct,
                empty_requested_pct=run.empty_requested_pct, speed_bps=run.bits_per_s,
                loops_per_s=1e9 * run.counters.get("iterations", 0) / run.duration_ns
                if run.duration_ns else 0.0,
                rest_us=(run.verdict.rest_ns or mean_ns) / 1e3)


# ---- live ----


class LiveSide(Document):
    """One thread of lull-model."""

    cpu_pct: float
    empty_pct: float = 0
    empty_requested_pct: float = 0
    bits_per_s: float = 0
    rest_requested_mean_ns: float = 0
    window_s: float = 0
    bursts: float = 0
    iterations_empty: float = 0


class LiveReply(Document):
    """What lull-model says."""

    sender: LiveSide
    receiver: LiveSide
    loss_ppm: float | None = None


def live_arguments(scenario: Scenario, bench: Bench) -> list[str]:
    """One scenario, as lull-model takes it."""
    return ["--link", LINK, "--ring", RING, "--burst", BURST, "--public-ring",
            str(bench.public_ring), "--size", str(scenario.size or 256),
            "--rate", str(rate_pps(scenario.size) if scenario.size else IDLE_PPS),
            "--send-rest", _live_rest(scenario.send), "--receive-rest",
            _live_rest(scenario.receive), "--max-latency", f"{bench.objective_us}us",
            "--max-rest", _max_rest(scenario), "--duration", f"{bench.live_ms}ms",
            "--send-max-latency", f"{send_objective_us(scenario.size or 256)}us",
            "--warmup", f"{1000 * SETTLE_S if scenario.searches() else 200}ms", "--json", "-"]


def _live_rest(rest: Rest) -> str:
    return f"{rest.kind}:{rest.us:g}us" if rest.kind in (BLOCK, USLEEP) else rest.kind


def live_observation(text: str) -> Observation:
    """What lull-model said about one scenario."""
    try:
        reply = LiveReply.model_validate(json.loads(text))
    except ValueError as error:
        raise LullError(f"lull-model: reply not understood ({str(error)[:160]}): rebuild it "
                        "with 'make build'") from None

    def side(of: LiveSide) -> Side:
        return Side(cpu_pct=of.cpu_pct, empty_pct=of.empty_pct, speed_bps=of.bits_per_s,
                    empty_requested_pct=of.empty_requested_pct,
                    loops_per_s=(of.bursts + of.iterations_empty) / of.window_s
                    if of.window_s else 0.0,
                    rest_us=of.rest_requested_mean_ns / 1e3)

    return Observation(send=side(reply.sender), receive=side(reply.receiver),
                       loss_ppm=reply.loss_ppm or 0.0)


# ---- both ----

Seen = Mapping[Scenario, Sequence[Observation]]  # by seed or round; empty: all were disturbed


Plan = Sequence[tuple[Scenario, Sequence[str]]]


def sim_plan(figures: Sequence[Figure], bench: Bench) -> Plan:
    """Every run of lull-sim, with each seed."""
    return [(scenario, sim_arguments(scenario, bench, turn)) for scenario in _each(figures)
            for turn in range(bench.rounds)]


def live_plan(figures: Sequence[Figure], bench: Bench) -> Plan:
    """Every run of lull-model, each once: they take real time."""
    return [(scenario, live_arguments(scenario, bench)) for scenario in _each(figures)]


def _each(figures: Sequence[Figure]) -> list[Scenario]:
    return list(dict.fromkeys(
        scenario for figure in figures for scenario in figure.scenarios()))


def simulate(pool: Pool, plan: Plan, advance: Callable[[], None]) -> Seen:
    """Every scenario, in the order of its seeds."""
    seen: dict[int, Observation] = {}
    for index, text in pool.run([arguments for _, arguments in plan]):
        seen[index] = sim_observation(text)
        advance()
    found: dict[Scenario, list[Observation]] = {}
    for index, (scenario, _) in enumerate(plan):
        found.setdefault(scenario, []).append(seen[index])
    return found


def measure(pool: Pool, plan: Plan, tries: int, advance: Callable[[], None]) -> Seen:
    """Every scenario live, again where something else took the CPUs."""
    found: dict[Scenario, list[Observation]] = {}
    for scenario, arguments in plan:
        found[scenario] = []
        for _ in range(tries):
            with Watch() as watch:
                text = pool.one(arguments)
            observation = live_observation(text)
            if not watch.disturbed():
                found[scenario] = [observation]
                break
        advance()
    return found


def curves(figure: Figure, seen: Seen | None) -> list[Curves] | None:
    """The lines of a figure by seed; None when they were not run, empty when one is not valid."""
    if seen is None or any(scenario not in seen for scenario in figure.scenarios()):
        return None
    turns = min((len(seen[scenario]) for scenario in figure.scenarios()), default=1)
    return [{series.name: [(x, seen[scenario][turn]) for x, scenario in series.points]
             for series in figure.series} for turn in range(turns)]


# ---- Fig. 6: what a burst costs ----


class BurstCost(Document):
    """Time of one receive and one send."""

    burst: int
    size: int
    rx_ns: float | None = None
    tx_ns: float | None = None


def sim_costs(text: str) -> list[BurstCost]:
    """The stated costs of the paper's machine: an assumption, not a result."""
    found: dict[str, Any] = json.loads(text)
    return [BurstCost(burst=round(knot["pkts"]), size=0, rx_ns=knot["ns"], tx_ns=knot["ns"])
            for knot in found.get("burst", [])]


def live_costs(text: str) -> list[BurstCost]:
    """What lull-model measured on this machine."""
    return [BurstCost.model_validate(one) for one in json.loads(text)["burst_cost"]]
