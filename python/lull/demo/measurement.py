# SPDX-License-Identifier: BSD-3-Clause
"""Measurement: what the replies around one window say, and whether they add up."""

from dataclasses import dataclass

from lull.demo.result import Sample, kept
from lull.demo.settings import Settings
from lull.errors import LullError
from lull.program.replies import Explain, Loop, Traffic


@dataclass(frozen=True)
class Readings:
    """Everything read around one window. Begin and end enclose traffic at full rate; final and
    traffic were read after the last packet had come back.
    """

    begin: Loop
    end: Loop
    final: Loop
    source_begin: Loop
    source_end: Loop
    traffic: Traffic
    explain: Explain
    latency_bins: list[int]
    energy_j: float | None
    run_wait_pct: float
    traffic_wait_pct: float
    other_pct: float | None = None


def make_sample(settings: Settings, governor: str, phase: str, round_number: int,
                readings: Readings) -> Sample:
    """Figures of one window."""
    begin, end, traffic = readings.begin, readings.end, readings.traffic
    seconds = (end.now_ns - begin.now_ns) / 1e9
    if seconds <= 0:
        raise LullError(f"{end.name}: its clock stands still; run 'lull doctor'")
    rests = end.rests() - begin.rests()
    iterations = end.iterations - begin.iterations
    cpu_s = (end.thread_cpu_ns - begin.thread_cpu_ns) / 1e9
    rest_us = (end.rest_ns - begin.rest_ns) / 1e3
    empty = end.iterations_empty - begin.iterations_empty
    cpu_pct = 100 * cpu_s / seconds
    other_pct = readings.other_pct
    offered_s = (readings.source_end.now_ns - readings.source_end.window_begin_ns) / 1e9
    lost = traffic.offered - traffic.received
    p99_us = traffic.latency_p99_ns / 1e3
    return Sample(
        governor=governor,
        phase=phase,
        round=round_number,
        window_s=round(seconds, 6),
        offered_pps=round(traffic.offered / offered_s, 3) if offered_s > 0 else 0.0,
        cpu_pct=round(cpu_pct, 3),
        cpu_s=round(cpu_s, 6),
        p50_us=traffic.latency_p50_ns / 1e3,
        p99_us=p99_us,
        p999_us=traffic.latency_p999_ns / 1e3,
        max_us=traffic.latency_max_ns / 1e3,
        # Half a percent of the packets may exceed each part: no more than one exceeds the sum.
        p99_bound_us=(readings.final.wait_p995_ns + traffic.sink_gap_p995_ns) / 1e3,
        wait_p99_us=readings.final.wait_p99_ns / 1e3,
        late_p99_us=traffic.late_p99_ns / 1e3,
        sink_gap_us=traffic.sink_gap_p995_ns / 1e3,
        offered=traffic.offered,
        sent=traffic.sent,
        rejected=traffic.rejected,
        no_buffer=traffic.no_buffer,
        received=traffic.received,
        lost=lost,
        kept=kept(settings, p99_us, traffic.received, lost),
        duplicates=traffic.duplicates,
        reordered=traffic.reordered,
        rests=rests,
        rest_mean_us=round(rest_us / rests, 3) if rests else 0.0,
        wakes_per_s=round((end.wakes() - begin.wakes()) / seconds, 3),
        empty_pct=round(100 * empty / iterations, 3) if iterations else 0.0,
        steal_ms=steal_ns(readings) / 1e6,
        waited_pct=round(disturbed_pct(readings, cpu_pct), 3),
        run_wait_pct=round(readings.run_wait_pct, 3),
        other_pct=None if other_pct is None else round(other_pct, 3),
        other_of_rest_pct=(None if other_pct is None
                           else round(100 * min(1.0, other_pct / max(100 - cpu_pct, 1e-9)), 3)),
        sched_class=end.sched_class,
        sched_changes=end.sched_changes - begin.sched_changes,
        energy_j=readings.energy_j,
        verdict=readings.explain.state,
        verdict_text=readings.explain.sentence(),
        latency_bins=readings.latency_bins,
    )


def disturbed_pct(readings: Readings, cpu_pct: float) -> float:
    """Share of the time in which strangers had a CPU that the measurement needed.

    Beside our own busy program the loop is meant to wait. Its CPU never idles there, so strangers
    (the host is told of apart) had what neither of the two got.
    """
    if readings.other_pct is None:
        return max(readings.run_wait_pct, readings.traffic_wait_pct)
    begin, end = readings.begin, readings.end
    stolen_pct = 100 * (end.steal_ns - begin.steal_ns) / (end.now_ns - begin.now_ns)
    return max(readings.traffic_wait_pct, 100 - cpu_pct - readings.other_pct - stolen_pct)


def steal_ns(readings: Readings) -> int:
    """Time the hypervisor took from the loop under test and from the traffic; both suffer."""
    stolen = readings.end.steal_ns - readings.begin.steal_ns
    if readings.source_end.cpu != readings.end.cpu:
        stolen += readings.source_end.steal_ns - readings.source_begin.steal_ns
    return stolen


def check_conservation(traffic: Traffic, before: Loop, after: Loop, where: str) -> None:
    """Every packet must be accounted for; what is not is a mistake of ours and must show."""
    offered = traffic.sent + traffic.rejected + traffic.no_buffer
    rows = [
        ("offered", traffic.offered, "sent + rejected + no_buffer", offered),
        ("lost", traffic.lost, "offered - received", traffic.offered - traffic.received),
    ]
    if "rx_pkts" in traffic.model_extra:
        rows.append(("rx_pkts", traffic.count("rx_pkts"), "received + duplicates + foreign + stale",
                     traffic.received + traffic.duplicates + traffic.foreign + traffic.stale))
    if "tx_drops" in after.model_extra:
        forwarded = {name: after.count(name) - before.count(name)
                     for name in ("rx_pkts", "tx_pkts", "tx_drops")}
        rows.append((f"rx_pkts of {after.name}", forwarded["rx_pkts"], "tx_pkts + tx_drops",
                     forwarded["tx_pkts"] + forwarded["tx_drops"]))
    for name, value, sum_name, sum_value in rows:
        if value != sum_value:
            raise LullError(f"{where}: packets unaccounted for: {name} = {value}, but {sum_name} = "
                            f"{sum_value}; this is a bug in lull, please report it")
    if traffic.received > traffic.offered:
        raise LullError(f"{where}: received {traffic.received} of {traffic.offered} packets; "
                        "this is a bug in lull, please report it")
