# SPDX-License-Identifier: BSD-3-Clause
"""Camera latency: the same pictures into several receivers in turn, and what may be said of it.

A result is a list of rounds; everything else follows from them. As JSON:

    format    1
    command   that measured it
    settings  what was sent, how long, into which receivers, on which CPUs
    machine   what it was measured on
    rounds    one per round, number of cameras and receiver: what was sent, what came, how the
              receiving thread fared, and histograms: `done` (stamp of the last packet to the whole
              frame), `fetched` (to the application), `arrived` (to the application as well, from
              the arrival of the last packet: at the kernel's stamp, or for a port an upper bound),
              `gap` (between iterations of the thread)
    rows      medians over the valid rounds and histograms of them together, for readers
    ratios    of rows, with the goals they were held against

Times are in ns in rounds and in us in rows.
"""

from collections.abc import Sequence
from statistics import median
from typing import Literal

from lull.camera.latency_histogram import Histogram, pool
from lull.document import Document, item
from lull.program.machine import Machine

FORMAT: Literal[1] = 1
# A round in which somebody else had the receiving CPU for longer tells of that somebody.
STOLEN_PCT = 1.0
HELD_PCT = 2.0
# Fewer latencies than this have no p99.9 that is not simply the worst of them.
P999_COUNT = 1000


class Receiver(Document):
    """A way to receive."""

    title: str
    backend: str  # {} is the interface
    governor: str = ""
    spins: bool = False
    direct: bool = False  # the application receives, on a thread of its own


BLOCKING_DIRECT, BUSY_DIRECT, DPDK_DIRECT = "kernel-direct", "kernel-busy-direct", "dpdk-direct"
BLOCKING, BUSY, DPDK, XDP, PHASE = "kernel", "kernel-busy", "dpdk", "dpdk-xdp", "dpdk-phase"
RECEIVERS = {
    BLOCKING: Receiver(title="kernel blocking", backend="kernel:{}"),
    BLOCKING_DIRECT: Receiver(title="kernel blocking direct", backend="kernel:{}", direct=True),
    BUSY: Receiver(title="kernel busy-poll", backend="kernel-busy:{}", governor="spin",
                   spins=True),
    BUSY_DIRECT: Receiver(title="kernel busy-poll direct", backend="kernel-busy:{}",
                          governor="spin", spins=True, direct=True),
    DPDK: Receiver(title="DPDK", backend="dpdk:af_packet={}", governor="spin", spins=True),
    DPDK_DIRECT: Receiver(title="DPDK direct", backend="dpdk:af_packet={}", governor="spin",
                          spins=True, direct=True),
    XDP: Receiver(title="DPDK on AF_XDP", backend="dpdk:af_xdp={}", governor="spin", spins=True),
    PHASE: Receiver(title="DPDK phase", backend="dpdk:af_packet={}", governor="phase"),
}


class Settings(Document):
    """What is sent, and how it is measured."""

    cameras: list[int] = [1, 8]
    receivers: list[str] = [BLOCKING, BLOCKING_DIRECT, BUSY, DPDK, DPDK_DIRECT]
    protocol: str = "gvsp"
    width: int = 1920
    height: int = 1280
    pixel: str = "bayer-rg12p"
    rate: float = 30.0
    packet: int = 2880
    pace: str = "burst"
    stagger: str = "0"
    seconds: float = 4.0
    rounds: int = 5
    mtu: int = 9000
    send_cpu: int = 0
    receive_cpu: int = 1
    nice: int = 0
    seed: int = 1

    def frames(self) -> int:
        """Of each camera in a round."""
        return max(2, round(self.rate * self.seconds))


class Sent(Document):
    """What the sender says of a round."""

    frames: int
    packets: int
    refused: int = 0
    seconds: float
    behind_ns: int = 0  # the latest beginning of a frame, against the rate


class Round(Document):
    """One receiver, one number of cameras, once."""

    receiver: str
    cameras: int
    number: int  # from 1
    sent: Sent
    complete: int
    partial: int
    missed: int  # packets, where port or sockets tell
    late: int = 0  # packets that came when their frame had been given up
    picture_bytes: int = 0  # 0: no frame was whole
    cpu_s: float  # of the receiving thread
    wall_s: float  # of its life
    waited_s: float = 0.0  # ready to run while its CPU did something else
    waited_send_s: float = 0.0  # the same of the sender
    steal_pct: float = 0.0  # of the receiving CPU
    steal_send_pct: float = 0.0
    gaps_late: int = 0  # iterations over 100 us after the last
    done: Histogram
    fetched: Histogram
    arrived: Histogram = Histogram()
    gap: Histogram
    notes: list[str] = []  # of the receiver's self-check

    def lost(self) -> int:
        """Frames of which nothing was delivered."""
        return max(0, self.sent.frames - self.complete - self.partial)

    def cpu_pct(self) -> float:
        """CPU of the receiving thread: of its time if it polls, else of the time of sending."""
        spins = RECEIVERS[self.receiver].spins
        return min(100.0, 100 * self.cpu_s / max(1e-9, self.wall_s if spins else self.sent.seconds))

    def held_pct(self) -> float:
        """How long somebody else had the receiving CPU while the thread wanted it."""
        if RECEIVERS[self.receiver].spins:
            return max(0.0, 100 - self.cpu_pct())
        return min(100.0, 100 * self.waited_s / max(1e-9, self.wall_s))

    def send_held_pct(self) -> float:
        """How long somebody else had the sending CPU while the sender wanted it."""
        return min(100.0, 100 * self.waited_send_s / max(1e-9, self.sent.seconds))

    def flaws(self) -> list[str]:
        """Why its latencies are not the receiver's; nothing: it is valid."""
        stolen = {"receiving": self.steal_pct, "sending": self.steal_send_pct}
        found = [f"{share:.1f} % of the {side} CPU stolen by the host"
                 for side, share in stolen.items() if share > STOLEN_PCT]
        if self.held_pct() > HELD_PCT:
            found.append(f"others had the receiving CPU for {self.held_pct():.1f} %")
        return found


class Latency(Document):
    """Figures of a distribution, in us; None: too few for it, or none."""

    min: float | None = None
    avg: float | None = None
    p50: float | None = None
    p99: float | None = None
    p999: float | None = None
    max: float | None = None


class Row(Document):
    """A receiver with so many cameras, over the rounds that count."""

    receiver: str
    cameras: int
    rounds: int
    valid: int  # 0: what follows is of the invalid ones
    mb_s: float | None  # of picture; None: never was a camera's every picture whole
    frames: int  # sent
    lost: int
    partial: int
    missed: int
    median: Latency  # to the whole frame: of the rounds; min, max over all, p99.9 of all together
    pooled: Latency
    fetched: Latency  # to the application: like median
    fetched_pooled: Latency
    arrived: Latency  # from the arrival to the application: like median
    arrived_pooled: Latency
    cpu_pct: float
    held_pct: float  # the worst
    steal_pct: float  # the worst
    gap_p999: float | None
    gap_max: float | None
    late_per_s: float  # iterations over 100 us after the last


class Ratio(Document):
    """A comparison, with a goal or without."""

    cameras: int
    what: str
    measured: float | None  # None: a row is missing or has no valid round
    unit: str = "times"
    pooled: float | None = None  # the same from all latencies of valid rounds together
    goal: float | None = None
    at_least: bool = True

    def met(self) -> bool | None:
        """Is the goal met? None: there is none, or nothing to hold against it."""
        if self.measured is None or self.goal is None:
            return None
        return self.measured >= self.goal if self.at_least else self.measured <= self.goal


class Report(Document):
    """All that was measured, and all that follows."""

    format: Literal[1] = FORMAT
    command: str = ""  # that measured it
    settings: Settings
    machine: Machine = item(default_factory=Machine)
    rounds: list[Round]
    rows: list[Row] = []
    ratios: list[Ratio] = []


def conclude(settings: Settings, machine: Machine, rounds: Sequence[Round],
             command: str) -> Report:
    """What follows from rounds."""
    size = max((one.picture_bytes for one in rounds), default=0)  # all are of one size
    rows = [summarise(found, size) for cameras in settings.cameras
            for receiver in settings.receivers if (found := of(rounds, receiver, cameras))]
    return Report(command=command, settings=settings, machine=machine, rounds=list(rounds),
                  rows=rows, ratios=compare(rows, settings))


def of(rounds: Sequence[Round], receiver: str, cameras: int) -> list[Round]:
    """The rounds of a row."""
    return [one for one in rounds if one.receiver == receiver and one.cameras == cameras]


def counting(rounds: Sequence[Round]) -> list[Round]:
    """The valid ones; all when there is none, which the row then says."""
    return [one for one in rounds if not one.flaws()] or list(rounds)


def summarise(rounds: Sequence[Round], picture_bytes: int = 0) -> Row:
    """Rounds of one receiver and number of cameras as a row; 0: the size is not known."""
    found = counting(rounds)
    done, gap = pool([one.done for one in found]), pool([one.gap for one in found])
    fetched = pool([one.fetched for one in found])
    seconds = sum(one.sent.seconds for one in found)
    return Row(
        receiver=rounds[0].receiver, cameras=rounds[0].cameras, rounds=len(rounds),
        valid=sum(not one.flaws() for one in rounds), mb_s=_picture_rate(found, picture_bytes),
        frames=sum(one.sent.frames for one in found), lost=sum(one.lost() for one in found),
        partial=sum(one.partial for one in found), missed=sum(one.missed for one in found),
        median=_medians([one.done for one in found]), pooled=_latency(done),
        fetched=_medians([one.fetched for one in found]), fetched_pooled=_latency(fetched),
        arrived=_medians([one.arrived for one in found]),
        arrived_pooled=_latency(pool([one.arrived for one in found])),
        cpu_pct=median(one.cpu_pct() for one in found),
        held_pct=max(one.held_pct() for one in found),
        steal_pct=max(max(one.steal_pct, one.steal_send_pct) for one in found),
        gap_p999=gap.quantile(999_000) / 1e3 if gap.count >= P999_COUNT else None,
        gap_max=gap.max / 1e3 if gap.count else None,
        late_per_s=sum(one.gaps_late for one in found) / max(1e-9, seconds))


def _picture_rate(rounds: Sequence[Round], picture_bytes: int) -> float | None:
    """MB of picture sent in a second: median of the rounds. A round ends with the last frame, not
    with the period that follows it.
    """
    rates = []
    for one in rounds:
        frames = one.sent.frames / one.cameras
        spanned = one.sent.seconds * frames / max(1.0, frames - 1)
        rates.append(picture_bytes * one.sent.frames / max(1e-9, spanned) / 1e6)
    return median(rates) if picture_bytes else None


def _latency(found: Histogram) -> Latency:
    if found.count == 0:
        return Latency()
    p50, p99, p999 = (found.quantile(ppm) / 1e3 for ppm in (500_000, 990_000, 999_000))
    return Latency(min=found.min / 1e3, avg=found.mean / 1e3, p50=p50, p99=p99,
                   p999=p999 if found.count >= P999_COUNT else None, max=found.max / 1e3)


def _medians(found: Sequence[Histogram]) -> Latency:
    some = [one for one in found if one.count]
    if not some:
        return Latency()
    whole = _latency(pool(some))
    return Latency(min=whole.min, avg=median(one.mean for one in some) / 1e3,
                   p50=median(one.quantile(500_000) for one in some) / 1e3,
                   p99=median(one.quantile(990_000) for one in some) / 1e3,
                   p999=whole.p999, max=whole.max)


# ---- comparisons ----

AVG_GOAL, P99_GOAL = 16.0, 20.0  # times the blocking kernel's
P50_GOAL_US = 3.0
GOAL_CAMERAS = (1, 8)
PHASE_CPU_PCT, PHASE_P99_US, PHASE_RATE = 20.0, 30.0, 30.0  # one camera at that rate
# Who is held against whom, and at what: the application's thread is woken on both sides, or on
# none; the blocking socket is that of the paper.
RIVALS = (
    (DPDK, BLOCKING, ("avg", "p99")), (DPDK, BUSY, ("p50",)),
    (DPDK_DIRECT, BLOCKING, ("avg", "p99")), (DPDK_DIRECT, BLOCKING_DIRECT, ("avg", "p99")),
    (DPDK_DIRECT, BUSY_DIRECT, ("p50",)),
)
FAIR_GOAL = 1.0  # a socket that is polled costs a core as well


def compare(rows: Sequence[Row], settings: Settings) -> list[Ratio]:
    """DPDK against the kernel, and against what lull has set itself; all to the application. The
    goals are those of the fastest way: direct, where that was measured.
    """
    found: list[Ratio] = []
    names = settings.receivers
    champion = DPDK_DIRECT if DPDK_DIRECT in names else DPDK
    for cameras in settings.cameras:
        held = cameras in GOAL_CAMERAS
        for mine, rival, figures in RIVALS:
            if mine in names and rival in names:
                goals = rival == BLOCKING and mine == champion and held
                found += [_times(what, rows, cameras, (rival, mine), goals) for what in figures]
        for mine in (DPDK, DPDK_DIRECT):
            if mine in names:
                found += _p50(mine, cameras, _valid(rows, mine, cameras),
                              P50_GOAL_US if mine == champion and held else None)
        if PHASE in names and cameras == 1 and settings.rate == PHASE_RATE:
            found += _phase(_valid(rows, PHASE, cameras))
    return found


def _p50(receiver: str, cameras: int, row: Row | None, goal: float | None) -> list[Ratio]:
    """From the sender's stamp, which its system call follows; from the arrival, at most."""
    title = RECEIVERS[receiver].title
    return [Ratio(cameras=cameras, what=f"{title} p50{more}", unit="µs", goal=goal, at_least=False,
                  measured=getattr(row, kind).p50 if row else None,
                  pooled=getattr(row, f"{kind}_pooled").p50 if row else None)
            for kind, more in (("fetched", ""), ("arrived", " from arrival"))]


def _phase(phase: Row | None) -> list[Ratio]:
    return [Ratio(cameras=1, what="DPDK phase: CPU", unit="%", goal=PHASE_CPU_PCT, at_least=False,
                  measured=phase.cpu_pct if phase else None),
            Ratio(cameras=1, what="DPDK phase: p99", unit="µs", goal=PHASE_P99_US, at_least=False,
                  measured=phase.fetched.p99 if phase else None,
                  pooled=phase.fetched_pooled.p99 if phase else None)]


def _valid(rows: Sequence[Row], receiver: str, cameras: int) -> Row | None:
    return next((row for row in rows if row.receiver == receiver and row.cameras == cameras
                 and row.valid), None)


def _times(what: str, rows: Sequence[Row], cameras: int, names: tuple[str, str],
           held: bool) -> Ratio:
    base, mine = (_valid(rows, name, cameras) for name in names)
    measured, pooled = (
        ratio(getattr(getattr(base, kind), what), getattr(getattr(mine, kind), what))
        if base and mine else None for kind in ("fetched", "fetched_pooled"))
    goals = {"avg": AVG_GOAL, "p99": P99_GOAL} if held else {"p50": FAIR_GOAL}
    titles = [RECEIVERS[name].title for name in names]
    return Ratio(cameras=cameras, what=f"{what}: {' / '.join(titles)}", measured=measured,
                 pooled=pooled, goal=goals.get(what))


def ratio(base: float | None, mine: float | None) -> float | None:
    """How many times; None when one is missing."""
    return base / mine if base is not None and mine else None
