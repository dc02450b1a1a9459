# SPDX-License-Identifier: BSD-3-Clause
"""examples/mpi/job.sbatch under Debian's Slurm: two nodes of the bed, with a slurmd each.

slurm.py BUILD-FOLDER
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

TREE = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TREE / "tests" / "netns"), str(TREE / "python")]

from lull.channel.bed import Bed  # noqa: E402 - of this checkout
from lull.channel.bed_plan import Plan, rails  # noqa: E402
from rights import skip, take  # noqa: E402
from verdict import check, wait_for  # noqa: E402

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scontrol", "mpirun")
JOB_S = 180.0
KEYS = Path("/dev/shm")
CONF = """ClusterName=bed
SlurmctldHost=a({control})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
ReturnToService=2
MpiDefault=none
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""


class Slurm:
    """Daemons in the nodes of a bed, that end with a `with` block."""

    def __init__(self, bed: Bed, folder: Path, stack: ExitStack) -> None:
        self.bed, self.folder, self.stack = bed, folder, stack
        self.own = {name: value for name, value in os.environ.items()
                    if not name.startswith(("FI_", "OMPI_", "SLURM_"))}
        self.own |= {"SLURM_CONF": str(folder / "slurm.conf"), "OMPI_ALLOW_RUN_AS_ROOT": "1",
                     "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # fmt: skip
        self.own["PATH"] += ":/usr/sbin:/sbin"

    def inside(self, node: str, *words: str) -> list[str]:
        """A command in a node, whose host name is that of the node."""
        return self.bed.command(node, "unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"',
                                node, *words)

    def write(self) -> None:
        cpus = os.cpu_count() or 1
        nodes = "\n".join(
            f"NodeName={node} NodeAddr={self.bed.control_address(node)} CPUs={cpus} State=UNKNOWN"
            for node in self.bed.nodes())
        (self.folder / "slurm.conf").write_text(CONF.format(
            folder=self.folder, control=self.bed.control_address("a"), nodes=nodes))
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nConstrainCores=no\n")
        (self.folder / "state").mkdir()
        key = self.folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(secrets.token_bytes(128))

    def start(self, node: str, *words: str) -> None:
        self.stack.enter_context(daemon(self.inside(node, *words), self.own,
                                        self.folder / f"{words[0]}-{node}.out"))  # fmt: skip

    def call(self, *words: str) -> str:
        done = subprocess.run(self.inside("a", *words), env=self.own, cwd=TREE, text=True,
                              capture_output=True, check=False, timeout=60)
        check(done.returncode == 0, " ".join(words), done.stderr + self.logs())
        return done.stdout

    def logs(self) -> str:
        return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-2000:]}"
                         for path in sorted(self.folder.glob("*.log")))


@contextmanager
def daemon(words: list[str], own: dict[str, str], log: Path) -> Iterator[None]:
    """A program that runs meanwhile."""
    with log.open("w") as out, subprocess.Popen(
            words, env=own, stdin=subprocess.DEVNULL, stdout=out, stderr=out) as process:
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def run(build: Path, folder: Path, stack: ExitStack) -> None:
    bed = stack.enter_context(
        Bed.lay(Plan(id="slurm", nodes=2, rails=rails("full,full"), control=True)))
    slurm = Slurm(bed, folder, stack)
    slurm.write()
    slurm.start("a", "munged", "--foreground", "--force", f"--socket={folder}/munge.socket",
                f"--key-file={folder}/munge.key", f"--pid-file={folder}/munge.pid",
                f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed")  # fmt: skip
    wait_for("munge", (folder / "munge.socket").exists)
    slurm.start("a", "slurmctld", "-D", "-i")
    for node in bed.nodes():
        (folder / f"spool-{node}").mkdir()
        slurm.start(node, "slurmd", "-D", "-N", node)
    wait_for("both nodes are idle",
             lambda: slurm.call("sinfo", "-h", "-o", "%D %t").strip() == "2 idle")  # fmt: skip
    before = set(KEYS.glob("lull-mpi-*"))
    ended = submit(slurm, build, "kernel:r0 kernel:r1")
    check("COMPLETED 0:0" in ended, "the job ends well", ended + slurm.logs())
    check("20 steps of 2 ranks, 64 MiB" in ended and "sums right" in ended, "its figures", ended)
    sent = {(one.rail, one.node): one.seen_pkts for one in bed.look()}
    check(all(sent[rail, "b"] > 1000 for rail in (0, 1)), "both rails carried it", sent)
    check(set(KEYS.glob("lull-mpi-*")) == before, "no key is left")
    ended = submit(slurm, build, "kernel:r0 kernel:r7")
    check("FAILED 1:0" in ended and "lull: node a: there is no network port r7" in ended,
          "a job that lacks a port", ended)  # fmt: skip


def submit(slurm: Slurm, build: Path, ports: str) -> str:
    """Its state, exit status and what it printed."""
    out = slurm.folder / "job.out"
    out.unlink(missing_ok=True)
    said = slurm.call("sbatch", f"--output={out}",
                      f"--export=ALL,LULL={TREE}/lull,LULL_BUILD={build},FI_LULL_RAILS={ports},"
                      "OMPI_MCA_oob_tcp_if_include=ctl",
                      "examples/mpi/job.sbatch", "--period=0.2")  # fmt: skip
    number = re.search(r"Submitted batch job (\d+)", said)
    check(number is not None, "submitted", said)
    assert number is not None
    end, job = time.monotonic() + JOB_S, ""
    while time.monotonic() < end:
        job = slurm.call("scontrol", "show", "job", number[1])
        if not re.search(r"JobState=(PENDING|CONFIGURING|RUNNING|COMPLETING)", job):
            break
        time.sleep(0.2)
    state, status = re.search(r"JobState=(\w+)", job), re.search(r"ExitCode=(\S+)", job)
    assert state is not None
    assert status is not None
    return f"{state[1]} {status[1]}\n{out.read_text() if out.exists() else job}"


def main(build: str) -> None:
    found = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    missing = [name for name in PROGRAMS if shutil.which(name, path=found) is None]
    if missing:
        skip(f"needs {', '.join(missing)} (slurmctld, slurmd, slurm-client, munge)")
    take("root")
    with tempfile.TemporaryDirectory(prefix="lull-mpi-") as folder, ExitStack() as stack:
        run(Path(build).resolve(), Path(folder), stack)


if __name__ == "__main__":
    main(*sys.argv[1:])
