# SPDX-License-Identifier: BSD-3-Clause
"""MPI programs that know nothing of lull: how each is started, and when what it did holds.

A program is asked once for what it needs, and run in any cluster with any number of ranks that it
has a form for. The short form takes seconds.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cluster import HERE, Cluster, Ended
from verdict import check

SCALAPACK = Path("/usr/lib/x86_64-linux-gnu/scalapack/openmpi-tests")
INPUTS = Path("/usr/share/scalapack")
HPCC_INPUT = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
RANDOM_S = 20  # of the 60 that hpcc allows; one without rests takes 0.1
PYTHON = "/usr/bin/python3"
BLACS_RESULTS = 22  # of five types to one and to all; three ways to combine four of them
GRIDS = {2: ((1, 1, 2), (1, 2, 1)), 4: ((1, 2, 1, 4), (1, 2, 4, 1))}


@dataclass(frozen=True)
class Program:
    """Runs and judges; returns what is worth a word."""

    name: str
    packages: tuple[str, ...]
    there: Callable[[], bool]
    run: Callable[[Cluster, int, bool], str]

    def missing(self) -> str:
        """Why it cannot run; empty when it can."""
        return "" if self.there() else f"needs {', '.join(self.packages)} (make test installs it)"


def fine(ended: Ended, what: str) -> str:
    check(ended.status == 0, f"{what} ends with 0", f"{ended.status}: {ended.said}")
    return ended.said


# ---- conform ----


def conform_built(cluster: Cluster) -> str:
    program = cluster.folder / "conform"
    if not program.exists():
        sources = [str(path) for path in sorted(HERE.glob("conform*.c"))]
        built = subprocess.run(["mpicc", "-O2", "-pthread", "-o", str(program), *sources],
                               capture_output=True, text=True, check=False)  # fmt: skip
        check(built.returncode == 0, "conform compiles", built.stderr)
    return str(program)


def conform(cluster: Cluster, ranks: int, long: bool) -> str:
    """What we promise, subject by subject; windows and threads exclude each other."""
    program = conform_built(cluster)
    for words in ((), ("threads",)):
        said = fine(cluster.run(ranks, program, *words), " ".join(["conform", *words]))
        check(f"{ranks} ranks: all holds" in said, "conform says so", said)
    return ""


# ---- NetPIPE ----


def netpipe(cluster: Cluster, ranks: int, long: bool) -> str:
    """Ping-pong of all lengths; the figures are kept in one line."""
    most = 4 << 20 if long else 64 << 10
    out = cluster.folder / "np.out"
    turns = () if long else ("-n", "50")
    fine(cluster.run(2, "NPopenmpi", "-u", str(most), "-o", str(out), *turns), "NPopenmpi")
    rows = [tuple(map(float, line.split()[:3])) for line in out.read_text().splitlines()]
    check(len(rows) > 20, "a row for each length", rows)
    check(rows[-1][0] >= most / 2, "up to the longest", rows[-1])
    check(all(rate > 0 and passed_s > 0 for _, rate, passed_s in rows), "figures", rows)
    best = max(rate for _, rate, _ in rows)
    return f"{1e6 * rows[0][2]:.1f} us, {best:.0f} Mbit/s"


# ---- hpcc ----


def hpcc(cluster: Cluster, ranks: int, long: bool) -> str:
    """The package's example, made small: all its parts, each judged by itself."""
    folder = cluster.folder / "hpcc"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    lines = HPCC_INPUT.read_text(encoding="ascii").splitlines()
    for word, value in {"Ns": 1000 if long else 200, "NBs": 80 if long else 32,
                        "Ps": 2 if ranks == 4 else 1, "Qs": 2}.items():  # fmt: skip
        found = [i for i, line in enumerate(lines) if line.split()[1:2] == [word]]
        check(len(found) == 1, f"the example has a line {word}", lines)
        lines[found[0]] = f"{value} {word}"
    (folder / "hpccinf.txt").write_text("\n".join(lines) + "\n", encoding="ascii")
    fine(cluster.run(ranks, "hpcc", folder=folder), "hpcc")
    said = (folder / "hpccoutf.txt").read_text(errors="replace")
    check("Success=1" in said, "hpcc has success", said[-2000:])
    failed = [line for line in said.splitlines() if "FAILED" in line]
    check(not failed, "none of its tests failed", failed)
    check(said.count("PASSED") > 0, "its tests say so", said[-2000:])
    # It asks for messages a thousand times between two sends, and stops when its time is over.
    times = [float(time_s) for time_s in re.findall(r"MPIRandomAccess\w*_time=(\S+)", said)]
    check(len(times) == 2 and max(times) < RANDOM_S, "rests do not hold up who only asks", times)
    return f"random access in {max(times):.1f} s"


# ---- ScaLAPACK ----


def on_grids(text: str, ranks: int, rows: str, columns: str, count: str) -> str:
    """An input with the grids that so many ranks make; its other numbers stay."""
    for word, values in zip((rows, columns), GRIDS[ranks], strict=True):
        text = re.sub(rf"(?m)^[\d ]+?(\s+{word}\s*)$", " ".join(map(str, values)) + r"\1", text)
    return re.sub(rf"(?m)^\d+(\s+{count})", rf"{len(GRIDS[ranks][0])}\1", text)


def blacs(cluster: Cluster, program: str, ranks: int, long: bool) -> None:
    """The tester of what ScaLAPACK sends; it ends by BLACS_ABORT, so its status is not zero."""
    folder = cluster.folder / program
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in ("bt", "sdrv", "bsbr", "comb"):
        text = (INPUTS / "BLACS" / f"{name}.dat").read_text(encoding="ascii")
        text = on_grids(text, ranks, "NPROW", "NPCOL", "Number of grids")
        (folder / f"{name}.dat").write_text(text, encoding="ascii")
    said = cluster.run(ranks, str(SCALAPACK / program), folder=folder).said
    results = re.findall(r"TESTS: PASSED ALL *(\d+) TESTS|TESTS: *\d+ TESTS; *(\d+) PASSED, *\d+ "
                         r"SKIPPED, *(\d+) FAILED", said)  # fmt: skip
    check(len(results) == BLACS_RESULTS, f"{program} runs to its end", said[-2000:])
    for every, some, failed in results:
        check(int(every or some) > 0 and int(failed or 0) == 0, f"{program}: no failed test", said)
    check("FAILED  BLACS" not in said and "final auxiliary test" in said, f"{program}: the rest",
          said[-2000:])  # fmt: skip


def solver(cluster: Cluster, program: str, source: str, ranks: int) -> None:
    """A factorization and its residuals, on each grid that the ranks make."""
    folder = cluster.folder / program
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    text = (INPUTS / source).read_text(encoding="ascii")
    text = on_grids(text, ranks, "values of P", "values of Q", "number of process grids")
    # Refinement (T) may hang over shared memory and TCP of Open MPI as well: ranks part company.
    text = re.sub(r"(?m)^T(\s+\(T or F\))", r"F\1", text)
    (folder / source).write_text(text, encoding="ascii")
    said = fine(cluster.run(ranks, str(SCALAPACK / program), folder=folder), program)
    counts = [int(number) for number in re.findall(
        r"(\d+) tests (?:completed and (?:passed|failed)|skipped)", said)]  # fmt: skip
    check(len(counts) == 3, f"{program} counts its tests", said[-2000:])
    passed, failed, skipped = counts
    check(passed > 0 and failed == 0 and skipped == 0, f"{program}: no failed test", said[-2000:])


def scalapack(cluster: Cluster, ranks: int, long: bool) -> str:
    for program in ("xCbtest", "xFbtest"):
        blacs(cluster, program, ranks, long)
    solver(cluster, "xdlu", "LU.dat", ranks)
    solver(cluster, "xdllt", "LLT.dat", ranks)
    return ""


# ---- mpi4py ----


def mpi4py(cluster: Cluster, ranks: int, long: bool) -> str:
    for size, loops in ((1, 100), (1 << 20, 3)):
        words = [PYTHON, "-m", "mpi4py.bench", "ringtest", "--size", str(size), "--loop",
                 str(loops)]  # fmt: skip
        said = fine(cluster.run(ranks, *words), "ringtest")
        check(f"({ranks} processes, {size} bytes)" in said, "its figures", said)
    return ""


def has_mpi4py() -> bool:
    return subprocess.run([PYTHON, "-c", "import mpi4py"], capture_output=True,
                          check=False).returncode == 0  # fmt: skip


PROGRAMS = [
    Program("conform", ("libopenmpi-dev",), lambda: shutil.which("mpicc") is not None, conform),
    Program("netpipe", ("netpipe-openmpi",), lambda: shutil.which("NPopenmpi") is not None,
            netpipe),
    Program("hpcc", ("hpcc",), lambda: shutil.which("hpcc") is not None and HPCC_INPUT.exists(),
            hpcc),
    Program("scalapack", ("scalapack-mpi-test", "scalapack-test-common"),
            lambda: (SCALAPACK / "xdlu").exists() and (INPUTS / "LU.dat").exists(), scalapack),
    Program("mpi4py", ("python3-mpi4py",), has_mpi4py, mpi4py),
]  # fmt: skip
