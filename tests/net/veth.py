# SPDX-License-Identifier: BSD-3-Clause
"""Packets over veth from each back end that sends to each that receives.

veth.py NET-PEER
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from verdict import check
from world import Skip, main, run, world

COUNT, PORT = 2000, 5004
SENDERS = ("kernel:v0", "dpdk:af_packet=v0", "dpdk:af_xdp=v0", "dpdk:af_xdp=v0,exception=tap0")
RECEIVERS = ("kernel:v1", "dpdk:af_packet=v1")
FOUR, SIX = ("10.9.0.1", "10.9.0.2"), ("fd00::1", "fd00::2")


def send(binary: str, sender: str, receiver: str, ends: tuple[str, str],
         size: int) -> dict[str, Any]:
    """Send into a namespace; all that is sent arrives. Returns what the sender says."""
    with world() as here:
        near, far = here.namespace("near"), here.namespace("far")
        here.veth((near, "v0"), (far, "v1"))
        for namespace, name, at in ((near, "v0", 0), (far, "v1", 1)):
            run("ip", "-n", namespace, "link", "set", name, "arp", "on")
            run("ip", "-n", namespace, "addr", "add", f"{FOUR[at]}/24", "dev", name)
            if ends == SIX:
                run("ip", "netns", "exec", namespace, "sysctl", "-qw",
                    f"net.ipv6.conf.{name}.disable_ipv6=0")
                run("ip", "-n", namespace, "addr", "add", f"{SIX[at]}/64", "dev", name, "nodad")
        link = json.loads(subprocess.run(["ip", "-n", far, "-j", "link", "show", "v1"], check=True,
                                         capture_output=True, text=True).stdout)
        inside = ["ip", "netns", "exec"]
        there = [*inside, far, binary, "receive", receiver, str(PORT), str(COUNT), str(size)]
        with subprocess.Popen(there, stdout=subprocess.PIPE, text=True) as program:
            assert program.stdout is not None
            check(program.stdout.readline() == "ready\n", f"{receiver} is ready")
            said = subprocess.run(
                [*inside, near, binary, "send", sender, *ends, link[0]["address"], str(PORT),
                 str(COUNT), str(size)], check=False, capture_output=True, text=True)
            check(said.returncode == 0, f"{sender} sends", said.stderr)
            result = json.loads(program.stdout.readline() or "{}")
        sent: dict[str, Any] = json.loads(said.stdout)
        check(result.get("received") == COUNT, f"{sender} to {receiver}: all arrive", sent)
        check(result["source"] == ends[0], "from its address", result)
        check(sent["pkts"] == COUNT and sent["up"] == 1, "says what it sent", sent)
        check(sent["too_long"] == 0 and sent["unreachable"] == 0, "drops nothing", sent)
        return sent


def over_ipv4(binaries: list[str]) -> None:
    for sender in SENDERS:
        for receiver in RECEIVERS:
            check(send(binaries[0], sender, receiver, FOUR, 1400)["mtu"] == 1500, "tells its MTU")


def over_ipv6(binaries: list[str]) -> None:
    if not Path("/proc/sys/net/ipv6").exists():
        raise Skip("needs IPv6")
    for sender in SENDERS[:2]:  # a kernel that receives checks the sum
        send(binaries[0], sender, "kernel:v1", SIX, 1400)


def to_a_group(binaries: list[str]) -> None:
    """A port of DPDK knows the MAC address of a group without being told."""
    with world() as here:
        near, far = here.namespace("near"), here.namespace("far")
        here.veth((near, "v0"), (far, "v1"))
        inside = ["ip", "netns", "exec"]
        there = [*inside, far, binaries[0], "receive", "dpdk:af_packet=v1", str(PORT), "10", "100"]
        with subprocess.Popen(there, stdout=subprocess.PIPE, text=True) as program:
            assert program.stdout is not None
            check(program.stdout.readline() == "ready\n", "ready")
            run(*inside, near, binaries[0], "send", "dpdk:af_packet=v0", "10.9.0.1", "239.1.2.3",
                "", str(PORT), "10", "100")
            check("received" in program.stdout.readline(), "they arrive")


main([over_ipv4, over_ipv6, to_a_group], need="root")
