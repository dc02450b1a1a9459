# SPDX-License-Identifier: BSD-3-Clause
"""bench/mpi/compare.py as a reader runs it, in its cheapest form.

mpi_bench.py BUILD: one round of three rows, over two nodes and on one; what it writes; that
--resume measures nothing again; that a signal ends it with nothing left. Its figures count for
nothing here, as other programs have CPUs too.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from rights import skip, take
from verdict import Failure, check

TREE = Path(__file__).resolve().parents[2]
ROWS = "64B-same/lull kernel,64B/Open MPI btl*,64B/lull kernel"
FOLDERS = "lull-bench-mpi-*"
LIMIT_S = 120
ENDS_S = 40  # after a signal; the job alone would last longer


def words(build: str, out: Path, *more: str) -> list[str]:
    return [sys.executable, str(TREE / "bench/mpi/compare.py"), "--build", build, "--out",
            str(out), "--rounds", "1", "--tries", "1", "--seconds", "0.3", *more]  # fmt: skip


def run(build: str, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(words(build, out, *more), capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)  # fmt: skip
    check(done.returncode == 0, "it ends well", done.stdout + done.stderr)
    return done


def nothing_left(temporary: str) -> None:
    """No namespace, no process, no file."""
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True)
    check(not listed.stdout.strip(), "no namespace is left", listed.stdout)
    mine = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        # All that a job starts has a word with the folder of its files.
        if f"{temporary}/lull-bench-mpi-" in text:
            mine.append(text)
    check(not mine, "no process is left", mine)
    check(not list(Path(temporary).glob(FOLDERS)), "no file is left")


def three_rows(build: str, out: Path) -> None:
    done = run(build, out, "--rows", ROWS)
    found = json.loads((out / "mpi.json").read_text())
    rounds = {(one["scene"], one["peer"]): one for one in found["rounds"]}
    check(len(rounds) == 3, "three rows", list(rounds))
    for name, one in rounds.items():
        figures = one["figures"]
        check(not one["error"], "it has figures", (name, one["error"]))
        check(figures["messages"] > 0 and 0 < figures["p50_us"] <= figures["p99_us"]
              <= figures["max_us"], "that can be", (name, figures))  # fmt: skip
        check(any("mpirun" in line for line in one["commands"]), "told how", one["commands"])
        told = " ".join(one["commands"])
        check("/tmp/lull-bench" not in told and str(TREE) not in told, "without folders", told)
    check("FI_LULL_RAILS=kernel:lo" in " ".join(
        rounds["64B-same", "lull kernel"]["commands"]), "by its provider")  # fmt: skip
    check("Goals:" in done.stdout and (out / "mpi.md").read_text().startswith("```"), "judged")
    before = (out / "mpi.jsonl").read_text()
    run(build, out, "--rows", ROWS, "--resume")
    check((out / "mpi.jsonl").read_text() == before, "nothing is measured twice")


def ends_in_order(build: str, out: Path, temporary: str) -> None:
    """While a job runs."""
    environment = {**os.environ, "TMPDIR": temporary}
    arguments = words(build, out, "--rows", "64B/lull kernel", "--seconds", "60")
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=environment) as process:  # fmt: skip
        try:
            wait_until(lambda: bool(list(Path(temporary).glob(f"{FOLDERS}/curve"))
                                    or list(Path(temporary).glob(f"{FOLDERS}/pingpong"))),
                       process)  # fmt: skip
            time.sleep(0.5)  # somewhere between its begin and its end
            process.send_signal(signal.SIGTERM)
            said, _ = process.communicate(timeout=ENDS_S)
        except subprocess.TimeoutExpired:
            raise Failure(f"it did not end within {ENDS_S} s of a signal") from None
        finally:
            process.kill()
    check(process.returncode == 128 + signal.SIGTERM, "it tells of the signal", said)
    check("Traceback" not in said, "in order", said)
    nothing_left(temporary)


def wait_until(holds: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    end_s = time.monotonic() + LIMIT_S
    while not holds():
        check(process.poll() is None and time.monotonic() < end_s, "a job begins")
        time.sleep(0.02)


def main() -> None:
    build = str(Path(sys.argv[1]).resolve())
    missing = [name for name in ("mpicc", "mpirun") if shutil.which(name) is None]
    if missing:
        skip(f"needs {', '.join(missing)} (make test installs them)")
    if not (Path(build) / "fi" / "liblull-fi.so").exists():
        skip("liblull-fi.so is not built: libfabric-dev is missing")
    take("namespaces")
    with TemporaryDirectory(prefix="lull-netns-") as folder:
        out, temporary = Path(folder) / "out", Path(folder) / "tmp"
        temporary.mkdir()
        try:
            three_rows(build, out)
            ends_in_order(build, out, str(temporary))
        except Failure as failure:
            print(f"FAILED {str(failure)[:2000]}", flush=True)
            sys.exit(1)
    print("ok")


if __name__ == "__main__":
    main()
