# SPDX-License-Identifier: BSD-3-Clause
"""MPI rows: Open MPI by its own ways, and over providers of libfabric."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from mpi_jobs import TREE, Conform, Job, Pingpong
from mpi_scenes import CONFORM, TRAINING
from mpi_training import Training
from peer import Peer
from scene import CHANGE, GOODPUT, LATENCY, SILENCE, SILENT, WAIT, Kind, Scene
from station import Figures, PeerError, Station, cpu

PINGPONGS = (GOODPUT, SILENCE, SILENT, CHANGE, LATENCY, WAIT)
JOBS: dict[Kind, Job] = {**dict.fromkeys(PINGPONGS, Pingpong()), CONFORM: Conform(),
                         TRAINING: Training()}  # fmt: skip
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# mpirun reaches the other node by this in place of ssh. Each node has a host name of its own.
AGENT = """#!/bin/sh
shift
exec ip netns exec {namespace} unshare -u sh -c "hostname b; $*"
"""
# What mpirun says around the reason.
CHATTER = re.compile(r"^[-=*\s]*$|mpirun (detected|noticed|was unable)|exit code:|process name:|"
                     r"primary job|non-zero|per user-direction|node:? |local host:|this process|"
                     r"reported by process|on communicator|errors_are_fatal|potentially your|"
                     r"help message|set mca parameter", re.IGNORECASE)  # fmt: skip
SPEAKER = re.compile(r"^\[[^]\s]+\] *(\*{3} *)?")  # [HOST:PID] ***
WORDS_TOLD = 40


@dataclass
class Way:
    """How mpirun is told to take a way."""

    words: list[str]  # parameters of mpirun
    environment: dict[str, str] = field(default_factory=dict)  # of all ranks
    own: dict[str, dict[str, str]] = field(default_factory=dict)  # of one node's ranks, by node


class Mpi(Peer):
    """One way of Open MPI to the other ranks."""

    packages: Sequence[str] = ("openmpi-bin", "libopenmpi-dev")
    programs: Sequence[str] = ("mpirun", "mpicc", "unshare")
    component = ""  # of Open MPI, as `ompi_info --parsable` has it

    def __init__(self, name: str, remark: str = "", does: Sequence[Kind] = PINGPONGS) -> None:
        self.name = name
        self.remark = remark
        self.does = does

    def way(self, station: Station, where: Scene, folder: Path) -> Way:
        """To the other ranks of this scene."""
        raise NotImplementedError

    def missing(self, where: Scene) -> str:
        """Programs, a component of Open MPI, what the job needs."""
        found = super().missing(where)
        if not found and self.component and self.component not in components():
            found = f"this Open MPI has no {self.component}: install one that has"
        return found or JOBS[where.what].missing()

    def measure(self, station: Station, where: Scene) -> Figures:
        """One job."""
        folder = Path(tempfile.mkdtemp(prefix="lull-bench-mpi-"))
        try:
            return self._run(station, where, folder)
        except PeerError as error:
            raise PeerError(str(error).replace(str(folder), "/tmp")) from None
        finally:
            station.tell(f"{folder}/", "./")
            station.tell(str(folder), "/tmp")
            station.tell(f"{TREE}/", "")
            station.commands = list(dict.fromkeys(station.commands))
            shutil.rmtree(folder, ignore_errors=True)

    def _run(self, station: Station, where: Scene, folder: Path) -> Figures:
        job, way = JOBS[where.what], self.way(station, where, folder)
        environment = job.environment(station, folder) | way.environment
        program = job.command(station, where, folder)
        contexts = [[*ranks, *defined(environment | way.own.get(node, {})),
                     *program]
                    for node, ranks in self._ranks(station, where, way, job)]  # fmt: skip
        words = functools.reduce(lambda one, other: [*one, ":", *other], contexts)
        command = [
            "unshare", "-u", "sh", "-c", 'hostname a; exec "$@"', "sh", "mpirun",
            "--bind-to", "none", "--leave-session-attached",
            "--mca", "plm_rsh_agent", str(self._agent(station, folder)),
            "--mca", "oob_tcp_if_include", "ctl", "--mca", "orte_tmpdir_base", str(folder),
            *way.words, *words,
        ]  # fmt: skip
        found = [self._once(station, job, command) for _ in range(job.times)]
        return {key: median([one[key] for one in found if key in one]) for key in found[0]}

    @staticmethod
    def _once(station: Station, job: Job, command: list[str]) -> Figures:
        begin_s = time.monotonic()
        run = station.start("a", *command, environment=ROOT)
        try:
            ended = station.finish(run, watched=job.times == 1)
        except PeerError as error:
            raise PeerError(plain(str(error), station.said)) from None
        return {**job.figures(ended.out, time.monotonic() - begin_s), **cpu(ended)}

    @staticmethod
    def _agent(station: Station, folder: Path) -> Path:
        agent = folder / "agent"
        agent.write_text(AGENT.format(namespace=station.bed.namespace("b")), encoding="ascii")
        agent.chmod(0o755)
        return agent

    @staticmethod
    def _ranks(station: Station, where: Scene, way: Way,
               job: Job) -> list[tuple[str, list[str]]]:  # fmt: skip
        """Where ranks are: node, and words of mpirun; more than one where nodes differ."""
        if where.nodes == 1:
            return [("a", ["--oversubscribe", "-np", str(job.ranks)])]
        hosts = {node: f"{station.bed.control_address(node)}:1" for node in "ab"}
        if not way.own:
            return [("a", ["-np", str(job.ranks), "--host", ",".join(hosts.values())])]
        return [(node, ["-np", "1", "--host", host]) for node, host in hosts.items()]


def defined(environment: dict[str, str]) -> list[str]:
    """As mpirun takes variables."""
    return [word for key, value in environment.items() for word in ("-x", f"{key}={value}")]


@functools.cache
def components() -> frozenset[str]:
    """Of the Open MPI that is here, such as 'pml ucx'."""
    done = subprocess.run(["ompi_info", "--parsable"], capture_output=True, text=True, check=False)
    rows = [line.split(":") for line in done.stdout.splitlines() if line.startswith("mca:")]
    return frozenset(f"{row[1]} {row[2]}" for row in rows if len(row) > 2)


def plain(error: str, said: str) -> str:
    """The reason, without what mpirun says with every reason."""
    lines = [SPEAKER.sub("", line).strip() for line in said.splitlines()
             if not CHATTER.search(line)]  # fmt: skip
    words = " ".join(lines).split()
    return f"mpirun: {' '.join(words[:WORDS_TOLD])}" if words else error


def rails_of(where: Scene) -> list[str]:
    """Devices that ranks reach each other by."""
    return ["lo"] if where.nodes == 1 else [f"r{i}" for i in range(len(where.rail_list()))]


class Vader(Mpi):
    """Open MPI's own shared memory."""

    def __init__(self, does: Sequence[Kind] = PINGPONGS) -> None:
        super().__init__("Open MPI ob1+vader", "shared memory", does)

    def takes(self, where: Scene) -> bool:
        """One node's."""
        return where.nodes == 1 and where.what in self.does

    def way(self, station: Station, where: Scene, folder: Path) -> Way:
        """Its files go with the folder."""
        return Way(["--mca", "pml", "ob1", "--mca", "btl", "self,vader",
                    "--mca", "btl_vader_backing_directory", str(folder)])  # fmt: skip


class BtlTcp(Mpi):
    """Open MPI's own TCP, over all rails."""

    def __init__(self, does: Sequence[Kind] = PINGPONGS) -> None:
        super().__init__("Open MPI btl/tcp", does=does)

    def way(self, station: Station, where: Scene, folder: Path) -> Way:
        """Each rail by its name."""
        return Way(["--mca", "pml", "ob1", "--mca", "btl", "self,tcp",
                    "--mca", "btl_tcp_if_include", ",".join(rails_of(where))])  # fmt: skip


class PmlUcx(Mpi):
    """Open MPI over UCX over TCP."""

    component = "pml ucx"

    def __init__(self, does: Sequence[Kind] = PINGPONGS) -> None:
        super().__init__("Open MPI pml/ucx tcp", does=does)

    def way(self, station: Station, where: Scene, folder: Path) -> Way:
        """Each rail by its name; of a device that it does not know Open MPI is to take it too."""
        return Way(["--mca", "pml", "ucx", "--mca", "osc", "^ucx",
                    "--mca", "opal_common_ucx_tls", "any", "--mca", "opal_common_ucx_devices",
                    "any"],
                   {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": ",".join(rails_of(where)),
                    "UCX_MAX_RNDV_RAILS": "4", "UCX_WARN_UNUSED_ENV_VARS": "n"})  # fmt: skip


class MtlOfi(Mpi):
    """Open MPI over a provider of libfabric, which takes one device."""

    packages: Sequence[str] = ("openmpi-bin", "libopenmpi-dev", "libfabric-bin")

    def __init__(self, provider: str, does: Sequence[Kind] = PINGPONGS) -> None:
        super().__init__(f"Open MPI mtl/ofi {provider}", "one rail", does)
        self.provider = provider

    def way(self, station: Station, where: Scene, folder: Path) -> Way:
        """The first rail."""
        device = "FI_TCP_IFACE" if self.provider.startswith("tcp") else "FI_UDP_IFACE"
        return Way(mtl_ofi(self.provider), {device: rails_of(where)[0]})


def mtl_ofi(provider: str) -> list[str]:
    """Words of mpirun."""
    return ["--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include",
            provider]  # fmt: skip
