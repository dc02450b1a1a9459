#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A core that others use, too: what do the polling thread and the other program get?

lull-fwd, dpdk-testpmd and Open vSwitch (both with and without the plugin, and Open
vSwitch with its own pmd-maxsleep) forward packets while a CPU hog or xz works on the same
CPU, in turn, round after round. The generator has the other CPU. Prints tables and
writes OUT/shared.json and .md. Judges nothing but the goals. Needs root.
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
    f"lull-objective,{BASELINE},testpmd-io+plugin:sched-policy=auto,testpmd-io+plugin,"
    "testpmd-io,ovs-0+plugin:sched-policy=auto,ovs-0+plugin,ovs-200"
)

if __name__ == "__main__":
    try:
        sharing_report.main(
            sharing.options(
                __doc__,
                ports="veth,rings",
                others="nobody,hog,xz",
                peers=PEERS,
                rates="0,10k,100k,300k",
            ).parse_args(),
            "shared",
            BASELINE,
        )
    except BenchError as error:
        sys.exit(f"share: {error}")
