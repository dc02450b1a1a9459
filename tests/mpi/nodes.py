# SPDX-License-Identifier: BSD-3-Clause
"""MPI programs on two nodes of a test bed, over rails that lose, fall silent, or differ.

nodes.py PROVIDER-FOLDER LULL-CHANNEL-NODE [PROGRAM|KIND|WEATHER ...]: those alone that are named.
Usually two programs on kernel rails that differ, lose and flap; with LULL_LONG each program over each
kind of rail in all weathers, 20 times.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from cluster import Nodes, Weather
from programs import PROGRAMS
from rights import take
from trial import LONG, TURNS, in_cluster, told_to_stop

KINDS = ("kernel", "dpdk", "node")
WEATHERS = (
    Weather("clean", "full,full"),
    Weather("loss", "full:loss=1%,full:loss=1%"),
    Weather("flapping", "400M,400M", flaps=True),
    Weather("unequal", "200M,100M,50M"),
)
USUAL = [("kernel", Weather("unequal, lossy and flapping",
                            "200M:loss=1%,100M:loss=1%,50M:loss=1%", flaps=True))]  # fmt: skip
USUAL_PROGRAMS = ["conform", "mpi4py"]


def main(provider: str, node: str, wanted: list[str]) -> None:
    take("namespaces")
    told_to_stop()
    names = {program.name for program in PROGRAMS}
    programs = [word for word in wanted if word in names]
    others = [word for word in wanted if word not in names]
    every = [(kind, weather) for kind in KINDS for weather in WEATHERS]
    clusters = [(kind, weather) for kind, weather in every
              if all(word in (kind, weather.name) for word in others)]  # fmt: skip
    if not LONG and not wanted:
        clusters, programs = USUAL, USUAL_PROGRAMS
    good = True
    for _ in range(TURNS):
        for kind, weather in clusters:
            with Nodes(provider, kind, weather, node) as cluster:
                good &= in_cluster(cluster, programs, [cluster.ranks])
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
