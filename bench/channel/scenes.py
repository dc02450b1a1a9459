# SPDX-License-Identifier: BSD-3-Clause
"""Scenes in which the channel is measured beside its peers."""

from __future__ import annotations

from scene import CHANGE, GOODPUT, LATENCY, SILENCE, WAIT, Kind, Scene, many

INCAST = Kind("incast", "four nodes send 64 KiB messages to one",
              (("jain", "Jain", 1), ("resent_pct", "sent again %", 1),
               ("share_pct", "goodput / rail %", 1)), 1 << 16)  # fmt: skip
FIRST = Kind("first", "there and back, 64 B after 1 s without a message, rests of 100 us at most,",
             (("p50_us", "p50 us", 1), ("p99_us", "p99 us", 1), ("max_us", "max us", 1)),
             64)  # fmt: skip
PERIODIC = Kind("periodic", "messages of 64 KiB for 10 ms in each 100 ms",
                (("goodput_bps", "Mb/s in bursts", 1e-6), ("resent_pct", "sent again %", 1),
                 ("missing", "messages lost", 1)), 1 << 16)  # fmt: skip
SCENES = [
    Scene("2x200", GOODPUT, many(2, "200M")),
    Scene("4x200", GOODPUT, many(4, "200M")),
    Scene("8x100", GOODPUT, many(8, "100M")),
    Scene("200+100+50", GOODPUT, "200M,100M,50M"),
    Scene("4x100+4x50", GOODPUT, many(4, "100M") + "," + many(4, "50M")),
    Scene("200+200+100+50", GOODPUT, "200M,200M,100M,50M"),
    Scene("4x200-loss-0.1", GOODPUT, many(4, "200M:loss=0.1%")),
    Scene("4x200-loss-1", GOODPUT, many(4, "200M:loss=1%")),
    Scene("one-full", GOODPUT, "full"),
    Scene("64B", LATENCY, "full"),
    Scene("64B-loss-1", LATENCY, "full:loss=1%"),
    Scene("wait", WAIT, "full"),
    Scene("silence", SILENCE, many(3, "100M")),
    Scene("change", CHANGE, "200M,200M,100M"),
    Scene("incast-4", INCAST, "200M", nodes=5),
    Scene("first", FIRST, "full", seconds_min=30.0),
    Scene("periodic", PERIODIC, many(4, "200M")),
]
