# SPDX-License-Identifier: BSD-3-Clause
"""lull doctor: network ports that are too small, too slow, without room, or beside a busy CPU."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lull.doctor.check import Check
from lull.doctor.rails import Ring, check_ports, ports, ring_of
from lull.program.tree import Tree
from machine_tree import port, write

QUIET = {0: 0.1, 1: 0.1}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path, {**port("eth1"), **port("eth2", irq=25, cpu="1"),
                     "proc/sys/net/core/rmem_max": "8388608"})
    return tmp_path


def look(root: Path, busy: dict[int, float] | None = None,
         rings: dict[str, Ring] | None = None) -> dict[str, Check]:
    checks = check_ports(Tree(root), QUIET if busy is None else busy, (rings or {}).get)
    return {check.name: check for check in checks}


def test_good_ports(root: Path) -> None:
    checks = look(root, rings={"eth1": Ring(1024, 4096)})
    assert {name: one.status for name, one in checks.items()} == dict.fromkeys(
        ("port MTU", "port speed", "socket buffer", "port ring", "port interrupts"), "ok")
    assert checks["port MTU"].found == "eth1 1500, eth2 1500"
    assert checks["port interrupts"].found == "eth1 on CPU 0, eth2 on CPU 1"
    assert not any(check.remedy for check in checks.values())


@pytest.mark.parametrize(("files", "name", "status", "found", "remedy"), [
    (port("eth2", mtu=1279), "port MTU", "warn", "eth2 1279", "ip link set dev eth2 mtu 1500"),
    (port("eth2", mtu=1280), "port MTU", "note", "packets for 1280", "one MTU"),
    (port("eth2", mtu=9000), "port MTU", "note", "packets for 1500", "one MTU"),
    (port("eth2", mbps=10), "port speed", "warn", "eth2 10 Mb/s", "ethtool eth2"),
    (port("eth2", mbps=10000), "port speed", "note", "eth2 10000 Mb/s", "little by eth1"),
    (port("eth2", mbps=2500), "port speed", "ok", "eth2 2500 Mb/s", ""),
    (port("eth2", mbps=-1), "port speed", "ok", "eth2 not told", ""),
    ({"proc/sys/net/core/rmem_max": "212992"}, "socket buffer", "note", "room for 151 packets",
     "rmem_max=8388608"),
    ({"proc/irq/25/effective_affinity_list": "0"}, "port interrupts", "note", "all on one",
     "irqbalance"),
    ({"proc/irq/25/effective_affinity_list": ""}, "port interrupts", "ok", "eth2 on CPU 0,1", ""),
])
def test_what_is_named(root: Path, files: dict[str, str], name: str, status: str, found: str,
                       remedy: str) -> None:
    write(root, files)
    check = look(root)[name]
    assert (check.status, bool(check.remedy)) == (status, bool(remedy))
    assert found in check.found
    assert remedy in check.remedy


def test_a_busy_cpu_takes_the_interrupts(root: Path) -> None:
    check = look(root, busy={0: 0.2, 1: 0.9})["port interrupts"]
    assert check.status == "warn"
    assert "CPU 1 is 90.0 % busy" in check.found
    assert "interrupts of eth2" in check.remedy


def test_a_short_ring(root: Path) -> None:
    check = look(root, rings={"eth1": Ring(1024, 4096), "eth2": Ring(256, 4096)})["port ring"]
    assert check.status == "note"
    assert check.found == "eth1 1024 of 4096, eth2 256 of 4096"
    assert check.remedy.startswith("ethtool -G eth2 rx 1024")
    assert look(root, rings={"eth1": Ring(256, 256)})["port ring"].status == "ok"


def test_ports_that_are_none(root: Path) -> None:
    write(root, {**port("eth3", state="down"), **port("br0"), "sys/class/net/br0/bridge/x": "",
                 **port("veth0"), "sys/class/net/veth0/brport/x": "",
                 "sys/class/net/lo/type": "772", "sys/class/net/lo/mtu": "65536"})
    assert [one.name for one in ports(Tree(root))] == ["eth1", "eth2"]


def test_no_port(tmp_path: Path) -> None:
    (check,) = look(tmp_path).values()
    assert (check.name, check.status) == ("network ports", "note")
    assert check.remedy


def test_interrupts_of_virtio_are_those_of_its_device(root: Path) -> None:
    write(root, {"sys/devices/pci0/msi_irqs/30": "msix", "sys/devices/pci0/virtio0/vendor": "0",
                 "sys/class/net/eth0/type": "1", "proc/irq/30/smp_affinity_list": "0-1"})
    (root / "sys/class/net/eth0/device").symlink_to("../../../devices/pci0/virtio0")
    assert ports(Tree(root))[0].cpus == {0, 1}


def test_what_has_no_ring() -> None:
    assert ring_of("lo") is None
    assert ring_of("none-such") is None


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: no namespace of its own")
def test_real_ports(root: Path) -> None:
    """In a namespace with a veth pair, as the kernel shows it."""
    script = ("mount -t sysfs none /sys && ip link add v0 mtu 1200 type veth peer name v1 && "
              "ip link set v0 up && ip link set v1 up && exec \"$PYTHON\" -c \"$CODE\"")
    code = ("import json; from lull.doctor.rails import check_ports; "
            "from lull.program.tree import Tree; "
            "print(json.dumps([one.model_dump() for one in check_ports(Tree(), {})]))")
    done = subprocess.run(["unshare", "--net", "--mount", "sh", "-c", script], check=True,
                          capture_output=True, text=True,
                          env={**os.environ, "CODE": code, "PYTHON": sys.executable,
                               "PYTHONPATH": str(Path(__file__).parents[2] / "python")})
    assert root.exists()
    checks = {one["name"]: one for one in json.loads(done.stdout)}
    assert checks["port MTU"]["status"] == "warn"
    assert "v0 1200" in checks["port MTU"]["found"]
    assert "10000 Mb/s" in checks["port speed"]["found"]
