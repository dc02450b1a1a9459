# SPDX-License-Identifier: BSD-3-Clause
"""Bed: nodes in network namespaces around a switch, whose rails are slow, lossy or silent.

    node a                 namespace lull-bed-ID-switch                  node b
    r0 ------------------- a.r0 = bridge r0 = b.r0 --------------------- r0
    r1 ------------------- a.r1 = bridge r1 = b.r1 --------------------- r1

A rail has the same device name in every node. The switch's port towards a node shapes (tbf) and
loses (nft, at the port's egress) what goes there. So the sender sees nothing of a loss, and the
counters of the port are those of the wire. A bed is what the kernel has of it: nothing is kept
in files, and what a crash leaves is found by its names.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from lull.channel import bed_wire
from lull.channel.bed_namespace import FOLDERS, offloads_off, run
from lull.channel.bed_plan import NODE_NAMES, Plan, Port, changed_port, mtu_of
from lull.channel.bed_wire import PortLook
from lull.errors import LullError

PREFIX = "lull-bed-"
SWITCH = "switch"
CONTROL = "ctl"
CONTROL_NUMBER = 255
GRACE_S = 3.0
NAME = re.compile(rf"{PREFIX}([a-z0-9]{{1,16}})-(?:[{NODE_NAMES}]|{SWITCH})")
SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


class Bed:
    """A bed that lies; leaving a `with` block removes it."""

    def __init__(self, bed_id: str) -> None:
        self.id = bed_id

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.remove()

    # ---- names ----

    def namespace(self, node: str) -> str:
        """Network namespace of a node, or of the switch."""
        return f"{PREFIX}{self.id}-{node}"

    def nodes(self) -> list[str]:
        """Nodes that there are."""
        there = namespaces()
        return [node for node in NODE_NAMES if self.namespace(node) in there]

    def command(self, node: str, *words: str) -> list[str]:
        """What makes a command run in a node."""
        if node not in [*self.nodes(), SWITCH]:
            raise LullError(f"bed {self.id} has no node '{node}': it has "
                            f"{', '.join(self.nodes())} and {SWITCH}")
        return ["ip", "netns", "exec", self.namespace(node), *words]

    # ---- laying and removing ----

    @classmethod
    def lay(cls, plan: Plan) -> Self:
        """Make a bed; all of it, or nothing."""
        check_rights()
        bed = cls(plan.id)
        if plan.id in beds():
            raise LullError(f"bed {plan.id} is there already: remove it with "
                            f"'lull channel bed down {plan.id}', or name another by --id")
        try:
            bed._make(plan)
        except BaseException:
            bed.remove()
            raise
        return bed

    @classmethod
    def find(cls, bed_id: str) -> Self:
        """A bed that was laid before."""
        check_rights()
        if bed_id not in beds():
            raise LullError(f"there is no bed {bed_id}: lay it with 'lull channel bed up'"
                            + (f"; there are: {', '.join(beds())}" if beds() else ""))
        return cls(bed_id)

    def remove(self) -> None:
        """End the programs that run in the bed, and remove it. Removes what a crash left, too."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # not half of it
        try:
            there = namespaces()
            own = [name for name in map(self.namespace, (SWITCH, *NODE_NAMES)) if name in there]
            _end({pid for name in own for pid in _pids(name)})
            for name in own:  # the switch first: it has an end of each wire
                # Devices go now, not when the last process of the namespace does.
                for device in _links(name):
                    _quiet("ip", "-n", name, "link", "del", device)
                _quiet("ip", "netns", "del", name)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _make(self, plan: Plan) -> None:
        names = [SWITCH, *plan.names()]
        for node in names:
            run("ip", "netns", "add", self.namespace(node))
            run(*self._inside(node, "sh", "-c", _SETTINGS))
        bridges = ["s"] if plan.joined else [f"r{i}" for i in range(len(plan.rails))]
        bridges += [CONTROL] * plan.control
        lines = [f"link add {name} type bridge stp_state 0 mcast_snooping 0" for name in bridges]
        lines += [f"link set {name} mtu 65535 up" for name in bridges]
        self._batch(SWITCH, lines)
        for node in plan.names():
            self._wire(plan, node)
        self._acquaint(plan)
        run(*self._inside(SWITCH, "nft", "-f", "-"), given=bed_wire.table(plan))
        for number, rail in enumerate(plan.rails):
            for node in plan.names():
                if node in rail.nodes:
                    self._shape(number, node, rail.port)

    def _inside(self, node: str, *words: str) -> list[str]:
        return ["ip", "netns", "exec", self.namespace(node), *words]

    def _wire(self, plan: Plan, node: str) -> None:
        """Both ends of all wires of a node."""
        namespace, switch = self.namespace(node), []
        rails = [(f"r{i}", i, plan.rails[i].mtu, "s" if plan.joined else f"r{i}")
                 for i in plan.of(node)]
        rails += [(CONTROL, CONTROL_NUMBER, 1500, CONTROL)] * plan.control
        inner = ["link set lo up"]
        for device, number, mtu, bridge in rails:
            mac, address = _mac(number, node), _address(number, node)
            switch += [
                f"link add {node}.{device} mtu {mtu} type veth peer name {device} "
                f"netns {namespace} mtu {mtu} address {mac}",
                f"link set {node}.{device} master {bridge}",
                f"link set {node}.{device} up"]
            bits = 16 if plan.joined and number != CONTROL_NUMBER else 24
            inner += [f"addr add {address}/{bits} dev {device}", f"link set {device} up"]
        self._batch(SWITCH, switch)
        self._batch(node, inner)
        if not plan.offloads:
            devices = [device for device, *_ in rails]
            offloads_off(namespace, devices)
            offloads_off(self.namespace(SWITCH), [f"{node}.{device}" for device in devices])

    def _acquaint(self, plan: Plan) -> None:
        """Each knows the addresses of all: no ARP and no flooding is among the packets."""
        forward = []
        for node in plan.names():
            own = plan.of(node)
            forward += [f"fdb replace {_mac(i, node)} dev {node}.r{i} master static" for i in own]
            self._batch(node, [
                f"neigh replace {_address(there, other)} lladdr {_mac(there, other)} "
                f"nud permanent dev r{here}"
                for here in own for other in plan.names() if other != node
                for there in plan.of(other) if plan.joined or there == here])
        run("bridge", "-n", self.namespace(SWITCH), "-batch", "-", given="\n".join(forward) + "\n")

    def _batch(self, node: str, lines: list[str]) -> None:
        run("ip", "-n", self.namespace(node), "-batch", "-", given="\n".join(lines) + "\n")

    # ---- changing ----

    def set(self, rail: int, words: list[str], node: str = "") -> None:
        """Change a rail while packets flow; of one node's port alone where a node is named."""
        found = self.look()
        ports = [one for one in found if one.rail == rail and node in ("", one.node)]
        if not ports:
            there = sorted({f"r{one.rail}" for one in found})
            raise LullError(f"bed {self.id} has no rail r{rail}{'@' * bool(node)}{node}: it has "
                            f"{', '.join(there)} at {', '.join(self.nodes())}")
        mtus = [word for word in words if word.startswith("mtu=")]
        if mtus and node:
            raise LullError(f"'{mtus[0]}': both ends of a rail have one MTU: leave @{node} out", 2)
        wanted = []
        for one in ports:  # all words are read before anything changes
            port = one.port
            for word in words:
                port = port if word in mtus else changed_port(port, word)
            wanted.append(port)
        mtu = mtu_of(mtus[-1]) if mtus else None
        for one, port in zip(ports, wanted, strict=True):
            if mtu is not None:
                run("ip", "-n", self.namespace(one.node), "link", "set", f"r{rail}", "mtu",
                    str(mtu))
                run("ip", "-n", self.namespace(SWITCH), "link", "set", f"{one.node}.r{rail}",
                    "mtu", str(mtu))
            self._shape(rail, one.node, port, before=one.port)

    def _shape(self, rail: int, node: str, port: Port, before: Port | None = None) -> None:
        """Make the port towards a node so; its counters go on."""
        device, switch = f"{node}.r{rail}", self.namespace(SWITCH)
        shaped = before is not None and _qdisc(switch, device) == "tbf"
        rate = bed_wire.UNSHAPED if port.rate_bps is None else f"{port.rate_bps:.0f}bit"
        shaper = ["tbf", "rate", rate, "burst", bed_wire.BURST, "limit", bed_wire.LIMIT]
        at = ["dev", device, "root", "handle", "10:"]
        if port.needs_netem():
            self._netem(device, port)
            at = ["dev", device, "parent", "1:1", "handle", "10:"]
        elif before is not None and before.needs_netem():
            run("tc", "-n", switch, "qdisc", "del", "dev", device, "root")
        if port.rate_bps is not None or shaped:
            run("tc", "-n", switch, "qdisc", "replace", *at, *shaper)
        run(*self._inside(SWITCH, "nft", "-f", "-"), given=bed_wire.chain(device, port))
        run("ip", "-n", switch, "link", "set", device, "alias", port.words())

    def _netem(self, device: str, port: Port) -> None:
        try:
            run("tc", "-n", self.namespace(SWITCH), "qdisc", "replace", "dev", device, "root",
                "handle", "1:", "netem", *bed_wire.netem_words(port))
        except LullError as error:
            if "unknown" not in str(error):
                raise
            raise LullError("this kernel has no netem (module sch_netem), so delay, jitter, "
                            "reorder and duplicate are not to be had; rate, loss and silence "
                            "are") from None

    # ---- looking ----

    def look(self) -> list[PortLook]:
        """All ports, by rail and node, with their counters."""
        switch = self.namespace(SWITCH)
        counters = bed_wire.counters(run(*self._inside(SWITCH, "nft", "-j", "list", "counters")))
        links = json.loads(run("ip", "-n", switch, "-s", "-s", "-j", "link", "show"))
        queues = json.loads(run("tc", "-n", switch, "-s", "-j", "qdisc", "show"))
        found = []
        for link in links:
            node, _, rail = link["ifname"].partition(".r")
            if not rail.isdecimal():
                continue
            shapers = [one for one in queues if one.get("dev") == link["ifname"]]
            found.append(bed_wire.port_look(int(rail), node, link, counters, shapers))
        return sorted(found, key=lambda one: (one.rail, one.node))

    def mtu(self, rail: int) -> int:
        """MTU of a rail."""
        links = json.loads(run("ip", "-n", self.namespace(SWITCH), "-j", "link", "show"))
        return next(int(link["mtu"]) for link in links if link["ifname"].endswith(f".r{rail}"))

    def address(self, rail: int, node: str) -> str:
        """IPv4 address of a node on a rail."""
        return _address(rail, node)

    def control_address(self, node: str) -> str:
        """IPv4 address of a node on the network that is not shaped."""
        return _address(CONTROL_NUMBER, node)


# ---- all beds ----


def check_rights() -> None:
    """Only root may make network namespaces."""
    if os.geteuid() != 0:
        raise LullError("a bed needs root, as it makes network namespaces: run "
                        "'sudo lull channel bed ...'")
    missing = [name for name in ("ip", "tc", "bridge", "nft") if shutil.which(name) is None]
    if missing:
        package = "nftables" if missing[0] == "nft" else "iproute2"
        raise LullError(f"a bed needs {missing[0]}, which is missing: install the package "
                        f"{package}")


def namespaces() -> list[str]:
    """Names of all network namespaces that are named."""
    for folder in FOLDERS:
        if folder.is_dir():
            return sorted(path.name for path in folder.iterdir())
    return []


def beds() -> list[str]:
    """Ids of all beds, also of those of which a crash left a part."""
    return sorted({found[1] for name in namespaces() if (found := NAME.fullmatch(name))})


# ---- what the kernel is asked ----


_SETTINGS = ("echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6; "
             "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6; "
             "echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter; "
             "echo 0 >/proc/sys/net/ipv4/conf/default/rp_filter")


def _mac(rail: int, node: str) -> str:
    return f"02:6c:75:00:{rail:02x}:{NODE_NAMES.index(node) + 1:02x}"


def _address(rail: int, node: str) -> str:
    return f"10.77.{rail}.{NODE_NAMES.index(node) + 1}"


def _qdisc(namespace: str, device: str) -> str:
    """Kind of the shaper of a port, or ""."""
    shown = json.loads(run("tc", "-n", namespace, "-j", "qdisc", "show", "dev", device))
    return next((one["kind"] for one in shown if one["kind"] == "tbf"), "")


def _links(namespace: str) -> list[str]:
    """Devices of a namespace; of a pair whose other end is gone as well, none."""
    try:
        shown = json.loads(run("ip", "-n", namespace, "-j", "link", "show"))
    except (LullError, ValueError):
        return []
    return [link["ifname"] for link in shown if link["ifname"] != "lo"]


def _pids(namespace: str) -> list[int]:
    try:
        return [int(word) for word in run("ip", "netns", "pids", namespace).split()]
    except LullError:
        return []


def _end(pids: set[int]) -> None:
    """SIGTERM, and SIGKILL to what is still there."""
    pids = pids - {os.getpid()}
    for sign in (signal.SIGTERM, signal.SIGKILL):
        for pid in pids:
            try:
                os.kill(pid, sign)
            except ProcessLookupError:
                continue
        end_s = time.monotonic() + GRACE_S
        while pids and time.monotonic() < end_s:
            pids = {pid for pid in pids if _lives(pid)}
            time.sleep(0.01 if pids else 0)


def _lives(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def _quiet(*words: str) -> None:
    try:
        run(*words)
    except LullError:
        return  # it went with something else
