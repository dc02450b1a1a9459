# SPDX-License-Identifier: BSD-3-Clause
"""devtools/dpdk-headers: what a compiler is told of a DPDK below a prefix, wherever that lies."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "devtools" / "dpdk-headers"


def asked(prefix: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(SCRIPT), str(prefix)], capture_output=True, text=True)


def put(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_as_debian_has_it(tmp_path: Path) -> None:
    """The pkg-config file tells of the processor; its paths are those of before the move."""
    put(tmp_path / "include" / "dpdk" / "rte_ethdev.h")
    put(tmp_path / "include" / "x86_64-linux-gnu" / "dpdk" / "rte_build_config.h")
    pkgconfig = tmp_path / "lib" / "x86_64-linux-gnu" / "pkgconfig"
    put(pkgconfig / "libdpdk.pc", "prefix=/usr\nCflags: -I${includedir}\n")
    put(pkgconfig / "libdpdk-libs.pc",
        "prefix=/usr\nCflags: -I${includedir} -include rte_config.h -march=corei7 -mrtm\n")
    assert asked(tmp_path).stdout.split("\n") == [
        f"-isystem{tmp_path}/include/dpdk",
        f"-isystem{tmp_path}/include/x86_64-linux-gnu/dpdk",
        "-include", "rte_config.h", "-march=corei7", "-mrtm", ""]


def test_as_upstream_installs_it(tmp_path: Path) -> None:
    for name in ("rte_ethdev.h", "rte_build_config.h"):
        put(tmp_path / "include" / name)
    assert asked(tmp_path).stdout.split() == [f"-isystem{tmp_path}/include", "-include",
                                              "rte_config.h"]


@pytest.mark.parametrize(("prefix", "trouble"), [
    ("/nowhere", "there is no folder /nowhere"),
    ("usr", "usr is no absolute path"),
    ("/dev", "no rte_ethdev.h below /dev/include")])
def test_no_dpdk(prefix: str, trouble: str) -> None:
    done = asked(prefix)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (f"{trouble}: name a folder that holds include/dpdk (Debian: libdpdk-dev)"
                           " or include/rte_ethdev.h\n")


def test_half_of_it(tmp_path: Path) -> None:
    put(tmp_path / "include" / "dpdk" / "rte_ethdev.h")
    assert f"no rte_build_config.h below {tmp_path}/include: " in asked(tmp_path).stderr
