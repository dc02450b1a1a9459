# SPDX-License-Identifier: BSD-3-Clause
"""Markdown: parts of a demo's result as tables for a document, README.md for one."""

from collections.abc import Callable

from lull.demo.judgement import advice, closing, headline, shortfalls, warning
from lull.demo.result import Result, Run
from lull.quantities import micros

BROKEN = "✗"  # stands at a p99 that missed the objective, or where packets were lost


def _whole(share: float) -> str:
    return f"{share:.0f} %" if share >= 9.95 else f"{share:.1f} %"


def _p99(result: Result, run: Run) -> str:
    lost = f", lost {run.lost}" if run.lost else ""
    return f"{micros(run.p99_us)}{lost}{'' if result.kept(run) else ' ' + BROKEN}"


def _table(head: list[str], lines: list[list[str]]) -> str:
    rows = [head, *lines]
    text = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([text[0], "|---" + "|---:" * (len(head) - 1) + "|", *text[1:]])


def _foot(result: Result) -> str:
    machine, settings = result.machine, result.settings
    where = ", ".join(part for part in (
        machine.cpu, f"{machine.cores} CPUs",
        f"{machine.hypervisor} guest" if machine.hypervisor not in ("", "none") else "",
        f"kernel {machine.kernel.partition('-')[0]}", f"lull {machine.commit or machine.lull}",
        machine.date[:10]) if part)
    loss = " and no loss" if settings.loss == "zero" else ""
    return (f"{where}. Objective: p{settings.percentile} at most "
            f"{micros(settings.max_latency_us)}{loss}; {BROKEN}: not kept. Medians of "
            f"{settings.rounds} rounds in which the governors took turns. CPU is that of the "
            "forwarding thread; latency includes the polling of the generator's sink.")


def _not_kept(result: Result, beside: bool) -> list[str]:
    return [f"In phase {run.phase}, {run.governor} did not keep the objective: {why}."
            for run, why in shortfalls(result) if run.beside == beside]


def _join(*paragraphs: str) -> str:
    return "\n\n".join(filter(None, paragraphs)) + "\n"


def shared(result: Result) -> str:
    """Beside another program on the same CPU."""
    classes = any(run.sched_class for run in result.runs)
    tables = [_table(
        [phase.summary, *(["class"] if classes else []), "the loop takes",
         "the other program gets", "p50", "p99"],
        [[run.governor, *([run.sched_class] if classes else []), _whole(run.cpu_pct),
          _whole(run.other_pct or 0.0), micros(run.p50_us), _p99(result, run)]
         for run in result.runs_beside(phase)]) for phase in result.phases_beside()]
    return _join(*tables, *_not_kept(result, beside=True), advice(result), _foot(result))


def traffic(result: Result) -> str:
    """Every kind of traffic on a CPU of its own."""
    names = result.settings.governors
    lines = []
    for phase in result.settings.phases:
        runs = [result.run(name, phase.name) for name in names]
        if not phase.other and any(runs):
            lines.append([phase.summary, *(
                f"{_whole(run.cpu_pct)}, {_p99(result, run)}" if run else "–" for run in runs)])
    table = _table(["traffic", *(f"{name}: CPU, p99" for name in names)], lines)
    said = closing(result)
    return _join(headline(result), table, f"{said[0].upper()}{said[1:]}.",
                 *_not_kept(result, beside=False), warning(result), _foot(result))


PARTS: dict[str, Callable[[Result], str]] = {"shared": shared, "traffic": traffic}
