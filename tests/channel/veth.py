# SPDX-License-Identifier: BSD-3-Clause
"""Two nodes over veth, with rails of each kind: found by name, every byte right, all paths up.

veth.py NODE-PROGRAM
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from verdict import check, wait_for
from world import World, main, run, world

INSIDE = ["ip", "netns", "exec"]


class Node:
    """A running node program."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def ready(self) -> None:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        check(line == "ready\n", "a node is ready", line or self.process.communicate()[1])

    def result(self, what: str) -> dict[str, int]:
        said, complaint = self.process.communicate(timeout=60)
        check(self.process.returncode == 0, f"{what}: the node ends well", complaint)
        result: dict[str, int] = json.loads(said.splitlines()[-1])
        return result


def links(here: World, count: int, mtu: int = 1500, v4: bool = True) -> tuple[str, str]:
    """Namespaces a and b, with interfaces r0, r1 ... in each, the same ones on a wire."""
    a, b = here.namespace("a"), here.namespace("b")
    for rail in range(count):
        here.veth((a, f"r{rail}"), (b, f"r{rail}"))
        for namespace, host in ((a, 1), (b, 2)):
            link = f"r{rail}"
            run("ip", "-n", namespace, "link", "set", link, "arp", "on", "mtu", str(mtu))
            if v4:
                run("ip", "-n", namespace, "addr", "add", f"10.9.{rail}.{host}/24", "dev", link)
            else:
                run(*INSIDE, namespace, "sh", "-c",
                    f"echo 0 > /proc/sys/net/ipv6/conf/all/disable_ipv6; "
                    f"echo 0 > /proc/sys/net/ipv6/conf/{link}/accept_dad; "
                    f"ip link set {link} down; ip link set {link} up")
    if not v4:
        for namespace in (a, b):
            wait_for("links have addresses", partial(addressed, namespace, count))
    return a, b


def addressed(namespace: str, count: int) -> bool:
    """So many links have an address of their own that may be used."""
    shown = subprocess.run(["ip", "-n", namespace, "-6", "-o", "addr", "show", "scope", "link"],
                           check=True, capture_output=True, text=True).stdout
    return len([line for line in shown.splitlines() if "tentative" not in line]) == count


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
