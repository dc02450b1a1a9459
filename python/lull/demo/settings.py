# SPDX-License-Identifier: BSD-3-Clause
"""Demo settings: everything about `lull demo` that one may want to change, in one place."""

from collections.abc import Iterator
from typing import Annotated

from lull.document import Document, Pattern
from lull.errors import LullError
from lull.quantities import parse_rate

DURATION_S = 90.0
DURATION_MAX_S = 3600.0
MAX_LATENCY_US = 200.0
OUT = "out/demo"
NAME_PATTERN = "^[a-z][a-z0-9_-]*$"


class Phase(Document):
    """One kind of traffic."""

    name: Annotated[str, Pattern(NAME_PATTERN)]
    traffic: str  # as lull-fwd's option traffic takes it
    summary: str
    other: bool = False  # another program keeps the CPU of the loop busy

    def peak_pps(self) -> float:
        """The largest rate that it sends at."""
        return parse_rate(self.traffic.partition(":")[2].partition(",")[0])


PHASES = (
    Phase(name="idle", traffic="constant:100", summary="100 packets/s, evenly spaced"),
    Phase(name="low", traffic="poisson:1k", summary="1 000 packets/s, random"),
    Phase(name="mid", traffic="poisson:50k", summary="50 000 packets/s, random"),
    Phase(name="high", traffic="constant:300k", summary="300 000 packets/s, evenly spaced"),
    Phase(name="burst", traffic="onoff:500k,5ms,20ms",
          summary="500 000 packets/s for 5 ms, then 20 ms of silence"),
    Phase(name="shared", traffic="poisson:100k", other=True,
          summary="100 000 packets/s, random, beside another program on the same CPU"),
)

GOVERNORS = ("spin", "ramp", "objective")
SCHED_POLICIES = ("auto", "other", "fifo", "deadline")
GOVERNOR_SUMMARY = {
    "spin": "polls without rest, as DPDK programs do",
    "yield": "gives the CPU away for a moment after each empty poll",
    "fixed": "rests a fixed time after each empty poll",
    "ramp": "rests 1 µs longer after each empty poll, as Open vSwitch does",
    "halve": "rests longer when idle, half as long under traffic, as Snabb does",
    "drain": "rests as long as the ring lasts at link rate, as grout does",
    "metronome": "aims at a mean vacation time, as Metronome does",
    "kalman": "searches the longest rest that costs no speed, as the sleep model does",
    "kalman-guarded": "the same search within the latency objective and the ring",
    "phase": "sleeps until just before the last packets of a frame are due",
    "objective": "rests as long as the latency objective allows",
}


class Settings(Document):
    """What one demo does; part of its result."""

    governors: tuple[Annotated[str, Pattern(NAME_PATTERN)], ...] = GOVERNORS
    phases: tuple[Phase, ...] = PHASES
    max_latency_us: float = MAX_LATENCY_US
    percentile: str = "99"
    loss: str = "zero"
    sched_policy: str = ""  # of lull-fwd; empty: its own default
    # As large NIC rings are; a busy neighbour on a small machine would overflow a small one.
    ring_pkts: int = 4096
    rounds: int = 3
    window_s: float = 1.4
    # From a change of governor and traffic until the measurement begins.
    settle_s: float = 0.4
    # Allowance for handshakes and for packets under way.
    overhead_s: float = 0.15

    # Before round 1: show the loop its largest rate, then let it measure its rests.
    warm_up_rate_s: float = 0.6
    warm_up_calibration_s: float = 3.0

    # Bounds on every handshake with the program.
    mark_timeout_s: float = 2.0
    drain_timeout_s: float = 3.0
    drain_quiet_s: float = 0.5
    poll_s: float = 0.02
    tick_s: float = 0.25

    def runs(self) -> int:
        """Measurements in all."""
        return self.rounds * len(self.phases) * len(self.governors)

    def schedule(self) -> Iterator[tuple[int, Phase, str]]:
        """Round, phase and governor of each measurement.

        In each round every phase has its turn, and in it all governors in turning order. Phases
        with another program come after all rounds of the others: what a loop learns there about
        late wake-ups is true there only.
        """
        for other in (False, True):
            for number in range(1, self.rounds + 1):
                first = (number - 1) % len(self.governors)
                for phase in self.phases:
                    if phase.other == other:
                        for name in self.governors[first:] + self.governors[:first]:
                            yield number, phase, name

    def run_s(self) -> float:
        """One measurement, all told."""
        return self.settle_s + self.window_s + self.overhead_s

    def warm_up_s(self) -> float:
        """Everything before the first measurement, as a rule."""
        return self.warm_up_rate_s + 1.0

    def total_s(self) -> float:
        """The whole demo, as a rule."""
        return self.warm_up_s() + self.runs() * self.run_s()


ROUNDS_MAX = 5
WINDOW_MIN_S = 1.0        # more rounds only while a window stays this long
WINDOW_SHORTEST_S = 0.25  # with a single round


def plan(duration_s: float = DURATION_S, governors: tuple[str, ...] = GOVERNORS,
         phases: tuple[Phase, ...] = PHASES, max_latency_us: float = MAX_LATENCY_US,
         sched_policy: str = "") -> Settings:
    """Divide the time: as many rounds as leave each measurement long enough to mean something."""
    base = Settings(governors=governors, phases=phases, max_latency_us=max_latency_us,
                    sched_policy=sched_policy)
    cells = len(phases) * len(governors)
    fixed_s = base.settle_s + base.overhead_s
    usable_s = duration_s - base.warm_up_s()
    shortest_s = base.warm_up_s() + cells * (fixed_s + WINDOW_SHORTEST_S)
    if not shortest_s <= duration_s <= DURATION_MAX_S:
        raise LullError(f"duration: {duration_s:g} is not in {shortest_s:.0f}..{DURATION_MAX_S:.0f}"
                        f" (s) for {cells} combinations of phase and governor", 2)
    rounds = 1
    while rounds < ROUNDS_MAX and usable_s / (cells * (rounds + 1)) - fixed_s >= WINDOW_MIN_S:
        rounds += 1
    return base.model_copy(update={
        "rounds": rounds, "window_s": round(usable_s / (cells * rounds) - fixed_s, 3)})


def choose_phases(names: list[str]) -> tuple[Phase, ...]:
    """Phases by name, in the demo's order."""
    known = {phase.name: phase for phase in PHASES}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise LullError(f"phases: {unknown[0]} is not one of {', '.join(known)}", 2)
    return tuple(phase for phase in PHASES if phase.name in names)


def choose_governors(names: list[str]) -> tuple[str, ...]:
    """Governors by name, each once, in the user's order."""
    unknown = [name for name in names if name not in GOVERNOR_SUMMARY]
    if unknown:
        raise LullError(f"governors: {unknown[0]} is not one of {', '.join(GOVERNOR_SUMMARY)}", 2)
    return tuple(dict.fromkeys(names))
