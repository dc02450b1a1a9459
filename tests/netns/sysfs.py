# SPDX-License-Identifier: BSD-3-Clause
"""Files of CPUs in the place of the kernel's own, in a test's mount namespace."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from world import World

CPUS = Path("/sys/devices/system/cpu")
LIMIT = "power/pm_qos_resume_latency_us"
STATES = (("POLL", 0, 0), ("C1", 2, 2), ("C1E", 10, 20), ("C6", 133, 600))


def mount(*words: object) -> None:
    subprocess.run(["mount", *map(str, words)], check=True)


def fake(here: World, cpu: int) -> Path:
    """C-states, and a limit that the test may look at."""
    folder = here.path(f"cpu{cpu}")
    for index, (name, exit_us, residency_us) in enumerate(STATES):
        state = folder / "cpuidle" / f"state{index}"
        state.mkdir(parents=True)
        for file, value in (("name", name), ("latency", exit_us), ("residency", residency_us),
                            ("disable", 0)):
            (state / file).write_text(f"{value}\n")
    limit = folder / "limit"
    limit.write_text("0\n")
    mount("--bind", folder / "cpuidle", CPUS / f"cpu{cpu}/cpuidle")
    mount("--bind", limit, CPUS / f"cpu{cpu}/{LIMIT}")
    return limit


def available() -> bool:
    """Is there something to be replaced?"""
    return all((CPUS / f"cpu{cpu}/cpuidle").is_dir() and (CPUS / f"cpu{cpu}/{LIMIT}").is_file()
               for cpu in os.sched_getaffinity(0))


class CpuFiles:
    """Fakes for all CPUs that this test may use."""

    def __init__(self, here: World) -> None:
        self.cpus = sorted(os.sched_getaffinity(0))
        self.limits = {cpu: fake(here, cpu) for cpu in self.cpus}

    def close(self) -> None:
        for cpu in self.cpus:
            for name in ("cpuidle", LIMIT):
                subprocess.run(["umount", "--lazy", CPUS / f"cpu{cpu}/{name}"], check=False)

    def held(self) -> dict[int, str]:
        """Limits that are not as they were."""
        values = {cpu: limit.read_text().strip() for cpu, limit in self.limits.items()}
        return {cpu: value for cpu, value in values.items() if value != "0"}
