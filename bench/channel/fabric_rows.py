# SPDX-License-Identifier: BSD-3-Clause
"""Fabric rows: fi_pingpong of libfabric, ucx_perftest of UCX. They count messages, not seconds."""

from __future__ import annotations

from collections.abc import Sequence

from peer import Peer
from scene import GOODPUT, LATENCY, Kind, Scene
from station import Figures, PeerError, Station, cpu

PINGPONG_PORT, UCX_PORT = 47592, 13337
LATENCY_US = 20  # guessed, for how many messages take the seconds wanted
LOSSY_US = 2000  # a hundredth waits for a timer of 0.1 s or more, twice
FULL_BPS = 4e9  # the same, of a rail without limit
MESSAGES_MIN, MESSAGES_MAX = 20, 1_000_000
MIB = 1 << 20
UCX_RAILS = 4  # the most that UCX takes


def messages(station: Station, where: Scene, rate_bps: float) -> int:
    """As many as take about the seconds wanted."""
    if where.what == LATENCY:
        lossy = where.rail_list()[0].port.loss > 0
        wanted = station.seconds * 1e6 / (LOSSY_US if lossy else 2 * LATENCY_US)
    else:
        wanted = station.seconds * (rate_bps or FULL_BPS) / 8 / where.bytes
    return max(MESSAGES_MIN, min(MESSAGES_MAX, round(wanted)))


class Pingpong(Peer):
    """Half a round trip is all that it tells: its rate is that of one message at a time."""

    packages: Sequence[str] = ("libfabric-bin",)
    programs: Sequence[str] = ("fi_pingpong",)
    does: Sequence[Kind] = (GOODPUT, LATENCY)
    remark = "one rail, one message at a time; mean, as it tells no percentiles"

    def __init__(self, provider: str) -> None:
        self.name = f"libfabric {provider}"
        self.provider = provider

    def measure(self, station: Station, where: Scene) -> Figures:
        """Server at b, client at a."""
        rate = where.rail_list()[0].port.rate_bps or 0
        device = "FI_TCP_IFACE" if self.provider.startswith("tcp") else "FI_UDP_IFACE"
        words = ["fi_pingpong", "-e", "rdm", "-p", self.provider,
                 "-I", str(messages(station, where, rate / 2)), "-S", str(where.bytes)]  # fmt: skip
        server = station.start("b", *words, environment={device: "r0"})
        station.listens("b", PINGPONG_PORT, server)
        client = station.start("a", *words, station.bed.address(0, "b"),
                               environment={device: "r0"})  # fmt: skip
        ended = station.finish(client)
        row = ended.out.split("\n")[-2].split() if ended.out.count("\n") > 1 else []
        try:
            transfer_us = float(row[-2])
        except (IndexError, ValueError):
            raise PeerError(f"fi_pingpong: no figures in: {ended.out.strip()[-200:]}") from None
        if where.what == LATENCY:
            return {"mean_us": transfer_us, **cpu(ended)}
        return {"goodput_bps": 8e6 * where.bytes / transfer_us, **cpu(ended)}


class Ucx(Peer):
    """UCX over TCP, up to four rails for a long message."""

    name = "UCX tcp"
    packages: Sequence[str] = ("ucx-utils",)
    programs: Sequence[str] = ("ucx_perftest",)
    does: Sequence[Kind] = (GOODPUT, LATENCY)
    remark = "at most 4 rails"

    def measure(self, station: Station, where: Scene) -> Figures:
        """Server at b, client at a."""
        devices = ",".join(f"r{rail}" for rail in range(len(where.rail_list())))
        environment = {"UCX_TLS": "tcp", "UCX_NET_DEVICES": devices,
                       "UCX_MAX_RNDV_RAILS": str(UCX_RAILS)}  # fmt: skip
        test = "tag_lat" if where.what == LATENCY else "tag_bw"
        server = station.start("b", "ucx_perftest", "-p", str(UCX_PORT), environment=environment)
        station.listens("b", UCX_PORT, server)
        client = station.start(
            "a", "ucx_perftest", "-f", "-p", str(UCX_PORT), "-t", test, "-s", str(where.bytes),
            "-n", str(messages(station, where, where.sum_bps())), "-w", "4",
            station.bed.address(0, "b"), environment=environment)  # fmt: skip
        ended = station.finish(client)
        rows = [words for line in ended.out.splitlines() if (words := line.split())
                and words[0].isdigit()]  # fmt: skip
        try:
            return {**self._figures(where, rows[-1]), **cpu(ended)}
        except (IndexError, ValueError):
            raise PeerError(f"ucx_perftest: no figures in: {ended.out.strip()[-200:]}") from None

    @staticmethod
    def _figures(where: Scene, row: list[str]) -> Figures:
        """Messages; latency: percentile 50, mean, overall; MiB/s: mean, overall; messages/s."""
        count, middle, _, _, _, mib_s, _, _ = map(float, row)
        if where.what == LATENCY:
            return {"messages": count, "p50_us": middle}
        return {"messages": count, "goodput_bps": 8 * MIB * mib_s}
