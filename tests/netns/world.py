# SPDX-License-Identifier: BSD-3-Clause
"""A small world for end-to-end tests: namespaces, veth pairs, programs.

Everything a test makes belongs to a World and goes away with it: when the
`with` block ends, when an assertion fails, and when the test is told to stop.
Only the standard library is used; tests wait for conditions, never for time.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rights import take
from verdict import TIMEOUT_S, Failure, check, wait_for

TRIES = 3


class Skip(Exception):
    """A case cannot run here: what it needs."""


class Program:
    """A running lull program and its telemetry."""

    def __init__(self, world: World, name: str, argv: list[str], namespace: str | None) -> None:
        self.world = world
        self.name = name
        self.argv = argv
        self.stderr_path = world.path(f"{name}.stderr")
        self.json_path = world.path(f"{name}.json")
        prefix = ["ip", "netns", "exec", namespace] if namespace else []
        command = [*prefix, *argv, "--json", str(self.json_path)]
        with self.stderr_path.open("wb") as stderr:
            # ip(8) replaces itself by the program, so the pid is the program's
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=stderr, stderr=stderr, env=world.env
            )

    @property
    def socket_path(self) -> Path:
        """Below a name of the program, or of its library, and the process id."""
        name, program = f"*-{self.process.pid}/dpdk_telemetry.v2", Path(self.argv[0]).name
        found = sorted((self.world.runtime / "dpdk").glob(name))
        return found[0] if found else self.world.runtime / "dpdk" / name.replace("*", program)

    def stderr(self) -> str:
        return self.stderr_path.read_text(errors="replace").strip()

    def ask(self, command: str) -> Any:
        """One question over the telemetry socket; the object under its name."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.settimeout(TIMEOUT_S)

            def connected() -> bool:
                try:
                    client.connect(str(self.socket_path))
                except BlockingIOError:  # others wait there, as many as may
                    return False
                return True

            wait_for(f"{self.name} takes a connection", connected)
            limit = json.loads(client.recv(1024))["max_output_len"]
            client.send(command.encode())
            reply = json.loads(client.recv(limit))
        return reply[command.split(",", 1)[0]]

    def set(self, assignment: str) -> None:
        reply = self.ask(f"/lull/set,{assignment}")
        check(reply.get("ok") == 1, f"set {assignment}", reply)

    def ready(self) -> Program:
        """Wait until it answers: ports are open and loops run."""

        def answers() -> bool:
            if self.process.poll() is not None:
                raise Failure(f"{self.name} ended at once: {self.stderr()}")
            try:
                return bool(self.ask("/lull/info")["loops"])
            except (OSError, KeyError, TypeError, ValueError):
                return False

        wait_for(f"{self.name} answers", answers)
        return self

    def wait(self, timeout_s: float = TIMEOUT_S) -> int:
        try:
            return self.process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.name} did not end: {self.stderr()}") from None

    def finish(self, sign: int | None = None) -> dict[str, Any]:
        """Let it end (by a signal if given): exit status 0, and its result."""
        if sign is not None:
            self.process.send_signal(sign)
        status = self.wait()
        check(status == 0, f"{self.name} ends with 0", f"{status}, {self.stderr()}")
        result: dict[str, Any] = json.loads(self.json_path.read_text())
        return result


class World:
    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="lull-netns-"))
        self.runtime = self.directory / "run"
        self.runtime.mkdir()
        self.env = dict(os.environ, RUNTIME_DIRECTORY=str(self.runtime))
        self.namespaces: list[str] = []
        self.programs: list[Program] = []

    def path(self, name: str) -> Path:
        return self.directory / name

    def namespace(self, name: str) -> str:
        """A network namespace of this test alone, without IPv6 chatter."""
        full = f"lull-{os.getpid()}-{name}"
        run("ip", "netns", "add", full)
        self.namespaces.append(full)
        for scope in ("all", "default"):
            run(
                "ip",
                "netns",
                "exec",
                full,
                "sh",
                "-c",
                f"echo 1 > /proc/sys/net/ipv6/conf/{scope}/disable_ipv6",
            )
        return full

    def veth(self, a: tuple[str, str], b: tuple[str, str], queues: int = 1) -> None:
        """Two interfaces (namespace, name), wired together and up."""
        count = ["numtxqueues", str(queues), "numrxqueues", str(queues)]
        run(
            "ip",
            "-n",
            a[0],
            "link",
            "add",
            a[1],
            *count,
            "type",
            "veth",
            "peer",
            "name",
            b[1],
            "netns",
            b[0],
            *count,
        )
        for namespace, interface in (a, b):
            run("ip", "-n", namespace, "link", "set", interface, "arp", "off", "up")

    def start(self, name: str, binary: str, options: str, namespace: str | None = None) -> Program:
        """Run a program with these options, parted by blanks."""
        program = Program(self, name, [binary, *options.split()], namespace)
        self.programs.append(program)
        return program

    def check_clean(self) -> None:
        """Ended programs leave neither runtime directories nor sockets."""
        left = [str(p.relative_to(self.runtime)) for p in self.runtime.glob("dpdk/*")]
        check(not left, "nothing is left behind", left)

    def close(self) -> None:
        for program in self.programs:
            if program.process.poll() is None:
                program.process.kill()
                program.process.wait()
        for namespace in self.namespaces:
            subprocess.run(["ip", "netns", "del", namespace], check=False)
        shutil.rmtree(self.directory, ignore_errors=True)


def run(*command: str) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    check(result.returncode == 0, " ".join(command), result.stderr.strip())


@contextmanager
def world() -> Iterator[World]:
    here = World()
    try:
        yield here
    except BaseException:
        for program in here.programs:
            print(f"--- {' '.join(program.argv)}\n{program.stderr()}", file=sys.stderr)
        raise
    finally:
        here.close()


def run_case(case: Callable[[list[str]], None], binaries: list[str]) -> tuple[bool, str]:
    """Whether it is well, and what became of it in the words of TAP, which devtools/testlog.py
    reads. A fault of ours fails each time; a host that stood still does not."""
    said: list[str] = []
    begin = time.monotonic()
    for _ in range(TRIES):
        try:
            case(binaries)
            after = f" after {'; '.join(said)}" if said else ""
            return True, f"ok - {case.__name__}{after} ({time.monotonic() - begin:.1f} s)"
        except Skip as reason:
            return True, f"ok - {case.__name__} # SKIP {reason}"
        except Failure as failure:
            said.append(str(failure))
    return False, f"not ok - {case.__name__}: FAILED {TRIES} times: {'; '.join(said)}"


def main(cases: Sequence[Callable[[list[str]], None]], need: str = "namespaces") -> None:
    """SCRIPT LULL_GEN LULL_FWD [CASE ...]: run these cases, or all, with the rights they need."""
    take(need)
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, lambda number, _frame: sys.exit(128 + number))
    binaries = [str(Path(path).resolve()) for path in sys.argv[1:3]]
    failed = 0
    for case in cases:
        if len(sys.argv) > 3 and case.__name__ not in sys.argv[3:]:
            continue
        well, verdict = run_case(case, binaries)
        failed += not well
        print(verdict, flush=True)
    sys.exit(1 if failed else 0)
