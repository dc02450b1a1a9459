# SPDX-License-Identifier: BSD-3-Clause
"""A plugin in a program on another DPDK: one sentence, and the program goes on.

OTHER is a program whose DPDK is what it is told; the ABIs stand for the plugins that were built.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ENV = {**{key: text for key, text in os.environ.items() if not key.startswith("LULL")}}
MISSING = "this program does not export the functions of DPDK"


def said(command: list[str], **more: str) -> str:
    """What the plugin said, which is one line, in a program that goes on."""
    done = subprocess.run(
        command, env={**ENV, "LULL": "on", **more}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done
    assert done.stdout == "the host goes on\n", done
    assert done.stderr.startswith("lull: "), done
    assert done.stderr.endswith("; doing nothing\n"), done
    assert done.stderr.count("\n") == 1, done
    return done.stderr


def try_plugin(other: str, plugin: Path, abi: int) -> None:
    """All versions that a program may have, on one plugin."""
    own = f"{abi - 1}.11"
    # It fits, and then misses what this program has not.
    for version in (f"{own}.0", f"{own}.11", f"{own}.4-rc1", f"{abi}.03.0", f"{abi}.07.2"):
        assert MISSING in said([other, str(plugin), f"DPDK {version}"]), version
    assert MISSING in said([other, str(plugin), f"A Vendor's {own}.1"])
    ours = f"this plugin is for DPDK {own}"
    for release, wanted in ((f"{abi}.11.3", abi + 1), (f"{abi + 1}.03.0", abi + 1)):
        line = said([other, str(plugin), f"DPDK {release}"])
        assert f"this program runs on DPDK {release}, {ours}: " in line, line
        assert f"load dpdk-{wanted}/liblull_plugin.so instead" in line, line
    for version in ("DPDK 21.11.3", "DPDK", "", "of my own"):
        line = said([other, str(plugin), version])
        assert f"this program runs on {version}, {ours}: " in line, line
        assert "plugins only for 22.11 and later" in line, line


def main() -> None:
    """OTHER PLUGIN ABI [PLUGIN ABI ...]."""
    other, *pairs = sys.argv[1:]
    assert pairs, "no plugin"
    for plugin, abi in zip(pairs[::2], pairs[1::2], strict=True):
        path = Path(plugin).resolve()
        try_plugin(other, path, int(abi))
        load = f"import ctypes; ctypes.CDLL({str(path)!r}); print('the host goes on')"
        assert MISSING in said([sys.executable, "-c", load])
        quiet = subprocess.run(
            [other, str(path), "DPDK 21.11.3"], env=ENV, capture_output=True, text=True, check=True
        )
        assert quiet.stderr == "", "nobody asked it"
        print(f"ABI {abi}: ok")


main()
