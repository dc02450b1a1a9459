# SPDX-License-Identifier: BSD-3-Clause
"""Two nodes with two rails between them, and programs with a channel on each."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from verdict import TIMEOUT_S, check, wait_for
from world import Program, World, run, world

KEY = "# of a test\n" + "5a" * 32 + "\n"
RAILS = 2


class Nodes:
    """Namespaces a and b (and more), each with rails v0 and v1 to the others."""

    def __init__(self, here: World, others: tuple[str, ...] = ("b",)) -> None:
        self.world = here
        self.key = here.path("key")
        self.key.write_text(KEY)
        self.key.chmod(0o600)
        self.spaces = {name: here.namespace(name) for name in ("a", *others)}
        if others == ("b",):
            self._wires()
        else:
            self._switch()

    def _wires(self) -> None:
        for i in range(RAILS):
            here, there = ((self.spaces[name], f"v{i}") for name in "ab")
            self.world.veth(here, there)
            for number, (space, name) in enumerate((here, there)):
                run("ip", "-n", space, "link", "set", name, "arp", "on")
                run("ip", "-n", space, "addr", "add", f"10.7.{i}.{number + 1}/24", "dev", name)

    def _switch(self) -> None:
        """A bridge per rail, in a namespace of its own."""
        middle = self.world.namespace("switch")
        for i in range(RAILS):
            run("ip", "-n", middle, "link", "add", f"s{i}", "type", "bridge")
            run("ip", "-n", middle, "link", "set", f"s{i}", "up")
            for number, (name, space) in enumerate(self.spaces.items()):
                self.world.veth((space, f"v{i}"), (middle, f"{name}{i}"))
                run("ip", "-n", middle, "link", "set", f"{name}{i}", "arp", "on", "master", f"s{i}")
                run("ip", "-n", space, "link", "set", f"v{i}", "arp", "on")
                run("ip", "-n", space, "addr", "add", f"10.7.{i}.{number + 1}/24", "dev", f"v{i}")

    def shape(self, name: str, mbps: int) -> None:
        """So fast is each rail of what the node sends."""
        for i in range(RAILS):
            run("tc", "-n", self.spaces[name], "qdisc", "add", "dev", f"v{i}", "root", "tbf",
                "rate", f"{mbps}mbit", "burst", "32kb", "latency", "50ms")  # fmt: skip

    def options(self, name: str) -> list[str]:
        """What every program of a node is told."""
        rails = [word for i in range(RAILS) for word in ("--rail", f"kernel:v{i}")]
        return ["--name", name, *rails, "--key-file", str(self.key), "--peer-timeout", "3s"]

    def listen(self, binary: str, name: str, words: str, label: str = "") -> Program:
        """A program that answers, from the moment on at which it does."""
        program = self.world.start(
            label or f"listen-{name}",
            binary,
            f"--listen {words} {' '.join(self.options(name))}",
            self.spaces[name],
        )

        def listens() -> bool:
            return ": listening at" in program.stderr() or program.process.poll() is not None

        wait_for("it listens", listens)
        check(program.process.poll() is None, "it listens", program.stderr())
        return program

    def command(self, binary: str, name: str, *words: object) -> list[str]:
        """Its command line, within its namespace."""
        return ["ip", "netns", "exec", self.spaces[name], binary, *self.options(name),
                *map(str, words)]  # fmt: skip

    def call(
        self, binary: str, name: str, *words: object, data: bytes | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a program to its end."""
        return subprocess.run(
            self.command(binary, name, *words),
            input=data if data is not None else b"",
            capture_output=True,
            env=self.world.env,
            timeout=TIMEOUT_S,
            check=False,
        )

    def result(self, binary: str, name: str, *words: object) -> dict[str, Any]:
        """The same, which must go well; what it writes with --json."""
        path = self.world.path("result.json")
        done = self.call(binary, name, *words, "--json", path)
        check(done.returncode == 0, " ".join(map(str, words)), done.stderr.decode())
        found: dict[str, Any] = json.loads(path.read_text())
        return found


@contextlib.contextmanager
def nodes(*others: str) -> Iterator[Nodes]:
    with world() as here:
        yield Nodes(here, others or ("b",))
