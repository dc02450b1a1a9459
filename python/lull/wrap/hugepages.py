# SPDX-License-Identifier: BSD-3-Clause
"""Hugepages: what of them is free, and which arguments make EAL do without.

EAL wants free hugepages and a hugetlbfs that it may write to, and ends with
"Cannot get hugepage information" otherwise. `lull wrap` and `lull doctor`
both ask here what follows from that.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from lull.program.tree import Tree

MEMORY_MB = 1024  # dpdk-testpmd takes 400 by itself; what nobody touches costs nothing
POOLS = "/sys/kernel/mm/hugepages"
DEFAULT_KB = 2048
UNIT_KB = {"K": 1, "M": 1024, "G": 1024 * 1024}
# Who gives one of these has thought of memory himself. EAL takes them cut short as well.
CHOSEN = ("--no-huge", "--in-memory", "--huge-dir", "--huge-unlink", "--legacy-mem", "--socket-mem",
          "--socket-limit", "--single-file-segments")
SHORTEST = len("--no-h")


@dataclass(frozen=True)
class Hugepages:
    """The pools of all sizes together."""

    total_mb: int
    free_mb: int
    mounted: bool      # some hugetlbfs is there
    usable: bool       # pages of a size are free, and its hugetlbfs may be written to
    ordinary_mb: int   # to ask for instead

    def arguments(self) -> tuple[str, ...]:
        """What EAL has to be told so that it starts here."""
        if self.usable:
            return ()
        if self.free_mb:
            return ("--in-memory",)
        return ("--no-huge", "-m", str(self.ordinary_mb))

    def lack(self) -> str:
        """Why it has to be told something."""
        if self.free_mb:
            return "no hugetlbfs that this user may write to"
        return "no free hugepages"


def look(tree: Tree) -> Hugepages:
    """What this machine has."""
    sizes_kb = [_size_kb(path.name) for path in tree.glob(f"{POOLS}/hugepages-*")]
    free_kb = {size_kb: _free_pages(tree, size_kb) * size_kb for size_kb in sizes_kb}
    total_kb = sum(_pages(tree, size_kb, "nr") * size_kb for size_kb in sizes_kb)
    mounts = _mounts(tree)
    meminfo = _meminfo_kb(tree)
    default_kb = meminfo.get("Hugepagesize", DEFAULT_KB)
    writable = {size_kb or default_kb for path, size_kb in mounts.items()
                if os.access(tree.path(path), os.W_OK | os.X_OK)}
    half_mb = meminfo.get("MemTotal", 2 * 1024 * MEMORY_MB) // 2 // 1024
    return Hugepages(
        total_mb=total_kb // 1024, free_mb=sum(free_kb.values()) // 1024, mounted=bool(mounts),
        usable=any(free for size_kb, free in free_kb.items() if size_kb in writable),
        ordinary_mb=min(MEMORY_MB, half_mb))


def added(command: Sequence[str], tree: Tree) -> tuple[tuple[str, ...], str]:
    """Arguments that the command lacks on this machine, and the sentence about them."""
    if decided(command):
        return (), ""
    found = look(tree)
    arguments = found.arguments()
    if not arguments:
        return (), ""
    return arguments, (f"{found.lack()}: adding '{' '.join(arguments)}'; "
                       "--memory as-is leaves memory to the command")


def decided(command: Sequence[str]) -> bool:
    """Does the command itself say where its memory is to come from?"""
    words = list(command[1:])
    if "--" in words:  # what follows is the program's own
        words = words[:words.index("--")]
    for index, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name.startswith("-m") or (
                len(name) >= SHORTEST and any(one.startswith(name) for one in CHOSEN)):
            return True
        # A secondary process has the memory of its primary.
        if name == "--proc-type" and (value if equals else "".join(words[index + 1:index + 2])
                                      ) != "primary":
            return True
    return False


def _size_kb(name: str) -> int:
    return int(name.removeprefix("hugepages-").removesuffix("kB"))


def _pages(tree: Tree, size_kb: int, what: str) -> int:
    return tree.number(f"{POOLS}/hugepages-{size_kb}kB/{what}_hugepages") or 0


def _free_pages(tree: Tree, size_kb: int) -> int:
    """As EAL counts: what the kernel may yet add is free, what is promised to others is not."""
    more = _pages(tree, size_kb, "nr_overcommit") - _pages(tree, size_kb, "surplus")
    return max(0, _pages(tree, size_kb, "free") - _pages(tree, size_kb, "resv")) + max(0, more)


def _mounts(tree: Tree) -> dict[str, int]:
    """Where hugetlbfs is mounted, and the size of its pages in kB; 0: the default one."""
    found: dict[str, int] = {}
    for line in (tree.text("/proc/mounts") or "").splitlines():
        fields = line.split()
        if fields[2:3] != ["hugetlbfs"]:
            continue
        options = dict(word.partition("=")[::2] for word in fields[3].split(","))
        size = options.get("pagesize", "")
        known = size[-1:] in UNIT_KB and size[:-1].isdecimal()
        found[fields[1]] = int(size[:-1]) * UNIT_KB[size[-1]] if known else 0
    return found


def _meminfo_kb(tree: Tree) -> dict[str, int]:
    found = {}
    for line in (tree.text("/proc/meminfo") or "").splitlines():
        name, _, value = line.partition(":")
        number = value.split()[:1]
        if number and number[0].isdecimal():
            found[name] = int(number[0])
    return found
