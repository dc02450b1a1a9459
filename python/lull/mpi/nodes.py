# SPDX-License-Identifier: BSD-3-Clause
"""Nodes: the machines that ranks run on, and how a command gets there."""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from lull.errors import LullError

ANSWER_S = 120.0
AT_A_TIME = 32
NODE = re.compile(r"([A-Za-z0-9_][A-Za-z0-9_.-]*)(?::([1-9][0-9]{0,4}))?")
SLOTS = re.compile(r"\bslots\s*=\s*([1-9][0-9]{0,4})\b")
HOSTFILE = "OMPI_MCA_orte_default_hostfile"
AGENT, AGENT_ARGUMENTS = "OMPI_MCA_plm_rsh_agent", "OMPI_MCA_plm_rsh_args"
SSH = "ssh"
SRUN = ("srun", "--nodes=1", "--ntasks=1", "--overlap", "--quiet")
UNREACHED = 255  # ssh's exit status where it does not get there


@dataclass(frozen=True)
class Node:
    """A machine, and how many ranks it takes; 0: nobody said."""

    name: str
    slots: int = 0


@dataclass(frozen=True)
class Agent:
    """What carries a command to a node: `AGENT NODE COMMAND`, as Open MPI calls it."""

    words: tuple[str, ...]
    slurm: bool = False

    def command(self, node: str, words: Sequence[str]) -> list[str]:
        """The words that run others on a node."""
        if self.slurm:
            return [*self.words, f"--nodelist={node}", *words]
        return [*self.words, node, shlex.join(words)]


@dataclass(frozen=True)
class Done:
    """How a command on a node ended."""

    status: int
    out: str
    err: str

    def last_words(self) -> str:
        """What it complained about in the end."""
        return next((line.strip() for line in reversed(self.err.splitlines()) if line.strip()), "")


@dataclass(frozen=True)
class Cluster:
    """Nodes of a job, and the way to them."""

    nodes: tuple[Node, ...]  # none: this machine
    agent: Agent
    told: bool = False  # mpirun knows the nodes itself

    def start(self, node: Node, words: Sequence[str]) -> subprocess.Popen[str]:
        """Start a command on a node."""
        command = list(words) if is_here(node.name) else self.agent.command(node.name, words)
        try:
            return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True, errors="replace",
                                    process_group=0)  # with all that an agent starts
        except OSError as error:
            raise LullError(f"{command[0]}: {error.strerror}: name what reaches the nodes with "
                            "--agent") from None

    def finish(self, node: Node, process: subprocess.Popen[str], given: str) -> Done:
        """Its end, with @p given on its standard input."""
        by_hand = shlex.join(self.agent.command(node.name, ["true"]))
        try:
            out, err = process.communicate(given, timeout=ANSWER_S)
        except subprocess.TimeoutExpired:
            _end(process)
            process.communicate()
            raise LullError(f"node {node.name} does not answer within {ANSWER_S:.0f} s: "
                            f"try '{by_hand}'") from None
        done = Done(process.returncode, out, err)
        if done.status == UNREACHED and not is_here(node.name):
            raise LullError(f"node {node.name} cannot be reached: "
                            f"{done.last_words() or 'no reason told'}; '{by_hand}' has to work "
                            "without a password")
        return done

    def run_all(self, words: Sequence[Sequence[str]], given: str = "") -> list[Done | LullError]:
        """A command on each node, all at a time; they end with us."""
        processes: list[subprocess.Popen[str]] = []

        def one(at: int) -> Done | LullError:
            try:
                process = self.start(self.places()[at], words[at])
                processes.append(process)
                return self.finish(self.places()[at], process, given)
            except LullError as error:
                return error

        with ThreadPoolExecutor(min(AT_A_TIME, len(words))) as pool:
            futures = [pool.submit(one, at) for at in range(len(words))]
            try:
                return [future.result() for future in futures]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for process in processes:
                    _end(process)
                raise

    def places(self) -> tuple[Node, ...]:
        """Nodes, or the one machine there is."""
        return self.nodes or (Node("localhost"),)

    def shared(self, ranks: int) -> list[int]:
        """How many ranks each node gets, in the order in which mpirun fills them."""
        places, counts, left = self.places(), [], ranks
        even = -(-ranks // len(places))
        for node in places:
            counts.append(min(left, node.slots or even))
            left -= counts[-1]
        if left > 0:
            raise LullError(f"{ranks} ranks do not fit: the nodes have "
                            f"{sum(counts)} places; say more with --nodes NODE:COUNT", 2)
        return counts


def _end(process: subprocess.Popen[str]) -> None:
    """Whatever an agent has started keeps our pipes open: all of it ends."""
    if process.returncode is None:  # else its number may be another's
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@functools.cache
def is_here(name: str) -> bool:
    """Is it this machine? Its name, or an address that a socket of ours can have."""
    own = socket.gethostname()
    if name in ("localhost", own, own.split(".")[0]):
        return True
    try:
        found = socket.getaddrinfo(name, 0, type=socket.SOCK_DGRAM)
    except OSError:  # a name that only the agent knows
        return False
    for family, kind, protocol, _, address in found:
        with socket.socket(family, kind, protocol) as one:
            try:
                one.bind(address)
            except OSError:
                continue
            return True
    return False


# ---- where the names come from ----

def cluster(names: str | None, agent: str | None, environment: Mapping[str, str]) -> Cluster:
    """As the options say, else as Slurm or the hostfile of Open MPI has it, else this machine."""
    slurm = "SLURM_JOB_ID" in environment
    if names is not None:
        nodes = parse(names)
    elif slurm:
        nodes = slurm_nodes(environment)
    elif environment.get(HOSTFILE):
        nodes = hostfile(Path(environment[HOSTFILE]))
    else:
        nodes = ()
    told = bool(nodes) and names is None
    if slurm and agent is None and AGENT not in environment:
        return Cluster(nodes, Agent(SRUN, slurm=True), told)
    words = shlex.split(agent or environment.get(AGENT) or SSH)
    words += shlex.split(environment.get(AGENT_ARGUMENTS, ""))
    return Cluster(nodes, Agent(tuple(words)), told)


def parse(text: str) -> tuple[Node, ...]:
    """NODE[:COUNT],..."""
    nodes = []
    for word in text.split(","):
        found = NODE.fullmatch(word.strip())
        if found is None:
            raise LullError(f"--nodes '{text}': names or addresses of nodes, parted by commas, "
                            "each with :COUNT where it takes so many ranks", 2)
        nodes.append(Node(found[1], int(found[2] or 0)))
    return _once(nodes, "--nodes")


def hostfile(path: Path) -> tuple[Node, ...]:
    """A hostfile of Open MPI: lines NODE [slots=COUNT]."""
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise LullError(f"{HOSTFILE}={path}: {error.strerror}") from None
    nodes = []
    for line in lines:
        words = line.partition("#")[0].split()
        if words:
            slots = SLOTS.search(line)
            nodes.append(Node(words[0], int(slots[1]) if slots else 0))
    if not nodes:
        raise LullError(f"{HOSTFILE}={path} names no node")
    return _once(nodes, str(path))


def slurm_nodes(environment: Mapping[str, str]) -> tuple[Node, ...]:
    """The nodes of the allocation that we run in, with the tasks that each has."""
    names = environment.get("SLURM_JOB_NODELIST", "")
    if shutil.which("scontrol") is None:
        raise LullError("scontrol of Slurm is not on the PATH: it tells which nodes the job has; "
                        "name them with --nodes")
    done = subprocess.run(["scontrol", "show", "hostnames", names], check=False,
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    hosts = done.stdout.split()
    if done.returncode != 0 or not hosts:
        raise LullError(f"scontrol does not tell the nodes of the job: {done.stderr.strip()}")
    tasks = tasks_of(environment.get("SLURM_TASKS_PER_NODE", ""))
    if len(tasks) != len(hosts):
        tasks = [0] * len(hosts)
    return tuple(Node(host, count) for host, count in zip(hosts, tasks, strict=True))


def tasks_of(text: str) -> list[int]:
    """`2(x3),1` of Slurm as numbers."""
    counts: list[int] = []
    for word in text.split(","):
        found = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", word)
        if found is None:
            return []
        counts += [int(found[1])] * int(found[2] or 1)
    return counts


def _once(nodes: list[Node], where: str) -> tuple[Node, ...]:
    names = [node.name for node in nodes]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise LullError(f"{where}: {twice} is there twice; say {twice}:COUNT", 2)
    return tuple(nodes)

