# SPDX-License-Identifier: BSD-3-Clause
"""Placement: keep this process off the CPUs it is measuring."""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress

from lull.program.replies import Loop


@contextmanager
def at_large() -> Iterator[None]:
    """Wherever we sit meanwhile, afterwards we may run where we might before."""
    allowed = os.sched_getaffinity(0)
    try:
        yield
    finally:
        with suppress(OSError):
            os.sched_setaffinity(0, allowed)


def step_aside(loops: Collection[Loop]) -> bool:
    """Move to CPUs without loops; True when there are any, so that looking on disturbs nobody.

    Otherwise share the CPU of the traffic rather than that of the loop under
    test: what the instrument loses shows in its own figures.
    """
    allowed = os.sched_getaffinity(0)
    spare = allowed - {loop.cpu for loop in loops}
    traffic = allowed & {loop.cpu for loop in loops if loop.kind == "traffic"}
    cpus = spare or traffic
    if cpus:
        try:
            os.sched_setaffinity(0, cpus)
        except OSError:
            return False
    return bool(spare)
