# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of a job when something is wrong: one sentence, an error each, and never a hang.

faults.py PROVIDER-FOLDER PEER CRASH-SOURCE

PEER is peer.c, several processes that use libfabric alone; the source is a program of MPI.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from verdict import check

SKIP = 77
LIMIT_S = 120
SOON_S = 10  # an end, whatever is wrong
PATIENCE = 3  # times so long: the machine may be busy
LONG = "LULL_LONG" in os.environ
SETTINGS = {"FI_LULL_RAILS": "kernel:lo", "FI_LULL_SECURITY": "open", "FI_LOG_LEVEL": "warn"}
MPI = {"OMPI_MCA_pml": "cm", "OMPI_MCA_mtl": "ofi", "OMPI_MCA_mtl_ofi_provider_include": "lull",
       "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # fmt: skip


def environment(provider: str, **settings: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items()
                 if not name.startswith(("FI_", "OMPI_"))}
    return inherited | {"FI_PROVIDER_PATH": provider} | SETTINGS | settings


class Ranks:
    """Processes of peer.c that find each other."""

    def __init__(self, provider: str, program: str, count: int) -> None:
        self.provider, self.program, self.count = provider, program, count

    def run(self, *words: str, of: dict[int, dict[str, str]] | None = None,
            settings: dict[str, str] | None = None) -> list[tuple[int, str]]:
        """Exit status and output of each; @of: settings of single ones."""
        all_of = settings or {}
        with tempfile.TemporaryDirectory(prefix="lull-mpi-") as folder:
            running = [
                subprocess.Popen(
                    [self.program, folder, str(number), str(self.count), *words],
                    env=environment(self.provider, **(all_of | (of or {}).get(number, {}))),
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                for number in range(self.count)]  # fmt: skip
            try:
                said = [each.communicate(timeout=LIMIT_S)[0] for each in running]
            finally:
                for each in running:
                    each.kill()
        return [(each.returncode, text) for each, text in zip(running, said, strict=True)]


def says_once(text: str, sentence: str, what: str) -> None:
    said = [line for line in text.splitlines() if ":lull:" in line and sentence in line]
    check(len(said) == 1, f"{what}: one sentence, {sentence!r}", text)


def crash(provider: str, program: str) -> None:
    """Each pending operation ends with an error that names it; the others go on."""
    ended = Ranks(provider, program, 3).run("crash")
    for number in (0, 2):
        status, said = ended[number]
        check(status == 0 and f"{number}: goes on" in said, f"{number} goes on", said)
        check(f"{number}: 0 good, 16 failed, 0 nameless, Connection reset by peer" in said,
              "an error entry for each operation", said)
        for what in ("a send", "a receive", "an inject"):
            check(f"{number}: later {what}: No route to host" in said, f"later {what}", said)
        took_s = float(said.split("reset by peer, ")[1].split(" s")[0])
        check(took_s < PATIENCE * SOON_S, "soon", said)
        says_once(said, "is gone, or did not answer", "a crashed peer")


def compute(provider: str, program: str) -> None:
    """Longer than the silence after which a peer is given up, but for who stands in."""
    seconds, timeout_ms = ("60", "5000") if LONG else ("3", "1000")
    ended = Ranks(provider, program, 3).run(
        "compute", seconds, settings={"FI_LULL_PEER_TIMEOUT": timeout_ms})
    for number, (status, said) in enumerate(ended):
        check(status == 0 and f"{number}: goes on" in said, "nobody is given up", said)


def write_key(path: Path, digit: str) -> str:
    path.touch(mode=0o600)
    path.write_text(digit * 64 + "\n")
    return str(path)


def keys(provider: str, program: str) -> None:
    with tempfile.TemporaryDirectory(prefix="lull-mpi-") as name:
        folder = Path(name)
        here, there = write_key(folder / "here", "1"), write_key(folder / "there", "2")
        began = time.monotonic()
        (status, said), _ = Ranks(provider, program, 2).run(
            "alone", settings={"FI_LULL_SECURITY": "sealed", "FI_LULL_KEY": here},
            of={1: {"FI_LULL_KEY": there}})  # fmt: skip
        check(status == 0 and "0: 0 good, 2 failed, 0 nameless" in said, "another key", said)
        says_once(said, "or it has another key", "another key")
        check(time.monotonic() - began < PATIENCE * SOON_S, "soon")


def settings_refused(provider: str, program: str) -> None:
    """What is found out when the endpoint is enabled: one sentence, at once."""
    for settings, sentence in (
        ({"FI_LULL_RAILS": "kernel:nosuch0"}, "interface nosuch0 does not exist"),
        ({"FI_LULL_RAILS": "bird:lo"}, "bird:lo"),
        ({"FI_LULL_RAILS": "node:/nowhere/lull"}, "/nowhere/lull"),
        ({"FI_LULL_SECURITY": "sealed", "FI_LULL_KEY": "/nowhere/key"}, "/nowhere/key"),
        ({"FI_LULL_SECURITY": "sealed"}, "FI_LULL_KEY: name the file of a key"),
        ({"FI_LULL_SECURITY": "none"}, "FI_LULL_SECURITY: 'none' is not one of"),
        ({"FI_LULL_MAX_REST": "much"}, "FI_LULL_MAX_REST: give a number in 0..100000"),
        ({"FI_LULL_GOVERNOR": "nosuch"}, "FI_LULL_GOVERNOR: 'nosuch' does not exist"),
    ):
        began = time.monotonic()
        ((status, said),) = Ranks(provider, program, 1).run(
            "compute", "0", settings=settings)
        check(status == 1, f"{settings} is refused", said)
        says_once(said, sentence, str(settings))
        check(time.monotonic() - began < SOON_S, "soon", said)


def report(provider: str, program: str) -> None:
    """Figures of each process as JSON; what is no such report is left alone."""
    with tempfile.TemporaryDirectory(prefix="lull-mpi-") as name:
        folder = Path(name)
        of = {number: {"OMPI_COMM_WORLD_RANK": str(number)} for number in range(2)}
        for pattern, first in (("%r.json", "0.json"), ("job", "job.0"), ("p%p-%r", None)):
            for _ in range(2):  # it replaces its own
                ended = Ranks(provider, program, 2).run(
                    "compute", "0", of=of, settings={"FI_LULL_REPORT": str(folder / pattern)})
                check([status for status, _ in ended] == [0, 0], pattern, ended)
            if first is not None:
                told = json.loads((folder / first).read_text())
                check(told["report"] == "lull-fi" and told["rank"] == 0, "whose it is", told)
                (endpoint,) = told["endpoints"]
                channel = endpoint["channel"]
                check(channel["sends"] == 2 and channel["receives"] == 2, "counters", channel)
                check(endpoint["rails"]["text"] == ["kernel:lo"], "its rails", endpoint)
                check(endpoint["peers"][0]["sent_messages"] == [2], "its peers", endpoint)
        check(len(list(folder.glob("p*-[01]"))) == 4, "a file for each process",
              list(folder.iterdir()))
        other = folder / "passwd"
        other.write_text("root:x:0:0\n")
        ((_, said),) = Ranks(provider, program, 1).run(
            "compute", "0", settings={"FI_LULL_REPORT": str(other)})
        check(other.read_text() == "root:x:0:0\n", "what is no report stays")
        says_once(said, "it is there and no earlier report", "another file")


def mpi_crash(provider: str, source: str) -> None:
    with tempfile.TemporaryDirectory(prefix="lull-mpi-") as folder:
        program = f"{folder}/crash"
        built = subprocess.run(["mpicc", "-O2", "-o", program, source], check=False,
                               capture_output=True, text=True)  # fmt: skip
        check(built.returncode == 0, "crash compiles", built.stderr)
        ended = subprocess.run(
            ["mpirun", "--enable-recovery", "--bind-to", "none", "--oversubscribe", "-n", "3",
             program], env=environment(provider, **MPI, TMPDIR=folder), check=False,
            capture_output=True, text=True, timeout=LIMIT_S)  # fmt: skip
        for number in (0, 2):
            for what in ("pending receive", "pending send", "later send", "later receive"):
                check(f"{number}: {what}: an error" in ended.stdout, f"{number}: {what}",
                      ended.stdout + ended.stderr)
            check(f"{number}: goes on: good" in ended.stdout, "the others go on",
                  ended.stdout + ended.stderr)


def mpi_refused(provider: str) -> None:
    """The job ends, and says why."""
    for settings, sentence in (
        ({"FI_LULL_RAILS": "kernel:nosuch0"}, "interface nosuch0 does not exist"),
        ({"FI_LULL_SECURITY": "none"}, "FI_LULL_SECURITY: 'none' is not one of"),
        ({"FI_LULL_RAILS": "node:/nowhere/lull"}, "/nowhere/lull"),
    ):
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="lull-mpi-") as folder:
            program = f"{folder}/hello"
            source = Path(folder) / "hello.c"
            source.write_text("#include <mpi.h>\nint main(int c, char **v) "
                              "{ MPI_Init(&c, &v); MPI_Finalize(); return 0; }\n")
            subprocess.run(["mpicc", "-o", program, str(source)], check=True)
            ended = subprocess.run(
                ["mpirun", "--bind-to", "none", "--oversubscribe", "-n", "2", program],
                env=environment(provider, **MPI, TMPDIR=folder, **settings), check=False,
                capture_output=True, text=True, timeout=LIMIT_S)  # fmt: skip
        check(ended.returncode != 0 and sentence in ended.stderr, f"{settings} ends the job",
              ended.stdout + ended.stderr)
        check(time.monotonic() - began < PATIENCE * SOON_S, "soon")


def main(provider: str, program: str, source: str) -> None:
    settings_refused(provider, program)
    crash(provider, program)
    compute(provider, program)
    keys(provider, program)
    report(provider, program)
    missing = [name for name in ("mpicc", "mpirun") if shutil.which(name) is None]
    if missing:
        print(f"skipped: needs {', '.join(missing)} (make test installs them)")
        sys.exit(SKIP)
    mpi_crash(provider, source)
    mpi_refused(provider)


main(*sys.argv[1:])
