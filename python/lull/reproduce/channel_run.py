# SPDX-License-Identifier: BSD-3-Clause
"""Reproduction of the channel, its runs: lull-channel-sim, and lull-channel-perf over a bed."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from lull.document import Document
from lull.errors import LullError
from lull.reproduce.channel import (
    ALL_THE_TIME,
    CREDITED,
    CROWDED,
    LOSSES,
    ORIGINAL,
    OURS,
    PAPER,
    POLICIES,
    POLLING,
    RAILS,
    RESTS_US,
    RINGS,
    SIZES,
    STEPS,
    UNCREDITED,
    ChannelSeen,
)
from lull.reproduce.reproduction import Curves, Figure, Side
from lull.sim.simulation import Pool

RATE = "1G"
RING = "1024"
MAX_REST = "10ms"  # of the published policy: the text knows no bound
OURS_REST = "1ms"  # the default of a channel
RING_SIZE = 128  # bytes of a message where rests are long
RING_UNDER_WAY = 4096  # enough to fill a ring twice
# What the text lays down, and what a bundle would keep from doing harm.
BARE = ("--control", "fixed", "--window", "1024", "--rail-credit=no", "--announce=no")
WORDS = {
    ORIGINAL: ("--governor", "spin", *BARE),
    PAPER: ("--governor", "kalman", "--rest", MAX_REST, "--heedless", *BARE),
    OURS: ("--governor", "phase", "--rest", OURS_REST),
    POLLING: ("--governor", "spin"),
}
WORDS[CROWDED] = WORDS[OURS]
STEP_LINES = {ORIGINAL: 1, PAPER: 1, OURS: 2, POLLING: 2, CROWDED: 1}  # part of step_under_way
Advance = Callable[[], None]


@dataclass(frozen=True)
class ChannelBench:
    """What the text leaves open, chosen here."""

    seed: int = 1
    rounds: int = 3             # of the published policy, each with a seed of its own
    settle: str = "1s"          # before it is measured, for its search
    duration: str = "200ms"     # of what flows all the time
    steps: str = "1s"           # of traffic in steps
    servers: int = 6
    under_way: int = 1024       # messages of each sender
    step_under_way: int = 512   # a burst of 64 for each port
    switch_bytes: int = 4_000_000  # of a port of the switch: it is not what loses packets
    sizes: tuple[int, ...] = SIZES
    rests_us: tuple[int, ...] = RESTS_US
    live_sizes: tuple[int, ...] = (512, 768)
    live_s: float = 3.0
    live_rate: str = "100M"


QUICK = ChannelBench(rounds=1, settle="300ms", duration="40ms", steps="200ms", sizes=(512, 768),
                     rests_us=(250, 2000), live_s=1.0)


@dataclass(frozen=True)
class Job:
    """A run of lull-channel-sim: a place on a line of a figure."""

    figure: str
    line: str
    place: float
    words: tuple[str, ...]


# ---- simulated ----


def _same(bench: ChannelBench, turn: int) -> tuple[str, ...]:
    return ("--machine", "paper", "--ring", RING, "--rails", ",".join([RATE] * RAILS),
            "--seed", str(bench.seed + turn), "--json", "-")


def _crowd(bench: ChannelBench, size: int, under_way: int) -> tuple[str, ...]:
    """All servers to one."""
    return ("--job", "incast", "--nodes", str(bench.servers), "--message", str(size),
            "--under-way", str(under_way), "--wire", f"queue={bench.switch_bytes}")


def plan(figures: Sequence[Figure], bench: ChannelBench) -> list[Job]:
    """Every run that the figures want, each once; both figures of one traffic share theirs."""
    names = {figure.name for figure in figures}
    jobs: list[Job] = []

    def searched(line: str) -> int:
        return bench.rounds if line == PAPER else 1

    if names & {ALL_THE_TIME, LOSSES}:
        jobs += [Job(ALL_THE_TIME, line, size, (
            *_crowd(bench, size, bench.under_way), *WORDS[line], "--time", bench.duration,
            "--warmup", bench.settle if line == PAPER else bench.duration, *_same(bench, turn)))
            for line in POLICIES for size in bench.sizes for turn in range(searched(line))]
    if STEPS in names:
        jobs += [Job(STEPS, line, size, (
            "--job", "periodic", "--message", str(size), "--under-way",
            str(bench.step_under_way // part), *WORDS[line], "--time", bench.steps,
            "--warmup", bench.settle, *_same(bench, turn)))
            for line, part in STEP_LINES.items() for size in bench.sizes
            for turn in range(searched(line))]
    if RINGS in names:
        jobs += [Job(RINGS, line, rest_us, (
            *_crowd(bench, RING_SIZE, RING_UNDER_WAY), "--governor", "fixed",
            "--rest", f"{rest_us}us", "--heedless", *words, "--time", "100ms", "--warmup", "100ms",
            *_same(bench, 0)))
            for line, words in ((UNCREDITED, BARE), (CREDITED, ()))
            for rest_us in bench.rests_us]
    return jobs


class NodeReply(Document):
    """What the loop of a node did."""

    cpu_pct: float
    empty_pct: float
    rest_requested_mean_ns: int


class TrafficReply(Document):
    """What became of packets."""

    tx_pkts: int
    resent_pkts: int
    dropped_pkts: int


class WorldReply(Document):
    """A world of lull-channel-sim."""

    goodput_per_s: float
    messages_failed: int
    traffic: TrafficReply
    nodes: list[NodeReply]


class SimReply(Document):
    """What lull-channel-sim says."""

    world: WorldReply


def sim_seen(text: str, receiver: int) -> ChannelSeen:
    """One run; the busiest of those who send stands for the sender."""
    try:
        world = SimReply.model_validate(json.loads(text)).world
    except ValueError as error:
        raise LullError(f"lull-channel-sim: reply not understood ({str(error)[:160]}): rebuild it "
                        "with 'make build'") from None
    if world.messages_failed:
        raise LullError(f"lull-channel-sim lost {world.messages_failed} messages; this is a bug "
                        "in lull, please report it")
    receive = world.nodes.pop(receiver)
    send = max(world.nodes, key=lambda node: node.cpu_pct)
    pkts = max(1, world.traffic.tx_pkts)
    return ChannelSeen(
        send=_side(send), receive=_side(receive, world.goodput_per_s),
        loss_ppm=1e6 * world.traffic.dropped_pkts / pkts,
        resent_ppm=1e6 * world.traffic.resent_pkts / pkts)


def _side(node: NodeReply, speed_bps: float = 0) -> Side:
    return Side(cpu_pct=node.cpu_pct, empty_pct=node.empty_pct, speed_bps=speed_bps,
                rest_us=node.rest_requested_mean_ns / 1e3)


def middle(seen: Sequence[ChannelSeen]) -> ChannelSeen:
    """The median of several runs, figure by figure."""
    def side(sides: Sequence[Side]) -> Side:
        return Side.model_validate({name: median(getattr(one, name) for one in sides)
                                    for name in Side.model_names()})

    return ChannelSeen(send=side([one.send for one in seen]),
                       receive=side([one.receive for one in seen]),
                       loss_ppm=median(one.loss_ppm for one in seen),
                       resent_ppm=median(one.resent_ppm for one in seen))


def simulate(pool: Pool, jobs: Sequence[Job], advance: Advance) -> dict[str, Curves]:
    """Run them all: the lines of each figure."""
    seen: dict[tuple[str, str, float], list[ChannelSeen]] = {}
    for index, text in pool.run([job.words for job in jobs]):
        job = jobs[index]
        receiver = 1 if job.figure == STEPS else 0
        seen.setdefault((job.figure, job.line, job.place), []).append(sim_seen(text, receiver))
        advance()
    lines: dict[str, dict[str, list[tuple[float, ChannelSeen]]]] = {}
    for job in jobs:  # in the order of the plan, whatever ended first
        line = lines.setdefault(job.figure, {}).setdefault(job.line, [])
        if all(place != job.place for place, _ in line):
            line.append((job.place, middle(seen[job.figure, job.line, job.place])))
    found: dict[str, Curves] = dict(lines)
    if ALL_THE_TIME in found:
        found[LOSSES] = found[ALL_THE_TIME]
    return found
