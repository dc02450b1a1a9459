# SPDX-License-Identifier: BSD-3-Clause
"""The provider as `make install` puts it: found from an empty folder, with all that it needs.

installed.py BUILD-FOLDER PEER
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from verdict import check

LIMIT_S = 60


def run(*words: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("FI_")}
    return subprocess.run(words, cwd=folder, env=inherited | settings, capture_output=True,
                          text=True, check=False, timeout=LIMIT_S)  # fmt: skip


def main(build: str, program: str) -> None:
    peer = str(Path(program).resolve())
    with tempfile.TemporaryDirectory(prefix="lull-mpi-") as name:
        root, empty = Path(name) / "root", Path(name) / "empty"
        empty.mkdir()
        installed = run("meson", "install", "-C", build, "--no-rebuild", "--quiet",
                        folder=empty, DESTDIR=str(root))  # fmt: skip
        check(installed.returncode == 0, "it installs", installed.stdout + installed.stderr)
        (provider,) = root.rglob("lib/lull/fi/liblull-fi.so")
        settings = {"FI_PROVIDER_PATH": str(provider.parent), "FI_LULL_RAILS": "kernel:lo",
                    "FI_LULL_SECURITY": "open", "FI_LOG_LEVEL": "warn"}  # fmt: skip
        shown = run("nm", "-D", "--defined-only", str(provider), folder=empty).stdout.split()
        check(shown[2:] == ["fi_prov_ini"], "one symbol", shown)
        found = run("fi_info", "-p", "lull", folder=empty, **settings)
        check(found.returncode == 0 and found.stdout.count("provider: lull") == 1, "listed once",
              found.stdout + found.stderr)
        alone = run(peer, str(empty), "0", "1", "compute", "0", folder=empty, **settings)
        check(alone.returncode == 0 and "0: goes on" in alone.stdout, "it runs",
              alone.stdout + alone.stderr)
        # It is the module with DPDK that says this.
        dpdk = run(peer, str(empty), "0", "1", "compute", "0", folder=empty,
                   **settings | {"FI_LULL_RAILS": "dpdk:af_packet=nosuch0"})  # fmt: skip
        check("interface nosuch0 does not exist" in dpdk.stderr, "it finds DPDK",
              dpdk.stdout + dpdk.stderr)
        check([each.name for each in empty.iterdir()] == ["0"], "it leaves nothing there",
              list(empty.iterdir()))


main(*sys.argv[1:])
