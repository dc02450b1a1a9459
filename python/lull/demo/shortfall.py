# SPDX-License-Identifier: BSD-3-Clause
"""Shortfall: why an objective was not kept, from what was measured in the same windows."""

from lull.demo.result import Result, Run
from lull.program.runqueue import DISTURBED_PCT
from lull.quantities import digits, micros, si

# Rare waits of milliseconds are enough to spoil a p99.
RUN_WAIT_TOLD_PCT = 0.1
# A sink that looks this seldom has a part in a p99 worth telling.
SINK_TOLD = 0.05
CLASS_WORDS = {"other": "the ordinary class", "fifo": "class SCHED_FIFO",
               "deadline": "class SCHED_DEADLINE"}


def shortfall(result: Result, run: Run) -> str:
    """What was missed and what had a part in it; "" when the objective was kept."""
    missed = _missed(result, run)
    if not missed:
        return ""
    causes = _causes(result, run) or ["the measurements show none"]
    return f"{', '.join(missed)}. Possible causes: {'; '.join(causes)}"


def _missed(result: Result, run: Run) -> list[str]:
    settings, missed = result.settings, []
    if run.received == 0:
        missed.append("no packet came back")
    elif run.p99_us > settings.max_latency_us:
        over = run.p99_us - settings.max_latency_us
        missed.append(f"p99 is {micros(run.p99_us)}, {micros(over)} above the objective")
    if run.lost and settings.loss == "zero":
        missed.append(f"{si(run.lost)} of {si(run.received + run.lost)} packets were lost")
    return missed


def _causes(result: Result, run: Run) -> list[str]:
    causes = []
    if run.run_wait_pct > RUN_WAIT_TOLD_PCT:
        where = CLASS_WORDS.get(run.sched_class, run.sched_class)
        causes.append(f"the loop was ready and waited for its CPU {digits(run.run_wait_pct)} % of "
                      f"the time{', in ' + where if where else ''}")
    if run.steal_ms > 0:
        causes.append(f"the host took the CPUs for {digits(run.steal_ms)} ms")
    if run.waited_pct > max(DISTURBED_PCT, run.run_wait_pct):
        causes.append(f"other programs used the CPUs {digits(run.waited_pct)} % of the time")
    if run.no_buffer:
        causes.append(f"{si(run.no_buffer)} packets were never sent, for lack of buffers")
    if run.p99_us > result.settings.max_latency_us:
        causes += _way(result, run)
    if run.verdict_text and run.verdict != "none":
        causes.append(f"verdict of the governor: {run.verdict_text}")
    return causes


def _way(result: Result, run: Run) -> list[str]:
    """What the way of the packets takes when nobody rests: the generator's sink is part of it."""
    told = []
    polled = result.run("spin", run.phase)
    over_us = run.p99_us - result.settings.max_latency_us
    if polled and run.governor != "spin" and polled.p99_us >= over_us:
        told.append(f"p99 of spin, which never rests, is {micros(polled.p99_us)}")
    if run.sink_gap_us > SINK_TOLD * result.settings.max_latency_us:
        told.append(f"the generator polled for packets only every {micros(run.sink_gap_us)} "
                    "(p99.5)")
    return told
