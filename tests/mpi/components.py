# SPDX-License-Identifier: BSD-3-Clause
"""The channel below programs that know nothing of it: libfabric's own, and MPI programs.

components.py PROVIDER-FOLDER CONFORM-SOURCE
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from verdict import check

SKIP = 77
LIMIT_S = 120
SETTINGS = {"FI_LULL_RAILS": "kernel:lo", "FI_LULL_SECURITY": "open"}
MPI = {"OMPI_MCA_pml": "cm", "OMPI_MCA_mtl": "ofi", "OMPI_MCA_mtl_ofi_provider_include": "lull",
       "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # fmt: skip


def environment(provider: str, **settings: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items()
                 if not name.startswith(("FI_", "OMPI_"))}
    return inherited | {"FI_PROVIDER_PATH": provider} | settings


def run(*words: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, env=env, capture_output=True, text=True, check=False,
                          timeout=LIMIT_S)


def free_port() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def listed(provider: str) -> None:
    """Once, and only where rails are named."""
    found = run("fi_info", "-p", "lull", env=environment(provider, **SETTINGS))
    check(found.returncode == 0 and found.stdout.count("provider: lull") == 1, "listed once",
          found.stdout + found.stderr)
    none = run("fi_info", "-p", "lull", env=environment(provider))
    check(none.returncode != 0, "without rails nobody gets it by accident", none.stdout)
    wrong = run("fi_info", "-p", "lull", env=environment(
        provider, FI_LULL_RAILS="kernel:lo", FI_LULL_SECURITY="none", FI_LOG_LEVEL="warn"))
    check(wrong.returncode != 0 and "FI_LULL_SECURITY: 'none' is not one of" in wrong.stderr,
          "a wrong variable is named", wrong.stderr)
    offered = run("fi_info", "-e", env=environment(provider)).stdout
    check("FI_LULL_RAILS" in offered and "FI_LULL_MAX_REST" in offered, "variables are listed",
          offered)


def pingpong(provider: str) -> None:
    env = environment(provider, **SETTINGS)
    words = ["fi_pingpong", "-p", "lull", "-e", "rdm", "-S", "all", "-I", "5"]
    port = free_port()
    with subprocess.Popen([*words, "-B", port], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as server:
        try:
            end = time.monotonic() + LIMIT_S
            while True:  # until the server listens
                client = run(*words, "-P", port, "127.0.0.1", env=env)
                if client.returncode == 0 or time.monotonic() > end or server.poll() is not None:
                    break
                time.sleep(0.2)
            said, _ = server.communicate(timeout=LIMIT_S)
        finally:
            server.kill()
    check(client.returncode == 0, "fi_pingpong: all sizes", client.stdout + client.stderr)
    check(server.returncode == 0, "and its server", said)


def conform(provider: str, source: str) -> None:
    with tempfile.TemporaryDirectory(prefix="lull-mpi-") as folder:
        program = f"{folder}/conform"
        built = run("mpicc", "-O2", "-o", program, source, env=dict(os.environ))
        check(built.returncode == 0, "conform compiles", built.stderr)
        for ranks in ("1", "2", "4"):
            env = environment(provider, **SETTINGS, **MPI, TMPDIR=folder)
            ended = run("mpirun", "--bind-to", "none", "--oversubscribe", "-n", ranks, program,
                        env=env)
            check(ended.returncode == 0 and f"{ranks} ranks: all holds" in ended.stdout,
                  f"{ranks} ranks", ended.stdout + ended.stderr)


def main(provider: str, source: str) -> None:
    missing = [name for name in ("fi_info", "fi_pingpong", "mpicc", "mpirun")
               if shutil.which(name) is None]
    if missing:
        print(f"skipped: needs {', '.join(missing)} (make test installs them)")
        sys.exit(SKIP)
    listed(provider)
    pingpong(provider)
    conform(provider, source)


main(*sys.argv[1:])
