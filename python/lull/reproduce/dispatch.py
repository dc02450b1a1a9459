# SPDX-License-Identifier: BSD-3-Clause
"""Reproduction of dispatch: what the paper on throughput-first packet scheduling states.

Its text names neither packet sizes nor bursts, rings or flows, and its curves are pictures. What
is said in words or digits is compared; loads are shares of what the workers could do. Tolerances
are half of the effect where the text has a number.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import mean

from lull.flow.result import imbalance
from lull.reproduce.reproduction import Claim, half
from lull.sim.flow_reply import FlowRun

RR, CRC32, HRW, PAPER, OURS = "rr-burst", "crc32", "hrw", "subflow-paper", "sticky"
EXACT = "subflow"
SCHEDULERS = (RR, CRC32, HRW, PAPER, EXACT, OURS)
TRAFFICS: Mapping[str, tuple[str, ...]] = {
    "uniform": ("--zipf", "0"), "Zipf(1.1)": ("--zipf", "1.1"),
    "50 % elephant": ("--elephant", "50"), "all to one": ("--target", "1"),
    "all to two": ("--target", "2")}
MIXED = ("uniform", "Zipf(1.1)", "50 % elephant")
ONE, TWO = "all to one", "all to two"
WORKERS = 4
THRESHOLDS = {75: 73.4, 50: 55.4, 25: 42.4}  # percent of a ring: published percent of drops
COSTS_NS = {RR: 23.3, CRC32: 28.4, HRW: 24.4, PAPER: 31.4}
SLIGHT_PPM = 100.0
EIGHTH = 8  # 300 Mbit/s, of 2400 which the published scheduler carries without loss
LARGEST_MBPS = 2400
SLIGHT_PCT = (0.01, 5.0)  # of packets: there, and not yet the 20 % of the worse case
UNSAID = "the text does not say what the probability is of"
OTHER_CPU = "nanoseconds of another processor"
STEPS = ("loss by load wants a source that steps through rates, beside workers that have a CPU "
         "each: bench/multicore")


@dataclass(frozen=True)
class Shown:
    """What one of the two worlds showed; empty: not run."""

    runs: Mapping[tuple[str, str], Sequence[FlowRun]] = field(default_factory=dict)
    odds: Mapping[int, FlowRun] = field(default_factory=dict)  # by threshold
    shares: Mapping[str, Sequence[int]] = field(default_factory=dict)  # packets of each worker
    costs: Mapping[str, float] = field(default_factory=dict)  # ns per packet


Statement = Claim[Shown]


@dataclass(frozen=True)
class DispatchFigure:
    """A figure or table of the paper."""

    name: str
    title: str
    claims: tuple[Statement, ...]
    note: str = ""
    traffics: tuple[str, ...] = ()  # simulated for it


# ---- what claims measure ----


def carried(runs: Sequence[FlowRun], loss_ppm: float = 0.0) -> float:
    """Largest load at which, and below which, no more than this is lost; 0: none of those tried."""
    best = 0.0
    for run in runs:
        if run.loss_ppm > loss_ppm:
            break
        best = run.load
    return best


def gain_pct(shown: Shown, scheduler: str, base: str, loss_ppm: float = 0.0) -> float | None:
    """By how much more load one carries than another, mean over kinds of traffic; None when the
    other carries none of the loads tried.
    """
    gains = []
    for traffic in MIXED:
        mine, other = (carried(shown.runs[traffic, name], loss_ppm) for name in (scheduler, base))
        if other == 0:
            return None
        gains.append(100 * (mine / other - 1))
    return mean(gains)


def uneven_pct(shown: Shown, scheduler: str) -> float:
    """How much more than the mean the busiest worker gets; over all loads without loss."""
    if scheduler in shown.shares:
        return 100 * (imbalance(shown.shares[scheduler]) - 1)
    runs = shown.runs["uniform", scheduler]
    fine = [run for run in runs if run.lost == 0] or runs[:1]
    return 100 * (mean(imbalance([one.packets for one in run.worker]) for run in fine) - 1)


def loss_at_pct(runs: Sequence[FlowRun], load: float) -> float:
    """Loss at a load that was run."""
    return next(run.loss_ppm for run in runs if run.load == load) / 1e4


def eighth_loss_pct(shown: Shown, traffic: str, scheduler: str) -> float | None:
    """What another loses at an eighth of the load that subflow-paper carries without loss: at the
    nearest load below that was tried. None: it carries none, or none so small was tried.
    """
    load = carried(shown.runs[traffic, PAPER]) / EIGHTH
    tried = [run.load for run in shown.runs[traffic, scheduler] if run.load <= load * 1.0001]
    return loss_at_pct(shown.runs[traffic, scheduler], max(tried)) if load and tried else None


def mbps(shown: Shown, traffic: str, load: float) -> float | None:
    """A load in the units of the text: 2400 Mbit/s is the most that subflow-paper carries. None: it
    carries nothing.
    """
    most = carried(shown.runs[traffic, PAPER])
    return LARGEST_MBPS * load / most if most else None


def span(shown: Shown, traffic: str) -> float:
    """Loads that subflow-paper carries without loss, largest over smallest tried."""
    runs = shown.runs[traffic, PAPER]
    return carried(runs) / runs[0].load


def order(shown: Shown, base: str, loss_ppm: float) -> float | None:
    """By how many percent another carries more than round robin, mean over traffic."""
    return gain_pct(shown, base, RR, loss_ppm)


def limits_apart_pct(shown: Shown) -> float | None:
    """How much more round robin carries where 1 in 10,000 may be lost, at most, in percent."""
    more = [(carried(shown.runs[traffic, RR], SLIGHT_PPM), carried(shown.runs[traffic, RR]))
            for traffic in MIXED]
    return None if any(no_loss == 0 for _, no_loss in more) else max(
        100 * (slight / no_loss - 1) for slight, no_loss in more)


def adjustments_rise(shown: Shown) -> float:
    """The smallest ratio of adjustments from a threshold to the next smaller one."""
    falling = sorted(THRESHOLDS, reverse=True)
    moved = [shown.odds[threshold].dispatch.relieved for threshold in falling]
    return min(after / before if before else 0.0 for before, after in pairwise(moved))


def reach(shown: Shown, traffic: str, scheduler: str) -> float | None:
    """How many times the load of hrw it carries without loss; None when hrw carries none."""
    base = carried(shown.runs[traffic, HRW])
    return carried(shown.runs[traffic, scheduler]) / base if base else None


def relief_pct(shown: Shown) -> float | None:
    """How much less hrw loses at the same load when two workers get all, not one."""
    load = carried(shown.runs[ONE, PAPER])
    if not load:
        return None
    one, two = (loss_at_pct(shown.runs[traffic, HRW], load) for traffic in (ONE, TWO))
    return one - two


def odds_rise(shown: Shown) -> float:
    """The smallest step of the odds from a threshold to the next higher one, in points."""
    odds = [shown.odds[threshold].watched_lost_pct for threshold in sorted(THRESHOLDS)]
    return min(after - before for before, after in pairwise(odds))


def cost_ratio(scheduler: str) -> Callable[[Shown], float | None]:
    """Cost of a packet against that by hrw."""
    return lambda shown: shown.costs[scheduler] / shown.costs[HRW] if shown.costs else None


# ---- figures ----


def figures() -> list[DispatchFigure]:
    """Everything that the text tells of measurements."""
    return [_thresholds(), _evenness(), _mixed(), *_skewed(), _cost()]


def _thresholds() -> DispatchFigure:
    return DispatchFigure(
        "Table 1", "Drops by threshold", (
            *_odds(),
            Statement("the higher the threshold, the more likely a drop", "yes", odds_rise,
                      low=0.1, tolerance="every step, by 0.1 points", unit="points", no_live=STEPS,
                      sim_because="the odds are those of the 144 packets that follow"),
            Statement("the smaller the threshold, the more adjustments", "yes", adjustments_rise,
                      low=1.01, tolerance="every step, by 1 %", unit="times", no_live=STEPS)),
        "The text does not say what the probability is of, and finds no loss elsewhere. Here: a "
        "packet is sent to a worker whose ring is filled above the threshold; is one of its next "
        "144 packets lost? Traffic that all hashes to one worker, load 0.7.")


def _evenness() -> DispatchFigure:
    return DispatchFigure(
        "Fig. 2", "Packets of each worker", (
            _even(RR, "as good as ideal"), _even(CRC32, "approaches the ideal"),
            *(Statement(f"{name} is a little less even than crc32", "a little",
                        lambda shown, name=name:  # type: ignore[misc]
                        uneven_pct(shown, name) - uneven_pct(shown, CRC32),
                        low=0.1, high=20.0, tolerance="0.1 to 20 points", unit="points",
                        sim_because="with a good digest hrw is as even as crc32",
                        live_because="with a good digest hrw is as even as crc32")
              for name in (HRW, PAPER))),
        "Uniform traffic; live: a capture of the same kind made for this, which lull-flow "
        "reads as fast as its workers follow.", ("uniform",))


def _mixed() -> DispatchFigure:
    return DispatchFigure(
        "Fig. 3", "Load carried without loss, and with 1 in 10,000", (
            *(_gain(base, published, 0.0) for base, published in (
                (RR, 475), (CRC32, 64), (HRW, 77))),
            *(_gain(base, published, SLIGHT_PPM) for base, published in (
                (RR, 475), (CRC32, 20), (HRW, 41))),
            *(Statement(f"{base} over {RR}, {_loss_words(loss)}", "above",
                        lambda shown, base=base, loss=loss:  # type: ignore[misc]
                        order(shown, base, loss), low=1.0, tolerance="at least 1 %", unit="%",
                        no_live=STEPS, sim_because=ANEW)
              for base in (CRC32, HRW) for loss in (0.0, SLIGHT_PPM)),
            Statement(f"{RR} at both limits of loss", "the same", limits_apart_pct, high=5.0,
                      tolerance="at most 5 % more", unit="%", no_live=STEPS),
            Statement("sticky over hrw, no loss", "(ours: more)",
                      lambda shown: gain_pct(shown, OURS, HRW), low=1.0,
                      tolerance="at least 1 %", unit="%", no_live=STEPS, ours=True)),
        "Means over uniform traffic, Zipf(1.1) and a flow with half of all packets, from a "
        "cold start: every flow is new at first and costs its identification.", MIXED)


def _skewed() -> list[DispatchFigure]:
    wide = Statement("loads without loss, largest over smallest", "8: 300 to 2400 Mbit/s",
                     lambda shown: span(shown, ONE), low=8.0, tolerance="at least 8",
                     unit="times", no_live=STEPS)
    return [
        DispatchFigure(
            "Fig. 4", "Everything hashes to one worker", (
                wide,
                *_eighth_losses(ONE, 20.0, None, "above 20 %", "above 20 %"),
                Statement("load without loss against hrw's", "around ten times",
                          lambda shown: reach(shown, ONE, PAPER), near=half(10.0),
                          tolerance="half of it", unit="times", no_live=STEPS,
                          sim_because="four workers can do four times the work of one; what is "
                                      "beyond that comes from flows being identified at once"),
                Statement("sticky: load without loss against hrw's", "(ours: above 5)",
                          lambda shown: reach(shown, ONE, OURS), low=5.0,
                          tolerance="at least 5", unit="times", no_live=STEPS, ours=True)),
            "From 300 to 2400 Mbit/s the published scheduler loses nothing. Its packets are not "
            "told, so 2400 Mbit/s is here the largest load that it carries without loss, and the "
            "others follow from that.", (ONE,)),
        DispatchFigure(
            "Fig. 5", "Everything hashes to two workers", (
                *_eighth_losses(TWO, *SLIGHT_PCT, "slight", "0.01 to 5 %"),
                Statement("hrw loses less than with one worker, at the same load", "far less",
                          relief_pct, low=10.0, tolerance="at least 10 points", unit="points",
                          no_live=STEPS)),
            "", (ONE, TWO))]


def _cost() -> DispatchFigure:
    threads = "it takes real threads: nothing is simulated"
    return DispatchFigure(
        "Fig. 6", "Time to distribute a packet", (
            *(Statement(f"{name}", f"{ns:g} ns", lambda shown, name=name:  # type: ignore[misc]
                        shown.costs.get(name), unit="ns", no_sim=threads, no_live=OTHER_CPU)
              for name, ns in COSTS_NS.items()),
            *(Statement(f"{name} against hrw", f"{COSTS_NS[name] / COSTS_NS[HRW]:.2f}",
                        cost_ratio(name), near=half_way(COSTS_NS[name] / COSTS_NS[HRW]),
                        tolerance="half of what it is away from 1", unit="times", no_sim=threads,
                        live_because=why)
              for name, why in (
                  (RR, "its buckets are kept here, so that order can be told of it as well"),
                  (CRC32, "eight bytes at a time from tables here; how there is not told"),
                  (PAPER, "weights are computed by wider vectors than the rest"))),
            Statement("subflow, exact, against hrw", "(ours: at most 1.18)", cost_ratio(EXACT),
                      high=1.18, tolerance="at most 1.18", unit="times", no_sim=threads, ours=True,
                      live_because="other work on this machine, or its processor: see the "
                                   "table of dispatch-cost")),
        "Parse, digest, decide, stage and enqueue, by one thread. Nanoseconds of another processor "
        "cannot be compared, ratios can.")


ANEW = ("round robin loses by flows being identified anew at each worker; where that takes less "
        "than skew does, it carries more")


def half_way(ratio: float) -> tuple[float, float]:
    """Near a ratio, up to half of how far it is from 1."""
    return ratio, abs(ratio - 1) / 2


def _loss_words(loss_ppm: float) -> str:
    return "1 in 10,000 lost" if loss_ppm else "no loss"


def _odds() -> list[Statement]:
    return [Statement(f"odds of a drop at {threshold} %", f"{published:g} %",
                      lambda shown, threshold=threshold:  # type: ignore[misc]
                      shown.odds[threshold].watched_lost_pct if shown.odds else None,
                      unit="%", no_sim=UNSAID, no_live=UNSAID)
            for threshold, published in THRESHOLDS.items()]


def _even(scheduler: str, published: str) -> Statement:
    because = "bursts have different sizes: so had those of the text"
    return Statement(f"{scheduler}: the busiest worker over the mean", published,
                     lambda shown: uneven_pct(shown, scheduler), high=5.0,
                     tolerance="at most 5 %", unit="%", sim_because=because,
                     live_because=because)


def _gain(base: str, published: int, loss_ppm: float) -> Statement:
    why = {RR: "round robin loses by flows being identified anew at each worker; here the paper's "
               "scheduler splits as many flows once rings fill, and pays the same",
           CRC32: "it depends on the traffic, which the text does not give",
           HRW: "it depends on the traffic, which the text does not give"}
    return Statement(f"{PAPER} over {base}, {_loss_words(loss_ppm)}",
                     f"+{published} %", lambda shown: gain_pct(shown, PAPER, base, loss_ppm),
                     near=half(published), tolerance="half of it", unit="%", no_live=STEPS,
                     sim_because=why[base])


def _eighth_losses(traffic: str, low: float, high: float | None, published: str,
                   tolerance: str) -> list[Statement]:
    return [Statement(f"{name}'s loss at 300 Mbit/s, an eighth of what {PAPER} carries", published,
                      lambda shown, name=name:  # type: ignore[misc]
                      eighth_loss_pct(shown, traffic, name), low=low, high=high,
                      tolerance=tolerance, unit="%", no_live=STEPS,
                      sim_because="at an eighth of that load one worker of ours still carries "
                                  "what all hashes to it; one that loses a fifth of 300 Mbit/s "
                                  "carries 240, and four of them 960, not 2400")
            for name in (CRC32, HRW)]
