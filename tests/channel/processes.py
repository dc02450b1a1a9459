# SPDX-License-Identifier: BSD-3-Clause
"""Processes with a channel, and the links between two nodes."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from verdict import check, wait_for
from world import World, run

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
