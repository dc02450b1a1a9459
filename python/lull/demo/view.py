# SPDX-License-Identifier: BSD-3-Clause
"""Demo view: what one sees of a demo, on a terminal or in a pipe."""

from collections.abc import Callable
from typing import Self, TextIO

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from lull.demo.result import Run, Sample, summarise
from lull.demo.result_table import latency_style, loss_style, phase_cells, verdict_text
from lull.demo.settings import Phase, Settings
from lull.palette import ink
from lull.program.replies import Info
from lull.program.runqueue import DISTURBED_PCT
from lull.quantities import clock, micros, percent, si, spark

SPARK_WIDTH = 15


class SilentView:
    """Nobody looks."""

    live = False

    def started(self, settings: Settings, info: Info) -> None:
        """Say nothing."""

    def stage(self, what: str, done_s: float) -> None:
        """Say nothing."""

    def running(self, governor: str, phase: Phase, round_number: int, done_s: float) -> None:
        """Say nothing."""

    def tick(self, governor: str, cpu_pct: float, done_s: float) -> None:
        """Say nothing."""

    def measured(self, sample: Sample, done_s: float) -> None:
        """Say nothing."""

    def warn(self, what: str) -> None:
        """Say nothing."""


class PlainView(SilentView):
    """A line for each measurement."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._settings = Settings()

    def started(self, settings: Settings, info: Info) -> None:
        """Say what is going to happen."""
        self._settings = settings
        self._print(f"{info.program} {info.version} (pid {info.pid}, {info.dpdk or 'DPDK'}): "
                    f"{settings.runs()} measurements in {settings.rounds} rounds, "
                    f"about {clock(settings.total_s())}")

    def stage(self, what: str, done_s: float) -> None:  # noqa: ARG002
        """Say what begins."""
        self._print(what)

    def measured(self, sample: Sample, done_s: float) -> None:
        """Say what came out."""
        left = clock(self._settings.total_s() - done_s)
        trouble = f"  steal {sample.steal_ms:.0f} ms" if sample.steal_ms else ""
        if sample.waited_pct > DISTURBED_PCT:
            trouble += f"  waited {sample.waited_pct:.0f} %"
        self._print(
            f"round {sample.round}/{self._settings.rounds}  {sample.phase:<6} "
            f"{sample.governor:<9}  CPU {sample.cpu_pct:5.1f} %  {si(sample.offered_pps):>5}/s  "
            f"p50 {micros(sample.p50_us):>8}  p99 {micros(sample.p99_us):>8}  "
            f"lost {sample.lost} of {sample.offered}{_beside(sample)}{trouble}  ({left} left)")

    def warn(self, what: str) -> None:
        """Say it."""
        self._print(f"warning: {what}")

    def _print(self, line: str) -> None:
        print(line, file=self._file, flush=True)


def _beside(sample: Sample) -> str:
    """What only means something beside another program."""
    if sample.other_pct is None:
        return ""
    ran = f"  class {sample.sched_class}" if sample.sched_class else ""
    return f"  other program {sample.other_pct:.1f} %{ran}"


class LiveView(SilentView):
    """Governors side by side; drawn between measurements, or all the time if CPUs are spare."""

    def __init__(self, console: Console, live: bool) -> None:
        self.live = live
        self._console = console
        self._settings = Settings()
        self._samples: list[Sample] = []
        self._history: dict[str, list[float]] = {}
        self._phase = ""
        self._governor = ""
        self._what = "starting lull-fwd"
        self._done_s = 0.0
        self._warning = ""
        self._display = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        self._display.__enter__()
        self._draw()
        return self

    def __exit__(self, *what: object) -> None:
        self._display.stop()

    def started(self, settings: Settings, info: Info) -> None:  # noqa: ARG002
        """Learn the plan."""
        self._settings = settings
        self._draw()

    def stage(self, what: str, done_s: float) -> None:
        """Show what begins."""
        self._what, self._done_s = what, done_s
        self._draw()

    def running(self, governor: str, phase: Phase, round_number: int, done_s: float) -> None:
        """Show what is measured now."""
        self._governor, self._phase, self._done_s = governor, phase.name, done_s
        self._what = (f"round {round_number}/{self._settings.rounds} · {phase.name} · {governor} · "
                      f"{phase.summary}")
        self._draw()

    def tick(self, governor: str, cpu_pct: float, done_s: float) -> None:
        """Show that it goes on."""
        self._history.setdefault(governor, []).append(cpu_pct)
        self._done_s = done_s
        self._draw()

    def measured(self, sample: Sample, done_s: float) -> None:
        """Show a measurement."""
        self._samples.append(sample)
        if not self.live:
            self._history.setdefault(sample.governor, []).append(sample.cpu_pct)
        self._done_s = done_s
        self._draw()

    def warn(self, what: str) -> None:
        """Keep it in sight."""
        self._warning = f"{what}"
        self._draw()

    def _draw(self) -> None:
        self._display.update(self.render(), refresh=True)

    def render(self) -> RenderableType:
        """The whole picture."""
        parts: list[RenderableType] = [self._head(), Text(), self._now(), Text()]
        if self._samples:
            parts.append(self._phases())
        return Padding(Group(*parts), (1, 0, 0, 1))

    def _head(self) -> RenderableType:
        settings = self._settings
        total = settings.total_s()
        title = Text.assemble(
            ("lull demo", "bold"),
            (f"   objective: p{settings.percentile} ≤ {micros(settings.max_latency_us)}, "
             + ("no loss" if settings.loss == "zero" else "loss tolerated"), "dim"))
        grid = Table.grid(padding=(0, 2))
        grid.add_column(width=36)
        grid.add_column()
        grid.add_row(ProgressBar(total=total, completed=min(self._done_s, total), width=36),
                     Text.assemble((f"{100 * min(1.0, self._done_s / total):3.0f} %", "bold"),
                                   (f"   {clock(total - self._done_s)} left", "dim")))
        lines = [Text(self._what, "dim")]
        if self._warning:
            lines.append(Text(self._warning, "yellow"))
        return Group(title, Text(), grid, *lines)

    def _last(self, governor: str) -> Sample | None:
        return next((sample for sample in reversed(self._samples) if sample.governor == governor),
                    None)

    def _now(self) -> Table:
        """Latest measurement of each governor, side by side."""
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
        table.add_column("", style="dim", min_width=11)
        names = self._settings.governors
        for name in names:
            active = name == self._governor
            title = Text(("● " if active else "  ") + name, f"bold {ink(name).terminal}")
            table.add_column(title, min_width=18, justify="left")
        lasts = [self._last(name) for name in names]

        def row(title: str, cell: Callable[[Sample], Text]) -> None:
            table.add_row(title, *[cell(last) if last else Text("  –", "dim") for last in lasts])

        row("phase", lambda last: Text(f"  {last.phase}", "dim"))
        row("CPU", lambda last: Text(f"  {percent(last.cpu_pct)}", "bold"))
        table.add_row("", *[Text("  " + spark(self._history.get(name, []), 100, SPARK_WIDTH),
                                 ink(name).terminal) for name in names])
        row("packets/s", lambda last: Text(f"  {si(last.offered_pps)}"))
        row("p50 added", lambda last: Text(f"  {micros(last.p50_us)}"))
        row("p99 added", lambda last: Text(f"  {micros(last.p99_us)}", latency_style(
            last.p99_us, self._settings)))
        row("lost", lambda last: Text(f"  {last.lost}", loss_style(last.lost)))
        row("verdict", lambda last: Text.assemble("  ", verdict_text(last.verdict)))
        if any(last.other_pct is not None for last in lasts if last):
            row("other prog.", lambda last: Text("  –", "dim") if last.other_pct is None
                else Text(f"  {percent(last.other_pct)}"))
            row("class", lambda last: Text(f"  {last.sched_class or '–'}", "dim"))
        return table

    def _phases(self) -> Table:
        """Medians so far."""
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
        table.add_column("\nmedian")
        for name in self._settings.governors:
            style = ink(name).terminal
            for title in (f"{name}\nCPU", "\np99", "\nlost"):
                table.add_column(Text(title, style), justify="right", no_wrap=True)
        runs = {(run.phase, run.governor): run for run in summarise(self._samples, self._settings)}
        for phase in self._settings.phases:
            cells: list[RenderableType] = []
            for name in self._settings.governors:
                run = runs.get((phase.name, name))
                cells += phase_cells(run, self._settings) if run else [Text("–", "dim"), "", ""]
            table.add_row(Text(phase.name, "bold" if phase.name == self._phase else ""), *cells)
            if phase.other:
                table.add_row("other", *self._others(phase, runs))
        return table

    def _others(self, phase: Phase, runs: dict[tuple[str, str], Run]) -> list[RenderableType]:
        """What the other program got, below the CPU of the loop."""
        cells: list[RenderableType] = []
        for name in self._settings.governors:
            run = runs.get((phase.name, name))
            share = percent(run.other_pct) + " " if run and run.other_pct is not None else ""
            cells += [Text(share, "dim"), "", ""]
        return cells

