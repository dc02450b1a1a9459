# SPDX-License-Identifier: BSD-3-Clause
"""lull mpi with Open MPI itself: a job on one machine and on two nodes, and what is missing.

run.py BUILD-FOLDER
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

TREE = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TREE / "tests" / "netns"), str(TREE / "python")]

from lull.channel.bed import Bed  # noqa: E402 - of this checkout
from lull.channel.bed_namespace import run as said_by  # noqa: E402
from lull.channel.bed_plan import Plan, rails  # noqa: E402
from rights import skip, take  # noqa: E402
from verdict import check, wait_for  # noqa: E402

PYTHON = "/usr/bin/python3"  # that of Debian's mpi4py
STEP = ["--", PYTHON, str(TREE / "examples/mpi/training_step.py"), "--json", "--steps=2",
        "--period=0.1", "--size=0.5"]  # fmt: skip
END_S = 30.0  # of what cannot begin; 2 s on a machine with nothing else to do
LIMIT_S = 120.0
KEYS = Path("/dev/shm")


class Bench:
    """The command, and a folder for what it needs."""

    def __init__(self, build: Path, folder: Path) -> None:
        self.build, self.folder = build, folder
        self.own = {name: value for name, value in os.environ.items()
                    if not name.startswith(("FI_", "OMPI_", "SLURM_"))}
        self.own |= {"LULL_BUILD": str(build), "TMPDIR": str(folder)}
        if os.geteuid() == 0:
            self.own |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def call(self, *words: str, prefix: tuple[str, ...] = (),
             **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*prefix, *words], env=self.own | variables, capture_output=True,
                              text=True, check=False, timeout=LIMIT_S, stdin=subprocess.DEVNULL)

    def lull(self, *words: str, prefix: tuple[str, ...] = (),
             **variables: str) -> subprocess.CompletedProcess[str]:
        return self.call(str(TREE / "lull"), "mpi", *words, prefix=prefix, **variables)

    def step(self, *words: str, ranks: int = 2, prefix: tuple[str, ...] = ()) -> dict[str, Any]:
        """A job of the example; what it tells."""
        done = self.lull("run", f"--ranks={ranks}", *words, *STEP, prefix=prefix)
        return self.right(done, ranks)

    def right(self, done: subprocess.CompletedProcess[str], ranks: int) -> dict[str, Any]:
        check(done.returncode == 0, "the job ends well", done.stdout + done.stderr)
        found: dict[str, Any] = json.loads(done.stdout)
        check((found["ranks"], found["wrong_elements"]) == (ranks, 0), "sums are right", found)
        return found

    def refused(self, pattern: str, *words: str, prefix: tuple[str, ...] = (),
                **variables: str) -> None:
        """One sentence, soon, and no key is left."""
        before = keys()
        begun = time.monotonic()
        done = self.lull("run", "--ranks=2", *words, *STEP, prefix=prefix, **variables)
        took_s = time.monotonic() - begun
        check(done.returncode not in (0, None), f"{pattern}: refused", done.stdout)
        check(pattern in done.stderr, f"'{pattern}' is said", done.stderr)
        check(done.stderr.count("\n") == 1 and done.stderr.startswith("lull: "), "one sentence",
              done.stderr)
        check(took_s < END_S, f"{pattern}: soon", f"{took_s:.1f} s")
        none_is_left(before)


def keys() -> set[Path]:
    return set(KEYS.glob("lull-mpi-*"))


def none_is_left(before: set[Path]) -> None:
    """Of ours: those of jobs of others, which may run beside us, go away again."""
    wait_for("no key is left", lambda: not keys() - before)


def on_one_machine(bench: Bench) -> None:
    before = keys()
    bench.step()
    bench.step("--security=open", "--max-rest=0")
    none_is_left(before)
    done = bench.lull("run", "-n", "2", "--", "sh", "-c", "exit 3")
    check(done.returncode == 3, "the exit status of the ranks", done.returncode)


def what_is_missing(bench: Bench) -> None:
    empty = bench.folder / "empty"
    empty.mkdir()
    bench.refused("holds no liblull-fi.so", f"--provider={empty}")
    (empty / "liblull-fi.so").write_text("not a library")
    bench.refused("libfabric does not list", f"--provider={empty}")
    bench.refused("there is no network port eth77", "--rail=kernel:eth77")
    bench.refused("start lull-channel-node", f"--rail=node:{bench.folder}/nobody.sock")
    bench.refused("was FI_LULL_RAILS meant?", FI_LULL_RAIL="kernel:lo")
    key = bench.folder / "key"
    key.write_text("00" * 32 + "\n")
    key.chmod(0o644)
    bench.refused(f"chmod 600 {key}", f"--key={key}")
    key.chmod(0o600)
    bench.step(f"--key={key}")
    bench.refused("not found on the PATH", "--", "no-such-program-here")


def over_the_node_program(bench: Bench) -> None:
    socket = bench.folder / "node.sock"
    program = bench.build / "apps/lull-channel-node/lull-channel-node"
    with subprocess.Popen([program, "--rail", "kernel:lo", "--socket", socket],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as node:
        try:
            wait_for("the node program", socket.exists)
            bench.step(f"--rail=node:{socket}")
        finally:
            node.terminate()


def by_env(bench: Bench) -> None:
    """What it prints is enough for mpirun alone, in both forms."""
    words = ["env", "--rail=kernel:lo", "--security=open"]
    lines = bench.lull(*words).stdout
    mpirun = "mpirun --bind-to none -n 2 -x FI_PROVIDER_PATH -x FI_LULL_RAILS -x FI_LULL_SECURITY"
    step = " ".join(STEP[1:])
    bench.right(bench.call("sh", "-c", f"{lines}\nexec {mpirun} {step}"), 2)
    conf = bench.folder / "openmpi-mca-params.conf"
    conf.write_text(bench.lull(*words, f"--format={conf.name}").stdout)
    bench.right(bench.call("mpirun", "--bind-to", "none", "-n", "2", *STEP[1:],
                           OMPI_MCA_mca_base_param_files=str(conf)), 2)
    conf.write_text(conf.read_text().replace("kernel:lo", "kernel:eth77"))
    done = bench.call("mpirun", "--bind-to", "none", "-n", "2", *STEP[1:],
                      OMPI_MCA_mca_base_param_files=str(conf))
    check(done.returncode != 0, "and is what the job takes its rails from", done.stdout)


def on_two_nodes(bench: Bench) -> None:
    """Namespaces with names of their own, reached by an agent in the place of ssh."""
    with Bed.lay(Plan(id="mpi", nodes=2, rails=rails("full,full"), control=True)) as bed:
        agent = bench.folder / "agent"
        cases = "\n".join(f"{bed.control_address(node)}) node={node};;" for node in bed.nodes())
        agent.write_text(
            "#!/bin/sh\n" f'case $1 in\n{cases}\n*) echo "no node $1" >&2; exit 255;;\nesac\n'
            f"shift; exec ip netns exec {bed.namespace('')}$node "
            'unshare --uts sh -c "hostname $node; $*"\n')
        agent.chmod(0o755)
        a, b = (bed.control_address(node) for node in "ab")
        words = [f"--nodes={a},{b}", "--rail=kernel:r0", "--rail=kernel:r1", f"--agent={agent}",
                 "--mpirun=--mca oob_tcp_if_include ctl"]  # fmt: skip
        start = tuple(bed.command("a", "unshare", "--uts", "sh", "-c", 'hostname a; exec "$@"',
                                  "sh"))
        before = keys()
        bench.step(*words, prefix=start)
        none_is_left(before)
        sent = {(one.rail, one.node): one.seen_pkts for one in bed.look()}
        check(all(sent[rail, "b"] > 100 for rail in (0, 1)), "both rails carried it", sent)
        bench.refused("no node 10.77.255.9", f"--nodes={a},10.77.255.9", *words[1:], prefix=start)
        said_by("ip", "-n", bed.namespace("b"), "link", "set", "dev", "r1", "down")
        bench.refused(f"node {b}: r1 is down: ip link set dev r1 up", *words, prefix=start)


def main(build: str) -> None:
    missing = [name for name in ("mpirun", "ip", "nft") if shutil.which(name) is None]
    if missing:
        skip(f"needs {', '.join(missing)} (make test installs them)")
    if subprocess.run([PYTHON, "-c", "import mpi4py, numpy"], check=False,
                      stderr=subprocess.DEVNULL).returncode != 0:
        skip("needs python3-mpi4py and python3-numpy (make test installs them)")
    take("namespaces")
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="lull-mpi-"))
        bench = Bench(Path(build).resolve(), Path(folder))
        for case in (on_one_machine, what_is_missing, over_the_node_program, by_env, on_two_nodes):
            began = time.monotonic()
            case(bench)
            print(f"{case.__name__}: {time.monotonic() - began:.1f} s", flush=True)


main(*sys.argv[1:])
