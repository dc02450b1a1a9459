# SPDX-License-Identifier: BSD-3-Clause
"""Model: the literature's measurements of sleeping senders and receivers, live on this machine.

Each function below measures what one command of `lull model` does and returns a Report, which is
also what is written as JSON:

    format    1
    command   "sleep-functions", "burst-cost", "sender-sweep", "receiver-sweep", "evaluate"
    ports     "ring" or "veth"
    settings  seconds, rounds, link, load_pct
    machine   what it was measured on
    rows      one per figure, size and pair of rests: medians over the rounds, losses summed
    costs     burst-cost: ns of one receive and one send by burst and size; burst 0: empty calls
    thresholds  sweeps: for each figure and size, the longest sleep that keeps the speed
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from lull.document import Document
from lull.errors import LullError
from lull.model.reply import BurstCost, ModelReply, Side
from lull.program.machine import Machine
from lull.quantities import parse_ns, parse_rate
from lull.sim.load_traffic import link_pps

FORMAT = 1
LINK = "1G"
LOAD_PCT = 95.0
IDLE_PPS = 1
KEEPS = 0.99  # of the speed with the shortest sleep: what a threshold must keep

SLEEPS_US = (0, 10, 20, 50, 100, 200, 500, 1000)
SEND_US = (0, 20, 40, 60, 80, 100, 150, 200, 300, 400)
RECEIVE_US = (0, 50, 100, 200, 300, 400, 500, 700, 1000)
SPACED_US = {256: 100, 512: 200}  # sleep of the sender at which the paper lost nothing
SIZES = (128, 256, 512, 768, 1024)
RESTS = ("none", "usleep:0", "kalman", "kalman-guarded", "objective")


@dataclass(frozen=True)
class Scenario:
    """One pair of rests at one size of packet."""

    figure: str
    size: int
    send: str
    receive: str
    idle: bool = False


@dataclass(frozen=True)
class Settings:
    """How to measure."""

    seconds: float = 3.0
    rounds: int = 3
    link: str = LINK
    load_pct: float = LOAD_PCT
    quick: bool = False

    def pps(self, scenario: Scenario) -> int:
        """What the producer makes."""
        if scenario.idle:
            return IDLE_PPS
        return round(link_pps(parse_rate(self.link), scenario.size) * self.load_pct / 100)


class Figures(Document):
    """One measured side."""

    rest: str
    cpu_pct: float
    empty_pct: float
    usage_pct: float
    empty_requested_pct: float
    usage_requested_pct: float
    pps: float
    bps: float
    rest_mean_us: float
    burst_mean_pkts: float


class Row(Document):
    """All rounds of one scenario."""

    figure: str
    size: int
    rate_pps: int
    sender: Figures
    receiver: Figures
    sent: int
    lost: int
    loss_ppm: float
    steal_ms: float
    rounds: int


class Threshold(Document):
    """The longest sleep of a sweep that keeps the speed of the shortest."""

    figure: str
    size: int
    sleep_us: float


class Report(Document):
    """What a command found."""

    format: int = FORMAT
    command: str
    ports: str = "ring"
    settings: dict[str, float | str] = {}
    machine: Machine | None = None
    rows: list[Row] = []
    costs: list[BurstCost] = []
    thresholds: list[Threshold] = []


class Bench:
    """What runs lull-model: model_run.RingBench and model_run.VethBench; tests have their own."""

    ports = "ring"
    dpdk = ""  # version, known after a run

    def run(self, arguments: Sequence[str], send: Sequence[str],
            receive: Sequence[str]) -> ModelReply:
        """Run both sides with common arguments and those of one side."""
        raise NotImplementedError

    def costs(self) -> list[BurstCost]:
        """Measure bursts."""
        raise NotImplementedError


Advance = Callable[[str], None]


def silent(_detail: str) -> None:
    """For callers that show no progress."""


# ---- commands ----


def sleep_functions(bench: Bench, settings: Settings, advance: Advance = silent) -> Report:
    """Fig. 2-4: a receiver that spins or sleeps, without and with data."""
    return _measure("sleep-functions", bench, settings, sleep_scenarios(settings.quick), advance)


def sender_sweep(bench: Bench, settings: Settings, advance: Advance = silent) -> Report:
    """Table 1, Fig. 7-9: the sender's sleep, beside a receiver that polls or calls usleep(0)."""
    return _measure("sender-sweep", bench, settings, sender_scenarios(settings.quick), advance)


def receiver_sweep(bench: Bench, settings: Settings, advance: Advance = silent) -> Report:
    """Fig. 10-11: the receiver's sleep, beside a sender that sleeps long enough to lose nothing."""
    return _measure("receiver-sweep", bench, settings, receiver_scenarios(settings.quick), advance)


def evaluate(bench: Bench, settings: Settings, advance: Advance = silent,
             rests: Sequence[str] = RESTS) -> Report:
    """Table 2, Fig. 20-22: both sides alike, by size of packet."""
    return _measure("evaluate", bench, settings, evaluate_scenarios(settings.quick, rests), advance)


def burst_cost(bench: Bench, advance: Advance = silent) -> Report:
    """Fig. 6: what a receive and a send cost."""
    advance("burst costs")
    return Report(command="burst-cost", ports=bench.ports, costs=bench.costs())


# ---- scenarios ----


def sleep_scenarios(quick: bool) -> list[Scenario]:
    """Both functions at every duration."""
    found = []
    for us in _thin(SLEEPS_US, quick):
        for function in ("block", "usleep"):
            rest = f"{function}:{us}us"
            found.append(Scenario("Fig. 2", 256, "none", rest, idle=True))
            found.append(Scenario("Fig. 3" if function == "block" else "Fig. 4", 256,
                                  f"usleep:{SPACED_US[256]}us", rest))
    return found


def sender_scenarios(quick: bool) -> list[Scenario]:
    """Receiver without and with usleep(0)."""
    found = []
    for size in SPACED_US:
        rests = ["none", *(f"usleep:{us}us" for us in _thin(SEND_US, quick))]
        found += [Scenario("Table 1, Fig. 7", size, rest, "none") for rest in rests]
        figure = "Fig. 8" if size == 256 else "Fig. 9"
        found += [Scenario(figure, size, rest, "usleep:0us") for rest in rests[1:]]
    return found


def receiver_scenarios(quick: bool) -> list[Scenario]:
    """The sender as the paper set it."""
    return [Scenario("Fig. 10" if size == 256 else "Fig. 11", size, f"usleep:{spaced_us}us",
                     f"usleep:{us}us")
            for size, spaced_us in SPACED_US.items() for us in _thin(RECEIVE_US, quick)]


def evaluate_scenarios(quick: bool, rests: Sequence[str]) -> list[Scenario]:
    """Table 2 for two sizes, then both sides alike for all."""
    table = [Scenario("Table 2", size, send, receive) for size in SPACED_US
             for send, receive in (("none", "none"), ("none", "usleep:0"),
                                   ("usleep:0", "usleep:0"))]
    return table + [Scenario("Fig. 20-22", size, rest, rest)
                    for size in _thin(SIZES, quick) for rest in rests]


def _thin(values: Sequence[int], quick: bool) -> Sequence[int]:
    """Every third, when time is short; the first stays."""
    return values[::3] if quick else values


# ---- measuring ----


def _measure(command: str, bench: Bench, settings: Settings, scenarios: Sequence[Scenario],
             advance: Advance) -> Report:
    replies: dict[Scenario, list[ModelReply]] = {scenario: [] for scenario in scenarios}
    # Round by round: what disturbs the machine for a while then disturbs every scenario alike.
    for _ in range(settings.rounds):
        for scenario in scenarios:
            advance(f"{scenario.size} B, {scenario.send} to {scenario.receive}")
            replies[scenario].append(_run(bench, settings, scenario))
    rows = [_row(scenario, settings.pps(scenario), found) for scenario, found in replies.items()]
    order = list(dict.fromkeys((row.figure, row.size) for row in rows))
    rows.sort(key=lambda row: order.index((row.figure, row.size)))
    return Report(command=command, ports=bench.ports, rows=rows, thresholds=thresholds(rows),
                  settings={"seconds": settings.seconds, "rounds": settings.rounds,
                            "link": settings.link, "load_pct": settings.load_pct})


def _run(bench: Bench, settings: Settings, scenario: Scenario) -> ModelReply:
    common = ["--size", str(scenario.size), "--link", settings.link, "--max-rest", "10ms",
              "--warmup", "500ms", "--duration", f"{round(settings.seconds * 1000)}ms"]
    sends = ["--rate", str(settings.pps(scenario)), "--send-rest", scenario.send]
    return bench.run(common, sends, ["--receive-rest", scenario.receive])


def _row(scenario: Scenario, rate_pps: int, replies: Sequence[ModelReply]) -> Row:
    sides = [(reply.both()) for reply in replies]
    sent = sum(sender.total_taken for sender, _ in sides)
    lost = sum(reply.lost or 0 for reply in replies)
    return Row(
        figure=scenario.figure, size=scenario.size, rate_pps=rate_pps,
        sender=_figures([sender for sender, _ in sides]),
        receiver=_figures([receiver for _, receiver in sides]),
        sent=sent, lost=lost, loss_ppm=round(1e6 * lost / sent, 3) if sent else 0.0,
        steal_ms=sum(side.steal_ns for pair in sides for side in pair) / 1e6,
        rounds=len(replies))


def _figures(sides: Sequence[Side]) -> Figures:
    def middle(values: Iterable[float]) -> float:
        return round(float(median(values)), 3)

    return Figures(
        rest=sides[0].rest,
        cpu_pct=middle(side.cpu_pct for side in sides),
        empty_pct=middle(side.empty_pct for side in sides),
        usage_pct=middle(side.usage_pct for side in sides),
        empty_requested_pct=middle(side.empty_requested_pct for side in sides),
        usage_requested_pct=middle(side.usage_requested_pct for side in sides),
        pps=middle(side.packets_per_s for side in sides),
        bps=middle(side.bits_per_s for side in sides),
        rest_mean_us=middle(side.rest_mean_ns / 1e3 for side in sides),
        burst_mean_pkts=middle(side.burst_mean_pkts for side in sides))


# ---- what it comes to ----


def sleep_us(rest: str) -> float | None:
    """Duration of a sleep function as typed; None for anything else."""
    name, _, time = rest.partition(":")
    return parse_ns(time) / 1e3 if time and name in ("block", "usleep", "nanosleep", "sleep") \
        else None


def swept_us(row: Row) -> float | None:
    """Sleep of the side that a row's figure sweeps."""
    side = row.sender if row.figure in ("Table 1, Fig. 7", "Fig. 8", "Fig. 9") else row.receiver
    return sleep_us(side.rest)


def thresholds(rows: Sequence[Row]) -> list[Threshold]:
    """The transmission performance threshold of every sweep among these rows."""
    curves: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for row in rows:
        us = swept_us(row)
        if us is not None and row.figure not in ("Fig. 2", "Table 2", "Fig. 20-22"):
            curves.setdefault((row.figure, row.size), []).append((us, row.receiver.bps))
    found = []
    for (figure, size), curve in curves.items():
        curve.sort()
        least = KEEPS * curve[0][1]
        fallen = next((index for index, (_, bps) in enumerate(curve) if bps < least), len(curve))
        found.append(Threshold(figure=figure, size=size, sleep_us=curve[fallen - 1][0]))
    return found


def check_settings(settings: Settings) -> None:
    """Complain about what cannot be measured so."""
    try:
        bps = parse_rate(settings.link)
    except (ValueError, KeyError):
        bps = 0.0
    if not 1e7 <= bps <= 4e11:
        raise LullError(f"--link: {settings.link}: expected bits/s from 10M to 400G, as 1G", 2)
