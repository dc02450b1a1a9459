# SPDX-License-Identifier: BSD-3-Clause
"""Loops view: the loops of a running program, once or over and over."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TextIO

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lull.demo.result_table import verdict_text
from lull.palette import ink
from lull.program import watching
from lull.program.camera_replies import ORIGINS, Camera, Cameras
from lull.program.pace import Pace
from lull.program.rates import Rates, between
from lull.program.replies import Explain, Info, Loop
from lull.program.runqueue import DISTURBED_PCT, last_cpu, waited_ns, waited_pct
from lull.program.telemetry import Telemetry
from lull.program.tree import Tree
from lull.quantities import clock, micros, percent, si, spark

BAR_WIDTH = 12
SPARK_WIDTH = 12
WIDE = 128     # columns of a terminal from which everything fits
NARROW = 96    # below this the verdict has no column of its own
THREAD = 16    # columns that threads of other programs take besides
BUSY, EMPTY = ("busy", "█", "bright_white"), ("empty", "▓", "yellow")
PAUSE, REST = ("pause", "▒", "magenta"), ("rest", "░", "cyan")
NOBODY_POLLS = "no thread has polled a port yet"
MODES = {
    "off": "the threads poll as without lull",
    "passive": "no thread rests; lull only measures how busy they are",
    "shadow": "no thread rests; lull only computes how long it would rest",
}


@dataclass
class Watched:
    """A loop and what we remember of it."""

    loop: Loop
    explain: Explain
    rates: Rates | None = None
    history: list[float] = field(default_factory=list)
    waited_ns: int = 0


class Watch:
    """Looks at all loops of a program again and again."""

    def __init__(self, telemetry: Telemetry, tree: Tree | None = None) -> None:
        self._telemetry = telemetry
        self._tree = tree or Tree()
        self.info: Info = telemetry.info()
        self.loops: list[Watched] = []
        self.mode = ""
        self.cameras: Cameras | None = None  # of a program that has some
        self.look()

    def look(self) -> None:
        """Read every loop once more."""
        before = {watched.loop.name: watched for watched in self.loops}
        self.info = self._telemetry.info()
        self.loops = [self._one(name, before.get(name)) for name in self.info.loops]
        received = any(one.loop.kind == "camera" for one in self.loops)
        self.cameras = self._telemetry.cameras() if received else None
        # Only the plugin has modes; other programs always rest.
        self.mode = self._telemetry.settings().get("mode", "") if self.foreign() else ""

    def render(self, width: int) -> RenderableType:
        """The whole picture."""
        return render(self, width)

    def lines(self) -> list[str]:
        """A line for each loop."""
        return plain_lines(self)

    def foreign(self) -> bool:
        """Are these threads of a program that knows nothing of lull?"""
        return not self.loops or any(one.loop.kind == "plugin" for one in self.loops)

    def _one(self, name: str, last: Watched | None) -> Watched:
        loop = self._telemetry.loop(name)
        if loop.cpu < 0:
            loop = loop.model_copy(update={"cpu": last_cpu(self._tree, loop.tid)})
        explain = self._telemetry.explain(name)
        waited = waited_ns(self._tree, loop.tid)
        if last is None:
            return Watched(loop, explain, waited_ns=waited)
        rates = between(last.loop, loop)
        if rates is None:
            return replace(last, loop=loop, explain=explain, waited_ns=waited)
        rates = replace(rates, waited_pct=waited_pct(last.waited_ns, waited,
                                                     round(rates.seconds * 1e9)))
        return Watched(loop, explain, rates, [*last.history, rates.cpu_pct][-SPARK_WIDTH:], waited)


def watch(telemetry: Telemetry, pace: Pace, file: TextIO, interval_s: float,
          count: int | None = None, check: Callable[[], None] | None = None) -> None:
    """Show a program until it ends, count looks are over, or the user has seen enough."""
    watching.watch(Watch(telemetry), pace, file, interval_s, count, check)


def plain_lines(seen: Watch) -> list[str]:
    """A line for each loop."""
    lines = []
    for watched in seen.loops:
        loop, rates = watched.loop, watched.rates
        if rates is None:
            continue
        thread = f"{loop.thread:<15} " if seen.foreign() else ""
        lines.append(
            f"{loop.name:<6} {thread}cpu {cpu_text(loop):<2} {loop.governor:<9} "
            f"CPU {rates.cpu_pct:5.1f} %  {si(rates.pps):>5} packets/s  "
            f"rest {100 * rates.rest_share:5.1f} %  {si(rates.wakes_per_s):>5} wakes/s  "
            f"wait p50 {micros(loop.wait_p50_ns / 1e3)} "
            f"p99 {micros(loop.wait_p99_ns / 1e3)}  {watched.explain.state}")
    if seen.cameras is not None:
        lines += [f"{one.name:<6} frames {one.frames} partial {one.partial}  latency "
                  f"p50 {micros(one.latency_p50_ns / 1e3)} p99 {micros(one.latency_p99_ns / 1e3)} "
                  f"(from: {seen.cameras.latency_from})" for one in seen.cameras.rows()]
    return lines


def render(seen: Watch, width: int) -> RenderableType:
    """The whole picture."""
    info = seen.info
    since = clock((info.now_ns - info.started_ns) / 1e9)
    head = Text.assemble((info.program, "bold"), f" {info.version}   pid {info.pid}",
                         (f"   running for {since}" if info.now_ns else "", "dim"),
                         (f"   {info.dpdk}" if width >= WIDE else "", "dim"))
    if not seen.loops:
        return Padding(Group(head, Text(), Text(f"{NOBODY_POLLS}.".capitalize())), (1, 1, 0, 1))
    return Padding(Group(head, *mode_lines(seen.mode), Text(), loops_table(seen, width),
                         *threads_lines(seen, width), *camera_lines(seen.cameras), *legend(),
                         *verdict_lines(seen, width < NARROW)), (1, 1, 0, 1))


def mode_lines(mode: str) -> list[Text]:
    """What it means that the plugin does not rest."""
    meaning = MODES.get(mode)
    return [Text(f"mode {mode}: {meaning}", "yellow")] if meaning else []


def threads_lines(seen: Watch, width: int) -> list[RenderableType]:
    """The threads by name, when the table has no room for them."""
    if not seen.foreign() or width >= NARROW + THREAD:
        return []
    names = (f"{one.loop.name} {one.loop.thread}" for one in seen.loops)
    return [Text(), Text.assemble(("threads: ", "dim"), ", ".join(names))]


def camera_lines(cameras: Cameras | None) -> list[RenderableType]:
    """A table of the cameras, and where their latencies begin."""
    if cameras is None:
        return []
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("camera", no_wrap=True)
    for title in ("frames", "partial", "latency p50", "p99", "max", "fetched p50", "p99"):
        table.add_column(title, justify="right", no_wrap=True)
    for one in cameras.rows():
        table.add_row(*camera_cells(one))
    origin = ORIGINS.get(cameras.latency_from, cameras.latency_from)
    said = Text(f"latency: {origin}; to its hand-over, fetched: to the application", "dim")
    return [Text(), table, said]


def camera_cells(one: Camera) -> list[RenderableType]:
    """Cells of one camera."""
    times = (one.latency_p50_ns, one.latency_p99_ns, one.latency_max_ns, one.fetched_p50_ns,
             one.fetched_p99_ns)
    return [Text(one.name, "bold"), si(one.frames), si(one.partial),
            *(micros(ns / 1e3) if one.frames else Text("–", "dim") for ns in times)]


def cpu_text(loop: Loop) -> str:
    """The CPU of a loop, or where it ran last."""
    return str(loop.cpu) if loop.cpu >= 0 else "–"


def loops_table(seen: Watch, width: int) -> Table:
    """A row for each loop."""
    wide = width >= (WIDE + THREAD if seen.foreign() else WIDE)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    table.add_column("loop", no_wrap=True)
    named = seen.foreign() and width >= NARROW + THREAD
    if named:
        table.add_column("thread", no_wrap=True)
    table.add_column("cpu", justify="right", no_wrap=True)
    table.add_column("governor", no_wrap=True)
    if wide:
        table.add_column("class", no_wrap=True)
    table.add_column("CPU", justify="right", min_width=7, no_wrap=True)
    if wide:
        table.add_column("history", min_width=SPARK_WIDTH, no_wrap=True)
    table.add_column("time", min_width=BAR_WIDTH, no_wrap=True)
    for title in ("pkts/s", "wakes/s"):
        table.add_column(title, justify="right", no_wrap=True)
    for title in ("wait p50", "p99", "max") if wide else ("p50", "p99"):
        table.add_column(title, justify="right", no_wrap=True)
    if wide:
        table.add_column("rest", justify="right", no_wrap=True)
    if width >= NARROW:
        table.add_column("verdict", no_wrap=True)
    for watched in seen.loops:
        cells = loop_cells(watched, wide)
        if named:
            cells.insert(1, watched.loop.thread)
        table.add_row(*cells[:len(table.columns)])
    return table


def loop_cells(watched: Watched, wide: bool) -> list[RenderableType]:
    """Cells of one loop."""
    loop, rates = watched.loop, watched.rates
    style = ink(loop.governor).terminal
    cells: list[RenderableType] = [Text(loop.name, "bold"), cpu_text(loop),
                                   Text(loop.governor, style)]
    if wide:
        cells.append(Text(loop.sched_class or "–", "dim" if loop.sched_class != "fifo" else ""))
    if rates is None:
        return [*cells, Text("…", "dim")]
    cells.append(Text(percent(rates.cpu_pct), "bold"))
    if wide:
        cells.append(Text(spark(watched.history, 100, SPARK_WIDTH), style))
    cells += [share_bar(rates), si(rates.pps), si(rates.wakes_per_s)]
    waits = [loop.wait_p50_ns, loop.wait_p99_ns] + ([loop.wait_max_ns] if wide else [])
    cells += [Text(micros(wait / 1e3) if loop.wait_count else "–", wait_style(wait, loop))
              for wait in waits]
    if wide:
        cells.append(micros(rates.rest_mean_us) if rates.rests_per_s else Text("–", "dim"))
    cells.append(verdict_text(watched.explain.state))
    return cells


def wait_style(wait_ns: int, loop: Loop) -> str:
    """Red beyond an objective that the loop has."""
    over = loop.governor == "objective" and 0 < loop.max_latency_us * 1000 < wait_ns
    return "red" if over else ""


def share_bar(rates: Rates) -> Text:
    """Where the time of the loop went."""
    bar = Text()
    drawn, reached = 0, 0.0
    # A loop keeps one clock for all its rests; what most of them are names the time.
    rest = REST if rates.wakes_per_s >= rates.rests_per_s / 2 else PAUSE
    for (_, block, style), share in ((BUSY, rates.busy_share), (EMPTY, rates.empty_share),
                                     (rest, rates.rest_share)):
        reached += share
        end = round(reached * BAR_WIDTH)
        bar.append(block * (end - drawn), style)
        drawn = end
    return bar


def legend() -> list[RenderableType]:
    """What the bar means."""
    line = Text("time: ", "dim")
    for name, block, style in (BUSY, EMPTY, PAUSE, REST):
        line.append(block * 2, style)
        line.append(f" {name}  ", "dim")
    wait = Text("wait: upper bound of the wait that resting added, in this window", "dim")
    return [Text(), line, wait]


def verdict_lines(seen: Watch, with_state: bool) -> list[RenderableType]:
    """The sentence of every loop that promises something."""
    lines: list[RenderableType] = [Text()]
    for watched in seen.loops:
        sentence = watched.explain.sentence()
        if sentence and watched.explain.state != "none":
            line = Text.assemble((f"{watched.loop.name}  ", "bold"))
            if with_state:
                line.append_text(verdict_text(watched.explain.state)).append(": ")
                sentence = sentence.removeprefix(f"{watched.explain.state}: ")
            lines.append(line.append(sentence))
        if watched.rates and watched.rates.waited_pct > DISTURBED_PCT:
            lines.append(Text.assemble(
                (f"{watched.loop.name}  ", "bold"),
                (f"waits for CPU {watched.loop.cpu} {watched.rates.waited_pct:.0f} % of the time: "
                 "other programs use it", "yellow")))
    return lines if len(lines) > 1 else []


def as_data(seen: Watch, settings: dict[str, str]) -> dict[str, Any]:
    """Everything known, for JSON."""
    return {
        "info": seen.info.model_dump(),
        "settings": settings,
        "cameras": None if seen.cameras is None else {
            "latency_from": seen.cameras.latency_from,
            "streams": [one.model_dump() for one in seen.cameras.rows()]},
        "loops": [watched.loop.model_dump()
                  | {"rates": asdict(watched.rates) if watched.rates else None,
                     "explain": watched.explain.model_dump()} for watched in seen.loops],
    }
