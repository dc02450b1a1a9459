# SPDX-License-Identifier: BSD-3-Clause
"""Ledger: a file to which each round is added when it ends, so that a killed run keeps them.

The first line says under which conditions, each other line is a round.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lull.errors import LullError
from result import Result, Round
from scene import Scene


class Ledger:
    """A file of rounds."""

    def __init__(self, path: Path, scenes: Sequence[Scene] = ()) -> None:
        self.path = path
        self.scenes = scenes

    def begin(self, made: Result) -> None:
        """A new file; an earlier one is kept under another name."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            os.replace(self.path, self.path.with_suffix(".before.jsonl"))
        head = {"machine": made.machine, "settings": made.settings, "remarks": made.remarks}
        self._add(head)

    def add(self, one: Round) -> None:
        """One more round, on the disk when this returns."""
        self._add(asdict(one))

    def load(self) -> Result:
        """What is there. A last line that was cut off is left out, and is no more in the file."""
        try:
            text = self.path.read_text(encoding="utf-8")
        except OSError as error:
            raise LullError(f"{self.path}: {error.strerror}: measure without --resume") from None
        whole, _, cut = text.rpartition("\n")
        if cut:
            self.path.write_text(whole + "\n", encoding="utf-8")
        try:
            head, *rounds = map(json.loads, whole.splitlines())
            return Result.from_json({**head, "rounds": rounds}, self.scenes)
        except (ValueError, KeyError, TypeError):
            raise LullError(f"{self.path} is no file of rounds") from None

    def _add(self, data: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(data) + "\n")
            file.flush()
            os.fsync(file.fileno())
