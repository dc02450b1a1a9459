# SPDX-License-Identifier: BSD-3-Clause
"""Hugepages: what a machine lacks, what lull wrap adds, and when it keeps its hands off."""

import os
import signal
from pathlib import Path
from shutil import copy, which

import pytest

from lull.cli import main
from lull.program.programs import connect_started
from lull.program.telemetry import Telemetry
from lull.program.tree import Tree
from lull.wrap import hugepages
from machine_tree import write
from test_wrap import DEADLINE_S, built_plugin, lull, wait_for

POOL = "sys/kernel/mm/hugepages/hugepages-{}kB/{}_hugepages"
NO_HUGE = ("--no-huge", "-m", "1024")
pytestmark = pytest.mark.usefixtures("signals")


def machine(root: Path, pages: dict[str, int] | None = None, mount: str = "",
            size_kb: int = 2048, memory_kb: int = 16 << 20) -> Tree:
    """A machine with one pool of pages and perhaps a hugetlbfs."""
    (root / "huge").mkdir(parents=True)
    write(root, {"proc/mounts": f"proc /proc proc rw 0 0\n{mount}",
                 "proc/meminfo": f"MemTotal: {memory_kb} kB\nHugepagesize: 2048 kB",
                 **{POOL.format(size_kb, what): str(count)
                    for what, count in (pages or {"nr": 0, "free": 0}).items()}})
    return Tree(root)


FREE = {"nr": 8, "free": 8, "resv": 0}
MOUNT = "none /huge hugetlbfs rw,relatime 0 0"


@pytest.mark.parametrize(("pages", "mount", "size_kb", "expected"), [
    (FREE, MOUNT, 2048, ()),
    (FREE, MOUNT + "\n", 2048, ()),
    (FREE, "none /huge hugetlbfs rw,pagesize=2M 0 0", 2048, ()),
    (FREE, "none /huge hugetlbfs rw,pagesize=1024M 0 0", 1 << 20, ()),
    # Pages of one size are no use to a hugetlbfs of another.
    (FREE, MOUNT, 1 << 20, ("--in-memory",)),
    (FREE, "", 2048, ("--in-memory",)),
    (FREE, "none /not/there hugetlbfs rw 0 0", 2048, ("--in-memory",)),
    (None, MOUNT, 2048, NO_HUGE),
    ({"nr": 8, "free": 0}, MOUNT, 2048, NO_HUGE),
    # EAL leaves alone what the kernel has promised to others, and takes what it may add.
    ({"nr": 8, "free": 3, "resv": 3}, MOUNT, 2048, NO_HUGE),
    ({"nr": 0, "free": 0, "nr_overcommit": 4, "surplus": 4}, MOUNT, 2048, NO_HUGE),
    ({"nr": 0, "free": 0, "nr_overcommit": 4, "surplus": 1}, MOUNT, 2048, ()),
])
def test_what_a_machine_needs(tmp_path: Path, pages: dict[str, int] | None, mount: str,
                              size_kb: int, expected: tuple[str, ...]) -> None:
    tree = machine(tmp_path, pages, mount, size_kb)
    assert hugepages.look(tree).arguments() == expected
    arguments, remark = hugepages.added(["testpmd", "-l", "0,1", "--", "-i"], tree)
    assert arguments == expected
    if expected:
        assert f"adding '{' '.join(expected)}'; --memory as-is" in remark
    else:
        assert remark == ""


def test_no_machine_at_all(tmp_path: Path) -> None:
    assert hugepages.look(Tree(tmp_path)).arguments() == NO_HUGE
    small = machine(tmp_path / "small", memory_kb=1 << 20)
    assert hugepages.look(small).arguments() == ("--no-huge", "-m", "512")


def test_a_mount_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = machine(tmp_path, FREE, MOUNT)
    if os.geteuid() == 0:  # who may write everywhere
        monkeypatch.setattr(os, "access", lambda *_: False)
    (tmp_path / "huge").chmod(0o555)
    assert hugepages.look(tree).arguments() == ("--in-memory",)


@pytest.mark.parametrize("words", [
    "-m 256", "-m256", "--no-huge", "--no-hug", "--in-memory", "--in-m", "--huge-dir /huge",
    "--huge-dir=/huge", "--huge-unlink", "--huge-unlink=never", "--socket-mem 512",
    "--socket-mem=512", "--socket-limit=1", "--legacy-mem", "--single-file-segments",
    "--proc-type=secondary", "--proc-type auto"])
def test_the_command_decides(tmp_path: Path, words: str) -> None:
    tree = machine(tmp_path)
    assert hugepages.added(["testpmd", "-l", "0", *words.split(), "--", "-i"], tree) == ((), "")


@pytest.mark.parametrize("words", [
    "", "-l 0 -- -m 3 --no-huge", "--no-pci", "--no-hpet", "--proc-type primary",
    "--proc-type=primary", "--main-lcore 1"])
def test_it_does_not(tmp_path: Path, words: str) -> None:
    assert hugepages.added(["testpmd", *words.split()], machine(tmp_path))[0] == NO_HUGE


def test_wrap_says_and_does(plugin: Path, tmp_path: Path,
                            capsys: pytest.CaptureFixture[str]) -> None:
    machine(tmp_path / "bare")
    machine(tmp_path / "rich", FREE, MOUNT)

    def printed(root: str, *options: str) -> tuple[str, str]:
        assert main(["wrap", "--print", "--root", str(tmp_path / root), "--plugin", str(plugin),
                     *options, "--", "true", "-l", "0", "--", "-i"]) == 0
        captured = capsys.readouterr()
        return captured.out.partition(" true ")[2].strip(), captured.err

    remark = ("lull: no free hugepages: adding '--no-huge -m 1024'; "
              "--memory as-is leaves memory to the command\n")
    assert printed("bare") == (f"-d {plugin} --no-huge -m 1024 -l 0 -- -i", remark)
    assert printed("bare", "--memory", "as-is") == (f"-d {plugin} -l 0 -- -i", "")
    assert printed("bare", "--no-place") == ("-l 0 -- -i", "")
    assert printed("rich") == (f"-d {plugin} -l 0 -- -i", "")


@pytest.mark.skipif(which("dpdk-testpmd") is None, reason="needs dpdk-testpmd")
@pytest.mark.skipif(built_plugin() is None, reason="needs the plugin, 'make build' makes it")
def test_testpmd_starts(safe: Path, tmp_path: Path) -> None:
    """As one would type it, on a machine that has none."""
    built = built_plugin()
    assert built is not None
    machine(tmp_path / "bare")
    output = tmp_path / "output"
    with output.open("wb") as log, lull(
            "wrap", "--root", tmp_path / "bare", "--plugin", copy(built, safe), "--",
            "dpdk-testpmd", "-l", "0,1", "--no-pci", "--file-prefix", f"lull-huge-{os.getpid()}",
            "--vdev", "net_null0", "--", "--auto-start", stdout=log, stderr=log) as process:
        def connected() -> Telemetry | None:
            assert process.poll() is None, output.read_text()
            return connect_started(process.pid)

        try:
            with wait_for("telemetry", connected) as telemetry:
                wait_for("a thread that polls", telemetry.loops)
        finally:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=DEADLINE_S)
        assert process.returncode == 0
    assert "EAL: FATAL" not in output.read_text()
