# SPDX-License-Identifier: BSD-3-Clause
"""The channel below programs that know nothing of it, on one node: libfabric's own, and MPI ones.

components.py PROVIDER-FOLDER LULL-CHANNEL-NODE [CASE ...]: run these cases, or all. The ranks share
loopback. With LULL_LONG also 4 ranks, over `node:` too, longer, and 20 times.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from cluster import LIMIT_S, SECURITY, Attached, Cluster, environment
from trial import LONG, TURNS, chosen, in_cluster, judge, left_out, told_to_stop
from verdict import check

SETTINGS = {"FI_LULL_RAILS": "kernel:lo"} | SECURITY


def run(*words: str, env: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, env=env, capture_output=True, text=True, check=False,
                          timeout=LIMIT_S)  # fmt: skip


def free_port() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def listed(provider: str) -> str:
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
    return ""


def pingpong(provider: str) -> str:
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
    return ""


def main(provider: str, node: str, wanted: list[str]) -> None:
    told_to_stop()
    good = True
    for case in (listed, pingpong):
        missing = [name for name in ("fi_info", "fi_pingpong") if shutil.which(name) is None]
        if missing:
            left_out(case.__name__, f"needs {', '.join(missing)} (make test installs it)")
        elif chosen(case.__name__, wanted):
            good &= judge(case.__name__, lambda c=case: c(provider))  # type: ignore[misc]
    for _ in range(TURNS):
        with Cluster(provider) as cluster:
            good &= in_cluster(cluster, wanted, [2, 4] if LONG else [2])
        if LONG:
            with Attached(provider, node) as cluster:
                good &= in_cluster(cluster, wanted, [2, 4])
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
