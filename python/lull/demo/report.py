# SPDX-License-Identifier: BSD-3-Clause
"""Report: result.json as one HTML page that needs nothing else."""

from pathlib import Path

from lull import atomic, page
from lull.demo.judgement import (
    BASELINE,
    advice,
    caveats,
    cell_class,
    closing,
    headline,
    held,
    mean_cpu,
    shortfalls,
    warning,
)
from lull.demo.plots import plots
from lull.demo.result import Result
from lull.demo.settings import GOVERNOR_SUMMARY
from lull.document import Document
from lull.palette import PROGRAM, ink
from lull.quantities import micros, percent, si


class Tile(Document):
    """One governor in four figures."""

    governor: str
    summary: str
    cpu: str
    saved: str
    worst_p99: str
    worst_class: str
    lost: str
    lost_class: str
    energy: str
    kept: str
    other: str


def tiles(result: Result) -> list[Tile]:
    """Governors side by side."""
    baseline = result.of(BASELINE)
    made = []
    for governor in result.settings.governors:
        runs = result.of(governor)
        if not runs:
            continue
        worst = max(runs, key=lambda run: run.p99_us)
        lost = sum(run.lost for run in runs)
        cpu_s = sum(run.cpu_s for run in runs)
        saved = ""
        if governor != BASELINE and baseline:
            less = 100 * (1 - mean_cpu(runs) / max(mean_cpu(baseline), 1e-9))
            saved = f"{less:.0f} % less than {BASELINE}" if less >= 0 else (
                f"{-less:.0f} % more than {BASELINE}")
        watts = [run.package_w for run in runs if run.package_w is not None]
        made.append(Tile(
            governor=governor, summary=GOVERNOR_SUMMARY.get(governor, ""),
            cpu=percent(mean_cpu(runs)), saved=saved, worst_p99=micros(worst.p99_us),
            worst_class=cell_class(result, worst), lost=f"{lost:,}".replace(",", "\u202f"),
            lost_class="bad" if lost else "good",
            energy=(f"{sum(watts) / len(watts):.1f} W (packages)" if len(watts) == len(runs)
                    else f"{cpu_s:.1f} CPU seconds"),
            kept=f"{sum(result.kept(run) for run in runs)} of {len(runs)} phases",
            other=", ".join(percent(run.other_pct) for run in runs if run.other_pct is not None)))
    return made


def unbroken(text: str) -> str:
    """Keep numbers and their units on one line."""
    return text.replace(" %", "\u00a0%").replace(" µs", "\u00a0µs").replace(" ms", "\u00a0ms")


def render(result: Result) -> str:
    """The page."""
    return page.fill(
        "demo/report.html.j2", {"micros": micros, "percent": percent, "si": si}, result=result,
        settings=result.settings, machine=result.machine,
        headline=unbroken(headline(result)), warning=unbroken(warning(result)),
        advice=unbroken(advice(result)), closing=closing(result), shortfalls=shortfalls(result),
        program=PROGRAM, classes=any(run.sched_class for run in result.runs),
        tiles=tiles(result), plots=plots(result),
        caveats=caveats(result), held=held, cell_class=cell_class,
        inks={name: ink(name) for name in result.settings.governors},
        disturbed=any(run.disturbed for run in result.runs))


def save(result: Result, path: Path) -> None:
    """Write the page, whole or not at all."""
    atomic.write(path, render(result))
