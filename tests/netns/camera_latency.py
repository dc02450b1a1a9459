# SPDX-License-Identifier: BSD-3-Clause
"""lull camera latency for real: three receivers, the result they leave, and nothing else.

camera_latency.py BUILD: the build directory with lull-cam and lull-cam-source. Asks for no speed:
other tests may run beside it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from rights import skip, take
from verdict import TIMEOUT_S, Failure, check, wait_for

TREE = Path(__file__).resolve().parents[2]
RECEIVERS = ["kernel", "kernel-direct", "kernel-busy", "dpdk", "dpdk-direct"]
ROUNDS, FRAMES = 3, 9
RUN_S = 4 * TIMEOUT_S  # nine rounds and a plot: seconds, but for other work
FEW = ["--cameras", "1", "--width", "320", "--height", "240", "--rounds", str(ROUNDS)]


def start(build: str, words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "lull", "camera", "latency", *words],
        env={**os.environ, "LULL_BUILD": build, "PYTHONPATH": str(TREE / "python")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str], status: int) -> str:
    try:
        out, errors = process.communicate(timeout=RUN_S)
    finally:
        process.kill()
    check(process.returncode == status, f"ends with {status}", errors)
    return out


def namespaces(pid: int) -> list[str]:
    """Those of this run."""
    listed = subprocess.run(["ip", "netns", "list"], check=True, capture_output=True, text=True)
    return [line for line in listed.stdout.splitlines() if f"lull-camera-{pid}-" in line]


def check_round(one: dict[str, Any]) -> None:
    where = f"round {one['number']} of {one['receiver']}"
    check(one["sent"]["frames"] == FRAMES, f"{where}: frames sent", one["sent"])
    check(0 < one["complete"] <= FRAMES, f"{where}: frames come whole", one["complete"])
    check(one["complete"] + one["partial"] <= FRAMES, f"{where}: no frame came twice", one)
    check(one["picture_bytes"] in (0, 320 * 240 * 3 // 2), f"{where}: bytes", one["picture_bytes"])
    done, fetched = one["done"], one["fetched"]
    check(0 < done["count"] == fetched["count"] <= one["complete"], f"{where}: stamps", done)
    check(0 < done["min"] <= done["mean"] <= done["max"], f"{where}: latencies", done)
    check(done["mean"] <= fetched["mean"], f"{where}: whole, then fetched", (done, fetched))
    check(one["gap"]["count"] > 0 and one["cpu_s"] > 0, f"{where}: the thread ran", one["cpu_s"])


def runs(build: str) -> None:
    with tempfile.TemporaryDirectory(prefix="lull-latency-") as scratch:
        path, plot, page = (Path(scratch, name) for name in ("l.json", "l.svg", "l.html"))
        drawn = ["--json", str(path), "--plot", str(plot), "--output", str(page)]
        process = start(build, [*FEW, "--duration", "0.3", *drawn])
        out = finish(process, 0)
        result = json.loads(path.read_text())
        check("Tables I and II" in out, "prints the paper's tables", out)
        check(plot.stat().st_size > 0 and page.stat().st_size > 0, "draws")
    turns = [(one["number"], one["receiver"]) for one in result["rounds"]]
    wanted = [(number, name) for number in range(1, ROUNDS + 1) for name in RECEIVERS]
    check(turns == wanted, "receivers take turns", turns)
    for one in result["rounds"]:
        check_round(one)
    check([row["receiver"] for row in result["rows"]] == RECEIVERS, "rows", result["rows"])
    check(not namespaces(process.pid), "no namespace is left", namespaces(process.pid))


def interrupted(build: str) -> None:
    process = start(build, [*FEW, "--duration", "60"])
    try:
        wait_for("a wire is laid", lambda: len(namespaces(process.pid)) == 2)
        process.send_signal(signal.SIGINT)
        finish(process, 128 + signal.SIGINT)
    finally:
        process.kill()
    check(not namespaces(process.pid), "no namespace is left", namespaces(process.pid))


def main() -> None:
    missing = [name for name in ("click", "rich", "matplotlib", "jinja2")
               if importlib.util.find_spec(name) is None]  # fmt: skip
    if missing:
        skip(f"needs the Python libraries {', '.join(missing)}")
    if len(os.sched_getaffinity(0)) < 2:
        skip("needs two CPUs")
    take("rings")
    for case in (runs, interrupted):
        try:
            case(str(Path(sys.argv[1]).resolve()))
        except Failure as failure:
            sys.exit(f"camera_latency: {case.__name__}: {failure}")


main()
