# SPDX-License-Identifier: BSD-3-Clause
"""Rails: what of this machine's network ports helps or hinders a channel over several of them."""

import ctypes
import fcntl
import socket
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lull.doctor.check import Check
from lull.doctor.nodes import cpus_of
from lull.program.tree import Tree
from lull.quantities import percent

NET = "/sys/class/net"
ETHERNET = 1  # ARPHRD_ETHER
MTU_MIN = 1280
MBPS_MIN = 100
TIMES_SLOWER = 10
ROOM_PKTS = 1024  # a window of a path
PACKET_BYTES = 2816  # what the kernel books for one of 1500 bytes
ROOM_BYTES = ROOM_PKTS * PACKET_BYTES // 2  # the kernel doubles what is asked for
BUSY = 0.5
SHOWN = 4
IFNAMSIZ, SIOCETHTOOL, ETHTOOL_GRINGPARAM = 16, 0x8946, 0x10
RINGS = "9I"  # struct ethtool_ringparam: command, 4 maxima, 4 lengths


@dataclass(frozen=True)
class Ring:
    """Places for received packets in a port."""

    now: int
    most: int


@dataclass(frozen=True)
class NetPort:
    """A port that could be a rail."""

    name: str
    mtu: int
    mbps: int  # 0: not told
    cpus: frozenset[int]  # that take its interrupts; none: not told


def ring_of(name: str) -> Ring | None:
    """What the driver of a port tells; None: it does not."""
    buffer = ctypes.create_string_buffer(struct.pack(RINGS, ETHTOOL_GRINGPARAM, *[0] * 8))
    request = struct.pack(f"{IFNAMSIZ}sP16x", name.encode(), ctypes.addressof(buffer))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        try:
            fcntl.ioctl(end, SIOCETHTOOL, request)
        except OSError:  # virtual ports have none
            return None
    found = struct.unpack(RINGS, buffer.raw[:struct.calcsize(RINGS)])
    return Ring(now=found[5], most=found[1])


def ports(tree: Tree) -> list[NetPort]:
    """Ethernet ports that are up: neither a bridge or bond nor a part of one."""
    found = []
    for path in tree.glob(f"{NET}/*"):
        at = tree.name(path)
        if tree.number(f"{at}/type") != ETHERNET or tree.text(f"{at}/operstate") == "down":
            continue
        if any(tree.path(f"{at}/{part}").exists()
               for part in ("bridge", "brport", "bonding", "bonding_slave")):
            continue
        found.append(NetPort(path.name, tree.number(f"{at}/mtu") or 0,
                             max(0, tree.number(f"{at}/speed") or 0), interrupts(tree, at)))
    return found


def interrupts(tree: Tree, at: str) -> frozenset[int]:
    """CPUs that take those of a port; virtio's are those of the device above."""
    cpus: set[int] = set()
    for folder in (f"{at}/device/msi_irqs", f"{at}/device/../msi_irqs"):
        for path in tree.glob(f"{folder}/[0-9]*"):
            irq = f"/proc/irq/{path.name}"
            text = (tree.text(f"{irq}/effective_affinity_list")
                    or tree.text(f"{irq}/smp_affinity_list") or "")
            cpus |= cpus_of(text)
        if cpus:
            break
    return frozenset(cpus)


def check_ports(tree: Tree, busy: Mapping[int, float],
                ring: Callable[[str], Ring | None] = ring_of) -> list[Check]:
    """Too small, too slow, without room, or beside a busy CPU; @p busy: share by CPU."""
    there = ports(tree)
    if not there:
        return [Check(name="network ports", status="note", found="none is up: a channel needs one",
                      remedy="ip link set dev IF up")]
    return [check_size(there), check_speed(there), check_buffers(tree),
            check_rings(there, ring), check_interrupts(there, busy)]


def check_size(there: list[NetPort]) -> Check:
    """All rails get the packets of the smallest."""
    name = "port MTU"
    found = _list([f"{one.name} {one.mtu}" for one in there])
    small = [one.name for one in there if one.mtu < MTU_MIN]
    if small:
        return Check(name=name, status="warn", found=found,
                     remedy=f"ip link set dev {small[0]} mtu 1500, or keep it out of channels")
    if len({one.mtu for one in there}) > 1:
        return Check(name=name, status="note", found=f"{found}: a channel over all of them sends "
                     f"packets for {min(one.mtu for one in there)}",
                     remedy="give the ports of one channel one MTU")
    return Check(name=name, status="ok", found=found)


def check_speed(there: list[NetPort]) -> Check:
    """A port that brings a tenth of another is hardly worth its interrupts."""
    name = "port speed"
    found = _list([f"{one.name} {f'{one.mbps} Mb/s' if one.mbps else 'not told'}"
                   for one in there])
    told = sorted((one for one in there if one.mbps), key=lambda one: one.mbps)
    if told and told[0].mbps < MBPS_MIN:
        return Check(name=name, status="warn", found=found,
                     remedy=f"look at cable and switch: ethtool {told[0].name}")
    if told and told[0].mbps * TIMES_SLOWER <= told[-1].mbps:
        return Check(name=name, status="note", found=found,
                     remedy=f"a channel gains little by {told[0].name} beside {told[-1].name}")
    return Check(name=name, status="ok", found=found)


def check_buffers(tree: Tree) -> Check:
    """A kernel rail has room for what fits into its socket."""
    name = "socket buffer"
    limit = tree.number("/proc/sys/net/core/rmem_max")
    if limit is None:
        return Check(name=name, status="note", found="not known")
    pkts = 2 * limit // PACKET_BYTES
    found = f"net.core.rmem_max {limit}: room for {pkts} packets of 1500 bytes"
    if limit >= ROOM_BYTES:
        return Check(name=name, status="ok", found=found)
    forced = " where a program has no CAP_NET_ADMIN"
    return Check(name=name, status="note", found=found + forced,
                 remedy="sysctl -w net.core.rmem_max=8388608, or peers of a channel send slower "
                        "than they could")


def check_rings(there: list[NetPort], ring: Callable[[str], Ring | None]) -> Check:
    """A port keeps what came while nobody looked."""
    name = "port ring"
    known = {one.name: found for one in there if (found := ring(one.name)) is not None}
    if not known:
        return Check(name=name, status="ok", found="none that a driver tells: virtual ports")
    text = _list([f"{port} {one.now} of {one.most}" for port, one in known.items()])
    small = [port for port, one in known.items() if one.now < min(ROOM_PKTS, one.most)]
    if not small:
        return Check(name=name, status="ok", found=text)
    most = min(ROOM_PKTS, known[small[0]].most)
    return Check(name=name, status="note", found=text,
                 remedy=f"ethtool -G {small[0]} rx {most}, or bursts are lost there")


def check_interrupts(there: list[NetPort], busy: Mapping[int, float]) -> Check:
    """Packets wait for the CPU that takes their interrupts."""
    name = "port interrupts"
    known = [one for one in there if one.cpus]
    if not known:
        return Check(name=name, status="ok", found="none that the kernel tells: virtual ports")
    found = _list([f"{one.name} on CPU {','.join(map(str, sorted(one.cpus)))}" for one in known])
    beside = [(one.name, cpu) for one in known for cpu in sorted(one.cpus)
              if busy.get(cpu, 0) > BUSY]
    if beside:
        port, cpu = beside[0]
        return Check(name=name, status="warn",
                     found=f"{found}; CPU {cpu} is {percent(100 * busy[cpu])} busy",
                     remedy=f"move what runs on CPU {cpu} (taskset, cpuset), or the interrupts of "
                            f"{port}: /proc/irq/N/smp_affinity_list, irqbalance")
    together = frozenset().union(*(one.cpus for one in known))
    if len(known) > 1 and len(busy) > 1 and len(together) == 1:
        return Check(name=name, status="note", found=f"{found}: all on one",
                     remedy="spread them: irqbalance, or /proc/irq/N/smp_affinity_list")
    return Check(name=name, status="ok", found=found)


def _list(words: list[str]) -> str:
    more = [f"and {len(words) - SHOWN} more"] * (len(words) > SHOWN)
    return ", ".join(words[:SHOWN] + more)
