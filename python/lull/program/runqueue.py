# SPDX-License-Identifier: BSD-3-Clause
"""Run queue: how long a thread was ready to run while something else had its CPU.

Stolen time is the host's doing, this is other programs' in the same machine;
for a polling loop both mean packets that nobody looks after.
"""

from lull.program.tree import Tree

# A loop that shares its CPU for more than this part of the time is disturbed, not merely woken.
DISTURBED_PCT = 1.0


def waited_ns(tree: Tree, tid: int) -> int:
    """Time waited so far; 0 where the kernel does not tell."""
    fields = (tree.text(f"/proc/{tid}/schedstat") or "").split()
    try:
        return int(fields[1])
    except (IndexError, ValueError):
        return 0


def last_cpu(tree: Tree, tid: int) -> int:
    """CPU that a thread ran on last; -1 where the kernel does not tell."""
    fields = (tree.text(f"/proc/{tid}/stat") or "").rpartition(")")[2].split()
    try:
        return int(fields[36])
    except (IndexError, ValueError):
        return -1


def waited_pct(before_ns: int, after_ns: int, passed_ns: int) -> float:
    """Share of an interval spent waiting."""
    return min(100.0, 100 * max(0, after_ns - before_ns) / passed_ns) if passed_ns > 0 else 0.0
