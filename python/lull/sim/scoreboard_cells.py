# SPDX-License-Identifier: BSD-3-Clause
"""Scoreboard cells: kinds of traffic x loads x links x objectives, and the runs they take."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lull.errors import LullError
from lull.quantities import digits, parse_ns, parse_rate, time_word
from lull.sim import load_traffic

LOADS = (0.0, 1.0, 10.0, 50.0, 90.0)
LINKS = ("1G", "10G", "25G", "100G")
OBJECTIVES_US = (50, 100, 200, 500)
QUICK = ("poisson,onoff", "0%,10%,50%", "10G", "100us,200us")
FIXED_US = 50
SIZE = "512"  # bytes on the wire
RING = "4096"  # descriptors
BURSTS_EVERY_US = 4900  # of the stress test; no whole part of any period in the traffic
TESTING_LOAD = 1.0
STALLS = 12  # that a run sees about, on a machine that takes cores away: fewer are mere chance
# What each needs to know: nothing of the objective, the objective, or it as the longest rest.
FREE = ("spin", "yield", f"fixed:{FIXED_US}us")
PROMISING = ("objective", "kalman-guarded")
# What drivers and machines do besides: more queues per thread, bursts that are short although
# packets are left, interrupts that wake a thread late now and then.
WORLDS = {
    "plain": (),
    "queues-4": ("--queues", "4"),
    "queues-16": ("--queues", "16"),
    "short-bursts": ("--round-bursts", "4"),
    "counted-bursts": ("--round-bursts", "4", "--count-left"),
    "interrupts": ("--interrupt", "0:10us,100:30us"),
    "late-interrupts": ("--interrupt", "0:10us,96:30us,97:2ms,100:2ms"),
}
CAPPED = ("ramp", "halve", "drain", "kalman")
METRONOME = "metronome"  # rests half of the objective on average


@dataclass(frozen=True)
class Traffic:
    """What comes in, for every objective alike."""

    kind: str
    load: float
    link: str

    def tested(self) -> "Traffic":
        """Itself, or with enough packets to tell whether a sleep keeps an objective."""
        return self if self.load else replace(self, load=TESTING_LOAD)


@dataclass(frozen=True)
class Cell:
    """One field of the scoreboard."""

    traffic: Traffic
    objective_us: int

    def tested(self) -> "Cell":
        """Itself, or with enough packets to tell."""
        return replace(self, traffic=self.traffic.tested())

    def words(self) -> str:
        """The cell in a few words."""
        of = self.traffic
        return f"{of.kind} {digits(of.load)} % {of.link} {self.objective_us} us"


@dataclass(frozen=True)
class Setup:
    """What is the same in all cells."""

    machine: str
    capacity_pps: float
    seed: str
    size: str
    duration: str
    sweep: str  # of the oracle: LOW-HIGH,STEPS
    further: tuple[str, ...] = ()  # arguments that lull-sim checks


@dataclass(frozen=True)
class Job:
    """One run of lull-sim."""

    arguments: tuple[str, ...]

    def key(self, version: str) -> str:
        """Names its result as long as neither program nor arguments change."""
        return hashlib.sha256("\n".join((version, *self.arguments)).encode()).hexdigest()[:24]


def duration(stall_every_ns: float) -> str:
    """How long a run lasts unless told; empty: as lull-sim has it."""
    return time_word(STALLS * stall_every_ns) if stall_every_ns else ""


def every() -> list[Cell]:
    """The whole scoreboard."""
    return [Cell(Traffic(kind, load, link), objective_us)
            for kind in load_traffic.KINDS for link in LINKS for load in LOADS
            for objective_us in OBJECTIVES_US]


def choose(filters: Sequence[str]) -> list[Cell]:
    """Cells that a word of each kind given fits; words: poisson, 10G, 50%, 100us."""
    cells = every()
    axes: dict[str, Callable[[Cell], str]] = {
        "kind": lambda cell: cell.traffic.kind, "link": lambda cell: cell.traffic.link,
        "load": lambda cell: f"{digits(cell.traffic.load)}%",
        "objective": lambda cell: f"{cell.objective_us}us"}
    wanted: dict[str, set[str]] = {}
    for word in (word.strip() for text in filters for word in text.split(",")):
        axis = next((name for name, read in axes.items() if word in map(read, cells)), None)
        if axis is None:
            known = " ".join(dict.fromkeys(read(cell) for read in axes.values() for cell in cells))
            raise LullError(f"--cells: {word or 'nothing'}: choose from {known}", 2)
        wanted.setdefault(axis, set()).add(word)
    return [cell for cell in cells
            if all(axes[name](cell) in words for name, words in wanted.items())]


def _link_pps(traffic: Traffic, setup: Setup) -> str:
    return str(round(load_traffic.link_pps(parse_rate(traffic.link),
                                           load_traffic.mean_bytes(setup.size))))


def traffic_spec(traffic: Traffic, setup: Setup) -> str:
    """As lull-sim takes it."""
    possible = load_traffic.possible_pps(parse_rate(traffic.link),
                                         load_traffic.mean_bytes(setup.size), setup.capacity_pps)
    return load_traffic.spec(traffic.kind, traffic.load, possible)


def _job(traffic: Traffic, setup: Setup, *further: str) -> Job:
    options = [("--traffic", traffic_spec(traffic, setup)), ("--traffic-size", setup.size),
               ("--link", traffic.link), ("--machine", setup.machine), ("--seed", setup.seed)]
    if setup.duration:
        options.append(("--duration", setup.duration))
    # The operator knows the ring and what the link can bring at this size; both can be changed.
    options += [(key, value) for key, value in (("--ring", RING), ("--pps-max", _link_pps(traffic,
                setup))) if key not in setup.further]
    return Job((*(word for option in options for word in option), *setup.further, *further,
                "--json", "-"))


def free_job(traffic: Traffic, setup: Setup) -> Job:
    """Governors that do not look at the objective, and the oracle's fixed sleeps."""
    return _job(traffic, setup, "--governor", ",".join(FREE), "--sweep-rest", setup.sweep)


def promising_job(cell: Cell, setup: Setup) -> Job:
    """Governors that hold an objective themselves."""
    return _job(cell.traffic, setup, "--governor", ",".join(PROMISING),
                "--max-latency", f"{cell.objective_us}us")


def objective_job(cell: Cell, setup: Setup) -> Job:
    """The governor objective alone."""
    return _job(cell.traffic, setup, "--governor", "objective",
                "--max-latency", f"{cell.objective_us}us")


def polling_job(traffic: Traffic, setup: Setup) -> Job:
    """Polling alone."""
    return _job(traffic, setup, "--governor", "spin")


def capped_job(cell: Cell, setup: Setup) -> Job:
    """Governors whose operator can only state the longest rest."""
    metronome = f"{METRONOME}:{time_word(parse_ns(f'{cell.objective_us}us') / 2)}"
    return _job(cell.traffic, setup, "--governor", ",".join((*CAPPED, metronome)),
                "--max-latency", f"{cell.objective_us}us", "--max-rest", f"{cell.objective_us}us")


def ring(setup: Setup) -> str:
    """Descriptors of each ring."""
    further = setup.further
    return further[further.index("--ring") + 1] if "--ring" in further[:-1] else RING


def _stress(setup: Setup) -> tuple[str, ...]:
    """Bursts as large as the ring at the rate that was stated: those must not be lost either."""
    return ("--line-bursts", f"{BURSTS_EVERY_US}us:{ring(setup)}")


def spin_job(traffic: Traffic, setup: Setup) -> Job:
    """Polling under such bursts, which may lose something too."""
    return _job(traffic, setup, "--governor", "spin", *_stress(setup))


def stressed(job: Job, setup: Setup) -> Job:
    """The same with such bursts in between."""
    return Job((*job.arguments[:-2], *_stress(setup), *job.arguments[-2:]))


def jobs(cells: Sequence[Cell], setup: Setup) -> list[Job]:
    """Each run once, the long ones first so that all cores end at the same time."""
    needed = [one for cell in cells for one in (cell, cell.tested())]
    found = [free_job(cell.traffic, setup) for cell in needed]
    found += [spin_job(cell.traffic, setup) for cell in needed]
    for cell in needed:
        for one in (promising_job(cell, setup), capped_job(cell, setup)):
            found += [one, stressed(one, setup)]
    return in_order(found)


def in_order(found: Sequence[Job]) -> list[Job]:
    """Each once, the long ones first."""
    unique = list(dict.fromkeys(found))
    return sorted(unique, key=lambda job: ("--sweep-rest" not in job.arguments, -_rate(job)))


def _rate(job: Job) -> float:
    """Rate of its traffic, to guess how long it takes."""
    rest = job.arguments[1].partition(":")[2].split(",")[0].rpartition("-")[2]
    return parse_rate(rest) if rest else 0.0
