#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of docs/dispatch.md of what lull reproduce dispatch found, and its verdicts as JSON.

    ./lull reproduce dispatch --no-live
    bench/flow/carried.py out/reproduce-dispatch/reproduce.json carried.json >carried.md
    bench/keep dispatch carried.json ./lull reproduce dispatch --no-live
    bench/section docs/dispatch.md carried <carried.md
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

TRAFFICS = ("uniform", "Zipf(1.1)", "50 % elephant", "all to one", "all to two")
SCHEDULERS = ("rr-burst", "crc32", "hrw", "subflow-paper", "subflow", "sticky")

Carried = dict[str, dict[str, list[float]]]


def table(carried: Carried) -> str:
    """Medians over the seeds; the best of each column stands out."""
    lines = [
        f"| largest load without loss | {' | '.join(TRAFFICS)} |",
        "|---" + "|---:" * len(TRAFFICS) + "|",
    ]
    middle = {key: median(found["no loss"]) for key, found in carried.items()}
    best = {
        traffic: max(middle[f"{traffic}, {name}"] for name in SCHEDULERS) for traffic in TRAFFICS
    }
    for name in SCHEDULERS:
        loads = [(traffic, middle[f"{traffic}, {name}"]) for traffic in TRAFFICS]
        cells = [
            f"**{load:.2f}**" if load == best[traffic] else f"{load:.2f}" for traffic, load in loads
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(f"usage: {sys.argv[0]} REPRODUCE.json CARRIED.json")
    told: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    carried: Carried = {}
    for figure in told["figures"]:
        carried |= figure.get("carried") or figure.get("data", {}).get("carried", {})
    rows = [row for figure in told["figures"] for row in figure["rows"]]
    Path(sys.argv[2]).write_text(json.dumps({"carried": carried, "rows": rows}), encoding="utf-8")
    print(table(carried))


if __name__ == "__main__":
    main()
