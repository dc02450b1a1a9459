# SPDX-License-Identifier: BSD-3-Clause
"""MPI rows: Open MPI over its TCP, and over providers of libfabric; our program in both nodes."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import scene
from station import Figures, PeerError, Station, cpu

SOURCE = Path(__file__).with_name("pingpong.c")
JOBS = {scene.GOODPUT: "bandwidth", scene.SILENCE: "bandwidth", scene.CHANGE: "bandwidth",
        scene.LATENCY: "latency", scene.WAIT: "wait"}  # fmt: skip
CURVE = "PINGPONG_CURVE"  # pingpong writes to this file how many bytes came so far
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# mpirun reaches the other node by this in place of ssh. Each node has a host name of its own.
AGENT = """#!/bin/sh
shift
exec ip netns exec {namespace} unshare -u sh -c "hostname b; $*"
"""


class Mpi:
    """One way of Open MPI to the other node."""

    packages: Sequence[str] = ("openmpi-bin", "libopenmpi-dev")
    programs: Sequence[str] = ("mpirun", "mpicc", "unshare")
    does: Sequence[str] = tuple(JOBS)

    def __init__(self, name: str, remark: str = "") -> None:
        self.name = name
        self.remark = remark

    def ways(self, rails: int) -> tuple[list[str], dict[str, str]]:
        """Parameters of mpirun, and what stands in the environment of both nodes."""
        raise NotImplementedError

    def measure(self, station: Station, where: scene.Scene) -> Figures:
        """One run of pingpong."""
        folder = Path(tempfile.mkdtemp(prefix="lull-bench-mpi-"))
        try:
            return self._run(station, where, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _run(self, station: Station, where: scene.Scene, folder: Path) -> Figures:
        program, agent = compiled(folder), folder / "agent"
        agent.write_text(AGENT.format(namespace=station.bed.namespace("b")), encoding="ascii")
        agent.chmod(0o755)
        words, environment = self.ways(len(where.rail_list()))
        curve = folder / "curve"
        environment[CURVE] = str(curve)
        station.received = lambda: int(curve.read_text(encoding="ascii").split()[-1])
        hosts = ",".join(f"{station.bed.control_address(node)}:1" for node in ("a", "b"))
        for key, value in environment.items():
            words += ["-x", f"{key}={value}"]
        run = station.start(
            "a", "unshare", "-u", "sh", "-c", 'hostname a; exec "$@"', "sh", "mpirun", "-np", "2",
            "--bind-to", "none", "--host", hosts, "--leave-session-attached",
            "--mca", "plm_rsh_agent", str(agent), "--mca", "oob_tcp_if_include", "ctl",
            "--mca", "orte_tmpdir_base", str(folder), *words, str(program), JOBS[where.what],
            f"{station.seconds:g}", str(where.bytes), environment=ROOT,
        )  # fmt: skip
        station.tell(f"{folder}/", "./")
        station.tell(str(folder), "/tmp")
        ended = station.finish(run)
        lines = [line for line in ended.out.splitlines() if line.startswith("{")]
        if not lines:
            raise PeerError(f"mpirun: no result, but: {' '.join(ended.out.split()[-20:])}")
        return {**json.loads(lines[-1]), **cpu(ended)}


class BtlTcp(Mpi):
    """Open MPI's own TCP, over all rails."""

    def __init__(self) -> None:
        super().__init__("Open MPI btl/tcp")

    def ways(self, rails: int) -> tuple[list[str], dict[str, str]]:
        """Each rail by its name."""
        devices = ",".join(f"r{rail}" for rail in range(rails))
        return ["--mca", "pml", "ob1", "--mca", "btl", "self,tcp",
                "--mca", "btl_tcp_if_include", devices], {}  # fmt: skip


class MtlOfi(Mpi):
    """Open MPI over a provider of libfabric, which takes one device."""

    packages: Sequence[str] = ("openmpi-bin", "libopenmpi-dev", "libfabric-bin")

    def __init__(self, provider: str) -> None:
        super().__init__(f"Open MPI mtl/ofi {provider}", "one rail")
        self.provider = provider

    def ways(self, rails: int) -> tuple[list[str], dict[str, str]]:
        """The first rail."""
        device = "FI_TCP_IFACE" if self.provider.startswith("tcp") else "FI_UDP_IFACE"
        return ["--mca", "pml", "cm", "--mca", "mtl", "ofi",
                "--mca", "mtl_ofi_provider_include", self.provider], {device: "r0"}  # fmt: skip


def compiled(folder: Path) -> Path:
    """Our program, by the compiler of the MPI that is here."""
    program = folder / "pingpong"
    done = subprocess.run(["mpicc", "-O2", "-o", str(program), str(SOURCE)], capture_output=True,
                          text=True, check=False)  # fmt: skip
    if done.returncode != 0:
        raise PeerError(f"mpicc: {' '.join(done.stderr.split()[:20])}")
    return program
