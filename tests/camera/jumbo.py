# SPDX-License-Identifier: BSD-3-Clause
"""Pictures in packets of 9000 bytes, where a NIC's filter, its buffers or an MTU may be in the way.

jumbo.py LULL-CAM LULL-CAM-SOURCE
"""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

from camera_world import CAMERA, HOST, Link, macvlan, ping
from verdict import check
from world import Skip, World, main, run, world

MTU, PORT, FRAMES = 9000, 5004, 20
HEADERS = 28  # of IPv4 and UDP
VIDEO = f"protocol=rfc4175,port={PORT},width=640,height=480,pixel=uyvy8,deadline=1s,mtu={MTU}"
SENT = (f"--protocol rfc4175 --width 640 --height 480 --pixel uyvy8 --packet {MTU - HEADERS} "
        f"--rate 30 --frames {FRAMES}")  # fmt: skip
NEIGHBOUR = "02:00:00:00:00:09"


def whole(result: dict[str, Any], backend: str) -> None:
    seen = (result["totals"], result["streams"][0]["reasons"])
    check(result["fetched"] == FRAMES and result["fetched_partial"] == 0, f"{backend}: whole", seen)
    check(result["totals"]["cut"] == 0, f"{backend}: none cut", result["totals"])


def over_macvlan(binaries: list[str]) -> None:
    """An interface with a filter of its own, as a NIC has."""
    for backend in ("kernel:m1", "kernel-busy:m1", "dpdk:af_packet=m1"):
        with world() as here:
            link = Link(here, binaries, mtu=MTU)
            macvlan(link, "m1", MTU)
            receiver = link.receive(f"--backend {backend} --stream {VIDEO}")
            ping(link, 0, HOST)
            link.send(f"{SENT} --to {HOST}:{PORT}").finish()
            whole(receiver.finish(signal.SIGTERM), backend)


def over_tap(binaries: list[str]) -> None:
    """A port of DPDK whose MTU lull sets: in large buffers, in several, by the stream's word."""
    if not Path("/dev/net/tun").exists():
        raise Skip("needs TAP")
    for words in (f",mtu={MTU}", f",mtu={MTU},scatter=yes", ""):
        with world() as here:
            tap(here, binaries, f"dpdk:tap=dtap0{words}")


def tap(here: World, binaries: list[str], backend: str) -> None:
    link = Link(here, binaries)
    receiver = link.receive(f"--backend {backend} --stream {VIDEO}")
    shown = link.look(link.host, "dtap0")
    check(shown["mtu"] == MTU, "the MTU of the interface", shown)
    run("ip", "-n", link.host, "addr", "add", f"{HOST}/24", "dev", "dtap0")
    run("ip", "-n", link.host, "neigh", "replace", CAMERA, "lladdr", NEIGHBOUR, "dev", "dtap0")
    link.send(f"{SENT} --to {CAMERA}:{PORT}", link.host).finish()
    whole(receiver.finish(signal.SIGTERM), backend)


def names_what_does_not_fit(binaries: list[str]) -> None:
    with world() as here:
        link = Link(here, binaries, mtu=MTU)
        link.address_host()
        said = link.check_itself(f"--backend dpdk:af_xdp=v1 --stream {VIDEO}")
        check(len(said) == 1 and "MTU is 9000, and AF_XDP takes at most 3434" in said[0],
              "AF_XDP names the MTU", said)  # fmt: skip
        for namespace, name in ((link.host, "v1"), (link.camera, "v0")):
            run("ip", "-n", namespace, "link", "set", name, "mtu", "3434")
        said = link.check_itself(f"--backend dpdk:af_packet=v1,mtu={MTU} --stream {VIDEO}")
        check(len(said) == 1 and "ip link set dev v1 mtu 9000" in said[0], "the remedy", said)
        said = link.check_itself(f"--backend dpdk:af_xdp=v1 --stream {VIDEO}")
        check(any("packets of 9000 bytes do not fit MTU 3434" in line for line in said), "MTU",
              said)  # fmt: skip


def the_most_of_af_xdp(binaries: list[str]) -> None:
    """Its largest packets come whole: no buffer is too small for them."""
    with world() as here:
        link = Link(here, binaries, mtu=3434)
        link.address_host()
        receiver = link.receive(f"--backend dpdk:af_xdp=v1 --stream {VIDEO},mtu=3434")
        ping(link, 0, HOST)
        link.send(f"{SENT} --to {HOST}:{PORT} --packet {3434 - HEADERS}").finish()
        whole(receiver.finish(signal.SIGTERM), "af_xdp")


def names_what_was_cut(binaries: list[str]) -> None:
    """Slots for 1500 bytes on an interface of 9000."""
    with world() as here:
        link = Link(here, binaries, mtu=MTU)
        link.address_host()
        receiver = link.receive("--backend dpdk:af_packet=v1,mtu=1500 --unchecked "
                                f"--stream {VIDEO}")  # fmt: skip
        link.send(f"{SENT} --to {HOST}:{PORT}").finish()
        result = receiver.finish(signal.SIGTERM)
        check(result["totals"]["cut"] > FRAMES, "what is cut has a name", result["totals"])


main([over_macvlan, over_tap, names_what_does_not_fit, the_most_of_af_xdp, names_what_was_cut],
     need="root")  # fmt: skip
