#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Which scheduling class should a resting loop have? What happens to it and to the others.

lull-fwd as an ordinary thread, as one of nice -20, in SCHED_FIFO and in SCHED_DEADLINE
(where the kernel admits it), beside kernel networking over veth on the same CPU, a CPU
hog, a batch job of nice 19, another resting loop, a second loop in the packets' way, and
with a hog in a control group with 80 % of a CPU. Prints tables and writes
OUT/classes.json and .md. Judges nothing but the goals. Needs root.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "idle"))

import sharing
import sharing_report

from program import BenchError

BASELINE = "lull-objective:sched-policy=other"
PEERS = (
    f"{BASELINE},{BASELINE}:nice=-20,lull-objective:sched-policy=fifo,"
    "lull-objective:sched-policy=deadline"
)

if __name__ == "__main__":
    try:
        sharing_report.main(
            sharing.options(
                __doc__,
                ports="veth",
                others="nobody,udp,hog,xz@19,loop,chain,quota:80",
                peers=PEERS,
                rates="0,10k,100k,300k,sat",
            ).parse_args(),
            "classes",
            BASELINE,
        )
    except BenchError as error:
        sys.exit(f"classes: {error}")
