# SPDX-License-Identifier: BSD-3-Clause
from pathlib import Path

import pytest

from lull.program.energy import EnergyError, EnergyMeter
from lull.program.tree import Tree
from machine_tree import write

ZONE = "sys/class/powercap/intel-rapl:"


def zone(root: Path, number: str, name: str, energy_uj: int, span_uj: int = 1_000_000) -> None:
    write(root, {f"{ZONE}{number}/name": name, f"{ZONE}{number}/energy_uj": str(energy_uj),
                 f"{ZONE}{number}/max_energy_range_uj": str(span_uj)})


def test_packages_are_summed_and_parts_are_not(tmp_path: Path) -> None:
    for number, name in (("0", "package-0"), ("1", "package-1"), ("0:0", "core"), ("2", "psys")):
        zone(tmp_path, number, name, 0)
    meter = EnergyMeter(Tree(tmp_path))
    assert [one.name for one in meter.zones] == ["package-0", "package-1"]
    assert meter.joules() == 0
    for number in ("0", "1", "0:0", "2"):
        zone(tmp_path, number, "package-0", 250_000)
    assert meter.joules() == pytest.approx(0.5)
    assert meter.joules() == pytest.approx(0.5)


def test_counter_wraps(tmp_path: Path) -> None:
    zone(tmp_path, "0", "package-0", 999_999)
    meter = EnergyMeter(Tree(tmp_path))
    zone(tmp_path, "0", "package-0", 0)
    assert meter.joules() == pytest.approx(2e-6)
    zone(tmp_path, "0", "package-0", 400_000)
    zone_values = [meter.joules()]
    zone(tmp_path, "0", "package-0", 100_000)
    zone_values.append(meter.joules())
    assert zone_values == [pytest.approx(0.400002), pytest.approx(1.100003)]


def test_not_available(tmp_path: Path) -> None:
    meter = EnergyMeter(Tree(tmp_path))
    assert not meter.available
    assert meter.joules() is None
    assert "virtual machine" in meter.reason


def test_not_readable(tmp_path: Path) -> None:
    write(tmp_path, {f"{ZONE}0/name": "package-0", f"{ZONE}0/max_energy_range_uj": "10"})
    meter = EnergyMeter(Tree(tmp_path))
    assert meter.joules() is None
    assert "run as root" in meter.reason


def test_gone_in_the_middle(tmp_path: Path) -> None:
    zone(tmp_path, "0", "package-0", 1)
    meter = EnergyMeter(Tree(tmp_path))
    (tmp_path / f"{ZONE}0/energy_uj").unlink()
    with pytest.raises(EnergyError, match="can no longer be read"):
        meter.joules()
