# SPDX-License-Identifier: BSD-3-Clause
"""The tests of devtools/mutants: running them, and keeping what is known of them.

A program has its mutants in it (mutate.py). LULL_MUTANT chooses one by its number; with
LULL_MUTANT_SEEN, a file of a byte for each, the program notes there which of them it sees.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import os
import resource
import signal
import subprocess
import threading
from pathlib import Path

SEEN_BYTES = 1 << 17


@dataclasses.dataclass(frozen=True)
class Test:
    """A test program, or some cases of it."""

    name: str
    command: tuple[str, ...]
    folder: Path
    env: dict[str, str] = dataclasses.field(hash=False)


@dataclasses.dataclass
class Reach:
    """What is known of a test: its time, which mutants it sees, passes and fails with."""

    test: Test
    took_s: float
    seen: frozenset[int]
    passed: set[int] = dataclasses.field(default_factory=set)
    failed: set[int] = dataclasses.field(default_factory=set)


class Known:
    """What earlier runs found out about programs that are the same byte for byte."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.old = json.loads(path.read_text()) if path.is_file() else {}
        self.new: dict[str, Reach | None] = {}
        self.digests: dict[str, str] = {}

    def key(self, test: Test) -> str:
        """The program's digest, and the test's name."""
        program = test.command[0]
        if program not in self.digests:
            self.digests[program] = hashlib.sha256(Path(program).read_bytes()).hexdigest()[:20]
        return f"{self.digests[program]} {test.name}"

    def get(self, test: Test, limit_s: float) -> Reach | None:
        """What the test sees; None where it takes more CPU time than the limit."""
        key = self.key(test)
        one = self.old.get(key)
        if one is None:
            self.new[key] = watch(test, limit_s, self.path.with_name("seen"))
        elif one["took_s"] is None:
            self.new[key] = None
        else:
            self.new[key] = Reach(test, one["took_s"], frozenset(one["seen"]),
                                  set(one["passed"]), set(one["failed"]))  # fmt: skip
        return self.new[key]

    def write(self) -> None:
        """For the next run."""
        self.old.update({key: told(one) for key, one in self.new.items()})
        self.path.write_text(json.dumps(self.old))


def told(one: Reach | None) -> dict[str, object]:
    """Of a test, for the file."""
    if one is None:
        return {"took_s": None}
    return {"took_s": one.took_s, "seen": sorted(one.seen), "passed": sorted(one.passed),
            "failed": sorted(one.failed)}  # fmt: skip


def run_test(test: Test, env: dict[str, str], cpu_s: float) -> tuple[bool, float]:
    """Did it pass, and how much CPU time did it take; other work on the machine does not count."""

    def bounded() -> None:
        """A mutant may neither run for ever, nor eat the memory, nor leave a core file."""
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(cpu_s), math.ceil(cpu_s)))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    process = subprocess.Popen(
        test.command, cwd=test.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True, env=os.environ | test.env | env,
        preexec_fn=bounded,
    )  # fmt: skip
    waiting = threading.Timer(10 + 10 * cpu_s, os.killpg, (process.pid, signal.SIGKILL))
    waiting.start()
    _, status, usage = os.wait4(process.pid, 0)
    waiting.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode == 0, usage.ru_utime + usage.ru_stime


def cases(test: Test) -> list[Test]:
    """The test in pieces: each of its cases alone."""
    listed = subprocess.run(
        [*test.command, "--list"], cwd=test.folder, env=os.environ | test.env,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    names = listed.stdout.split() if listed.returncode == 0 else []
    return [
        dataclasses.replace(test, name=f"{test.name} {name}", command=(*test.command, name))
        for name in names
    ]


def watch(test: Test, limit_s: float, file: Path) -> Reach | None:
    """What a test sees; None where it takes more CPU time than the limit."""
    file.write_bytes(bytes(SEEN_BYTES))
    passed, took_s = run_test(test, {"LULL_MUTANT_SEEN": str(file)}, limit_s)
    if not passed and took_s > limit_s / 2:
        return None
    if not passed:
        raise SystemExit(f"mutants: {test.name} fails without any mutant")
    seen = file.read_bytes()
    return Reach(test, took_s, frozenset(at for at, byte in enumerate(seen) if byte))
