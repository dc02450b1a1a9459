# SPDX-License-Identifier: BSD-3-Clause
"""Result: what a demo measured, as plain data and as result.json."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Annotated

from lull import atomic
from lull.demo.settings import NAME_PATTERN, Phase, Settings
from lull.document import Document, DocumentError, Pattern, item
from lull.errors import LullError
from lull.program.machine import Machine
from lull.program.runqueue import DISTURBED_PCT

FORMAT = 1
Name = Annotated[str, Pattern(NAME_PATTERN)]
# Below this many packets beyond a percentile the figure is one packet's luck.
PACKETS_BEYOND_MIN = 10


class Sample(Document):
    """One measurement: one round of one phase with one governor."""

    governor: Name
    phase: Name
    round: int
    window_s: float
    offered_pps: float
    cpu_pct: float
    cpu_s: float
    p50_us: float
    p99_us: float
    p999_us: float
    max_us: float
    p99_bound_us: float
    wait_p99_us: float
    late_p99_us: float
    sink_gap_us: float = 0
    offered: int
    sent: int
    rejected: int
    no_buffer: int
    received: int
    lost: int
    duplicates: int
    reordered: int
    rests: int
    rest_mean_us: float
    wakes_per_s: float
    empty_pct: float
    steal_ms: float
    waited_pct: float = 0
    run_wait_pct: float = 0
    other_pct: float | None = None
    other_of_rest_pct: float | None = None
    sched_class: str = ""
    sched_changes: int = 0
    kept: bool | None = None
    energy_j: float | None = None
    verdict: str
    verdict_text: str
    latency_bins: list[int] = item(default_factory=list, hidden=True)


class Run(Document):
    """All rounds of one phase with one governor: medians, and sums of what was lost."""

    governor: Name
    phase: Name
    offered_pps: float
    cpu_pct: float
    p50_us: float
    p99_us: float
    p999_us: float
    max_us: float
    p99_bound_us: float
    sent: int
    received: int
    lost: int
    no_buffer: int = 0
    duplicates: int
    reordered: int
    rests: int
    rest_mean_us: float
    wakes_per_s: float
    empty_pct: float
    steal_ms: float
    waited_pct: float = 0  # strangers had a CPU that the loop or its traffic needed
    run_wait_pct: float = 0  # the loop was ready to run while anything else had its CPU
    other_pct: float | None = None  # CPU that the other program got, of one CPU
    other_of_rest_pct: float | None = None  # the same, of what the loop left over
    sched_class: str = ""  # class of the loop, in most rounds
    sched_changes: int = 0
    sink_gap_us: float = 0  # p99.5 of the time between two looks of the generator's sink
    kept: bool | None = None  # p99 within the objective and, where it says so, nothing lost
    rounds_kept: int = 0
    cpu_s: float = 0
    package_w: float | None = None
    late_p99_us: float = 0
    rounds: int
    verdict: str
    verdict_text: str
    latency_bins: list[int] = []  # low edge in ns and count, in turn, all rounds

    def bins(self) -> list[tuple[int, int]]:
        """(low edge in ns, count) of the latency of every packet."""
        return list(zip(self.latency_bins[0::2], self.latency_bins[1::2], strict=True))

    @property
    def disturbed(self) -> bool:
        """Did the host or other programs take CPU time that was ours?"""
        return self.steal_ms > 0 or self.waited_pct > DISTURBED_PCT

    @property
    def beside(self) -> bool:
        """Was another program on the CPU of the loop?"""
        return self.other_pct is not None

    def rare(self, percentile: float) -> bool:
        """Are there too few packets for this percentile to mean something?"""
        return self.received * (1 - percentile / 100) < PACKETS_BEYOND_MIN


class Result(Document):
    """result.json."""

    format: int = FORMAT
    machine: Machine
    settings: Settings
    runs: list[Run]
    samples: list[Sample] = []

    def run(self, governor: str, phase: str) -> Run | None:
        """One cell of the table."""
        return next((run for run in self.runs
                     if run.governor == governor and run.phase == phase), None)

    def kept(self, run: Run) -> bool:
        """Was the objective met, its word about loss included?"""
        return kept(self.settings, run.p99_us, run.received, run.lost)

    def phases_beside(self) -> list[Phase]:
        """Phases that were measured beside another program."""
        return [phase for phase in self.settings.phases if self.runs_beside(phase)]

    def runs_beside(self, phase: Phase) -> list[Run]:
        """What was measured there, a run for each governor in order."""
        found = (self.run(name, phase.name) for name in self.settings.governors)
        return [run for run in found if run is not None and run.beside]

    def of(self, governor: str) -> list[Run]:
        """All phases of a governor."""
        return [run for run in self.runs if run.governor == governor]


def kept(settings: Settings, p99_us: float, received: int, lost: int) -> bool:
    """Was the objective kept? Nothing is taken off: the generator's own part counts too."""
    return (received > 0 and p99_us <= settings.max_latency_us
            and (lost == 0 or settings.loss != "zero"))


def summarise(samples: Iterable[Sample], settings: Settings) -> list[Run]:
    """Bring rounds together, in the order in which combinations were first measured."""
    cells: dict[tuple[str, str], list[Sample]] = {}
    for sample in samples:
        cells.setdefault((sample.phase, sample.governor), []).append(sample)
    return [summarise_cell(cell, settings) for cell in cells.values()]


def summarise_cell(cell: list[Sample], settings: Settings) -> Run:
    """One combination of phase and governor."""

    def middle(member: str) -> float:
        return round(float(median(getattr(sample, member) for sample in cell)), 3)

    def middle_known(member: str) -> float | None:
        return middle(member) if getattr(cell[0], member) is not None else None

    def total(member: str) -> int:
        return sum(getattr(sample, member) for sample in cell)

    seconds = sum(sample.window_s for sample in cell)
    energies = [sample.energy_j for sample in cell if sample.energy_j is not None]
    verdict = most_common(sample.verdict for sample in cell)
    text = next(sample.verdict_text for sample in reversed(cell) if sample.verdict == verdict)
    return Run(
        governor=cell[0].governor,
        phase=cell[0].phase,
        offered_pps=middle("offered_pps"),
        cpu_pct=middle("cpu_pct"),
        p50_us=middle("p50_us"),
        p99_us=middle("p99_us"),
        p999_us=middle("p999_us"),
        max_us=max(sample.max_us for sample in cell),
        p99_bound_us=middle("p99_bound_us"),
        sent=total("sent"),
        received=total("received"),
        lost=total("lost"),
        no_buffer=total("no_buffer"),
        duplicates=total("duplicates"),
        reordered=total("reordered"),
        rests=total("rests"),
        rest_mean_us=middle("rest_mean_us"),
        wakes_per_s=middle("wakes_per_s"),
        empty_pct=middle("empty_pct"),
        steal_ms=round(sum(sample.steal_ms for sample in cell), 3),
        waited_pct=middle("waited_pct"),
        run_wait_pct=middle("run_wait_pct"),
        other_pct=middle_known("other_pct"),
        other_of_rest_pct=middle_known("other_of_rest_pct"),
        sched_class=most_common(sample.sched_class for sample in cell),
        sched_changes=total("sched_changes"),
        sink_gap_us=middle("sink_gap_us"),
        kept=kept(settings, middle("p99_us"), total("received"), total("lost")),
        rounds_kept=sum(sample.kept is True for sample in cell),
        cpu_s=round(sum(sample.cpu_s for sample in cell), 4),
        package_w=round(sum(energies) / seconds, 3) if len(energies) == len(cell) else None,
        late_p99_us=middle("late_p99_us"),
        rounds=len(cell),
        verdict=verdict,
        verdict_text=text,
        latency_bins=merge_bins(sample.latency_bins for sample in cell),
    )


def most_common(words: Iterable[str]) -> str:
    """What was said most often."""
    return Counter(words).most_common(1)[0][0]


def merge_bins(many: Iterable[list[int]]) -> list[int]:
    """Sum of histograms given as low edge and count in turn."""
    sums: Counter[int] = Counter()
    for bins in many:
        for low, count in zip(bins[0::2], bins[1::2], strict=True):
            sums[low] += count
    return [number for low in sorted(sums) for number in (low, sums[low])]


def save(result: Result, path: Path) -> None:
    """Write result.json, whole or not at all."""
    atomic.write(path, to_json(result))


def to_json(result: Result) -> str:
    """result.json as text."""
    return result.model_dump_json(indent=1) + "\n"


def load(path: Path) -> Result:
    """Read result.json."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise LullError(f"{path}: cannot read ({error.strerror}): "
                        "'lull demo' writes such a file") from None
    except UnicodeDecodeError:
        raise LullError(f"{path}: not a result of 'lull demo' (not text)") from None
    try:
        result = Result.model_validate_json(text)
    except DocumentError as error:
        raise LullError(f"{path}: not a result of 'lull demo' ({error})") from None
    if result.format != FORMAT:
        raise LullError(f"{path}: format {result.format} is not {FORMAT}: "
                        "use the lull that wrote it")
    if not result.runs:
        raise LullError(f"{path}: holds no measurement: run 'lull demo' again")
    return result
