# SPDX-License-Identifier: BSD-3-Clause
"""What a DPDK program calls its threads."""

from __future__ import annotations

import functools
import subprocess

RENAMED = (23, 11)


@functools.cache
def worker(number: int = 1) -> str:
    """The worker on lcore NUMBER, by the installed DPDK; testpmd and our hosts are of that one."""
    asked = ["pkg-config", "--modversion", "libdpdk"]
    version = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    year, month = map(int, version.split(".")[:2])
    return f"dpdk-worker{number}" if (year, month) >= RENAMED else f"rte-worker-{number}"
