# SPDX-License-Identifier: BSD-3-Clause
"""The provider under ASan and UBSan, below programs that were built without them.

sanitized.py PROVIDER PEER PROVIDER-TEST REST-TEST CONFORM-SOURCE
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from verdict import check, free_port

SKIP = 77
LIMIT_S = 240
# Those of Debian 12 cannot live with the 32 random bits in addresses that later kernels set.
STEADY = ["setarch", "--addr-no-randomize"]
CASES = (  # of which program
    (0, "endpoint__leaves_nothing_behind"),
    (0, "fork__a_child_touches_nothing"),
    (0, "rails__are_parted_by_blanks_or_commas"),
    (0, "getinfo__offers_nothing_where_a_variable_is_wrong"),
    (1, "cq_read__rests_by_the_governor"),
    (1, "cq_read__another_threads_send_ends_a_rest"),
)
MPI = {"OMPI_MCA_pml": "cm", "OMPI_MCA_mtl": "ofi", "OMPI_MCA_mtl_ofi_provider_include": "lull",
       "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # fmt: skip


def runtime() -> str:
    found = subprocess.run(["gcc", "-print-file-name=libasan.so"], check=True, text=True,
                           capture_output=True).stdout.strip()  # fmt: skip
    check("/" in found, "gcc has its runtime", found)
    return str(Path(found).resolve())


def settings(provider: str, folder: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items()
                 if not name.startswith(("FI_", "OMPI_", "ASAN_", "UBSAN_"))}
    return inherited | {
        "FI_PROVIDER_PATH": str(Path(provider).parent),
        "FI_LULL_RAILS": "kernel:lo",
        "FI_LULL_SECURITY": "open",
        "LD_PRELOAD": runtime(),
        # What others leak is theirs; what ours leak the cases count.
        "ASAN_OPTIONS": f"detect_leaks=0:log_path={folder}/said",
        "UBSAN_OPTIONS": f"print_stacktrace=1:halt_on_error=1:log_path={folder}/said",
        "TMPDIR": folder,
    }


def silent(folder: str, what: str) -> None:
    said = [each.read_text() for each in Path(folder).glob("said*")]
    check(not said, f"{what}: a sanitizer spoke", "\n".join(said))


def pingpong(env: dict[str, str]) -> None:
    words = [*STEADY, "fi_pingpong", "-p", "lull", "-e", "rdm", "-S", "all", "-I", "2"]
    port = str(free_port())
    with subprocess.Popen([*words, "-B", port], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as server:  # fmt: skip
        try:
            end = time.monotonic() + LIMIT_S
            while True:  # until the server listens
                client = subprocess.run([*words, "-P", port, "127.0.0.1"], env=env, text=True,
                                        capture_output=True, check=False, timeout=LIMIT_S)
                if client.returncode == 0 or time.monotonic() > end or server.poll() is not None:
                    break
                time.sleep(0.2)
            said, _ = server.communicate(timeout=LIMIT_S)
        finally:
            server.kill()
    check(client.returncode == 0 and server.returncode == 0, "fi_pingpong",
          client.stdout + client.stderr + said)


def conform(env: dict[str, str], folder: str) -> None:
    program = f"{folder}/conform"
    sources = map(str, sorted(Path(__file__).parent.glob("conform*.c")))
    subprocess.run(["mpicc", "-O1", "-pthread", "-o", program, *sources], check=True)
    ended = subprocess.run(
        [*STEADY, "mpirun", "--bind-to", "none", "--oversubscribe", "-n", "2", program],
        env=env | MPI, capture_output=True, text=True, check=False, timeout=LIMIT_S)  # fmt: skip
    check(ended.returncode == 0 and "all holds" in ended.stdout, "conform",
          ended.stdout + ended.stderr)


def main(provider: str, peer: str, provider_test: str, rest_test: str) -> None:
    missing = [name for name in ("fi_pingpong", "mpicc", "mpirun") if shutil.which(name) is None]
    if missing:
        print(f"skipped: needs {', '.join(missing)} (make test installs them)")
        sys.exit(SKIP)
    with tempfile.TemporaryDirectory(prefix="lull-mpi-") as folder:
        env = settings(provider, folder)
        listed = subprocess.run([*STEADY, "fi_info", "-p", "lull"], env=env, text=True,
                                capture_output=True, check=False)  # fmt: skip
        check(listed.returncode == 0, "it is loaded", listed.stdout + listed.stderr)
        for which, case in CASES:
            program = (provider_test, rest_test)[which]
            ended = subprocess.run([*STEADY, program, case], env=env, text=True,
                                   capture_output=True, check=False, timeout=LIMIT_S)  # fmt: skip
            check(ended.returncode == 0, case, ended.stdout + ended.stderr)
            silent(folder, case)
        ended = subprocess.run([*STEADY, peer, folder, "0", "1", "compute", "0"], env=env,
                               text=True, capture_output=True, check=False)  # fmt: skip
        check(ended.returncode == 0, "an endpoint alone", ended.stdout + ended.stderr)
        pingpong(env)
        silent(folder, "fi_pingpong")
        conform(env, folder)
        silent(folder, "conform")


main(*sys.argv[1:])
