# SPDX-License-Identifier: BSD-3-Clause
"""lull mpi run from its command line, on nodes that are stand-ins: key, signals, exit status."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
KEY = re.compile(r"[0-9a-f]{64}\n")
NODES = "node-x.invalid,node-y.invalid"
TIMEOUT_S = 30.0
# What carries commands; it leaves behind what it was given.
AGENT = """node=$1; shift
printf '%s\\n' "$node $*" >>"$FAKE/agent"
test ! -e "$FAKE/deaf" || { echo "no way to $node" >&2; exit 255; }
NODE=$node exec sh -c "$*"
"""
# The lull command of a node: what `mpi check` prints there.
LULL = """for word; do case $word in --key=*)
	{ stat -c '%a %n' "${word#--key=}"; cat "${word#--key=}"; } >"$FAKE/key-$NODE";;
esac; done
printf '%s\\n' "$NODE $*" >>"$FAKE/asked"
test ! -e "$FAKE/hangs" || { touch "$FAKE/hanging-$NODE"; exec sleep 60; }
cat "$FAKE/$NODE.json" || exit 127
"""
MPIRUN = """printf '%s\\n' "$@" >"$FAKE/words"
env >"$FAKE/environment"
"""


class Job:
    """A folder of stand-ins, and calls of lull among them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in {"agent.sh": AGENT, "lull": LULL, "mpirun": MPIRUN}.items():
            self.script(name, text)
        self.provider = folder / "fi"
        self.provider.mkdir()
        (self.provider / "liblull-fi.so").write_text("")
        for node in NODES.split(","):
            self.answers(node)

    def script(self, name: str, text: str) -> None:
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text}")
        path.chmod(0o755)

    def answers(self, node: str, cpus: int = 8, **bad: str) -> None:
        """What a check of this node finds."""
        checks: list[dict[str, Any]] = [
            {"name": name, "status": "fail", "found": text, "remedy": "mend it"}
            for name, text in bad.items()]
        checks.append({"name": "CPUs", "status": "ok", "found": "",
                       "data": {"cpus": cpus, "machine": node}})
        (self.folder / f"{node}.json").write_text(
            "a banner\n" + json.dumps({"checks": checks}))

    def command(self, *words: str, rails: tuple[str, ...] = ("kernel:r0", "kernel:r1"),
                before: tuple[str, ...] = ()) -> list[str]:
        """The command line; @p before: words that become it."""
        return [sys.executable, *before, "-m", "lull", "mpi", "run", f"--nodes={NODES}",
                f"--provider={self.provider}", *[f"--rail={rail}" for rail in rails],
                f"--agent={self.folder}/agent.sh", f"--lull={self.folder}/lull",
                "--allow-run-as-root", *words]

    def environment(self) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items()
               if not name.startswith(("FI_", "OMPI_", "SLURM_"))}
        return own | {"PYTHONPATH": str(ROOT / "python"), "FAKE": str(self.folder),
                      "PATH": f"{self.folder}:{os.environ['PATH']}"}

    def start(self, *words: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(self.command(*words), env=self.environment(),
                                stdin=subprocess.DEVNULL, preexec_fn=heed)  # noqa: PLW1509

    def run(self, *words: str, rails: tuple[str, ...] = ("kernel:r0", "kernel:r1"),
            **variables: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(self.command(*words, rails=rails), check=False,
                              env=self.environment() | variables, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=TIMEOUT_S)

    def text(self, name: str) -> str:
        path = self.folder / name
        return path.read_text() if path.exists() else ""

    def key_file(self) -> Path:
        """Where the key of the job was."""
        found = re.match(r"600 (/dev/shm/lull-mpi-\w+\.key)\n", self.text("key-node-x.invalid"))
        assert found is not None
        return Path(found[1])


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


def heed() -> None:
    """Whoever runs the tests in the background may have us ignore these."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def one_sentence(done: "subprocess.CompletedProcess[str]") -> str:
    assert done.stderr.startswith("lull: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_mpirun_gets_nodes_and_variables(job: Job) -> None:
    done = job.run("-n", "3", "--max-rest=5", "--mpirun=--mca oob tcp", "--", "prog", "-n", "9")
    assert (done.returncode, done.stderr) == (0, "")
    words = job.text("words").split("\n")[:-1]
    assert words[:4] == ["-n", "3", "--host", "node-x.invalid:2,node-y.invalid:1"]
    assert words[-6:] == ["--mca", "oob", "tcp", "prog", "-n", "9"]
    handed = {words[at + 1] for at, word in enumerate(words) if word == "-x"}
    assert {"FI_PROVIDER_PATH", "FI_LULL_RAILS", "FI_LULL_KEY", "FI_LULL_MAX_REST"} <= handed
    own = dict(line.split("=", 1) for line in job.text("environment").splitlines() if "=" in line)
    assert own["FI_LULL_RAILS"] == "kernel:r0 kernel:r1"
    assert own["FI_LULL_MAX_REST"] == "5"
    assert own["FI_PROVIDER_PATH"] == str(job.provider)
    assert own["OMPI_MCA_pml"] == "cm"
    assert own["OMPI_MCA_plm_rsh_agent"] == f"{job.folder}/agent.sh"
    assert handed <= own.keys()
    assert "--bind-to" not in words


def test_each_node_is_asked(job: Job) -> None:
    assert job.run("-n", "3", "--", "prog").returncode == 0
    asked = sorted(job.text("asked").splitlines())
    assert [line.split()[:4] for line in asked] == [
        ["node-x.invalid", "mpi", "check", "--json"], ["node-y.invalid", "mpi", "check", "--json"]]
    assert "--ranks=2" in asked[0]
    assert "--ranks=1" in asked[1]
    assert f"--provider={job.provider} --rail=kernel:r0 --rail=kernel:r1 --key=" in asked[1]


def test_key_is_on_the_nodes_while_the_job_runs(job: Job) -> None:
    """And in no command line and no environment."""
    job.script("mpirun", MPIRUN + 'cat "$FI_LULL_KEY" >"$FAKE/used"; exit 5')
    assert job.run("-n", "2", "--", "prog").returncode == 5
    path = job.key_file()
    key = job.text("used")
    assert KEY.fullmatch(key)
    for node in NODES.split(","):
        assert job.text(f"key-{node}") == f"600 {path}\n{key}"
    assert not path.exists()
    for name in ("agent", "asked", "words", "environment"):
        assert job.text(name)
        assert key.strip() not in job.text(name)
    before = key
    assert job.run("-n", "2", "--", "prog").returncode == 5
    assert job.text("used") != before


def test_no_key_where_one_is_named_or_none_is_needed(job: Job) -> None:
    own = job.folder / "own.key"
    own.write_text("k\n")
    for words, value in ((["--security=open"], None), ([f"--key={own}"], str(own))):
        assert job.run("-n", "2", *words, "--", "prog").returncode == 0
        found = re.search(r"^FI_LULL_KEY=(.*)$", job.text("environment"), re.MULTILINE)
        assert (found and found[1]) == value
        assert "/dev/shm" not in job.text("agent")
    assert own.exists()


@pytest.mark.parametrize(("status", "expected"), [("exit 7", 7), ("kill -SEGV $$", 139)])
def test_exit_status_is_that_of_mpirun(job: Job, status: str, expected: int) -> None:
    job.script("mpirun", f"ulimit -c 0; {status}")
    done = job.run("-n", "2", "--", "prog")
    assert (done.returncode, done.stderr) == (expected, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_go_to_mpirun(job: Job, number: signal.Signals) -> None:
    name = number.name.removeprefix("SIG")
    job.script("mpirun", f"trap 'echo {name} >>\"$FAKE/came\"; exit 33' {name}\n"
                         'touch "$FAKE/there"; while :; do sleep 0.05; done')
    with job.start("-n", "2", "--", "prog") as process:
        wait_for((job.folder / "there").exists)
        assert job.key_file().exists()
        process.send_signal(number)
        assert process.wait(TIMEOUT_S) == 33
    assert job.text("came") == f"{name}\n"
    assert not job.key_file().exists()


def test_a_terminal_interrupts_once(job: Job) -> None:
    """It sends the signal to mpirun as well, to which a second one means: at once."""
    job.script("mpirun", "trap 'echo INT >>\"$FAKE/came\"' INT\n"
                         'touch "$FAKE/there"; while :; do sleep 0.05; '
                         'test ! -e "$FAKE/enough" || exit 4; done')
    ours, theirs = pty.openpty()
    # A session whose terminal this is, as after a login.
    take = ("import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
            "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])")
    with subprocess.Popen(job.command("-n", "2", "--", "prog", before=("-c", take)), stdin=theirs,
                          env=job.environment(), start_new_session=True,
                          preexec_fn=heed) as process:  # noqa: PLW1509
        wait_for((job.folder / "there").exists)
        os.write(ours, b"\x03")
        wait_for(lambda: job.text("came"))
        time.sleep(0.3)  # for one too many
        (job.folder / "enough").touch()
        assert process.wait(TIMEOUT_S) == 4
    os.close(ours)
    os.close(theirs)
    assert job.text("came") == "INT\n"


def test_a_signal_while_nodes_are_asked(job: Job) -> None:
    """Nothing runs, and no key stays."""
    (job.folder / "hangs").touch()
    with job.start("-n", "2", "--", "prog") as process:
        wait_for((job.folder / "hanging-node-x.invalid").exists)
        path = job.key_file()
        assert path.exists()
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT_S) == 128 + signal.SIGTERM  # before the 60 s are over
    assert not path.exists()
    assert not job.text("words")


def test_a_node_that_lacks_something(job: Job) -> None:
    job.answers("node-y.invalid", provider="libfabric does not list it")
    done = job.run("-n", "2", "--", "prog")
    assert done.returncode == 1
    assert one_sentence(done) == ("lull: node node-y.invalid: libfabric does not list it: "
                                  "mend it\n")
    assert not job.text("words")
    assert not job.key_file().exists()
    assert job.run("-n", "2", "--unchecked", "--", "prog").returncode == 0
    words = job.text("words").splitlines()
    assert words[words.index("--bind-to") + 1] == "none"  # nobody knows who shares cores


def test_a_node_that_is_not_reached(job: Job) -> None:
    (job.folder / "deaf").touch()
    done = job.run("-n", "2", "--", "prog")
    assert done.returncode == 1
    assert "node node-x.invalid cannot be reached: no way to node-x.invalid; " in one_sentence(done)


def test_a_node_without_lull(job: Job) -> None:
    (job.folder / "node-y.invalid.json").unlink()
    done = job.run("-n", "2", "--", "prog")
    assert done.returncode == 1
    assert f"node node-y.invalid has no {job.folder}/lull: install lull" in one_sentence(done)


def test_ranks_that_share_cores(job: Job) -> None:
    job.answers("node-y.invalid", cpus=1)
    assert job.run("-n", "4", "--", "prog").returncode == 0
    words = job.text("words").splitlines()
    assert words[words.index("--bind-to") + 1] == "none"
    done = job.run("-n", "4", "--bind-to=core", "--", "prog")
    assert done.returncode == 2
    assert "--bind-to none" in one_sentence(done)


def test_many_ranks_have_room_for_their_peers(job: Job) -> None:
    assert job.run("-n", "100", "--", "prog").returncode == 0
    assert "FI_LULL_PEERS=100\n" in job.text("environment")
    done = job.run("-n", "5000", "--", "prog")
    assert done.returncode == 2
    assert "a rank has at most 1024 peers" in one_sentence(done)


@pytest.mark.parametrize(("words", "said", "status"), [
    (["-n", "2", "--", "-x"], "options come before '--'", 2),
    (["-n", "0", "--", "prog"], "'-n'", 2),
    (["--", "prog"], "Missing option", 2),
    (["-n", "2", "--nodes=a b", "--", "prog"], "names or addresses", 2),
])
def test_what_is_refused(job: Job, words: list[str], said: str, status: int) -> None:
    done = job.run(*words)
    assert done.returncode == status
    assert said in one_sentence(done)
    assert not job.text("agent")


def test_a_variable_with_a_slip(job: Job) -> None:
    done = job.run("-n", "2", "--", "prog", FI_LULL_MAXREST="0")
    assert done.returncode == 1
    assert "unset FI_LULL_MAXREST; was FI_LULL_MAX_REST meant?" in one_sentence(done)
    assert not job.text("agent")


def test_nodes_without_rails(job: Job) -> None:
    done = job.run("-n", "2", "--", "prog", rails=())
    assert done.returncode == 2
    assert "which network ports join the nodes" in one_sentence(done)
