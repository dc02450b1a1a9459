# SPDX-License-Identifier: BSD-3-Clause
"""examples/mpi: the fields of mpijob.yaml are those of the MPI operator, and job.sbatch calls lull.

examples.py [BUILD-FOLDER]: where LULL_LONG is set and the build has the provider, job.sbatch also
runs under Slurm itself: slurm.py. The schema is of the
fields that the file uses, from the operator's types of v2beta1 and those of Kubernetes below them.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

TREE = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TREE / "tests" / "netns")]

from rights import skip  # noqa: E402
from verdict import Failure, check  # noqa: E402

EXAMPLES = TREE / "examples/mpi"
Schema = Callable[[str, Any], None]


# ---- schemas: each complains of a value at a place ----

def wrong(at: str, value: object, wanted: str) -> None:
    raise Failure(f"{at}: {value!r} is not {wanted}")


def text(pattern: str) -> Schema:
    def judge(at: str, value: Any) -> None:
        if not (isinstance(value, str) and re.fullmatch(pattern, value)):
            wrong(at, value, f"a text like {pattern}")

    return judge


def one_of(*words: str) -> Schema:
    return text("|".join(words))


def number(low: int) -> Schema:
    def judge(at: str, value: Any) -> None:
        if type(value) is not int or value < low:
            wrong(at, value, f"a number of {low} or more")

    return judge


def each(inner: Schema) -> Schema:
    def judge(at: str, value: Any) -> None:
        if not isinstance(value, list) or not value:
            wrong(at, value, "a list")
        for index, one in enumerate(value):
            inner(f"{at}[{index}]", one)

    return judge


def mapping(inner: Schema) -> Schema:
    def judge(at: str, value: Any) -> None:
        if not isinstance(value, dict):
            wrong(at, value, "a mapping")
        for key, one in value.items():
            inner(f"{at}.{key}", one)

    return judge


def fields(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """These members, and no other: a slip in a name would be ignored, or refused."""
    known = required | (optional or {})

    def judge(at: str, value: Any) -> None:
        if not isinstance(value, dict):
            wrong(at, value, "a mapping")
        for name in required.keys() - value.keys():
            raise Failure(f"{at}: {name} is missing")
        for name, one in value.items():
            if name not in known:
                raise Failure(f"{at}: there is no {name}")
            known[name](f"{at}.{name}", one)

    return judge


NAME = text(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
QUANTITY = text(r"[0-9]+(\.[0-9]+)?(m|k|M|G|Ki|Mi|Gi)?")
ANYTHING = text(r"[^\n]+")
CONTAINER = fields(
    {"name": NAME, "image": ANYTHING},
    {"command": each(ANYTHING), "args": each(ANYTHING),
     "securityContext": fields({}, {"runAsUser": number(0)}),
     "resources": fields({}, {"limits": mapping(QUANTITY), "requests": mapping(QUANTITY)})},
)  # fmt: skip
POD = fields({"spec": fields({"containers": each(CONTAINER)})},
             {"metadata": fields({}, {"annotations": mapping(ANYTHING)})})
REPLICAS = fields({"template": POD},
                  {"replicas": number(1), "restartPolicy": one_of("Never", "OnFailure")})
JOB = fields({
    "apiVersion": text(r"kubeflow\.org/v2beta1"),
    "kind": text("MPIJob"),
    "metadata": fields({"name": NAME}, {"namespace": NAME}),
    "spec": fields(
        {"mpiReplicaSpecs": fields({"Launcher": REPLICAS, "Worker": REPLICAS})},
        {"slotsPerWorker": number(1),
         "runPolicy": fields({}, {"cleanPodPolicy": one_of("None", "Running", "All"),
                                  "backoffLimit": number(0),
                                  "ttlSecondsAfterFinished": number(0)}),
         "sshAuthMountPath": text("/.+"),
         "launcherCreationPolicy": one_of("AtStartup", "WaitForWorkersReady"),
         "mpiImplementation": one_of("OpenMPI", "Intel", "MPICH")}),
})  # fmt: skip


# ---- the files ----

def refuses(job: dict[str, Any], change: Callable[[dict[str, Any]], None], pattern: str) -> None:
    """The schema is one: a changed job is wrong."""
    other = json.loads(json.dumps(job))
    change(other)
    try:
        JOB("job", other)
    except Failure as failure:
        check(re.search(pattern, str(failure)), f"'{pattern}' is why", failure)
        return
    raise Failure(f"the schema takes a job with {pattern}")


def mpijob(load: Callable[[str], Any]) -> None:
    job = load((EXAMPLES / "mpijob.yaml").read_text())
    JOB("job", job)
    refuses(job, lambda one: one["spec"].update(slotsPerWorkers=1), "no slotsPerWorkers")
    refuses(job, lambda one: one["spec"].update(slotsPerWorker="1"), "'1' is not a number")
    refuses(job, lambda one: one["spec"]["mpiReplicaSpecs"].pop("Worker"), "Worker is missing")
    refuses(job, lambda one: one.update(apiVersion="kubeflow.org/v1"), "apiVersion")
    roles = job["spec"]["mpiReplicaSpecs"]
    launcher = roles["Launcher"]["template"]["spec"]["containers"][0]
    ranks = job["spec"]["slotsPerWorker"] * roles["Worker"]["replicas"]
    check(f"--ranks={ranks}" in launcher["args"], "a rank for each slot", launcher["args"])
    networks = roles["Worker"]["template"]["metadata"]["annotations"].values()
    rails = [word for word in launcher["args"] if word.startswith("--rail=")]
    check(len(rails) == len(",".join(networks).split(",")), "a rail for each network", rails)
    takes(launcher["command"][1:] + launcher["args"])


def takes(words: list[str]) -> None:
    """lull knows these options: it comes as far as to miss the nodes' hostfile."""
    env = {**os.environ, "OMPI_MCA_orte_default_hostfile": "/nowhere/hostfile"}
    env.pop("SLURM_JOB_ID", None)
    words = [*words[:2], "--provider=/nowhere", *words[2:]]
    done = subprocess.run([TREE / "lull", *words], env=env,
                          capture_output=True, text=True, check=False, timeout=60)  # fmt: skip
    check("/nowhere/hostfile: No such file" in done.stderr, "lull takes the options", done.stderr)


def sbatch() -> None:
    """As Slurm runs it: a copy elsewhere, in the folder it was submitted from."""
    script = (EXAMPLES / "job.sbatch").read_text()
    wanted = dict(re.findall(r"^#SBATCH --([a-z-]+)=(\S+)$", script, re.MULTILINE))
    check(wanted["nodes"] == "2" and "time" in wanted, "asks Slurm for nodes and time", wanted)
    with tempfile.TemporaryDirectory(prefix="lull-mpi-") as folder:
        place = Path(folder)
        lull, spooled = place / "lull", place / "slurm_script"
        lull.write_text('#!/bin/sh\nprintf "%s\\n" "$FI_LULL_RAILS" "$@"\nexit 9\n')
        lull.chmod(0o755)
        spooled.write_text(script)
        env = {**os.environ, "LULL": str(lull), "SLURM_NTASKS": "4",
               "SLURM_SUBMIT_DIR": str(TREE)}  # fmt: skip
        env.pop("FI_LULL_RAILS", None)
        for rails in ({}, {"FI_LULL_RAILS": "kernel:a kernel:b"}):
            done = subprocess.run(["bash", spooled, "--json"], env=env | rails,
                                  capture_output=True, text=True, check=False)  # fmt: skip
            said = done.stdout.splitlines()
            check(done.returncode == 9, "the job's status is that of lull", done.stderr)
            check(said[0] == rails.get("FI_LULL_RAILS", "kernel:eth0"), "rails", said)
            check(said[1:6] == ["mpi", "run", "-n", "4", "--"], "lull's words", said)
            check(Path(said[7]).exists() and said[-1] == "--json", "the program's words", said)


# One rank that adds up wrongly in its second step.
ADDS_WRONGLY = """
class Comm:
    steps = 0
    def Get_rank(self): return 0
    def Get_size(self): return 1
    def Bcast(self, buffer, root): pass
    def Barrier(self): pass
    def gather(self, value, root): return [value]
    def allreduce(self, value): return value
    def Allreduce(self, source, target, op):
        target[:] = source
        target[-1] += self.steps == 1 and WRONG
        self.steps += 1

class MPI:
    COMM_WORLD, SUM, Comm = Comm(), None, Comm
    def Get_library_version(): return "none"
"""


def training_step() -> None:
    """It notices one element of one sum."""
    for wrong in (0, 1):
        with tempfile.TemporaryDirectory(prefix="lull-mpi-") as folder:
            (Path(folder) / "mpi4py.py").write_text(f"WRONG = {wrong}\n{ADDS_WRONGLY}")
            done = subprocess.run(
                ["/usr/bin/python3", EXAMPLES / "training_step.py", "--size=0.1", "--steps=3",
                 "--period=0"], env={**os.environ, "PYTHONPATH": folder}, capture_output=True,
                text=True, check=False, timeout=60)  # fmt: skip
            check(done.returncode == wrong, f"{wrong} wrong: its status", done.stderr)
            check(f"sums {('right', 'WRONG')[wrong]}" in done.stdout, "what it says", done.stdout)


def main(build: str = "") -> None:
    sbatch()
    try:
        import numpy  # noqa: F401
        import yaml  # type: ignore[import-untyped]
    except ImportError:
        skip("needs python3-yaml and python3-numpy (make test installs them)")
    training_step()
    mpijob(yaml.safe_load)
    if os.environ.get("LULL_LONG") and build:
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, str(TREE / "tests/mpi/slurm.py"), build])


main(*sys.argv[1:])
