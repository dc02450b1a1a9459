# SPDX-License-Identifier: BSD-3-Clause
"""Two nodes over veth, with rails of each kind: found by name, every byte right, all paths up.

veth.py NODE-PROGRAM
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from processes import INSIDE, Node, links
from verdict import check
from world import main, world


def exchange(node: str, places: tuple[str, str], rails: list[str], size: int = 100000) -> None:
    a, b = places
    words = ["20", str(size), *rails]
    waiting = Node([*INSIDE, b, node, "bravo", "-", *words])
    waiting.ready()
    asking = Node([*INSIDE, a, node, "alpha", "bravo", *words])
    for program in (asking, waiting):
        paths = program.result(" ".join(rails))["paths"]
        check(paths == len(rails), f"{' '.join(rails)}: all paths are up", paths)


def kernel(binaries: list[str]) -> None:
    with world() as here:
        places = links(here, 3)
        exchange(binaries[0], places, ["kernel:r0"])
        exchange(binaries[0], places, ["kernel:r0", "kernel:r1", "kernel-busy:r2"])


def ipv6(binaries: list[str]) -> None:
    """Without an IPv4 address: by the addresses that each link has of itself."""
    with world() as here:
        exchange(binaries[0], links(here, 2, v4=False), ["kernel:r0", "kernel:r1"])


def dpdk(binaries: list[str]) -> None:
    with world() as here:
        places = links(here, 2)
        exchange(binaries[0], places, ["dpdk:af_packet=r0"])
        exchange(binaries[0], places, ["dpdk:af_packet=r0", "dpdk:af_packet=r1"])
        exchange(binaries[0], places, ["dpdk:af_packet=r0", "kernel:r1"])


def xdp(binaries: list[str]) -> None:
    with world() as here:
        places = links(here, 1)
        exchange(binaries[0], places, ["dpdk:af_xdp=r0"])
        for namespace in places:
            link = subprocess.run(["ip", "-n", namespace, "-d", "link", "show", "r0"],
                                  check=True, capture_output=True, text=True)
            check("prog/xdp" not in link.stdout, "no program is left", link.stdout)


def jumbo(binaries: list[str]) -> None:
    with world() as here:
        places = links(here, 1, mtu=9000)
        exchange(binaries[0], places, ["kernel:r0"], 500000)
        exchange(binaries[0], places, ["dpdk:af_packet=r0"], 500000)


def processes(binaries: list[str]) -> None:
    """Several processes of a node hear who asks for them, whatever their ports are."""
    with world() as here:
        a, b = links(here, 1)
        words = ["5", "1000", "kernel:r0"]
        waiting = [Node([*INSIDE, b, binaries[0], name, "-", *words]) for name in ("one", "two")]
        for program in waiting:
            program.ready()
        asking = [Node([*INSIDE, a, binaries[0], f"to-{name}", name, *words])
                  for name in ("two", "one")]
        for program in (*waiting, *asking):
            check(program.result("processes")["paths"] == 1, "each process has its path")


main([kernel, ipv6, dpdk, xdp, jumbo, processes], need="root")
