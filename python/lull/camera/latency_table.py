# SPDX-License-Identifier: BSD-3-Clause
"""Camera latency as tables: in the paper's form and in ours; for a terminal, a page, Markdown."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from rich import box
from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from lull.camera.latency import (
    BLOCKING,
    DPDK,
    DPDK_DIRECT,
    HELD_PCT,
    RECEIVERS,
    Latency,
    Ratio,
    Report,
    Row,
    Settings,
    of,
    ratio,
)
from lull.program.machine import Machine
from lull.quantities import digits, micros, percent, si

NONE = "–"
WIDTH = 112  # that the tables need
FRAMES_P99 = 100  # fewer have no p99 but the worst
# Tables I and II of the paper, in us, and the camera it had.
PAPER = {"min": (5890.0, 530.0), "avg": (12140.0, 780.0), "max": (18930.0, 890.0)}
PAPER_MB_S = 1920 * 1280 * 1.5 * 30 / 1e6
PAPER_NOTE = ("The paper: one camera of 105.47 MiB/s, from the stamp of the config packet, taken "
              "at another point in each of two runs. Here: from the stamp that the sender puts "
              "into the last packet of a picture to the application, in one run, the valid rounds "
              "together; Linux is a blocking socket. "
              "Ratios may be compared, times may not.")


@dataclass(frozen=True)
class Sheet:
    """A table; a row of one cell is a heading."""

    title: str
    columns: tuple[str, ...]
    rows: list[list[str]]
    note: str = ""
    bad: set[int] = field(default_factory=set)  # rows not to be trusted, or goals not met


def sheets(report: Report) -> list[Sheet]:
    """All tables."""
    found = [sheet for cameras in report.settings.cameras if (sheet := _paper(report, cameras))]
    if found:
        found[-1] = replace(found[-1], note=PAPER_NOTE)
    return [_applications(report), _arrivals(report), _delivery(report), *found,
            _latencies(report), _thread(report), *([_goals(report)] if report.ratios else []),
            *_invalid(report)]


def invalid(report: Report) -> bool:
    """Is there no valid round at all?"""
    return not any(row.valid for row in report.rows)


def headline(settings: Settings) -> str:
    """What was run."""
    return (f"{settings.protocol}, {settings.width} x {settings.height} {settings.pixel}, "
            f"{settings.rate:g} frames/s, packets of {settings.packet} B ({settings.pace}), "
            f"{settings.rounds} round{'s' if settings.rounds > 1 else ''} of "
            f"{settings.seconds:g} s in turns, sender on CPU "
            f"{settings.send_cpu}, receiver on CPU {settings.receive_cpu}"
            + (f", nice {settings.nice}" if settings.nice else ""))


def where(machine: Machine) -> str:
    """What it was run on."""
    guest = "" if machine.hypervisor in ("", "none") else f" under {machine.hypervisor}"
    commit = f" ({machine.commit})" if machine.commit else ""
    words = (machine.cpu, f"{machine.cores} CPUs", f"Linux {machine.kernel}{guest}", machine.dpdk,
             f"lull {machine.lull}{commit}", machine.date)
    return ", ".join(word for word in words if word)


def load(report: Report, cameras: int) -> str:
    """So many cameras, and what they send."""
    known = [row.mb_s for row in report.rows if row.cameras == cameras and row.mb_s is not None]
    return crowd(cameras) + (f", {rate(median(known))}" if known else "")


def crowd(cameras: int) -> str:
    """So many cameras."""
    return f"{cameras} camera{'s' if cameras > 1 else ''}"


def remarks(report: Report) -> list[str]:
    """What a reader must know besides."""
    settings, found = report.settings, []
    told: dict[str, list[int]] = {}
    for cameras in settings.cameras:
        rounds = [one for one in report.rounds if one.cameras == cameras]
        late_ms = max((one.sent.behind_ns for one in rounds), default=0) / 1e6
        if late_ms * settings.rate > 1000:
            found.append(f"{crowd(cameras)}: the sender began a frame {digits(late_ms)} ms late: "
                         "it did not keep the rate all the time.")
        if any(one.sent.refused for one in rounds):
            found.append(f"{crowd(cameras)}: the kernel refused packets of the sender.")
        held = [one.send_held_pct() for one in rounds]
        if any(share > HELD_PCT for share in held):
            found.append(f"{crowd(cameras)}: others had the sending CPU for up to "
                         f"{percent(max(held))} of a round; a stamp may be early by as much as "
                         "the sender waited.")
        late = sum(one.late for one in rounds)
        if late:
            found.append(f"{crowd(cameras)}: {si(late)} packets came when their frame had been "
                         "given up for half a period of silence: not lost, but sender or receiver "
                         "stood still.")
        for note in dict.fromkeys(f"{RECEIVERS[one.receiver].title}: {note}"
                                  for one in rounds for note in one.notes):
            told.setdefault(note, []).append(cameras)
    found += [f"{note} (self-check, {' and '.join(map(str, cameras))} cameras)"
              for note, cameras in told.items()]
    if settings.frames() * min(settings.cameras, default=1) < FRAMES_P99:
        found.append("A round has fewer than 100 frames: its p99 is its worst one.")
    return found


# ---- tables ----


def _row(report: Report, receiver: str, cameras: int) -> Row | None:
    return next((row for row in report.rows
                 if row.receiver == receiver and row.cameras == cameras), None)


def _paper(report: Report, cameras: int) -> Sheet | None:
    mine = DPDK_DIRECT if DPDK_DIRECT in report.settings.receivers else DPDK
    kernel, dpdk = (_row(report, name, cameras) for name in (BLOCKING, mine))
    if kernel is None or dpdk is None:
        return None
    rows = [["bandwidth", rate(PAPER_MB_S), rate(PAPER_MB_S), "",
             rate(kernel.mb_s), rate(dpdk.mb_s), ""]]
    for name, (theirs, ours) in PAPER.items():
        here = [getattr(row.fetched_pooled, name) for row in (kernel, dpdk)]
        rows.append([f"{name}.", micros(theirs), micros(ours), times(theirs / ours),
                     *map(time, here), times(ratio(*here))])
    trusted = bool(kernel.valid and dpdk.valid)
    return Sheet(f"Tables I and II: latency results, {crowd(cameras)}"
                 + ("" if trusted else " - INVALID"),
                 ("Description", "paper: Linux", "paper: DPDK", "ratio",
                  "here: Linux", f"here: {RECEIVERS[mine].title}", "ratio"), rows,
                 bad=set() if trusted else set(range(len(rows))))


def _applications(report: Report) -> Sheet:
    sheet = Sheet(
        "Stamp of the last packet to the application",
        ("receiver", "valid", "min", "avg", "p50", "p99", "p99.9", "max"), [],
        "avg, p50, p99: medians of the rounds; min, p99.9, max: of all rounds together. Only valid "
        "rounds count. Frames with holes have no latency: look at what was lost, too. direct: the "
        "application's thread receives, else it is woken.")
    for cameras in report.settings.cameras:
        _section(sheet, report, cameras)
        for row in (one for one in report.rows if one.cameras == cameras):
            _mark(sheet, row, [*_name(row), *_times(row.fetched)])
    return sheet


def _arrivals(report: Report) -> Sheet:
    sheet = Sheet(
        "Arrival of the last packet to the application, as the receiver itself tells it",
        ("receiver", "min", "avg", "p50", "p99", "p99.9", "max"), [],
        "Without the sender's system call. Arrival: the kernel's stamp; of a port, which gives no "
        "stamps, the last poll that did not find the packet: an upper bound.")
    for cameras in report.settings.cameras:
        _section(sheet, report, cameras)
        for row in (one for one in report.rows if one.cameras == cameras):
            _mark(sheet, row, [RECEIVERS[row.receiver].title, *_times(row.arrived)])
    return sheet


def _delivery(report: Report) -> Sheet:
    sheet = Sheet("What did not get there", ("receiver", "frames", "lost", "partial", "missed"), [],
                  "lost and partial are frames, missed are packets that port or sockets tell of.")
    for cameras in report.settings.cameras:
        _section(sheet, report, cameras)
        for row in (one for one in report.rows if one.cameras == cameras):
            _mark(sheet, row, [RECEIVERS[row.receiver].title, si(row.frames), si(row.lost),
                               si(row.partial), si(row.missed)])
    return sheet


def _latencies(report: Report) -> Sheet:
    sheet = Sheet("The part up to the whole frame, before the application has it",
                  ("receiver", "min", "avg", "p50", "p99", "p99.9", "max"), [])
    for cameras in report.settings.cameras:
        _section(sheet, report, cameras)
        for row in (one for one in report.rows if one.cameras == cameras):
            _mark(sheet, row, [RECEIVERS[row.receiver].title, *_times(row.median)])
    return sheet


def _thread(report: Report) -> Sheet:
    sheet = Sheet("The receiving thread",
                  ("receiver", "CPU", "others", "stolen", "gap p99.9", "gap max", "late/s"), [],
                  "CPU: its own, while cameras send. others, stolen: the worst share of a round "
                  "that other programs, or the host, had its CPU. gap: between two iterations, "
                  "rests left out; late: over 100 µs.")
    for cameras in report.settings.cameras:
        _section(sheet, report, cameras)
        for row in (one for one in report.rows if one.cameras == cameras):
            _mark(sheet, row, [
                RECEIVERS[row.receiver].title, percent(row.cpu_pct), percent(row.held_pct),
                percent(row.steal_pct), time(row.gap_p999), time(row.gap_max),
                digits(row.late_per_s)])
    return sheet


def _goals(report: Report) -> Sheet:
    sheet = Sheet("Held against its goals",
                  ("", "measured", "together", "goal", "in this run"), [],
                  "All to the application. measured: of the medians; together: of all latencies of "
                  "the valid rounds. Not judged: a row has no valid round. A busy-polled socket is "
                  "the fair rival of a polled port: it, too, costs a core.")
    for one in report.ratios:
        if one.met() is False:
            sheet.bad.add(len(sheet.rows))
        sheet.rows.append([f"{crowd(one.cameras)}, {one.what}", _measured(one.measured, one.unit),
                           _measured(one.pooled, one.unit), _goal(one), verdict(one)])
    return sheet


def _invalid(report: Report) -> list[Sheet]:
    rows = []
    for cameras in report.settings.cameras:
        for receiver in report.settings.receivers:
            for one in of(report.rounds, receiver, cameras):
                if one.flaws():
                    rows.append([f"{one.number}, {crowd(cameras)}, {RECEIVERS[receiver].title}",
                                 time(one.fetched.mean / 1e3 if one.fetched.count else None),
                                 time(one.fetched.max / 1e3 if one.fetched.count else None),
                                 "; ".join(one.flaws())])
    return [Sheet("INVALID rounds, left out above where valid ones are",
                  ("round", "avg", "max", "why"), rows, bad=set(range(len(rows))))] if rows else []


def _section(sheet: Sheet, report: Report, cameras: int) -> None:
    sheet.rows.append([load(report, cameras)])


def _mark(sheet: Sheet, row: Row, cells: list[str]) -> None:
    if not row.valid:
        sheet.bad.add(len(sheet.rows))
    sheet.rows.append(cells)


def _name(row: Row) -> list[str]:
    return [RECEIVERS[row.receiver].title,
            f"{row.valid}/{row.rounds}" + ("" if row.valid else " INVALID")]


# ---- cells ----


def time(us: float | None) -> str:
    """A time in us, or that there is none."""
    return NONE if us is None else micros(us)


def rate(mb_s: float | None) -> str:
    """A bandwidth."""
    return NONE if mb_s is None else f"{digits(mb_s)} MB/s"


def times(value: float | None) -> str:
    """A ratio."""
    return NONE if value is None else f"{digits(value)}x"


def verdict(one: Ratio) -> str:
    """Whether a goal was met; no promise for other runs."""
    if one.goal is None:
        return ""
    return {True: "met", False: "not met", None: "not judged"}[one.met()]


def _times(found: Latency) -> list[str]:
    return [time(us) for us in (found.min, found.avg, found.p50, found.p99, found.p999, found.max)]


def _measured(value: float | None, unit: str) -> str:
    if unit == "times":
        return times(value)
    return time(value) if unit == "µs" else NONE if value is None else f"{digits(value)} {unit}"


def _goal(one: Ratio) -> str:
    if one.goal is None:
        return ""
    return f"{'at least' if one.at_least else 'at most'} {_measured(one.goal, one.unit)}"


# ---- on a terminal ----


def show(report: Report, console: Console) -> None:
    """Print everything."""
    console.print(headline(report.settings), where(report.machine), sep="\n", style="dim")
    if invalid(report):
        console.print(Panel(Group(Text("I N V A L I D", "bold", justify="center"),
                                  Text(INVALID_WORDS, justify="center")),
                            box=box.HEAVY, style="red"))
    for sheet in sheets(report):
        console.print(_table(sheet))
        if sheet.note:
            console.print(sheet.note, style="dim")
    for text in remarks(report):
        console.print(f"- {text}", style="dim")


INVALID_WORDS = ("In no round had the receiver its CPU to itself: these are latencies of this "
                 "host, not of a receiver.")


def _table(sheet: Sheet) -> Table:
    made = Table(title=sheet.title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False,
                 padding=(0, 1, 0, 0), title_style="bold")
    for index, title in enumerate(sheet.columns):
        left = index == 0 or title in ("why", "in this run")
        made.add_column(title, justify="left" if left else "right", no_wrap=title != "why")
    for index, row in enumerate(sheet.rows):
        if len(row) == 1:
            made.add_section()
            made.add_row(Text(row[0], "bold"))
        else:
            made.add_row(*row, style="red" if index in sheet.bad else "")
    return made


# ---- as Markdown ----


def markdown(report: Report) -> str:
    """The same for a document."""
    parts = [f"`{report.command}`: {headline(report.settings)}.\n{where(report.machine)}."]
    if invalid(report):
        parts.append(f"# INVALID\n\n**{INVALID_WORDS}**")
    parts += [_markdown(sheet) for sheet in sheets(report)]
    parts += ["\n".join(f"- {text}" for text in remarks(report))]
    return "\n\n".join(part for part in parts if part) + "\n"


def _markdown(sheet: Sheet) -> str:
    lines = [f"### {sheet.title}", "", _line(sheet.columns),
             _line(["---", *["--:"] * (len(sheet.columns) - 1)])]
    for row in sheet.rows:
        cells = [f"**{row[0]}**", *[""] * (len(sheet.columns) - 1)] if len(row) == 1 else row
        lines.append(_line(cells))
    return "\n".join([*lines, *(["", sheet.note] if sheet.note else [])])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
