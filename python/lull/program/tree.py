# SPDX-License-Identifier: BSD-3-Clause
"""Tree: read single facts from /proc and /sys, or from a copy of them."""

from dataclasses import dataclass
from pathlib import Path

USER_HZ = 100  # unit of /proc/stat on every Linux that runs DPDK


@dataclass(frozen=True)
class CpuTime:
    """Seconds one CPU has spent so far."""

    busy_s: float
    steal_s: float
    total_s: float


class Tree:
    """Files below a root; whatever cannot be read is None."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root

    def path(self, name: str) -> Path:
        """Where a file lies that a running system calls /name."""
        return self.root / name.lstrip("/")

    def text(self, name: str) -> str | None:
        """Content of a file without blanks around it."""
        try:
            return self.path(name).read_text(errors="replace").strip("\0 \n\t")
        except OSError:
            return None

    def number(self, name: str) -> int | None:
        """Content of a file as an integer."""
        text = self.text(name)
        try:
            return int(text) if text is not None else None
        except ValueError:
            return None

    def glob(self, pattern: str) -> list[Path]:
        """Files that match, in order of their names."""
        try:
            return sorted(self.root.glob(pattern.lstrip("/")))
        except OSError:
            return []

    def name(self, path: Path) -> str:
        """The reverse of path()."""
        return "/" + str(path.relative_to(self.root))

    def cpuinfo(self, key: str) -> str:
        """First value of a key of /proc/cpuinfo, or ""."""
        for line in (self.text("/proc/cpuinfo") or "").splitlines():
            found, _, value = line.partition(":")
            if found.strip() == key:
                return value.strip()
        return ""

    def cpu_flags(self) -> frozenset[str]:
        """What the CPU says that it can do."""
        return frozenset(self.cpuinfo("flags").split())

    def cpu_times(self) -> dict[int, CpuTime]:
        """Time spent so far by each CPU that is on line."""
        times: dict[int, CpuTime] = {}
        for line in (self.text("/proc/stat") or "").splitlines():
            label, *fields = line.split()
            if not label.startswith("cpu") or label == "cpu" or len(fields) < 8:
                continue
            user, nice, system, idle, iowait, irq, softirq, steal = (
                int(field) / USER_HZ for field in fields[:8])
            busy = user + nice + system + irq + softirq
            times[int(label[3:])] = CpuTime(busy, steal, busy + idle + iowait + steal)
        return times
