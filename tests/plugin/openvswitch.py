# SPDX-License-Identifier: BSD-3-Clause
"""Open vSwitch with DPDK as Debian has it, the plugin in dpdk-extra: forwards, rests, obeys.

Private: its own database, directories and namespace; never the service of the system.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ports import COUNT, GEN, all_back
from rights import skip
from stand import FORWARDER_CPU, OTHER_CPU, Files, Host, Telemetry, main, rested, spins
from verdict import check, wait_for
from world import World

VSWITCHD = Path("/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk")
SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
RING = "framecnt=4096,framesz=2048,blocksz=4096"


@dataclass(frozen=True)
class Port:
    """A port of the switch: its name and what ovs-vsctl is told of it."""

    name: str
    settings: str

    def add(self) -> list[str]:
        command = ["add-port", "between", self.name]
        return [*command, "--", "set", "Interface", self.name, *self.settings.split()]


def veth(name: str, index: int) -> Port:
    return Port(name, f"type=dpdk options:dpdk-devargs=net_af_packet{index},iface=f{index},{RING}")


class Switch:
    """ovs-vswitchd; each two neighbours of its ports send to each other."""

    def __init__(
        self,
        here: World,
        namespace: str,
        dpdk_extra: str,
        env: dict[str, str],
        *,
        ports: tuple[Port, ...] = (veth("left", 0), veth("right", 1)),
        vswitchd: Path = VSWITCHD,
        config: dict[str, str] | None = None,
    ) -> None:
        self.here = here
        self.ports = ports
        self.namespace = namespace
        folders = ("OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR", "OVS_SYSCONFDIR")
        self.env = {**here.env, **dict.fromkeys(folders, str(here.directory)), **env}
        database = here.path("conf.db")
        self.tool("ovsdb-tool", "create", str(database), str(SCHEMA))
        self.remote = here.path("db.sock")
        argv = ["ovsdb-server", str(database), f"--remote=punix:{self.remote}", "-vfile:off"]
        Host(here, "ovsdb", argv, env=self.env, namespace=namespace)
        wait_for("the database listens", self.remote.exists)
        self.vsctl("--no-wait", "init")
        self.vsctl("--no-wait", "set", "Open_vSwitch", ".", *self.configuration(dpdk_extra, config))
        argv = [str(vswitchd), f"unix:{self.remote}", "-vfile:off"]
        self.host = Host(here, "vswitchd", argv, env=self.env, namespace=namespace)
        self.bridge()

    def tool(self, *command: str) -> str:
        done = subprocess.run(
            ["ip", "netns", "exec", self.namespace, *command],
            env=self.env, capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        check(done.returncode == 0, " ".join(command), done.stderr.strip())
        return done.stdout

    def vsctl(self, *command: str) -> str:
        return self.tool("ovs-vsctl", "--timeout=30", f"--db=unix:{self.remote}", *command)

    def appctl(self, *command: str) -> str:
        socket = next(self.here.directory.rglob("*vswitchd*.ctl"), "no control socket")
        return self.tool("ovs-appctl", "-t", str(socket), *command)

    @staticmethod
    def configuration(dpdk_extra: str, config: dict[str, str] | None) -> list[str]:
        values = {
            "dpdk-init": "true",
            "dpdk-lcore-mask": hex(1 << OTHER_CPU),
            "pmd-cpu-mask": hex(1 << FORWARDER_CPU),
            "per-port-memory": "true",
            "dpdk-extra": f"--no-huge --legacy-mem --no-pci -m 512 {dpdk_extra}".strip(),
            **(config or {}),
        }
        return [f'other_config:{key}="{value}"' for key, value in values.items()]

    def bridge(self) -> None:
        command = ["add-br", "between", "--", "set", "bridge", "between"]
        command += ["datapath_type=netdev", "fail_mode=secure"]
        for port in self.ports:
            command += ["--", *port.add()]
        self.vsctl(*command)
        self.connect()

    def connect(self) -> None:
        """Flows, which go with their port."""
        names = [port.name for port in self.ports]
        for left, right in zip(names[::2], names[1::2], strict=False):
            for source, target in ((left, right), (right, left)):
                flow = f"in_port={source},actions=output:{target}"
                self.tool("ovs-ofctl", "add-flow", f"unix:{self.here.path('between.mgmt')}", flow)

    def pmd(self) -> str:
        def find() -> str | None:
            names = (name for name in self.host.threads() if name.startswith("pmd-"))
            return next(names, None)

        return str(wait_for("a PMD thread", find))

    def finish(self) -> None:
        self.appctl("exit")
        self.host.finish()


def pass_all(here: World, files: Files, namespace: str, name: str) -> None:
    vdevs = " ".join(f"--vdev net_af_packet{i},iface=g{i},{RING}" for i in range(2))
    gen = here.start(name, str(files.gen), f"{vdevs} {GEN} poisson:5k", namespace)
    all_back(gen)


def forwards_and_rests(here: World, files: Files) -> str:
    gen_side, switch_side = here.namespace("gen"), here.namespace("ovs")
    for i in range(2):
        here.veth((gen_side, f"g{i}"), (switch_side, f"f{i}"))
    switch = Switch(here, switch_side, f"-d {files.plugin}", {"LULL": "on"})
    pmd = switch.pmd()
    socket = wait_for(
        "telemetry", lambda: next(here.runtime.glob("dpdk/*/dpdk_telemetry.v2"), None)
    )
    telemetry = Telemetry(socket)
    switch.host.telemetry_path = socket
    remark = rested(switch.host, pmd)
    pass_all(here, files, gen_side, "with")
    loop = telemetry.loop(pmd)
    check(loop["pkts"] >= COUNT / 10, "the plugin saw them", loop["pkts"])
    stats = switch.appctl("dpif-netdev/pmd-stats-show")
    check(f"packets received: {loop['pkts']}\n" in stats, "ovs-appctl counts as many", stats)
    check("between" in switch.appctl("dpif/show"), "ovs-appctl dpif/show")
    check("numa_id" in switch.appctl("dpif-netdev/pmd-rxq-show"), "ovs-appctl pmd-rxq-show")
    # A port goes and comes back while the others are polled.
    switch.vsctl("del-port", "between", "right")
    switch.vsctl(*veth("right", 1).add())
    switch.connect()
    pass_all(here, files, gen_side, "again")
    telemetry.set("mode=off")
    spins(switch.host, pmd)
    switch.finish()
    check("lull: poll" in switch.host.log(), "the report", switch.host.log()[-500:])
    return remark


if __name__ == "__main__":
    if not VSWITCHD.exists() or shutil.which("ovsdb-tool") is None:
        skip("needs openvswitch-switch-dpdk")
    main([forwards_and_rests], need="rings")
