# SPDX-License-Identifier: BSD-3-Clause
"""Where MPI programs run in tests: the ranks of this machine, or those of two nodes of a test bed.

A cluster has the words that start ranks and the environment that gives them the provider. Whatever
it starts goes away with it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python"))

from lull.channel.bed import Bed  # noqa: E402 - of this checkout
from lull.channel.bed_plan import Plan, rails  # noqa: E402
from verdict import check, wait_for  # noqa: E402

LIMIT_S = 600  # for one program; it takes seconds where nobody else wants the CPUs
FLAP_S = 2.0
SECURITY = {"FI_LULL_SECURITY": "open", "FI_LOG_LEVEL": "warn"}  # it says why it fails
MPI = {"OMPI_MCA_pml": "cm", "OMPI_MCA_mtl": "ofi", "OMPI_MCA_mtl_ofi_provider_include": "lull",
       "OMPI_MCA_osc": "pt2pt",
       "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # fmt: skip
# What mpirun calls instead of ssh: the node of an address, with a host name of its own.
AGENT = """#!/bin/sh
case $1 in
{cases}
*) echo "no node $1" >&2; exit 1;;
esac
shift
export RUNTIME_DIRECTORY="{folder}/run-$node"
exec ip netns exec "{prefix}$node" unshare -u sh -c "hostname $node; $*"
"""


@dataclass(frozen=True)
class Ended:
    """A program that ended, or was ended: then its status is negative."""

    status: int
    said: str


def environment(provider: str, **settings: str) -> dict[str, str]:
    """What programs get; nothing of libfabric or Open MPI that happens to be set."""
    inherited = {name: value for name, value in os.environ.items()
                 if not name.startswith(("FI_", "OMPI_", "PMIX_"))}  # fmt: skip
    return inherited | {"FI_PROVIDER_PATH": provider} | settings


def run(words: list[str], env: dict[str, str], folder: Path, limit_s: float = LIMIT_S) -> Ended:
    """A program and all that it starts; its output is one text."""
    with tempfile.TemporaryFile(dir=folder) as out:
        process = subprocess.Popen(words, env=env, cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=out, stderr=out, start_new_session=True)  # fmt: skip
        try:
            status = process.wait(limit_s)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGTERM)  # mpirun ends its ranks
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            status = -signal.SIGTERM
        out.seek(0)
        said = out.read().decode(errors="replace")
    return Ended(status, said if status >= 0 else f"{said}\nended after {limit_s:.0f} s")


class Cluster:
    """Ranks of this machine. Programs may use its folder."""

    name = "one node, kernel"
    ranks = 4  # at most

    def __init__(self, provider: str) -> None:
        self.provider = str(Path(provider).resolve())
        self.folder = Path(tempfile.mkdtemp(prefix="lull-mpi-"))
        self.rails = "kernel:lo"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:  # fmt: skip
        self.close()

    def close(self) -> None:
        # Open MPI may still be at work on its own folders.
        subprocess.run(["rm", "-rf", str(self.folder)], check=False)

    def settings(self) -> dict[str, str]:
        return SECURITY | {"FI_LULL_RAILS": self.rails}

    def mpirun(self, ranks: int) -> list[str]:
        """What stands before a program."""
        return ["mpirun", "--bind-to", "none", "--oversubscribe", "-n", str(ranks)]

    def run(self, ranks: int, *program: str, folder: Path | None = None) -> Ended:
        env = environment(self.provider, **self.settings(), **MPI, TMPDIR=str(self.folder))
        return run([*self.mpirun(ranks), *program], env, folder or self.folder)

    def meanwhile(self) -> str:
        """Check that what makes this cluster special took place."""
        return ""


class Attached(Cluster):
    """Ranks of this machine that share the rails of lull-channel-node."""

    name = "one node, node"

    def __init__(self, provider: str, node: str) -> None:
        super().__init__(provider)
        self.rails = "node:"
        self.runtime = self.folder / "run"
        self.program = Node(node, ["kernel:lo"], self.runtime, [])

    def settings(self) -> dict[str, str]:
        return super().settings() | {"RUNTIME_DIRECTORY": str(self.runtime)}

    def close(self) -> None:
        self.program.close()
        super().close()


class Node:
    """lull-channel-node, from when processes can attach."""

    def __init__(self, program: str, rail_words: list[str], runtime: Path,
                 before: list[str]) -> None:  # fmt: skip
        runtime.mkdir(exist_ok=True)
        self.log = runtime / "log"
        socket = runtime / f"lull-channel-{os.geteuid()}" / "node"
        options = [part for word in rail_words for part in ("--rail", word)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*before, str(Path(program).resolve()), "--stats", "0", *options],
                env=dict(os.environ, RUNTIME_DIRECTORY=str(runtime)),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)  # fmt: skip
        wait_for("lull-channel-node listens", lambda: socket.exists() or self.ended())
        check(not self.ended(), "lull-channel-node runs", self.log.read_text(errors="replace"))

    def ended(self) -> bool:
        return self.process.poll() is not None

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()


# ---- two nodes ----


@dataclass(frozen=True)
class Weather:
    """What the rails between two nodes are like."""

    name: str
    rails: str  # as `lull channel bed --rails` has them
    flaps: bool = False  # the second is silent every other FLAP_S


@dataclass
class Flapping:
    """A rail that falls silent and comes back until it is told to stop."""

    bed: Bed
    rail: int
    over: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self.turn)
        self.thread.start()

    def turn(self) -> None:
        silent = True
        while not self.over.is_set():
            self.bed.set(self.rail, ["silent" if silent else "heard"])
            silent = not silent
            self.over.wait(FLAP_S)

    def close(self) -> None:
        self.over.set()
        self.thread.join()


class Nodes(Cluster):
    """Two nodes; mpirun runs on the first. Kinds of rails: kernel, dpdk, node."""

    def __init__(self, provider: str, kind: str, weather: Weather, node: str) -> None:
        super().__init__(provider)
        self.name = f"two nodes, {kind}, {weather.name}"
        self.weather, self.kind = weather, kind
        self.ranks = 4 if kind == "node" else 2  # of a dpdk: port one process is the owner
        self.count = len(rails(weather.rails))
        self.programs: list[Node] = []
        self.flapping: Flapping | None = None
        try:
            self.bed = Bed.lay(Plan(id="mpi", rails=rails(weather.rails), control=True))
        except BaseException:
            super().close()
            raise
        try:
            self.furnish(node)
        except BaseException:
            self.close()
            raise

    def furnish(self, node: str) -> None:
        device = "kernel:r{}" if self.kind == "kernel" else "dpdk:af_packet=r{}"
        words = [device.format(rail) for rail in range(self.count)]
        self.rails = " ".join(words)
        for name in "ab":
            (self.folder / f"run-{name}").mkdir()
        if self.kind == "node":
            self.rails = "node:"  # below RUNTIME_DIRECTORY, of which each node has its own
            for name in "ab":
                self.programs.append(Node(node, words, self.folder / f"run-{name}",
                                          self.bed.command(name)))  # fmt: skip
        cases = [f"{self.bed.control_address(name)}) node={name};;" for name in "ab"]
        self.agent = self.folder / "agent"
        self.agent.write_text(AGENT.format(cases="\n".join(cases), folder=self.folder,
                                           prefix=self.bed.namespace("")))  # fmt: skip
        self.agent.chmod(0o755)
        if self.weather.flaps:
            self.flapping = Flapping(self.bed, 1)

    def settings(self) -> dict[str, str]:
        return super().settings() | {"RUNTIME_DIRECTORY": str(self.folder / "run-a")}

    def close(self) -> None:
        if self.flapping is not None:
            self.flapping.close()
        for program in self.programs:
            program.close()
        self.bed.remove()
        super().close()

    def mpirun(self, ranks: int) -> list[str]:
        hosts = ",".join(f"{self.bed.control_address(name)}:{max(ranks // 2, 1)}" for name in "ab")
        named = self.bed.command("a", "unshare", "-u", "sh", "-c", 'hostname a; exec "$@"', "sh")
        passed = [part for name in ("FI_PROVIDER_PATH", "FI_LULL_RAILS", *SECURITY)
                  for part in ("-x", name)]  # fmt: skip
        return [*named, "mpirun", "--bind-to", "none", "-n", str(ranks), "--host", hosts,
                "--mca", "plm_rsh_agent", str(self.agent), "--mca", "oob_tcp_if_include", "ctl",
                *passed]  # fmt: skip

    def meanwhile(self) -> str:
        ports: list[Any] = self.bed.look()
        for one in ports:
            check(one.seen_pkts > 0, "each rail was used", one)
            if one.port.loss:
                check(one.lost_pkts > 0, "packets were lost", one)
        if self.weather.flaps:
            check(any(one.silenced_pkts > 0 for one in ports), "a rail was silent", ports)
        return " ".join(f"{one.node}.r{one.rail} {one.seen_pkts}/{one.lost_pkts}/"
                        f"{one.silenced_pkts}" for one in ports)  # fmt: skip

