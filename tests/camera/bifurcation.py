# SPDX-License-Identifier: BSD-3-Clause
"""The camera's packets to us, all others to the kernel, on the same interface at the same time."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from pathlib import Path

from camera_world import (
    CAMERA,
    HOST,
    Link,
    Unreachable,
    exchange_tcp,
    exchange_udp,
    knock,
    ping,
    whole_checksums,
)
from verdict import check, wait_for
from world import Program, Skip, main, run, world

PORT, GVCP, OTHER, CLOSED = 5004, 3956, 6000, 6001
FRAMES = 60
VIDEO = f"protocol=rfc4175,port={PORT},width=640,height=480,pixel=uyvy8,deadline=1s"
SOURCE = f"--protocol rfc4175 --width 640 --height 480 --pixel uyvy8 --to {HOST}:{PORT}"
OURS = "lull_camera"


def mix(link: Link, camera: Program) -> int:
    """All that there is beside pictures, as long as they come; rounds."""
    rounds = 0
    while camera.process.poll() is None:
        ping(link, rounds)
        exchange_udp(link, GVCP)
        exchange_tcp(link, OTHER)
        rounds += 1
    return rounds


def is_told(link: Link, unreachable: Unreachable) -> bool:
    """Once a second at most does the kernel answer, so one question may not do."""
    knock(link, CLOSED)
    return CLOSED in unreachable.look()


def pictures(link: Link, backend: str, tap: str = "") -> dict[str, int]:
    receiver = link.receive(f"--backend {backend} --stream {VIDEO}")
    if tap != "":
        link.address_host(tap)
    unreachable = Unreachable(link)
    ping(link, 0, HOST)  # what waits for ARP is bounded, and less than a picture
    source = link.send(f"{SOURCE} --rate 30 --frames {FRAMES}")
    rounds = mix(link, source)
    source.finish()
    result = receiver.finish(signal.SIGTERM)
    check(rounds > 0, "pictures and all else at the same time")
    seen = (result["streams"][0]["reasons"], result["totals"])
    check(result["fetched"] == FRAMES, f"{backend}: frames", seen)
    check(result["fetched_partial"] == 0, f"{backend}: whole frames", seen)
    if tap == "":
        wait_for("a closed port is told", lambda: is_told(link, unreachable))
    check(PORT not in unreachable.look(), f"{backend}: the camera's port is not refused")
    unreachable.close()
    check(link.xdp() == "", "no program is left", link.xdp())
    totals: dict[str, int] = result["totals"]
    return totals


def kernel(binaries: list[str]) -> None:
    with world() as here:
        link = Link(here, binaries)
        link.address_host()
        pictures(link, "kernel:v1")


def af_packet(binaries: list[str]) -> None:
    with world() as here:
        link = Link(here, binaries)
        link.address_host()
        totals = pictures(link, "dpdk:af_packet=v1")
        check(totals["unclaimed"] > 0, "it sees what is the kernel's too", totals)


def af_xdp(binaries: list[str]) -> None:
    with world() as here:
        link = Link(here, binaries)
        link.address_host()
        totals = pictures(link, "dpdk:af_xdp=v1")
        check(totals["unclaimed"] == 0, "it sees nothing but its own", totals)


def needs_tap() -> None:
    if not Path("/dev/net/tun").exists():
        raise Skip("needs TAP")


def exception(binaries: list[str]) -> None:
    """A port that takes all, and a TAP with the host's address for the rest."""
    needs_tap()
    with world() as here:
        link = Link(here, binaries)
        whole_checksums(link)
        backend = "dpdk:af_xdp=v1,exception=tap0"
        said = link.check_itself(f"--backend {backend} --stream {VIDEO}")
        check(any("ip addr add" in line and "tap0" in line for line in said), "address", said)
        totals = pictures(link, backend, "tap0")
        check(totals["to_kernel"] > 100 and totals["from_kernel"] > 100, "through the TAP", totals)
        check(totals["kernel_lost"] == 0, "nothing lost on the way", totals)
        gone = subprocess.run(["ip", "-n", link.host, "link", "show", "tap0"],
                              check=False, capture_output=True)  # fmt: skip
        check(gone.returncode != 0, "the TAP goes with the program")


def control(binaries: list[str]) -> None:
    """A GigE Vision camera is controlled through the kernel while its pictures go past it."""
    for backend in ("dpdk:af_packet=v1", "dpdk:af_xdp=v1"):
        with world() as here:
            controlled(Link(here, binaries), backend)


def control_beside(binaries: list[str]) -> None:
    """The same through a TAP."""
    needs_tap()
    with world() as here:
        controlled(Link(here, binaries), "dpdk:af_xdp=v1,exception=tap0")


def controlled(link: Link, backend: str) -> None:
    if "tap0" in backend:
        whole_checksums(link)
        run("ip", "-n", link.host, "tuntap", "add", "dev", "tap0", "mode", "tap")
    link.address_host("tap0" if "tap0" in backend else "v1")
    source = link.send(
        f"--protocol gvsp --bind {CAMERA} --pixel mono8 --width 320 --height 240 --rate 30 "
        "--lose 2000"
    )
    wait_for("the camera is there", lambda: f":{GVCP}" in link.call(link.camera, "ss", "-Huln"))
    receiver = link.receive(f"--backend {backend} --control {CAMERA} --resend --frames {FRAMES}")
    stream = receiver.finish()["streams"][0]
    source.finish(signal.SIGTERM)
    seen = (backend, stream["reasons"], stream["counters"])
    check(stream["reasons"]["complete"] >= FRAMES - 1, "pictures", seen)
    check(stream["counters"]["control_lost"] == 0, "the heartbeat is heard", seen)
    check(link.xdp() == "", "no program is left", link.xdp())


def ends(binaries: list[str]) -> None:
    """No program stays, however the receiver ends."""
    leave_nothing(binaries, "dpdk:af_xdp=v1")


def ends_beside(binaries: list[str]) -> None:
    needs_tap()
    leave_nothing(binaries, "dpdk:af_xdp=v1,exception=tap0")


def leave_nothing(binaries: list[str], backend: str) -> None:
    with world() as here:
        link = Link(here, binaries)
        link.address_host()
        for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            receiver = link.receive(f"--backend {backend} --stream {VIDEO}")
            check(link.xdp() == OURS, "our program is there", link.xdp())
            if sign == signal.SIGKILL:
                receiver.process.kill()
                receiver.wait()
            else:
                receiver.finish(sign)
            wait_for(f"none after {sign.name}", lambda: link.xdp() == "")


def stray(binaries: list[str]) -> None:
    """What another DPDK program left is named, with the command that removes it."""
    testpmd = shutil.which("dpdk-testpmd")
    if testpmd is None:
        raise Skip("needs dpdk-testpmd")
    with world() as here:
        link = Link(here, binaries)
        link.address_host()
        command = ["ip", "netns", "exec", link.host, testpmd, "--no-huge", "-m", "128", "--no-pci",
                   "--vdev=net_af_xdp0,iface=v1", "--", "-i", "--total-num-mbufs=8192"]  # fmt: skip
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, env=here.env) as other:  # fmt: skip
            try:
                wait_for("its program is there", lambda: link.xdp() != "")
            finally:
                other.kill()
        options = f"--backend dpdk:af_xdp=v1 --stream {VIDEO}"
        check(link.xdp() != "", "its program has stayed")
        for backend in ("dpdk:af_xdp=v1", "dpdk:af_packet=v1", "kernel:v1"):
            said = link.check_itself(f"--backend {backend} --stream {VIDEO}")
            named = [re.search(r"ip link set dev v1 xdp\w* off", line) for line in said]
            found = [match[0] for match in named if match is not None]
            check(len(found) == 1, f"{backend}: the remedy", said)
        subprocess.run(["ip", "netns", "exec", link.host, *found[0].split()], check=True)
        check(link.xdp() == "", "the remedy helps")
        link.receive(options).finish(signal.SIGTERM)


def queues(binaries: list[str]) -> None:
    """One queue of several; what goes to the others is told."""
    with world() as here:
        link = Link(here, binaries, queues=2)
        link.address_host()
        said = link.check_itself(f"--backend dpdk:af_xdp=v1,queue=1 --stream {VIDEO}")
        check(any("queue 1 of 2 of v1" in line for line in said), "which queue", said)
        check(any("ethtool -L v1 combined 1" in line for line in said), "the remedy", said)
        for wrong in ("af_xdp=v1,queue=7", "af_xdp=v1,queue=x", "af_packet=v1,queue=1"):
            said = link.check_itself(f"--backend dpdk:{wrong} --stream {VIDEO}")
            check(len(said) == 1 and "queue" in said[0], f"{wrong} is refused", said)


main([kernel, af_packet, af_xdp, exception, control, control_beside, ends, ends_beside, stray,
      queues], need="root")  # fmt: skip
