# SPDX-License-Identifier: BSD-3-Clause
"""Run: mpirun with everything set, after a look at each node."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lull.doctor.check import Check
from lull.errors import LullError
from lull.mpi.check import check_names
from lull.mpi.env import KEY, PEERS, PROVIDER, RAILS, Setting
from lull.mpi.job_key import JobKey
from lull.mpi.nodes import AGENT, AGENT_ARGUMENTS, Cluster, Done, Node, is_here
from lull.program.child import die_with_parent
from lull.wrap import wrap

BINDING = "OMPI_MCA_hwloc_base_binding_policy"
ROOT = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
ONE_MACHINE = "kernel:lo"
PEERS_USUAL, PEERS_MAX = 64, 1024  # of fi/param.c
LOG = {"FI_LOG_LEVEL": "warn", "FI_LOG_PROV": PROVIDER}
NOT_EXECUTABLE = (126, 127)
AS_IT_IS = "default"  # no word about binding: Open MPI decides
SI_KERNEL = 0x80  # sent by a terminal, not by a process
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1,
             signal.SIGUSR2)


@dataclass(frozen=True)
class Job:
    """What is to run, where and how."""

    setting: Setting
    cluster: Cluster
    ranks: int
    program: tuple[str, ...]
    lull: str  # the command on the nodes
    binding: str = ""  # of --bind-to; "": as it fits
    more: tuple[str, ...] = ()  # for mpirun
    as_root: bool = False
    unchecked: bool = False


@dataclass(frozen=True)
class Report:
    """What `lull mpi check` says of a node."""

    node: Node
    ranks: int
    checks: tuple[Check, ...]

    def data(self, name: str) -> Mapping[str, object]:
        """What a check found, for comparison."""
        return next((one.data for one in self.checks if one.name == name), {})


def run(job: Job, ignored: Collection[signal.Signals]) -> int:
    """Look at the nodes and run the job; its exit status."""
    _check_here(job)
    counts = job.cluster.shared(job.ranks)
    job = _complete(job)
    with contextlib.ExitStack() as stack:
        setting = job.setting
        if setting.sealed() and KEY not in setting.lull:
            setting = setting.having(KEY, stack.enter_context(JobKey(job.cluster)).path)
        binding = job.binding
        if not job.unchecked:
            reports = ask_nodes(job, setting, counts)
            for remark in judge(reports):
                print(f"lull: {remark}", file=sys.stderr)
            binding = choose_binding(reports, binding)
        return launch(command(job, setting, counts, binding or "none"),
                      environment(job, setting), ignored)


def _complete(job: Job) -> Job:
    """Say what the user need not: rails of one machine, and room for as many peers as ranks."""
    setting = job.setting
    if not setting.rails():
        if len(job.cluster.places()) > 1:
            raise LullError("which network ports join the nodes? --rail kernel:eth0, once for each "
                            f"(or set {RAILS})", 2)
        setting = setting.having(RAILS, ONE_MACHINE)
    if PEERS not in setting.lull and job.ranks > PEERS_USUAL:
        if job.ranks > PEERS_MAX:
            raise LullError(f"-n {job.ranks}: a rank has at most {PEERS_MAX} peers", 2)
        setting = setting.having(PEERS, str(job.ranks))
    return replace(job, setting=setting)


def _check_here(job: Job) -> None:
    """What needs no other node to be seen."""
    names = check_names(os.environ)
    if names.status == "fail":
        raise LullError(sentence(names))
    if shutil.which("mpirun") is None:
        raise LullError("mpirun is not on the PATH: install the package openmpi-bin", 127)
    if os.geteuid() == 0 and not job.as_root and any(os.environ.get(one) != "1" for one in ROOT):
        raise LullError("Open MPI runs nothing as root unless told so: be another user, or say "
                        f"--allow-run-as-root (or set {ROOT[0]}=1 and {ROOT[1]}=1)")
    if any(is_here(node.name) for node in job.cluster.places()):
        wrap.resolve(job.program[0])


# ---- the nodes ----

def ask_nodes(job: Job, setting: Setting, counts: Sequence[int]) -> list[Report]:
    """What `lull mpi check` says on each node that gets a rank."""
    places = job.cluster.places()
    ours = [sys.executable, "-m", "lull"]
    words = [[*(ours if is_here(node.name) else [job.lull]), "mpi", "check", "--json",
              f"--ranks={count}", *setting.words()]
             for node, count in zip(places, counts, strict=True)]
    ends = job.cluster.run_all(words)
    return [_report(node, count, end, job.lull)
            for node, count, end in zip(places, counts, ends, strict=True)]


def _report(node: Node, count: int, end: Done | LullError, lull: str) -> Report:
    if isinstance(end, LullError):
        raise end
    start = end.out.find("{")
    try:
        checks = json.loads(end.out[max(start, 0):])["checks"]
        return Report(node, count, tuple(Check(**one) for one in checks))
    except (ValueError, KeyError, TypeError):
        pass
    if end.status in NOT_EXECUTABLE:
        raise LullError(f"node {node.name} has no {lull}: install lull there, or say with --lull "
                        "where it is")
    raise LullError(f"node {node.name}: '{lull} mpi check' ended with status {end.status}: "
                    f"{end.last_words() or 'it printed nothing'}")


def sentence(check: Check) -> str:
    """What is wrong and the way out."""
    return check.found + (f": {check.remedy}" if check.remedy else "")


def judge(reports: Sequence[Report]) -> list[str]:
    """Complain where a node lacks something; returns remarks on nodes that differ."""
    many = len(reports) > 1
    for report in reports:
        for one in report.checks:
            if one.status == "fail":
                where = f"node {report.node.name}: " if many else ""
                raise LullError(f"{where}{sentence(one)}")
    remarks = []
    first = reports[0]
    for other in reports[1:]:
        a, b = first.node.name, other.node.name
        if first.data("key").get("digest") != other.data("key").get("digest"):
            raise LullError(f"node {b} has another key than node {a}: copy the file of one to the "
                            "other")
        for one in first.checks:
            if one.name.startswith("rail "):
                remarks += _differences(one, other, a)
        ours, theirs = (one.data("Open MPI").get("version") for one in (first, other))
        if ours != theirs:
            remarks.append(f"node {b} has Open MPI {theirs}, node {a} {ours}: such jobs may not "
                           "start; install one version")
    return remarks


def _differences(rail: Check, other: Report, first: str) -> list[str]:
    theirs = other.data(rail.name)
    return [f"{rail.name} has {title} {theirs.get(key)} on node {other.node.name} and "
            f"{rail.data[key]} on node {first}: {remedy}"
            for key, title, remedy in (("mtu", "MTU", "all rails send packets for the smallest"),
                                       ("mbps", "Mb/s", "the slower one decides"))
            if key in rail.data and rail.data[key] != theirs.get(key)]


def choose_binding(reports: Sequence[Report], binding: str) -> str:
    """none where ranks share cores, else as the user says, else AS_IT_IS.

    Nodes that are parts of one machine share its cores: mpirun on each would begin with the first.
    """
    ranks: Counter[object] = Counter()
    nodes: Counter[object] = Counter()
    cpus: dict[object, int] = {}
    for report in reports:
        found = report.data("CPUs")
        machine = found.get("machine")
        ranks[machine] += report.ranks
        nodes[machine] += 1
        cpus[machine] = max(cpus.get(machine, 0), int(str(found.get("cpus", 0))))
    shares = any(ranks[one] > cpus[one] or nodes[one] > 1 for one in ranks)
    if shares and binding not in ("", "none"):
        raise LullError(f"ranks share cores here, and '--bind-to {binding}' lets each keep others "
                        "from its own: leave it out, or say --bind-to none", 2)
    return "none" if shares else binding or AS_IT_IS


# ---- mpirun ----

def command(job: Job, setting: Setting, counts: Sequence[int], binding: str) -> list[str]:
    """The command line of mpirun; values that the ranks get are in its environment alone."""
    words = ["mpirun", "-n", str(job.ranks)]
    if binding != AS_IT_IS:
        words += ["--bind-to", binding]
    if not job.cluster.told:
        words += ["--host", ",".join(f"{node.name}:{count}" for node, count in
                                     zip(job.cluster.places(), counts, strict=True) if count > 0)]
    if job.as_root:
        words.append("--allow-run-as-root")
    for name in (*setting.variables(), *LOG):
        words += ["-x", name]
    return [*words, *job.more, *job.program]


def environment(job: Job, setting: Setting) -> dict[str, str]:
    """Of mpirun, which hands what -x names to the ranks, and all OMPI_* too."""
    own = wrap.own_environment(os.environ) | setting.environment()
    own.pop(BINDING, None)
    if "FI_LOG_LEVEL" not in own:
        own |= LOG
    own.setdefault("FI_LOG_PROV", PROVIDER)
    if not job.cluster.agent.slurm:
        own[AGENT] = " ".join(job.cluster.agent.words)  # with the arguments that it had
        own.pop(AGENT_ARGUMENTS, None)
    return own


def launch(words: Sequence[str], own: Mapping[str, str],
           ignored: Collection[signal.Signals]) -> int:
    """Run mpirun; signals go on to it, and its exit status comes back."""
    watched = {*FORWARDED, signal.SIGCHLD} - set(ignored)

    def prepare() -> None:
        die_with_parent()
        wrap.give_back_signals(ignored)
        for number in FORWARDED:
            if number not in ignored:
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    sys.stdout.flush()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    try:
        path = wrap.resolve(words[0])
        child = subprocess.Popen(words, executable=path, env=own,
                                 preexec_fn=prepare)  # noqa: PLW1509 - no other thread is left
        return _wait(child, watched)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _wait(child: subprocess.Popen[bytes], watched: Collection[signal.Signals]) -> int:
    while True:
        status = child.poll()
        if status is not None:
            return 128 - status if status < 0 else status
        came = signal.sigwaitinfo(watched)
        # What a terminal sends, it sends to mpirun as well: twice would mean "at once".
        if came.si_signo != signal.SIGCHLD and came.si_code != SI_KERNEL:
            child.send_signal(came.si_signo)


def here(checkout: Path) -> str:
    """The lull command of this installation: nodes have it at the same place."""
    if (checkout / "meson.build").exists():
        return str(checkout / "lull")
    return str(checkout.parents[1] / "bin" / "lull")
