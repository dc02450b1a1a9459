# SPDX-License-Identifier: BSD-3-Clause
"""The module with DPDK: found where it is installed, refused with the remedy when it does not fit.

module.py LULL-CAM MODULE MODULE-OF-ANOTHER-BUILD CAPTURE
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

STREAM = "protocol=rfc4175,port=5004,width=64,height=48,pixel=rgb8"
ABSENT = "dpdk:af_packet=nosuch0"
TIMEOUT_S = 60


class Installed:
    """lull-cam where it is installed, and perhaps a module."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program, self.module = folder / "bin/lull-cam", folder / "lib/lull/liblull-net-dpdk.so"
        self.program.parent.mkdir()
        self.module.parent.mkdir(parents=True)
        shutil.copy(program, self.program)

    def run(self, backend: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.program, "--backend", backend, "--stream", STREAM], capture_output=True,
            text=True, timeout=TIMEOUT_S, check=False)

    def expect(self, *words: str) -> None:
        """One sentence, with these words."""
        run = self.run(ABSENT)
        lines = run.stderr.splitlines()
        if run.returncode != 1 or len(lines) != 1 or any(word not in lines[0] for word in words):
            sys.exit(f"module: expected {words}, got {run.returncode}: {run.stderr}")


def main() -> None:
    program, module, other, capture = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        here = Installed(program, Path(folder))
        here.expect("there is no liblull-net-dpdk.so in", "make install")
        run = here.run(f"pcap:{capture}")
        if run.returncode != 0:
            sys.exit(f"module: a capture needs none: {run.stderr}")
        here.module.write_text("no library", encoding="utf-8")
        here.expect("liblull-net-dpdk.so: ", "install the DPDK release")
        here.module.unlink()
        shutil.copy(other, here.module)
        here.expect("is not of the same build", "make install")
        here.module.unlink()
        shutil.copy(module, here.module)
        here.expect("interface nosuch0 does not exist")
    print("module: found, missing, broken and not of the same build: ok")


main()
