# SPDX-License-Identifier: BSD-3-Clause
"""lull mpi: what is set, what a node lacks, who gets which ranks."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import one_line
from lull.cli import main
from lull.doctor.check import Check
from lull.errors import LullError
from lull.mpi import check as mpi_check
from lull.mpi import env as mpi_env
from lull.mpi import nodes as mpi_nodes
from lull.mpi import run as mpi_run
from lull.mpi.check import Probed, examine
from lull.mpi.env import Setting
from lull.mpi.nodes import Agent, Cluster, Node
from lull.mpi.run import Report
from lull.program.tree import Tree
from machine_tree import write

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.usefixtures("signals", "clean")


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of whoever runs the tests."""
    for name in (*mpi_env.NAMES, "FI_PROVIDER_PATH", "LULL_BUILD", mpi_nodes.AGENT,
                 mpi_nodes.AGENT_ARGUMENTS, mpi_nodes.HOSTFILE, "SLURM_JOB_ID", mpi_run.BINDING):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def provider(tmp_path: Path) -> Path:
    """A folder with a file of the provider's name."""
    folder = tmp_path / "fi"
    folder.mkdir()
    (folder / "liblull-fi.so").write_text("")
    return folder


# ---- env ----

def test_env_prints_what_a_shell_reads(provider: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mpi", "env", f"--provider={provider}", "--rail", "kernel:eth0",
                 "--rail", "kernel:eth1,port=7", "--key", "/k/it's", "--max-rest", "0"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"export FI_PROVIDER_PATH={provider}",
        "export FI_LULL_RAILS='kernel:eth0 kernel:eth1,port=7'",
        "export FI_LULL_KEY='/k/it'\"'\"'s'",
        "export FI_LULL_MAX_REST=0",
        "export OMPI_MCA_pml=cm",
        "export OMPI_MCA_mtl=ofi",
        "export OMPI_MCA_mtl_ofi_provider_include=lull"]


def test_env_as_a_file_of_open_mpi(provider: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mpi", "env", f"--provider={provider}", "--rail=kernel:a", "--rail=kernel:b",
                 "--security=open", "--format=openmpi-mca-params.conf"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "pml = cm", "mtl = ofi", "mtl_ofi_provider_include = lull",
        f"mca_base_env_list = FI_PROVIDER_PATH={provider};FI_LULL_RAILS=kernel:a kernel:b;"
        "FI_LULL_SECURITY=open"]


def test_env_takes_variables_where_options_are_silent(
        provider: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("FI_PROVIDER_PATH", f"/elsewhere:{provider}")
    monkeypatch.setenv("FI_LULL_RAILS", "kernel:a,port=7,dpdk:x  kernel:b")
    monkeypatch.setenv("FI_LULL_SECURITY", "open")
    monkeypatch.setenv("FI_LULL_PEERS", "9")
    assert main(["mpi", "env", "--peers", "7"]) == 0
    out = capsys.readouterr().out
    assert f"FI_PROVIDER_PATH=/elsewhere:{provider}\n" in out
    assert "FI_LULL_RAILS='kernel:a,port=7 dpdk:x kernel:b'\n" in out
    assert "FI_LULL_PEERS=7\n" in out


@pytest.mark.parametrize(("words", "said"), [
    ([], "which network ports"),
    (["--rail", "kernel:a"], "the nodes need a key"),
    (["--rail", "kernel:a kernel:b", "--security=open"], "one port without blanks"),
    (["--rail", "kernel:a", "--security=open", "--key=k"], "needs no key"),
    (["--rail", "kernel:a", "--security=none"], "'none' is not one of"),
    (["--rail", "kernel:a", "--security=open", "--max-rest=long"], "'--max-rest'"),
    (["--rail", "kernel:a;b", "--security=open", "--format=openmpi-mca-params.conf"],
     "cannot hold a value with ';'"),
])
def test_env_refuses(words: list[str], said: str, provider: Path,
                     capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mpi", "env", f"--provider={provider}", *words]) == 2
    assert said in one_line(capsys)


def test_every_parameter_has_an_option() -> None:
    """And there is no option that the provider would not know."""
    defined = re.findall(r'fi_param_define\(\s*&lull_fi_provider, "(\w+)"',
                         (ROOT / "fi/param.c").read_text())
    names = {f"FI_LULL_{name.upper()}" for name in defined}
    assert names == set(mpi_env.NAMES)


def test_provider_is_found(tmp_path: Path, provider: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the user says, then FI_PROVIDER_PATH, the build, the installation."""
    other = tmp_path / "other"
    assert mpi_env.provider_path(str(other), {}) == str(other)
    there = {"FI_PROVIDER_PATH": f"{other}:@{provider}", "LULL_BUILD": str(tmp_path)}
    assert mpi_env.provider_path(None, there) == f"{other}:@{provider}"
    assert mpi_env.provider_path(None, {"LULL_BUILD": str(tmp_path)}) == str(provider)
    there = {"FI_PROVIDER_PATH": str(other), "LULL_BUILD": str(tmp_path)}
    assert mpi_env.provider_path(None, there) == f"{provider}:{other}"
    prefix = tmp_path / "usr"
    monkeypatch.setattr(mpi_env, "CHECKOUT", prefix / "share" / "lull")
    installed = prefix / "lib" / "x86_64-linux-gnu" / "lull" / "fi"
    installed.mkdir(parents=True)
    with pytest.raises(LullError, match=r"liblull-fi\.so is not there"):
        mpi_env.provider_path(None, {})
    (installed / "liblull-fi.so").write_text("")
    assert mpi_env.provider_path(None, {}) == str(installed)


# ---- check ----

def net(name: str, mtu: int = 1500, flags: str = "0x1003", mbps: int = 1000) -> dict[str, str]:
    at = f"sys/class/net/{name}"
    return {f"{at}/mtu": str(mtu), f"{at}/flags": flags, f"{at}/speed": str(mbps)}


def setting(*rails: str, folder: str = "/nowhere", **more: str) -> Setting:
    return Setting(folder, {"FI_LULL_RAILS": " ".join(rails), "FI_LULL_SECURITY": "open",
                            **{f"FI_LULL_{name}": text for name, text in more.items()}})


class Library:
    """Answers in the place of libfabric."""

    def __init__(self, listed: Probed, opened: Probed) -> None:
        self.answers = {False: listed, True: opened}
        self.opened = 0

    def __call__(self, chosen: Setting, opening: bool) -> Probed:
        assert chosen.rails()
        self.opened += opening
        return self.answers[opening]


LISTED = Probed(version="1.17", listed=True)
OPENED = Probed(version="1.17", listed=True, opened=True)


@pytest.fixture
def open_mpi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the PATH with stand-ins."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script(folder / "mpirun", "exit 0")
    script(folder / "ompi_info", "echo ompi:version:full:4.1.4; echo mca:mtl:ofi:version:x")
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def failed(checks: list[Check]) -> dict[str, str]:
    return {one.name: f"{one.found} -> {one.remedy}" for one in checks if one.status == "fail"}


def test_check_is_content(tmp_path: Path, provider: Path, open_mpi: Path) -> None:
    assert open_mpi
    write(tmp_path, net("eth0") | {"proc/sys/kernel/random/boot_id": "one"})
    library = Library(LISTED, OPENED)
    checks = examine(setting("kernel:eth0", "node:", folder=str(provider)), 1, Tree(tmp_path),
                     library, {"FI_LULL_RAILS": "x", "FI_LOG_LEVEL": "warn"})
    assert failed(checks) == {}
    assert library.opened == 1
    by_name = {one.name: one for one in checks}
    assert by_name["rail kernel:eth0"].data == {"mtu": 1500, "mbps": 1000}
    assert by_name["CPUs"].data["machine"] == "one"
    assert by_name["Open MPI"].data == {"version": "4.1.4"}


@pytest.mark.parametrize(("rail", "ranks", "said"), [
    ("kernel:eth7", 1, "no network port eth7.*--rail with one of these: eth0, eth1"),
    ("kernel-busy:eth7,port=9", 1, "no network port eth7"),
    ("dpdk:af_packet=eth7", 1, "no network port eth7"),
    ("kernel:eth1", 1, "eth1 is down.*ip link set dev eth1 up"),
    ("dpdk:0000:01:00.0", 2, "belongs to one process, and 2 ranks.*lull-channel-node --rail dpdk"),
])
def test_check_rail(rail: str, ranks: int, said: str, tmp_path: Path) -> None:
    write(tmp_path, net("eth0") | net("eth1", flags="0x1002"))
    found = failed([mpi_check.check_rail(rail, ranks, Tree(tmp_path))])
    assert re.search(said, found[f"rail {rail}"])


def test_check_of_what_is_missing_opens_nothing(tmp_path: Path, provider: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, net("eth0"))
    monkeypatch.setenv("PATH", "/nowhere")
    library = Library(Probed(error="libfabric.so.1: cannot open"), Probed())
    found = failed(examine(setting("kernel:eth0", folder=str(provider)), 0, Tree(tmp_path),
                           library, {"FI_LULL_RAIL": "kernel:eth0"}))
    assert library.opened == 0
    assert found["libfabric"] == "libfabric.so.1: cannot open -> install the package libfabric1"
    assert "package openmpi-bin" in found["Open MPI"]
    assert "no variable FI_LULL_RAIL -> unset FI_LULL_RAIL; was FI_LULL_RAILS meant?" in found[
        "variables"]


def test_check_open_mpi_without_libfabric(open_mpi: Path) -> None:
    script(open_mpi / "ompi_info", "echo ompi:version:full:5.0; echo mca:mtl:psm2:x")
    assert "5.0 was built without mtl/ofi" in failed([mpi_check.check_open_mpi()])["Open MPI"]


def test_check_of_an_old_libfabric() -> None:
    assert mpi_check.check_libfabric(Probed(version="1.9")).status == "fail"
    assert mpi_check.check_libfabric(Probed(version="1.17")).status == "ok"
    assert mpi_check.check_libfabric(Probed(version="2.0")).status == "ok"


def test_check_provider_says_why(provider: Path) -> None:
    unlisted = Probed(version="1.17", error="No data", said=("FI_LULL_X: give a number.",))
    found = failed([mpi_check.check_provider(setting("a", folder=str(provider)), unlisted)])
    assert "FI_LULL_X: give a number" in found["provider"]
    empty = failed([mpi_check.check_provider(setting("a", folder="/nowhere"), unlisted)])
    assert "FI_PROVIDER_PATH=/nowhere holds no liblull-fi.so" in empty["provider"]


def test_check_channel_says_why() -> None:
    found = failed([mpi_check.check_channel(Probed(error="No such device", said=(
        "rail node:: nobody serves /run/x: start lull-channel-node",)))])
    assert "nobody serves /run/x: start lull-channel-node" in found["channel"]


def test_check_key(tmp_path: Path) -> None:
    def found(path: Path) -> Check:
        return mpi_check.check_key(Setting("", {"FI_LULL_KEY": str(path)}))

    path = tmp_path / "key"
    assert "No such file" in found(path).found
    path.write_text("one")
    path.chmod(0o640)
    assert found(path).remedy == f"chmod 600 {path}"
    path.chmod(0o600)
    digest = found(path).data["digest"]
    assert found(path).status == "ok"
    path.write_text("two")
    assert found(path).data["digest"] != digest
    assert "two" not in found(path).model_dump_json()
    assert mpi_check.check_key(Setting("", {})).status == "fail"


def test_what_the_provider_says_is_picked_from_the_log() -> None:
    said = ("libfabric:1:2::core:core:fi_getinfo_():1230<warn> fi_getinfo: provider lull returned",
            "libfabric:1:2::lull:core:ep_open_channel():190<warn> rail kernel:x: no <such> port",
            "libfabric:1:2:ofi_rxm:lull:core:lull_fi_getinfo():154<warn> FI_LULL_X: wrong")
    found = [match[1] for line in said if (match := mpi_check.SAID.match(line))]
    assert found == ["rail kernel:x: no <such> port", "FI_LULL_X: wrong"]


# ---- nodes ----

def test_nodes() -> None:
    assert mpi_nodes.parse("a,10.0.0.2:3") == (Node("a"), Node("10.0.0.2", 3))
    for wrong in ("", "a,,b", "a:0", "a b", "-x", "a:b"):
        with pytest.raises(LullError, match="names or addresses"):
            mpi_nodes.parse(wrong)
    with pytest.raises(LullError, match="a is there twice"):
        mpi_nodes.parse("a,b,a:2")


def test_ranks_of_nodes() -> None:
    def shared(text: str, ranks: int) -> list[int]:
        return Cluster(mpi_nodes.parse(text), Agent(("ssh",))).shared(ranks)

    assert shared("a,b", 4) == [2, 2]
    assert shared("a,b", 3) == [2, 1]
    assert shared("a:3,b:1", 4) == [3, 1]
    assert shared("a,b,c", 1) == [1, 0, 0]
    assert Cluster((), Agent(("ssh",))).shared(5) == [5]
    with pytest.raises(LullError, match="5 ranks do not fit: the nodes have 4 places"):
        shared("a:3,b:1", 5)


def test_nodes_of_a_hostfile(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("# workers\nw-0.job.ns.svc slots=2\n\nw-1.job.ns.svc slots = 1 # last\nw-2\n")
    found = mpi_nodes.cluster(None, None, {mpi_nodes.HOSTFILE: str(path),
                                           mpi_nodes.AGENT_ARGUMENTS: "-o ConnectionAttempts=10"})
    assert found.nodes == (Node("w-0.job.ns.svc", 2), Node("w-1.job.ns.svc", 1), Node("w-2"))
    assert found.told
    assert found.agent.command("w-2", ["a b", "c"]) == [
        "ssh", "-o", "ConnectionAttempts=10", "w-2", "'a b' c"]
    path.write_text("# none\n")
    with pytest.raises(LullError, match="names no node"):
        mpi_nodes.hostfile(path)


def test_nodes_of_a_slurm_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / "scontrol", 'test "$*" = "show hostnames n[1-3]" && echo n1 n2 n3')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    job = {"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "n[1-3]", "SLURM_TASKS_PER_NODE": "2(x2),1"}
    found = mpi_nodes.cluster(None, None, job)
    assert found.nodes == (Node("n1", 2), Node("n2", 2), Node("n3", 1))
    assert found.agent.command("n2", ["a b"])[0] == "srun"
    assert found.agent.command("n2", ["a b"])[-2:] == ["--nodelist=n2", "a b"]
    said = mpi_nodes.cluster("x", "rsh -l me", job)
    assert said.nodes == (Node("x"),)
    assert said.agent.command("x", ["true"]) == ["rsh", "-l", "me", "x", "true"]
    assert not said.told


def test_this_machine() -> None:
    assert mpi_nodes.is_here("localhost")
    assert mpi_nodes.is_here("127.0.0.1")
    assert not mpi_nodes.is_here("192.0.2.1")  # of no machine
    assert not mpi_nodes.is_here("no-such-node.invalid")


def test_mpirun_has_the_agent_with_its_arguments_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(mpi_nodes.AGENT_ARGUMENTS, "-o ConnectionAttempts=10")
    job = mpi_run.Job(setting("kernel:a"), mpi_nodes.cluster("a", None, dict(os.environ)), 1,
                      ("prog",), "lull")
    own = mpi_run.environment(job, job.setting)
    assert own[mpi_nodes.AGENT] == "ssh -o ConnectionAttempts=10"
    assert mpi_nodes.AGENT_ARGUMENTS not in own
    assert (own["FI_LOG_LEVEL"], own["FI_LOG_PROV"]) == ("warn", "lull")
    monkeypatch.setenv("FI_LOG_LEVEL", "debug")
    assert mpi_run.environment(job, job.setting)["FI_LOG_LEVEL"] == "debug"


# ---- run: what is made of the nodes' answers ----

def report(name: str, ranks: int = 1, cpus: int = 4, machine: str = "", digest: str = "k",
           mtu: int = 1500, version: str = "4.1.4", **bad: str) -> Report:
    def one(check: str, **data: Any) -> Check:
        return Check(name=check, status="fail" if check in bad else "ok",
                     found=bad.get(check, "fine"), remedy="mend it" * (check in bad), data=data)

    return Report(Node(name), ranks, (
        one("Open MPI", version=version), one("provider"), one("key", digest=digest),
        one("rail kernel:eth0", mtu=mtu, mbps=1000),
        one("CPUs", cpus=cpus, machine=machine or name)))


def test_judge_names_node_and_remedy() -> None:
    assert mpi_run.judge([report("a"), report("b")]) == []
    with pytest.raises(LullError, match=r"^node b: not listed: mend it$"):
        mpi_run.judge([report("a"), report("b", provider="not listed")])
    with pytest.raises(LullError, match=r"^not listed: mend it$"):
        mpi_run.judge([report("a", provider="not listed")])
    with pytest.raises(LullError, match="node b has another key than node a"):
        mpi_run.judge([report("a"), report("b", digest="other")])


def test_judge_remarks_what_differs() -> None:
    remarks = mpi_run.judge([report("a"), report("b", mtu=9000), report("c", version="5.0.9")])
    assert remarks == [
        "rail kernel:eth0 has MTU 9000 on node b and 1500 on node a: all rails send packets for "
        "the smallest",
        "node c has Open MPI 5.0.9, node a 4.1.4: such jobs may not start; install one version"]


def test_binding() -> None:
    own = [report("a", 4), report("b", 4)]
    assert mpi_run.choose_binding(own, "") == mpi_run.AS_IT_IS
    assert mpi_run.choose_binding(own, "core") == "core"
    full = [report("a", 4), report("b", 5)]
    assert mpi_run.choose_binding(full, "") == "none"
    assert mpi_run.choose_binding(full, "none") == "none"
    with pytest.raises(LullError, match="'--bind-to core' lets each keep others"):
        mpi_run.choose_binding(full, "core")
    # Two nodes that are one machine: mpirun on each would begin with the first core.
    assert mpi_run.choose_binding([report("a", machine="m"), report("b", machine="m")],
                                  "") == "none"
