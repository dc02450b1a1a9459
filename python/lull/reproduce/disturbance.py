# SPDX-License-Identifier: BSD-3-Clause
"""Disturbance: how much of the CPUs somebody else had while a program of ours ran."""

import os
from types import TracebackType
from typing import Self

from lull.program.tree import Tree

SHARE_MAX = 0.02  # of all CPUs: more spoils a round


def _taken_s(tree: Tree) -> tuple[float, float]:
    """CPU time used or stolen so far, and all CPU time, of all CPUs."""
    times = tree.cpu_times().values()
    return sum(one.busy_s + one.steal_s for one in times), sum(one.total_s for one in times)


def _ours_s() -> float:
    """CPU time of ours and of the children that ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Watch:
    """Watches while the block runs; whatever it starts must have ended at its end."""

    def __init__(self, tree: Tree | None = None) -> None:
        self._tree = tree or Tree()
        self.others_share = 0.0  # of all CPU time, from 0 to 1

    def __enter__(self) -> Self:
        self._before, self._ours = _taken_s(self._tree), _ours_s()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        taken, total = (after - before for after, before in zip(
            _taken_s(self._tree), self._before, strict=True))
        others = taken - (_ours_s() - self._ours)
        self.others_share = max(0.0, others / total) if total > 0 else 0.0

    def disturbed(self) -> bool:
        """Did others have more than 2 % of the CPUs?"""
        return self.others_share > SHARE_MAX
