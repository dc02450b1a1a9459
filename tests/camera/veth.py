# SPDX-License-Identifier: BSD-3-Clause
"""A camera over veth into every back end; nothing of ours stays on the interface."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from verdict import check
from world import main, run, world

FRAMES = 20
BACKENDS = ("kernel:v1", "kernel-busy:v1", "dpdk:af_packet=v1", "dpdk:af_xdp=v1")


def receive(binaries: list[str], backend: str, mtu: int, packet: int) -> None:
    with world() as here:
        sender, receiver = here.namespace("camera"), here.namespace("host")
        here.veth((sender, "v0"), (receiver, "v1"))
        for namespace, name, address in ((sender, "v0", "10.9.0.1"), (receiver, "v1", "10.9.0.2")):
            run("ip", "-n", namespace, "link", "set", name, "arp", "on", "mtu", str(mtu))
            run("ip", "-n", namespace, "addr", "add", f"{address}/24", "dev", name)
        inside = ["ip", "netns", "exec"]
        camera = [*inside, receiver, binaries[0], "receive", backend, "5000", str(FRAMES),
                  str(packet), "phase"]
        with subprocess.Popen(camera, stdout=subprocess.PIPE, text=True) as program:
            assert program.stdout is not None
            check(program.stdout.readline() == "ready\n", f"{backend} is ready")
            run(*inside, sender, binaries[0], "send", "10.9.0.1", "10.9.0.2", "5000",
                str(FRAMES), str(packet), "20000")
            result = json.loads(program.stdout.readline())
        check(program.returncode == 0, f"{backend} ends well", program.returncode)
        check(result["complete"] == FRAMES, f"{backend}: all frames are whole", result)
        link = subprocess.run(["ip", "-n", receiver, "-d", "link", "show", "v1"],
                              check=True, capture_output=True, text=True)
        check("prog/xdp" not in link.stdout, "no program is left", link.stdout)


def usual_packets(binaries: list[str]) -> None:
    for backend in BACKENDS:
        receive(binaries, backend, 1500, 1400)


def jumbo_packets(binaries: list[str]) -> None:
    for backend in ("kernel:v1", "dpdk:af_packet=v1"):
        receive(binaries, backend, 9000, 8900)


main([usual_packets, jumbo_packets], need="root")
