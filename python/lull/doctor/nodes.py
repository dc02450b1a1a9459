# SPDX-License-Identifier: BSD-3-Clause
"""Nodes: threads of running programs that poll a device of another NUMA node.

Which device a process has shows in its open files (VFIO, UIO, verbs); a thread that may run on one
CPU only is taken for one that polls, unless it is known to be one of DPDK's or lull's own.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lull.program.tree import Tree

NODE = "/sys/devices/system/node"
CONTROL = ("eal-intr", "rte_mp", "dpdk-intr", "dpdk-mp", "dpdk-telemet", "telemetry-v2", "lull-")


@dataclass(frozen=True)
class Crossing:
    """A thread that is far from a device of its process."""

    program: str
    thread: str
    cpu: int
    cpu_node: int
    device: str
    device_node: int

    def text(self) -> str:
        """In words."""
        return (f"{self.thread} of {self.program} on CPU {self.cpu} (node {self.cpu_node}) polls "
                f"{self.device} of node {self.device_node}")


def cpus_of(text: str) -> set[int]:
    """CPUs of a list of the kernel's, such as 0-3,8."""
    cpus: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus


def cpu_nodes(tree: Tree) -> dict[int, int]:
    """Node by CPU."""
    nodes = {}
    for path in tree.glob(f"{NODE}/node[0-9]*/cpulist"):
        node = int(path.parent.name.removeprefix("node"))
        nodes.update(dict.fromkeys(cpus_of(tree.text(tree.name(path)) or ""), node))
    return nodes


def device_node(tree: Tree, directory: str) -> int:
    """Node of a device; -1: not known."""
    node = tree.number(f"{directory}/numa_node")
    return -1 if node is None else node


def devices_behind(tree: Tree, file: str) -> Iterator[tuple[str, int]]:
    """Name and node of the devices that an open file gives."""
    if found := re.fullmatch(r"/dev/vfio/(\d+)", file):
        for path in tree.glob(f"/sys/kernel/iommu_groups/{found[1]}/devices/*"):
            yield path.name, device_node(tree, f"/sys/bus/pci/devices/{path.name}")
    elif found := re.fullmatch(r"/dev/(uio\d+)", file):
        yield found[1], device_node(tree, f"/sys/class/uio/{found[1]}/device")
    elif found := re.fullmatch(r"/dev/infiniband/(uverbs\d+)", file):
        yield found[1], device_node(tree, f"/sys/class/infiniband_verbs/{found[1]}/device")


def process_devices(tree: Tree, process: Path) -> dict[str, int]:
    """Node by device of a process, as far as its files may be seen."""
    devices: dict[str, int] = {}
    for link in tree.glob(f"{tree.name(process)}/fd/*"):
        try:
            file = str(link.readlink())
        except OSError:
            continue
        devices.update({name: node for name, node in devices_behind(tree, file) if node >= 0})
    return devices


def pinned_threads(tree: Tree, process: Path) -> Iterator[tuple[str, int]]:
    """Name and CPU of the threads that may run on one CPU only, without the first."""
    for path in tree.glob(f"{tree.name(process)}/task/[0-9]*/status"):
        if path.parent.name == process.name:
            continue
        fields = dict(line.split(":\t", 1)
                      for line in (tree.text(tree.name(path)) or "").splitlines() if ":\t" in line)
        cpus = cpus_of(fields.get("Cpus_allowed_list", "").strip())
        name = fields.get("Name", "").strip()
        if len(cpus) == 1 and not name.startswith(CONTROL):
            yield name, cpus.pop()


def crossings(tree: Tree) -> list[Crossing]:
    """Of all processes that may be seen."""
    nodes = cpu_nodes(tree)
    if len(set(nodes.values())) < 2:
        return []
    found = []
    for process in tree.glob("/proc/[0-9]*"):
        devices = process_devices(tree, process)
        program = tree.text(f"{tree.name(process)}/comm") or process.name
        for thread, cpu in pinned_threads(tree, process) if devices else ():
            found += [Crossing(program, thread, cpu, nodes[cpu], device, node)
                      for device, node in sorted(devices.items())
                      if cpu in nodes and nodes[cpu] != node]
    return found
