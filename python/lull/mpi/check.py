# SPDX-License-Identifier: BSD-3-Clause
"""Check: is everything on this node that a rank needs, and what would help where it is not?"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lull.channel.key import OTHERS
from lull.doctor.check import Check
from lull.mpi.env import KEY, NAMES, OWN, PROVIDER_FILE, PROVIDER_PATH, Setting
from lull.program.tree import Tree
from lull.wrap.wrap import PACKAGE_HOME

NET = "/sys/class/net"
UP = 1  # IFF_UP of linux/if.h
OLDEST = (1, 17)
OPEN_S = 60.0  # DPDK may take its time
# Ports that a name of the kernel stands for.
KERNEL = re.compile(r"(?:kernel(?:-busy)?:|dpdk:af_(?:packet|xdp)=)([^,]+)(?:,.*)?")
DPDK = re.compile(r"dpdk:.+")
# What our provider says in libfabric's log.
SAID = re.compile(r"^libfabric:[^<]*:lull:[^<]*<warn>:?\s*(.*)$")


@dataclass(frozen=True)
class Probed:
    """What libfabric answers, and what our provider says meanwhile."""

    version: str = ""
    listed: bool = False
    opened: bool = False
    error: str = ""
    said: tuple[str, ...] = ()

    def reason(self) -> str:
        """The last sentence of the provider, else what libfabric makes of it."""
        return next(reversed(self.said), self.error).rstrip(".")


Ask = Callable[[Setting, bool], Probed]


def examine(setting: Setting, ranks: int, tree: Tree, ask: Ask,
            environment: Mapping[str, str]) -> list[Check]:
    """All checks of this node; @p ranks: how many it will run, 0 where nobody said."""
    checks = [check_names(environment), check_open_mpi()]
    found = ask(setting, False)
    checks += [check_libfabric(found)]
    if found.version:
        checks += [check_provider(setting, found)]
    if setting.sealed():
        checks += [check_key(setting)]
    checks += [check_rail(rail, ranks, tree) for rail in setting.rails()]
    if all(one.status != "fail" for one in checks):
        checks += [check_channel(ask(setting, True))]
    return [*checks, check_cpus(ranks, tree)]


def check_names(environment: Mapping[str, str]) -> Check:
    """A variable of ours with a slip in its name would do nothing."""
    name = "variables"
    wrong = [one for one in sorted(environment) if OWN.fullmatch(one) and one not in NAMES]
    if not wrong:
        return Check(name=name, status="ok", found="all known")
    near = difflib.get_close_matches(wrong[0], NAMES, 1)
    return Check(name=name, status="fail", found=f"the provider has no variable {wrong[0]}",
                 remedy=f"unset {wrong[0]}" + (f"; was {near[0]} meant?" if near else ""))


def check_open_mpi() -> Check:
    """Its mtl/ofi is what calls libfabric."""
    name = "Open MPI"
    if shutil.which("mpirun") is None or shutil.which("ompi_info") is None:
        return Check(name=name, status="fail", found="mpirun or ompi_info is not on the PATH",
                     remedy="install the package openmpi-bin, or put Open MPI on the PATH of "
                            "shells without a terminal")
    done = subprocess.run(["ompi_info", "--parsable"], check=False, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL)
    version = re.search(r"^ompi:version:full:(\S+)", done.stdout, re.MULTILINE)
    if version is None:
        return Check(name=name, status="fail", found="ompi_info tells no version",
                     remedy="the first ompi_info on the PATH has to be that of Open MPI")
    if "mca:mtl:ofi:" not in done.stdout:
        return Check(name=name, status="fail", found=f"{version[1]} was built without mtl/ofi",
                     remedy="build it with --with-ofi, or use that of Debian")
    return Check(name=name, status="ok", found=f"{version[1]} with mtl/ofi",
                 data={"version": version[1]})


def check_libfabric(found: Probed) -> Check:
    """The library that Open MPI calls."""
    name = "libfabric"
    if not found.version:
        return Check(name=name, status="fail", found=found.error or "libfabric.so.1 is not there",
                     remedy="install the package libfabric1")
    if tuple(int(part) for part in found.version.split(".")) < OLDEST:
        return Check(name=name, status="fail", found=f"{found.version} is too old",
                     remedy=f"the provider needs {'.'.join(map(str, OLDEST))} or newer")
    return Check(name=name, status="ok", found=found.version, data={"version": found.version})


def check_provider(setting: Setting, found: Probed) -> Check:
    """Does libfabric offer it?"""
    name = "provider"
    files = [path for folder in setting.folders.split(":")
             if (path := Path(folder.removeprefix("@")) / PROVIDER_FILE).is_file()]
    if not files:
        return Check(name=name, status="fail",
                     found=f"{PROVIDER_PATH}={setting.folders} holds no {PROVIDER_FILE}",
                     remedy="'make install' there, or name its folder with --provider")
    if not found.listed:
        return Check(name=name, status="fail",
                     found=f"libfabric does not list {files[0]}: {found.reason()}",
                     remedy="" if found.said else "build lull anew, for this machine's libfabric")
    return Check(name=name, status="ok", found=f"{files[0]} is listed",
                 data={"file": str(files[0])})


def check_key(setting: Setting) -> Check:
    """Readable for this user and nobody else; its digest tells whether all nodes have one."""
    name, text = "key", setting.lull.get(KEY, "")
    make = "'lull channel key > FILE' makes one; every node needs a copy"
    if not text:
        return Check(name=name, status="fail", found="no key is named",
                     remedy=f"--key FILE, or --security open; {make}")
    path = Path(text)
    try:
        mode, content = path.stat().st_mode, path.read_bytes()
    except OSError as error:
        return Check(name=name, status="fail", found=f"{path}: {error.strerror}", remedy=make)
    if mode & OTHERS:
        return Check(name=name, status="fail", found=f"others may read {path}",
                     remedy=f"chmod 600 {path}")
    digest = hashlib.blake2b(content, digest_size=8, person=b"lull mpi check").hexdigest()
    return Check(name=name, status="ok", found=str(path), data={"digest": digest})


def check_rail(rail: str, ranks: int, tree: Tree) -> Check:
    """Is the port there and up? What no name of the kernel stands for is seen when it opens."""
    name = f"rail {rail}"
    if DPDK.fullmatch(rail) and ranks > 1:
        return Check(name=name, status="fail",
                     found=f"{rail} belongs to one process, and {ranks} ranks run here",
                     remedy=f"run 'lull-channel-node --rail {rail}' and say --rail node:")
    port = KERNEL.fullmatch(rail)
    if port is None:
        return Check(name=name, status="ok", found="seen when it opens")
    at = f"{NET}/{port[1]}"
    flags = tree.text(f"{at}/flags")
    if flags is None:
        others = ", ".join(path.name for path in tree.glob(f"{NET}/*")) or "none"
        return Check(name=name, status="fail", found=f"there is no network port {port[1]}",
                     remedy=f"--rail with one of these: {others}")
    if not int(flags, 16) & UP:
        return Check(name=name, status="fail", found=f"{port[1]} is down",
                     remedy=f"ip link set dev {port[1]} up")
    mtu, mbps = tree.number(f"{at}/mtu") or 0, max(0, tree.number(f"{at}/speed") or 0)
    return Check(name=name, status="ok",
                 found=f"up, MTU {mtu}" + (f", {mbps} Mb/s" if mbps else ""),
                 data={"mtu": mtu, "mbps": mbps})


def check_channel(found: Probed) -> Check:
    """What a rank opens in MPI_Init, opened and closed."""
    if found.opened:
        return Check(name="channel", status="ok", found="opens")
    return Check(name="channel", status="fail", found=found.reason())


def check_cpus(ranks: int, tree: Tree) -> Check:
    """How many CPUs the ranks have, and on which machine: nodes may be parts of one."""
    cpus = len(os.sched_getaffinity(0))
    data = {"cpus": cpus, "machine": tree.text("/proc/sys/kernel/random/boot_id") or ""}
    if ranks > cpus:
        return Check(name="CPUs", status="note", found=f"{cpus} for {ranks} ranks",
                     remedy="mpirun --bind-to none, as 'lull mpi run' says", data=data)
    return Check(name="CPUs", status="ok", found=f"{cpus}" + (f" for {ranks} ranks" * (ranks > 0)),
                 data=data)


# ---- libfabric, in a process of its own ----

def probe(setting: Setting, opening: bool) -> Probed:
    """Run lull.mpi.probe with the variables of a rank."""
    environment = {name: value for name, value in os.environ.items() if not OWN.fullmatch(name)}
    environment |= setting.variables()
    environment |= {"FI_PROVIDER": "lull", "FI_LOG_LEVEL": "warn", "PYTHONPATH": str(PACKAGE_HOME)}
    environment.pop("FI_LULL_REPORT", None)
    environment.pop("FI_LOG_PROV", None)
    command = [sys.executable, "-m", "lull.mpi.probe", *["--open"] * opening]
    try:
        done = subprocess.run(command, env=environment, check=False, capture_output=True,
                              text=True, errors="replace", timeout=OPEN_S,
                              stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return Probed(version="?", error=f"nothing happens within {OPEN_S:.0f} s")
    said = tuple(match[1] for line in done.stderr.splitlines()
                 if (match := SAID.match(line)))
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            return Probed(**json.loads(line), said=said)
    words = next(reversed(done.stderr.strip().splitlines()), "")
    return Probed(error=f"asking libfabric ended with status {done.returncode}: {words}", said=said)
