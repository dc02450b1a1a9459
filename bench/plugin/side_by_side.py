#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The plugin side by side with what the programs can do by themselves.

Open vSwitch with its own pmd-maxsleep and with the plugin, both at 100 us; dpdk-testpmd
without and with the plugin, also saturated. By the harness of bench/idle, with its
options. Prints a table and writes OUT/plugin.json, .png, .svg and .md. Judges nothing.
Needs root.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "idle"))

import compare

from program import BenchError

PEERS = "ovs-0,ovs-100,ovs-0+plugin,testpmd-io,testpmd-io+plugin,testpmd-io+plugin:mode=passive"


def main() -> None:
    """Measure, or show an earlier run."""
    parser = compare.options()
    parser.description = __doc__
    parser.set_defaults(peers=PEERS, max_latency="100", baseline="testpmd-io", ports="veth,null")
    chosen = parser.parse_args()
    with compare.plugin_of(chosen.build, not chosen.earlier) as chosen.plugin:
        compare.main(chosen, "plugin")


if __name__ == "__main__":
    try:
        main()
    except BenchError as error:
        sys.exit(f"side_by_side: {error}")
