# SPDX-License-Identifier: BSD-3-Clause
"""Scenes in which MPI over the channel is measured beside what else MPI runs over."""

from __future__ import annotations

from scene import GOODPUT, LATENCY, SILENCE, SILENT, WAIT, Kind, Scene, many

CONFORM = Kind("conform", "tests/mpi/conform.c from its start to its end, four ranks",
               (("wall_s", "s", 1),), 0)  # fmt: skip
TRAINING = Kind("training", "a training step: 8 MiB summed up over both nodes every 0.6 s,",
                (("goodput_bps", "Mb/s", 1e-6), ("share_pct", "goodput / sum %", 1),
                 ("step_ms", "ms for the sum", 1),
                 ("rest_cpu_pct", "CPU % at rest", 1)), 0)  # fmt: skip
SAME = "on one node"
SCENES = [
    Scene("64B", LATENCY, "full"),
    Scene("64B-same", LATENCY, "full", nodes=1, place=SAME),
    Scene("4x200", GOODPUT, many(4, "200M")),
    Scene("200+100+50", GOODPUT, "200M,100M,50M"),
    Scene("200+200+100+50", GOODPUT, "200M,200M,100M,50M"),
    Scene("4x200-loss-1", GOODPUT, many(4, "200M:loss=1%")),
    Scene("silence", SILENCE, many(3, "100M")),
    Scene("silent", SILENT, many(3, "100M")),
    Scene("wait", WAIT, "full"),
    Scene("wait-same", WAIT, "full", nodes=1, place=SAME),
    Scene("conform-4", CONFORM, "full", nodes=1, place=SAME),
    Scene("training", TRAINING, many(4, "200M"), seconds_min=5.0),
]
