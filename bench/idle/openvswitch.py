# SPDX-License-Identifier: BSD-3-Clause
"""Open vSwitch with DPDK, private: its own database, directories and namespace.

Never speaks to the service of the system: every command names the socket of
the database started here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ports import Wire

from program import FORWARDER, Place, Program, wait_for

VSWITCHD = Path("/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk")
SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
MAXSLEEP_MOST_US = 10000
PORTS = ("left", "right")


@dataclass(frozen=True)
class Settings:
    """How the switch shall poll."""

    maxsleep_us: int
    cpu: int
    other_cpu: int
    memory_mb: int
    ring_pkts: int
    dpdk_extra: str = ""
    vswitchd: Path = VSWITCHD
    objective_us: int = 0  # of examples/openvswitch; other switches do not know it
    idle_port: bool = False  # polled beside those of the wire
    threads: int = 1  # 2: each port of the wire has one, the second on other_cpu


def start(place: Place, wire: Wire, settings: Settings) -> Program:
    """A switch that forwards between the two ports of the wire."""
    for name in ("RUNDIR", "LOGDIR", "DBDIR", "SYSCONFDIR"):
        place.env[f"OVS_{name}"] = str(place.directory)
    database = place.path("conf.db")
    database.unlink(missing_ok=True)
    place.run(FORWARDER, "ovsdb-tool", "create", str(database), str(place.file(SCHEMA)))
    remote = place.path("db.sock")
    remote.unlink(missing_ok=True)
    server = place.start(
        FORWARDER,
        "ovsdb-server",
        ["ovsdb-server", str(database), f"--remote=punix:{remote}", "-vfile:off"],
        cpu=settings.other_cpu,
    )

    def listens() -> bool:
        server.check_alive()
        return remote.exists()

    wait_for("the database listens", listens)
    _vsctl(place, "--no-wait", "init")
    _vsctl(place, "--no-wait", "set", "Open_vSwitch", ".", *_configuration(settings))
    switch = place.start(
        FORWARDER,
        "ovs-vswitchd",
        place.inside(str(settings.vswitchd), f"unix:{remote}", "-vfile:off"),
        cpu=settings.other_cpu,
    )
    _vsctl(place, *_bridge(wire, settings))
    switch.check_alive()
    for source, target in (PORTS, PORTS[::-1]):
        flow = f"in_port={source},actions=output:{target}"
        place.run(FORWARDER, "ovs-ofctl", "add-flow", f"unix:{place.path('between.mgmt')}", flow)
    return switch


def set_maxsleep(place: Place, maxsleep_us: int) -> None:
    """Change it in a running switch."""
    _vsctl(place, "set", "Open_vSwitch", ".", f'other_config:pmd-maxsleep="{maxsleep_us}"')


def _vsctl(place: Place, *command: str) -> None:
    place.run(
        FORWARDER, "ovs-vsctl", "--timeout=20", f"--db=unix:{place.path('db.sock')}", *command
    )


def _configuration(settings: Settings) -> list[str]:
    values = {
        "dpdk-init": "true",
        "dpdk-lcore-mask": hex(1 << settings.other_cpu),
        "pmd-cpu-mask": hex(sum(1 << cpu for cpu in _cpus(settings))),
        "pmd-rxq-isolate": "false",
        "pmd-maxsleep": str(settings.maxsleep_us),
        "pmd-objective": str(settings.objective_us),
        "per-port-memory": "true",  # buffers by ring size, not 262144 for all
        # Without hugepages; legacy memory keeps it from adding --in-memory, which excludes that.
        "dpdk-extra": (
            f"--no-huge --legacy-mem --no-shconf --no-pci -m {settings.memory_mb}"
            f" {settings.dpdk_extra}"
        ).strip(),
    }
    return [f'other_config:{key}="{value}"' for key, value in values.items()]


def _cpus(settings: Settings) -> list[int]:
    return [settings.cpu, settings.other_cpu][: settings.threads]


def _bridge(wire: Wire, settings: Settings) -> list[str]:
    command = ["add-br", "between", "--", "set", "bridge", "between"]
    command += ["datapath_type=netdev", "fail_mode=secure"]
    for index, (port, devargs) in enumerate(zip(PORTS, wire.devargs, strict=True)):
        command += ["--", "add-port", "between", port]
        command += ["--", "set", "Interface", port, f"type={wire.open_vswitch_type}", devargs]
        if wire.open_vswitch_type == "dpdk":
            ring = settings.ring_pkts
            command += [f"options:n_rxq_desc={ring}", f"options:n_txq_desc={ring}"]
        if settings.threads > 1:
            command += [f"other_config:pmd-rxq-affinity=0:{_cpus(settings)[index]}"]
    if settings.idle_port:
        command += ["--", "add-port", "between", "idle", "--", "set", "Interface", "idle"]
        command += ["type=dpdk", "options:dpdk-devargs=net_null0,no-rx=1"]
    return command
