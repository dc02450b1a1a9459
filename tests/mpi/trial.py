# SPDX-License-Identifier: BSD-3-Clause
"""Trial: cases and programs one after the other, a line for each as TAP has them."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Callable

from cluster import Cluster
from programs import PROGRAMS
from verdict import Failure

SKIP = 77
LONG = bool(os.environ.get("LULL_LONG"))
TURNS = 20 if LONG else 1


def told_to_stop() -> None:
    """Leave by an exception, so that clusters are removed; skip where nothing could be run."""
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, lambda number, _frame: sys.exit(128 + number))
    if shutil.which("mpirun") is None:
        print("skipped: needs openmpi-bin (make test installs it)")
        sys.exit(SKIP)


def chosen(name: str, wanted: list[str]) -> bool:
    return not wanted or name in wanted


def judge(name: str, case: Callable[[], str]) -> bool:
    """One line, which devtools/test counts."""
    begin_s = time.monotonic()
    try:
        said = case()
    except Failure as failure:
        print(f"not ok - {name}\n{failure}", flush=True)
        return False
    passed_s = time.monotonic() - begin_s
    print(f"ok - {name} ({passed_s:.1f} s{', ' * bool(said)}{said})", flush=True)
    return True


def left_out(name: str, reason: str) -> bool:
    print(f"ok - {name} # SKIP {reason}", flush=True)
    return True


def in_cluster(cluster: Cluster, wanted: list[str], ranks: list[int]) -> bool:
    """All programs in one cluster; what is missing is left out."""
    good = True
    for program in PROGRAMS:
        if not chosen(program.name, wanted):
            continue
        name = f"{cluster.name}: {program.name}"
        if program.missing():
            left_out(name, program.missing())
            continue
        for count in ranks:
            good &= judge(f"{name}, {count} ranks",
                          lambda p=program, n=count: p.run(cluster, n, LONG))  # type: ignore[misc]
    return good & judge(f"{cluster.name}: rails", cluster.meanwhile)
