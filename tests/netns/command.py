# SPDX-License-Identifier: BSD-3-Clause
"""A program called from its command line, in a folder of its own."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

from verdict import check, wait_for

USAGE = 2
CALL_S = 120.0


class Command:
    """The program, and a folder to call it in."""

    def __init__(self, program: str, scratch: str | Path) -> None:
        self.program = str(Path(program).resolve())
        self.name = Path(program).name
        self.scratch = Path(scratch)

    def call(self, *words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.program, *map(str, words)],
            capture_output=True,
            text=True,
            cwd=self.scratch,
            timeout=CALL_S,
            check=False,
        )

    def shows(self, option: str, pattern: str) -> None:
        """Texts such as that of --help, on stdout."""
        run = self.call(option)
        check(run.returncode == 0 and run.stderr == "", f"{self.name} {option}", run.stderr)
        check(re.search(pattern, run.stdout), f"{self.name} {option}", run.stdout)

    def result(self, *words: str) -> dict[str, Any]:
        """What it writes with --json."""
        run = self.call(*words, "--json", "-")
        check(run.returncode == 0, " ".join(words), run.stderr)
        check(run.stderr == "", "says nothing on stderr", run.stderr)
        result: dict[str, Any] = json.loads(run.stdout)
        return result

    def refused(
        self, words: str, pattern: str, status: int = USAGE, file: str | None = "refused.json"
    ) -> None:
        """One line that names what is wrong, and nothing written, with --json FILE neither."""
        before = sorted(self.scratch.iterdir())
        run = self.call(*words.split(), *(("--json", file) if file else ()))
        shown = f"{self.name} {words}: {run.returncode} {run.stdout}{run.stderr}"
        check(run.returncode == status, f"exit status {status}", shown)
        check(run.stdout == "", "says nothing on stdout", shown)
        check(len(run.stderr.splitlines()) == 1, "says one line", shown)
        check(run.stderr.startswith(f"{self.name}: "), "says who speaks", shown)
        check(re.search(pattern, run.stderr), f"says {pattern}", shown)
        check(sorted(self.scratch.iterdir()) == before, "leaves nothing", shown)


def await_signals(run: subprocess.Popen[str], number: int) -> None:
    """Until it takes this signal, which is when the bit is blocked, or has ended."""

    def taken() -> bool:
        if run.poll() is not None:
            return True
        status = Path(f"/proc/{run.pid}/status").read_text(encoding="ascii")
        blocked = re.search(r"^SigBlk:\s*(\w+)$", status, re.MULTILINE)
        return blocked is not None and bool(int(blocked[1], 16) >> (number - 1) & 1)

    wait_for(f"takes signal {number}", taken)
