# SPDX-License-Identifier: BSD-3-Clause
"""Judgement: what a result says in words, and what it does not say."""

from dataclasses import dataclass
from statistics import mean

from lull.demo.result import Result, Run
from lull.demo.shortfall import shortfall
from lull.program.machine import REAL_TIME_PRIORITY
from lull.program.runqueue import DISTURBED_PCT
from lull.quantities import digits, micros, percent

BASELINE = "spin"
SUBJECT = "objective"


@dataclass(frozen=True)
class Caveat:
    """Something the reader must know before trusting a number."""

    title: str
    text: str


def subject(result: Result) -> str:
    """The governor that the result is about."""
    return SUBJECT if result.of(SUBJECT) else result.runs[-1].governor


def held(result: Result, run: Run) -> bool:
    """Was the latency objective met?"""
    return run.p99_us <= result.settings.max_latency_us


def mean_cpu(runs: list[Run]) -> float:
    """Share of the core over phases of equal length; without those that it shared, if there are
    others: there, a loop gets what it is left.
    """
    return mean(run.cpu_pct for run in [run for run in runs if not run.beside] or runs)


def headline(result: Result) -> str:
    """The result in a sentence or two, good news or bad."""
    name = subject(result)
    runs = result.of(name)
    in_time = sum(held(result, run) for run in runs)
    lost = sum(run.lost for run in runs)
    offered = sum(run.received + run.lost for run in runs)
    objective = micros(result.settings.max_latency_us)
    cpu = f"With {name} the loop used {percent(mean_cpu(runs))} of its core on average"
    if name != BASELINE and result.of(BASELINE):
        cpu += f", with {BASELINE} {percent(mean_cpu(result.of(BASELINE)))}"
    which = ("every phase" if in_time == len(runs) else
             f"{in_time or 'none'} of {len(runs)} phases")
    loss = f"{f'{lost:,}' if lost else 'none'} of {offered:,} packets".replace(",", "\u202f")
    latency = f"kept p{result.settings.percentile} within {objective} in {which}"
    return f"{cpu}. It {latency} and lost {loss}.{beside(result)}"


def beside(result: Result) -> str:
    """What was left to another program, as a sentence; "" where there was none."""
    name = subject(result)
    shares = {run.governor: run.other_pct for run in result.runs if run.other_pct is not None}
    if name not in shares:
        return ""
    said = f" Another program on the same CPU got {percent(shares[name])} of it"
    if name != BASELINE and BASELINE in shares:
        said += f", with {BASELINE} {percent(shares[BASELINE])}"
    return said + "."


def closing(result: Result) -> str:
    """In how many phases the objective was kept, with each governor."""
    counts = {name: (sum(result.kept(run) for run in result.of(name)), len(result.of(name)))
              for name in result.settings.governors if result.of(name)}
    name = subject(result)
    others = ", ".join(f"with {other} in {count} of {of}" for other, (count, of) in counts.items()
                       if other != name)
    return (f"objective kept in {counts[name][0]} of {counts[name][1]} phases"
            f"{f' with {name}; {others}' if others else ''}")


def shortfalls(result: Result) -> list[tuple[Run, str]]:
    """Where the subject did not keep the objective, and why."""
    return [(run, shortfall(result, run)) for run in result.of(subject(result))
            if not result.kept(run)]


def advice(result: Result) -> str:
    """What would make the latency hold beside other programs; "" when nothing is to be done."""
    asked = result.settings.sched_policy != "other"
    knows = any(run.sched_class for run in result.runs)
    shared = any(run.beside for run in result.runs)
    if not (asked and knows and shared) or result.machine.realtime is not False:
        return ""
    return ("This user may not give the loop a real-time class, so beside other programs it waits "
            f"for its turn: grant CAP_SYS_NICE, or an rtprio limit of {REAL_TIME_PRIORITY} "
            f"(limits.conf, LimitRTPRIO={REAL_TIME_PRIORITY} of a unit), and it need not.")


def warning(result: Result) -> str:
    """What makes the whole result worth little; "" as a rule."""
    worst = max(run.waited_pct for run in result.runs)
    if worst <= DISTURBED_PCT:
        return ""
    return (f"Other programs held the CPUs of the loops up to {digits(worst)} % of the time: "
            "stop them and repeat for figures that mean something.")


def caveats(result: Result) -> list[Caveat]:
    """What the numbers of this machine and this run cannot tell."""
    found = []
    machine, runs = result.machine, result.runs
    stolen = [run for run in runs if run.steal_ms > 0]
    if stolen:
        total = sum(run.steal_ms for run in stolen)
        found.append(Caveat("The host took time away", (
            f"In {len(stolen)} of {len(runs)} rows (marked †) the hypervisor kept the CPUs for "
            f"{digits(total)} ms in all. Latency there is partly the host's, for every "
            "governor alike. Medians over rounds and rounds in pairs soften this; they do not "
            "remove it.")))
    shared = [run for run in runs if run.waited_pct > DISTURBED_PCT]
    if shared:
        most = max(run.waited_pct for run in shared)
        found.append(Caveat("Other programs ran on these CPUs", (
            f"In {len(shared)} of {len(runs)} rows (marked †) the loop or its traffic was ready "
            f"to run while something else had the CPU, up to {digits(most)} % of the time. A loop "
            "that waits for its CPU shows little CPU time and late packets whatever the governor "
            "does. Stop other work and repeat the demo.")))
    found += _caveats_beside(runs)
    haltpoll_ns = machine.haltpoll_ns()
    short = [run for run in runs if 0 < run.rest_mean_us * 1000 < haltpoll_ns]
    if short:
        found.append(Caveat("Guest halt polling hides cost", (
            f"This guest polls up to {micros(haltpoll_ns / 1e3)} before it really halts "
            f"(cpuidle driver haltpoll), and {len(short)} rows rest shorter than that. The CPU "
            "share of the thread falls there, the virtual CPU stays busy on the host. Set "
            "guest_halt_poll_ns to 0 to save host CPU too.")))
    if machine.hypervisor not in ("", "none"):
        found.append(Caveat("A virtual machine", (
            f"Measured under {machine.hypervisor}. Timers cost more than on bare metal, and the "
            "host may poll before it halts a virtual CPU, which a guest cannot see. Expect shorter "
            "overshoots and larger savings on bare metal, and measure there before you quote.")))
    found.append(Caveat("In-process traffic", (
        "Packets travel over memory rings between two threads of one program: no NIC, no PCIe, no "
        "interrupt moderation. Added latency includes what the generator itself adds when it "
        "looks for returning packets; the bound accounts for that, the percentiles do not "
        "subtract it.")))
    rare = sorted({run.phase for run in runs if run.rare(99)},
                  key=[phase.name for phase in result.settings.phases].index)
    if rare:
        found.append(Caveat("Few packets", (
            f"Phase {', '.join(rare)} carries so few packets that fewer than ten lie beyond p99. "
            "Its tail figures are single packets, not statistics.")))
    if result.settings.loss == "zero" and result.of(SUBJECT):
        found.append(Caveat("Loss is bounded by a learned rate", (
            "Memory rings have no link speed, so the loop limits its rest by twice the largest "
            "rate it has seen. That is experience, not proof; a hardware port uses the link rate, "
            "which is.")))
    starved = sum(run.no_buffer for run in runs)
    if starved:
        found.append(Caveat("The generator ran out of buffers", (
            f"{starved} packets were never sent and count as lost, although no governor is to "
            "blame.")))
    if all(run.package_w is None for run in runs):
        found.append(Caveat("No watts", (
            "This machine shows no energy counters (RAPL), so energy is not available. CPU time "
            "is what was measured; it is not turned into watts here.")))
    return found


def _caveats_beside(runs: list[Run]) -> list[Caveat]:
    if not any(run.beside for run in runs):
        return []
    return [Caveat("One kind of other program", (
        "It computes without end in one thread of the ordinary class and touches little memory. "
        "One that fills the caches costs the loop more; several share what the loop leaves. "
        "Packets here come from memory: behind a NIC driver of the kernel, the kernel's own work "
        "for them would be on some CPU too."))]


def cell_class(result: Result, run: Run) -> str:
    """The word behind the colour of a p99: good or bad."""
    return "good" if held(result, run) else "bad"
