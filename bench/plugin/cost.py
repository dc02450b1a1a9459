#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What does the plugin add to a poll: to an empty one, to one of 32 packets?

The same program polls net_null ports without the plugin and with it in each mode, in
turn, round after round. CPU time of the polling thread, so that others on this machine
do not count. Prints a Markdown table and writes OUT/plugin-cost.json and .md. Judges
nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "idle"))

import machine

TREE = Path(__file__).resolve().parent.parent.parent
MODES: dict[str, dict[str, str] | None] = {
    "no plugin": None,
    "loaded, not asked for (LULL unset)": {},
    "passive": {"LULL": "passive"},
    "on, governor spin": {"LULL": "on", "LULL_GOVERNOR": "spin"},
    "shadow, governor spin": {"LULL": "shadow", "LULL_GOVERNOR": "spin"},
    "attached, switched off": {"LULL_CONFIG": "mode: off\n"},
}
FIGURES = ("empty_ns", "empty_least_ns", "burst_ns", "burst_least_ns")


def run(program: Path, plugin: Path, mode: dict[str, str] | None, cpu: int) -> dict[str, float]:
    """One process; its figures."""
    command = [str(program), "--lcores", f"0@{cpu}", "--no-huge", "--no-pci", "-m", "256"]
    command += ["--no-shconf", "--file-prefix", f"cost-{os.getpid()}", "--no-telemetry"]
    command += ["--vdev", "net_null0,no-rx=1", "--vdev", "net_null1"]
    env = {key: text for key, text in os.environ.items() if not key.startswith("LULL")}
    if mode is not None:
        command += ["-d", str(plugin)]
        env.update(mode)
        if "LULL_CONFIG" in mode:
            config = plugin.with_name("plugin.yaml")
            config.write_text(mode["LULL_CONFIG"], encoding="utf-8")
            env["LULL_CONFIG"] = str(config)
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"cost: {program.name}: {done.stderr.strip()}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def table(samples: list[dict[str, dict[str, float]]]) -> str:
    """Medians over the rounds; what is added is the median of the differences in a round."""

    def median(mode: str, figure: str, less: str = "") -> float:
        return statistics.median(
            sample[mode][figure] - (sample[less][figure] if less else 0) for sample in samples
        )

    bare = next(iter(MODES))
    lines = [
        "| plugin | empty poll ns | added | least added | burst of 32 ns | added | least added |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for mode in MODES:
        cells = [mode]
        for kind in ("empty", "burst"):
            cells.append(f"{median(mode, f'{kind}_ns'):.1f}")
            cells.append("" if mode == bare else f"{median(mode, f'{kind}_ns', bare):.1f}")
            least = min(s[mode][f"{kind}_least_ns"] for s in samples)
            least -= min(s[bare][f"{kind}_least_ns"] for s in samples)
            cells.append("" if mode == bare else f"{least:.1f}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--rounds", type=int, default=7, help="times through all modes [7]")
    add("--build", type=Path, default=TREE / "build", help="build folder [build]")
    add("--out", type=Path, default=TREE / "out" / "bench", help="results [out/bench]")
    chosen = parser.parse_args()
    program = chosen.build / "bench" / "plugin" / "poll-cost"
    cpu = max(os.sched_getaffinity(0))
    about = machine.describe(TREE)
    samples = []
    # EAL loads nothing from below a directory that anybody may write to.
    base = "/run" if os.geteuid() == 0 else str(Path.home())
    with tempfile.TemporaryDirectory(prefix="lull-cost-", dir=base) as folder:
        plugin = Path(shutil.copy(chosen.build / "plugin" / "liblull_plugin.so", folder))
        for _ in range(chosen.rounds):
            samples.append({name: run(program, plugin, mode, cpu) for name, mode in MODES.items()})
    text = (
        f"{about['cpu']}, hypervisor {about['hypervisor']}, kernel {about['kernel']}, DPDK"
        f" {about['dpdk']}; commit {about['commit']}, {about['date']}, load at start"
        f" {about['load']}. Medians of {chosen.rounds} interleaved rounds.\n\n{table(samples)}\n"
    )
    chosen.out.mkdir(parents=True, exist_ok=True)
    data = {"machine": about, "samples": samples}
    (chosen.out / "plugin-cost.json").write_text(json.dumps(data, indent=1), encoding="utf-8")
    (chosen.out / "plugin-cost.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
