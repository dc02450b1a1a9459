# SPDX-License-Identifier: BSD-3-Clause
"""The self-check over veth: what is wrong is provoked, named, and goes by the remedy it names.

checks.py LULL-CAM LULL-CAM-SOURCE
"""

from __future__ import annotations

import os
import re
import subprocess

from camera_world import Link
from verdict import TIMEOUT_S, check
from world import main, world

VIDEO = "protocol=rfc4175,port=5004,width=640,height=480,pixel=uyvy8"
JUMBO = "protocol=gvsp,port=5005,width=640,height=480,pixel=mono8,packet-bytes=9000"
BACKENDS = ("kernel:v1", "kernel-busy:v1", "dpdk:af_packet=v1", "dpdk:af_xdp=v1")


def graded(said: list[str], subject: str) -> list[str]:
    """Lines about the subject that are not fine; each must have its remedy behind it."""
    found = []
    for number, line in enumerate(said):
        if re.match(r"(note|WRONG) ", line) is None:
            continue
        check(number + 1 < len(said) and "-> " in said[number + 1], "a remedy", said)
        if re.match(rf"\w+ +{subject}: ", line) is not None:
            found.append(said[number + 1].split("-> ")[1])
    return found


def mtu(binaries: list[str]) -> None:
    with world() as here:
        link = Link(here, binaries)
        link.address_host()
        for backend in BACKENDS:
            said = link.check_itself(f"--backend {backend} --stream {JUMBO}")
            found = graded(said, "MTU")
            check(len(found) == 1 and re.search(r"dev \w+ mtu 9000", found[0]) is not None,
                  f"{backend}: the remedy", said)  # fmt: skip
        subprocess.run(["ip", "netns", "exec", link.host, *found[0].split()], check=True)
        said = link.check_itself(f"--backend kernel:v1 --stream {JUMBO}")
        check(graded(said, "MTU") == [], "the remedy helps", said)


def rings_and_buffers(binaries: list[str]) -> None:
    with world() as here:
        link = Link(here, binaries)
        link.address_host()
        said = link.check_itself(f"--backend dpdk:af_packet=v1 --ring 64 --stream {VIDEO}")
        check(len(graded(said, "ring")) == 1, "ring", said)
        said = link.check_itself(f"--backend kernel:v1 --socket-buffer 8192 --stream {VIDEO}")
        check(len(graded(said, "receive buffer")) == 1, "buffer", said)


def real_time(binaries: list[str]) -> None:
    """SCHED_FIFO that polls is stopped by the kernel, unless that is off."""
    with open("/proc/sys/kernel/sched_rt_runtime_us", encoding="ascii") as file:
        limited = int(file.read()) >= 0
    with world() as here:
        link = Link(here, binaries)
        link.address_host()
        command = ["ip", "netns", "exec", link.host, binaries[0], "--backend", "kernel-busy:v1",
                   "--stream", VIDEO, "--check"]  # fmt: skip
        shown = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=TIMEOUT_S,
            preexec_fn=lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
        )  # fmt: skip
        said = shown.stdout.splitlines()
        check(any("RT throttling" in line for line in said), "it is looked at", said)
        check(len(graded(said, "RT throttling")) == limited, "the finding", said)


main([mtu, rings_and_buffers, real_time], need="root")
