# SPDX-License-Identifier: BSD-3-Clause
"""MPI document: where the figures stand for readers. Places are made when there are figures."""

from __future__ import annotations

import subprocess
from pathlib import Path

from mpi_scenes import TRAINING
from result import Result, tables

TREE = Path(__file__).resolve().parent.parent.parent
BEGIN, END = "<!-- {}: begin -->", "<!-- {}: end -->"
MEASUREMENTS = """
## MPI over the channel, and over what else there is

Unmodified MPI programs take turns over Open MPI's own shared memory and TCP, over UCX, over two
providers of libfabric, and over the provider `lull` ([MPI over the channel](mpi.md)), on the
channel's test bed: half a round trip of 64 bytes on two nodes and on one, messages of 1 MiB over
rails of several rates and with loss, a rail that falls silent, the CPU of a rank that waits in
`MPI_Recv`, `tests/mpi/conform.c` with four ranks, and `examples/mpi/training_step.py`. Rows named
`spin` never rest (`FI_LULL_MAX_REST=0`). As root, after `make build`; `--list` tells how long the
rows take:

```
sudo .venv/bin/python bench/mpi/compare.py --docs
```

`--docs` replaces the text below, its pictures and the figures in [docs/mpi.md](mpi.md). `--rows`,
`--resume`, rounds that are INVALID and peers that are not here are as with the channel above.
`bench/mpi/compare.py --quick` shows in three minutes that it runs.

"""
STEP = """
## A training step

`examples/mpi/training_step.py`: two nodes add up 8 MiB with `MPI_Allreduce` every 0.6 s, over four
rails of 200 Mb/s, and wait in between. More in
[docs/measurements.md](measurements.md#mpi-over-the-channel-and-over-what-else-there-is).

"""


def prepare(made: Result, docs: Path, fragment: Path) -> None:
    """Places for the figures in the documents, and the training step in its page."""
    place(docs / "measurements.md", "mpi", MEASUREMENTS)
    step = [table for table in tables(made) if table[0].startswith(f"{TRAINING.word}:")]
    drawn = fragment.with_name("mpi-training.svg")
    if not step or not drawn.exists():
        return
    (docs / "measurements-mpi-training.svg").write_bytes(drawn.read_bytes())
    place(docs / "mpi.md", "mpi-training", STEP)
    _, head, rows = step[0]
    lines = ["![Goodput and CPU at rest](measurements-mpi-training.svg)", "",
             f"| {' | '.join(head)} |", f"|---|{'---:|' * (len(head) - 2)}---|",
             *(f"| {' | '.join(row)} |" for row in rows)]  # fmt: skip
    subprocess.run([str(TREE / "bench" / "section"), str(docs / "mpi.md"), "mpi-training"],
                   input="\n".join(lines), text=True, check=True)  # fmt: skip


def place(path: Path, name: str, text: str) -> None:
    """An empty place at the end of a document, with what introduces it; once."""
    before = path.read_text(encoding="utf-8")
    if BEGIN.format(name) not in before:
        path.write_text(f"{before.rstrip()}\n{text}{BEGIN.format(name)}\n{END.format(name)}\n",
                        encoding="utf-8")  # fmt: skip
