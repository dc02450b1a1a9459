# SPDX-License-Identifier: BSD-3-Clause
"""lull wrap takes the plugin for the program's DPDK, or says why there is none."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import which

import pytest

from linked import ENTRY, SCRIPT, dpdk, library, program, text
from lull.errors import LullError
from lull.wrap import plugin_file, program_dpdk
from lull.wrap.program_dpdk import Unwrapped

ROOT = Path(__file__).resolve().parents[2]
DRIVERS = "/opt/lib/dpdk/pmds-24.0"


def find(path: Path, **environment: str) -> int:
    return program_dpdk.find(path, environment)


def why(path: Path, **environment: str) -> str:
    with pytest.raises(Unwrapped) as caught:
        find(path, **environment)
    return str(caught.value)


# ---- shared ----


@pytest.mark.parametrize(("number", "abi"), [("23", 23), ("25", 25), ("26.1", 26), ("20.0", 20)])
def test_shared(tmp_path: Path, number: str, abi: int) -> None:
    assert find(program(tmp_path / "program", needs=(dpdk(tmp_path, number),))) == abi


def test_ethdev_alone(tmp_path: Path) -> None:
    assert find(program(tmp_path / "program",
                        needs=(library(tmp_path / "librte_ethdev.so.25"),))) == 25


def test_through_libraries_of_its_own(tmp_path: Path) -> None:
    """Found next to the library that needs it, two libraries further on."""
    inner = dpdk(tmp_path / "deep", "24")
    middle = library(tmp_path / "libmiddle.so", "", "-x", "none", str(inner),
                     "-Wl,-rpath,$ORIGIN/deep")
    outer = library(tmp_path / "libouter.so", "", "-x", "none", str(middle), "-Wl,-rpath,$ORIGIN")
    assert find(program(tmp_path / "program", needs=(outer,))) == 24


def test_the_environment_decides(tmp_path: Path) -> None:
    """Two libraries of one name, each on another DPDK: the loader takes what it is told."""
    switches = {}
    for abi in ("23", "25"):
        eal = dpdk(tmp_path / abi, abi)
        switches[abi] = library(tmp_path / abi / "libswitch.so", "", "-x", "none", str(eal),
                                "-Wl,-rpath,$ORIGIN")
    both = program(tmp_path / "program", needs=(switches["23"],), found=False)
    for abi, switch in switches.items():
        assert find(both, LD_LIBRARY_PATH=str(switch.parent)) == int(abi)


def test_a_library_that_is_missing_has_a_name(tmp_path: Path) -> None:
    eal = dpdk(tmp_path, "26")
    lost = program(tmp_path / "program", needs=(eal,), found=False)
    eal.unlink()
    assert find(lost) == 26


# ---- static ----


def test_static(tmp_path: Path) -> None:
    linked = program(tmp_path / "program", SCRIPT + ENTRY + text(DRIVERS),
                     options=("-rdynamic",))
    assert find(linked) == 24
    older = program(tmp_path / "older", SCRIPT + ENTRY + text("this is DPDK 23.07.1, no less"),
                    options=("-rdynamic",))
    assert find(older) == 23


def test_static_in_a_library(tmp_path: Path) -> None:
    inside = library(tmp_path / "libwhole.so", ENTRY + text(DRIVERS))
    assert find(program(tmp_path / "program", needs=(inside,))) == 24


def test_static_without_exports(tmp_path: Path) -> None:
    hidden = program(tmp_path / "hidden", SCRIPT + ENTRY + text(DRIVERS))
    assert why(hidden) == ("hidden has DPDK 23.11 linked statically and exports none of its "
                           "functions: link it with --export-dynamic")


# ---- none at all ----


def test_without_dpdk(tmp_path: Path) -> None:
    for name, options in (("plain", ()), ("whole", ("-static",))):
        assert why(program(tmp_path / name, options=options)) == (
            f"{name} is not linked with DPDK: choose a plugin with --plugin if it loads DPDK later")
    # To call EAL's entry is not to have it.
    calls = program(tmp_path / "calls", "int rte_eal_init(void); int main(void) "
                    "{ return rte_eal_init(); }\n", options=("-rdynamic", "-Wl,-z,lazy",
                                                             "-Wl,--unresolved-symbols=ignore-all"))
    assert "is not linked with DPDK" in why(calls)


def test_no_elf_file(tmp_path: Path) -> None:
    script = tmp_path / "script"
    for first, interpreter in (("#!/usr/bin/env python3", "/usr/bin/env"), ("#! /bin/sh -e",
                               "/bin/sh"), ("#!", "/bin/sh"), ("#!\n", "/bin/sh")):
        script.write_text(f"{first}\ntrue\n")
        assert why(script) == (f"script is a script for {interpreter}: wrap the program that it "
                               "starts, or choose a plugin with --plugin")
    for content in (b"", b"hello", b"\x7fELF", b"\x7fELF" * 99):
        script.write_bytes(content)
        assert why(script).startswith("script is no program that can be linked with DPDK: ")
    assert "cannot be looked at (No such file or directory)" in why(tmp_path / "nothing")


@pytest.mark.parametrize("kept", [64, 200, 1000, 5000, 9000])
def test_cut_short(tmp_path: Path, kept: int) -> None:
    """Part of a program is told apart from one, and nothing worse."""
    whole = program(tmp_path / "program", needs=(dpdk(tmp_path, "25"),))
    whole.write_bytes(whole.read_bytes()[:kept])
    assert why(whole)


# ---- which plugin ----


def test_the_plugin_for_it(plugin: Path, tmp_path: Path) -> None:
    other = plugin.parents[1] / "dpdk-25" / plugin_file.NAME
    other.parent.mkdir()
    other.write_bytes(b"\x7fELF")
    (plugin.parents[1] / "dpdk-old").mkdir()
    for abi, path in (("23", plugin), ("25", other)):
        linked = program(tmp_path / "program", needs=(dpdk(tmp_path, abi),))
        assert plugin_file.choose(None, linked, {}) == (path, "")
        # What the user chose is not asked about.
        assert plugin_file.choose(plugin, linked, {}) == (plugin, "")
    assert plugin_file.abis() == [23, 25]
    unknown = program(tmp_path / "unknown", needs=(dpdk(tmp_path, "26"),))
    with pytest.raises(Unwrapped) as caught:
        plugin_file.choose(None, unknown, {})
    assert str(caught.value) == (
        "unknown runs on DPDK 25.11, and there are plugins for 22.11, 24.11 only: build one by "
        "'meson setup --reconfigure build -Ddpdk_prefixes=PREFIX' and 'make build', where "
        "PREFIX/include holds the headers of 25.11")
    old = program(tmp_path / "old", needs=(dpdk(tmp_path, "21"),))
    with pytest.raises(Unwrapped, match=r"^old runs on DPDK 20\.11, and the plugin needs 22\.11 "):
        plugin_file.choose(None, old, {})
    for path in (plugin, other):
        path.unlink()
    with pytest.raises(LullError, match="build it, or unset LULL_BUILD"):
        plugin_file.choose(None, unknown, {})


def wrapped(*command: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """lull wrap as a process."""
    everything = os.environ | {"PYTHONPATH": str(ROOT / "python")} | environment
    return subprocess.run([sys.executable, "-m", "lull", "wrap", "--memory", "as-is",
                           *map(str, command)], env=everything, text=True, capture_output=True,
                          timeout=60)


@pytest.mark.usefixtures("plugin")
def test_unknown_runs_as_it_was(tmp_path: Path) -> None:
    """One sentence; arguments, environment and exit status are as without us."""
    unknown = program(tmp_path / "unknown", needs=(dpdk(tmp_path, "26"),))
    tell = "#!/bin/sh\nprintf '%s\\n' \"$@\"\nenv | grep ^LULL_MAX\necho \"mode $LULL\"\nexit 7\n"
    script, inner = tmp_path / "script", tmp_path / "unknown.sh"
    for path in (script, inner):
        path.write_text(tell)
        path.chmod(0o755)
    for command in (unknown, script):
        for live in ([], ["--live"]):
            done = wrapped(*live, "--max-latency", "70", "--", command, "-l", "0-1", LULL="off")
            assert (done.returncode, done.stdout) == (7, "-l\n0-1\nmode off\n")
            first, *others = done.stderr.splitlines()
            assert first.startswith(f"lull: {command.name} ")
            assert first.endswith("; running it without the plugin")
            assert len(others) == len(live)  # that there was nothing to see
        done = wrapped("--print", "--", command, "-l", "0-1")
        assert done.stdout == f"{command} -l 0-1\n"


@pytest.mark.skipif(which("dpdk-testpmd") is None, reason="needs dpdk-testpmd")
def test_testpmd_as_debian_has_it() -> None:
    testpmd = Path(which("dpdk-testpmd") or "")
    listed = subprocess.run(["ldd", str(testpmd)], capture_output=True, text=True, check=True)
    assert f"librte_eal.so.{find(testpmd)} => " in listed.stdout
