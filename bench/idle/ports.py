# SPDX-License-Identifier: BSD-3-Clause
"""Ports: the kinds of wire between the traffic generator and a forwarder.

    generator port 0  ->  forwarder port 0  =  forwarder port 1  ->  generator port 1

veth:  kernel interfaces, opened by both sides with DPDK's af_packet driver.
vhost: shared memory; the generator is the guest (virtio_user, owns the socket),
       the forwarder the host (eth_vhost or dpdkvhostuserclient, connects to it).
null:  no wire and no generator; the driver makes packets and drops them, so that
       nothing but the forwarder itself is left. Only saturation can be asked.
capture: one veth pair, for a program that only takes packets in.
rings: no wire; lull-fwd's own traffic loop over rings in its process. No other forwarder has that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from program import FORWARDER, SOURCE, Place, wait_for

RING_PKTS = 1024


@dataclass(frozen=True)
class Wire:
    """What each side has to open."""

    kind: str
    generator_vdevs: list[str]  # none: endless
    forwarder_vdevs: list[str]  # for a DPDK program
    devargs: list[str]  # for Open vSwitch, by type
    open_vswitch_type: str
    generator_listens: Callable[[], None]  # wait until a forwarder may connect
    inside: bool = False  # the forwarder makes the traffic
    one_way: bool = False  # it keeps what it gets: its port counters are the judge
    side: str = FORWARDER  # where the forwarder runs
    interfaces: tuple[tuple[str, str], ...] = ()  # side and name, to be taken away

    @property
    def endless(self) -> bool:
        """Packets never run out."""
        return not self.generator_vdevs and not self.inside


def nothing() -> None:
    """Listens at once."""


def vdev(index: int, interface: str) -> str:
    """A kernel interface for a DPDK program."""
    return f"net_af_packet{index},iface={interface},framecnt={RING_PKTS}"


def open_veth(place: Place) -> Wire:
    """Two veth pairs: g0-f0 and f1-g1."""
    for index in (0, 1):
        peer = [f"f{index}", "netns", place.namespaces[FORWARDER]]
        place.run(SOURCE, *f"ip link add g{index} type veth peer name".split(), *peer)
        for side, interface in ((SOURCE, f"g{index}"), (FORWARDER, f"f{index}")):
            place.run(side, "ip", "link", "set", interface, "arp", "off", "up")

    forwarder = [vdev(index, f"f{index}") for index in (0, 1)]
    return Wire(
        kind="veth",
        generator_vdevs=[vdev(index, f"g{index}") for index in (0, 1)],
        forwarder_vdevs=forwarder,
        devargs=[f"options:dpdk-devargs={devargs}" for devargs in forwarder],
        open_vswitch_type="dpdk",
        generator_listens=nothing,
        interfaces=((SOURCE, "g0"), (SOURCE, "g1")),
    )


def open_capture(place: Place) -> Wire:
    """One veth pair, g0-f0, for a program that sends nothing back."""
    forwarder = place.namespaces[FORWARDER]
    place.run(SOURCE, *f"ip link add g0 type veth peer name f0 netns {forwarder}".split())
    for side, interface in ((SOURCE, "g0"), (FORWARDER, "f0")):
        place.run(side, "ip", "link", "set", interface, "arp", "off", "up")
    return Wire(
        kind="capture",
        generator_vdevs=[vdev(0, "g0")],
        forwarder_vdevs=[vdev(0, "f0")],
        devargs=[],
        open_vswitch_type="",
        generator_listens=nothing,
        one_way=True,
        interfaces=((SOURCE, "g0"),),
    )


def open_vhost(place: Place) -> Wire:
    """Two sockets; a new generator makes them anew."""
    sockets = [place.path(f"vhost{index}") for index in (0, 1)]
    for path in sockets:
        path.unlink(missing_ok=True)

    def listens() -> None:
        wait_for("the generator listens", sockets[0].exists)

    return Wire(
        kind="vhost",
        generator_vdevs=[
            f"net_virtio_user{index},path={path},server=1,queue_size={RING_PKTS}"
            for index, path in enumerate(sockets)
        ],
        forwarder_vdevs=[
            f"eth_vhost{index},iface={path},client=1" for index, path in enumerate(sockets)
        ],
        devargs=[f"options:vhost-server-path={path}" for path in sockets],
        open_vswitch_type="dpdkvhostuserclient",
        generator_listens=listens,
    )


def open_null(_place: Place) -> Wire:
    """Ports that need nothing."""
    vdevs = [f"net_null{index},size=60" for index in (0, 1)]
    return Wire(
        kind="null",
        generator_vdevs=[],
        forwarder_vdevs=vdevs,
        devargs=[f"options:dpdk-devargs={vdev}" for vdev in vdevs],
        open_vswitch_type="dpdk",
        generator_listens=nothing,
    )


def open_rings(_place: Place) -> Wire:
    """What lull-fwd brings."""
    return Wire(
        kind="rings",
        generator_vdevs=[],
        forwarder_vdevs=[],
        devargs=[],
        open_vswitch_type="",
        generator_listens=nothing,
        inside=True,
    )


KINDS: dict[str, Callable[[Place], Wire]] = {
    "veth": open_veth,
    "capture": open_capture,
    "vhost": open_vhost,
    "null": open_null,
    "rings": open_rings,
}


def close(place: Place, wire: Wire) -> None:
    """Take the interfaces away again; sockets go with the generator."""
    for side, interface in wire.interfaces:
        place.run(side, "ip", "link", "del", interface)
