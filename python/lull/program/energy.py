# SPDX-License-Identifier: BSD-3-Clause
"""Energy: what the CPU packages used, from the kernel's RAPL counters.

Where a machine has no counters (most virtual machines) there is no figure:
nothing here ever estimates a watt.
"""

from dataclasses import dataclass
from pathlib import Path

from lull.program.tree import Tree

POWERCAP = "/sys/class/powercap"
NOT_AVAILABLE = "not available"


@dataclass(frozen=True)
class Zone:
    """One counter of a whole package."""

    path: Path
    name: str
    range_uj: int


class EnergyError(Exception):
    """A counter that was there could not be read."""


class EnergyMeter:
    """Energy since the meter was made or last reset, over all packages."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.zones: list[Zone] = []
        self.reason = ""
        self._find()
        self._last = self._read()
        self._joules = 0.0

    @property
    def available(self) -> bool:
        """Does this machine have counters that may be read?"""
        return bool(self.zones)

    def joules(self) -> float | None:
        """Energy so far. Call at least once per wrap of a counter (about a minute at 1 kW)."""
        if not self.available:
            return None
        now = self._read()
        for zone, before, after in zip(self.zones, self._last, now, strict=True):
            # A counter runs from 0 to its range and starts again.
            rise = after - before if after >= before else after + zone.range_uj + 1 - before
            self._joules += rise / 1e6
        self._last = now
        return self._joules

    def _find(self) -> None:
        candidates = [path for path in self._tree.glob(f"{POWERCAP}/intel-rapl:*")
                      if path.name.count(":") == 1]
        if not candidates:
            self.reason = "this machine shows no RAPL counters (usual in a virtual machine)"
        for path in candidates:
            name = self._tree.text(self._tree.name(path / "name")) or path.name
            if not name.startswith("package"):
                continue  # "psys" holds the packages again
            if self._tree.number(self._tree.name(path / "energy_uj")) is None:
                self.reason = f"{path}/energy_uj cannot be read: run as root"
                self.zones = []
                return
            span = self._tree.number(self._tree.name(path / "max_energy_range_uj"))
            self.zones.append(Zone(path, name, span or 2**32 - 1))

    def _read(self) -> list[int]:
        values = []
        for zone in self.zones:
            value = self._tree.number(self._tree.name(zone.path / "energy_uj"))
            if value is None:
                raise EnergyError(f"{zone.path}/energy_uj can no longer be read")
            values.append(value)
        return values
