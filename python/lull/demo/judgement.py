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
    cpu = f"With governor {name} the loop used {percent(mean_cpu(runs))} of its core on average"
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
    said = f" Another program on the same CPU got {percent(shares[name])} of that CPU"
    if name != BASELINE and BASELINE in shares:
        said += f", beside {BASELINE} {percent(shares[BASELINE])}"
    return said + "."


def closing(result: Result) -> str:
    """In how many phases the objective was kept, with each governor."""
    counts = {name: (sum(result.kept(run) for run in result.of(name)), len(result.of(name)))
              for name in result.settings.governors if result.of(name)}
    kept, phases = counts.pop(subject(result))
    said = f"governor {subject(result)} kept the objective in {kept} of {phases} phases"
    others = [f"{other} in {count} of {of}" for other, (count, of) in counts.items()]
    return f"{said}; {', '.join(others)}" if others else said


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
    return ("This user has no right to a real-time class, so beside other programs the loop waits "
            f"for the CPU. Grant CAP_SYS_NICE, or an rtprio limit of {REAL_TIME_PRIORITY} "
            f"(limits.conf, or LimitRTPRIO={REAL_TIME_PRIORITY} in a unit).")


def warning(result: Result) -> str:
    """What makes the whole result worth little; "" as a rule."""
    worst = max(run.waited_pct for run in result.runs)
    if worst <= DISTURBED_PCT:
        return ""
    return (f"Other programs used the CPUs of the loops for up to {digits(worst)} % of the time. "
            "For reliable figures, stop them and repeat the demo.")


def caveats(result: Result) -> list[Caveat]:
    """What the numbers of this machine and this run cannot tell."""
    found = []
    machine, runs = result.machine, result.runs
    stolen = [run for run in runs if run.steal_ms > 0]
    if stolen:
        total = sum(run.steal_ms for run in stolen)
        found.append(Caveat("The host took time away", (
            f"In {len(stolen)} of {len(runs)} rows (marked †) the hypervisor took the CPUs for "
            f"{digits(total)} ms in all. The host causes a part of the latency there, with every "
            "governor alike. Medians over rounds reduce this effect; they do not remove it.")))
    shared = [run for run in runs if run.waited_pct > DISTURBED_PCT]
    if shared:
        most = max(run.waited_pct for run in shared)
        found.append(Caveat("Other programs ran on these CPUs", (
            f"In {len(shared)} of {len(runs)} rows (marked †) the loop or its traffic was ready to "
            f"run while another program used its CPU, up to {digits(most)} % of the time. A loop "
            "that waits for its CPU has little CPU time and late packets with every governor. Stop "
            "other programs and repeat the demo.")))
    found += _caveats_beside(runs)
    haltpoll_ns = machine.haltpoll_ns()
    short = [run for run in runs if 0 < run.rest_mean_us * 1000 < haltpoll_ns]
    if short:
        found.append(Caveat("Guest halt polling hides cost", (
            f"This guest polls up to {micros(haltpoll_ns / 1e3)} before it really halts "
            f"(cpuidle driver haltpoll), and rests in {len(short)} rows are shorter than that. The "
            "thread then uses less CPU time, but its virtual CPU stays busy on the host. Set "
            "guest_halt_poll_ns to 0 to save host CPU too.")))
    if machine.hypervisor not in ("", "none"):
        found.append(Caveat("A virtual machine", (
            f"Measured under {machine.hypervisor}. Timers cost more than on bare metal, and the "
            "host may poll before it halts a virtual CPU, which a guest cannot see. Expect shorter "
            "overshoots and larger savings on bare metal, and measure there before you quote.")))
    found.append(Caveat("In-process traffic", (
        "Packets pass memory rings between two threads of one program: no NIC, no PCIe, no "
        "interrupt moderation. Added latency includes the time until the generator polls for "
        "returning packets. The percentiles contain this time, and the bound allows for it.")))
    rare = sorted({run.phase for run in runs if run.rare(99)},
                  key=[phase.name for phase in result.settings.phases].index)
    if rare:
        found.append(Caveat("Few packets", (
            f"Phase {', '.join(rare)} carries so few packets that fewer than ten lie beyond p99. "
            "Its tail figures are single packets, not statistics.")))
    if result.settings.loss == "zero" and result.of(SUBJECT):
        found.append(Caveat("Loss is bounded by a learned rate", (
            "Memory rings have no link rate, so the loop limits its rests by twice the arrivals "
            "that it has seen. This is no proof; with the link rate of a hardware port, loss is "
            "proven to be zero.")))
    starved = sum(run.no_buffer for run in runs)
    if starved:
        found.append(Caveat("The generator ran out of buffers", (
            f"{starved} packets were never sent and count as lost, although the governors did not "
            "cause this.")))
    if all(run.package_w is None for run in runs):
        found.append(Caveat("No watts", (
            "This machine has no energy counters (RAPL). Only CPU time was measured, and CPU time "
            "does not give watts.")))
    return found


def _caveats_beside(runs: list[Run]) -> list[Caveat]:
    if not any(run.beside for run in runs):
        return []
    return [Caveat("One kind of other program", (
        "It computes without end in one thread of the ordinary class and uses little memory. A "
        "program that fills the caches costs the loop more CPU time, and several programs share "
        "what the loop leaves. Packets here come from memory; with a kernel driver, the kernel's "
        "work for them would need CPU time too."))]


def cell_class(result: Result, run: Run) -> str:
    """The word behind the colour of a p99: good or bad."""
    return "good" if held(result, run) else "bad"
