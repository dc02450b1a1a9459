# SPDX-License-Identifier: BSD-3-Clause
"""Who receives over sockets links no DPDK; the module alone does.

linked.py MODULE FILE...
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

REFUSED = re.compile(r"lib(?:rte_\w+|ndpi|bpf|xdp)\.so[.\d]*")


def said(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(path: str) -> set[str]:
    """Libraries of those kinds that a program or library needs, itself or by what it needs."""
    own = [line for line in said("readelf", "--dynamic", path).splitlines() if "(NEEDED)" in line]
    return set(REFUSED.findall("\n".join([*own, said("ldd", path)])))


def main() -> None:
    module, *files = sys.argv[1:]
    wrong = {Path(path).name: sorted(found) for path in files if (found := needed(path))}
    if wrong:
        sys.exit(f"linked: they need DPDK: {wrong}")
    if not any(name.startswith("librte_ethdev") for name in needed(module)):
        sys.exit(f"linked: {module} needs no librte_ethdev")
    print(f"linked: {len(files)} files need no DPDK, nDPI or BPF library")


main()
