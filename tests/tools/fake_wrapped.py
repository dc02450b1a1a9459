# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for a DPDK program with the plugin: says what reaches it, shows loops by telemetry.

fake_wrapped.py LOG [STATUS]: lives until a line or the end comes on standard input.
"""

import os
import signal
import sys
import time
from pathlib import Path

from simulated_plugin import SimulatedPlugin
from telemetry_server import TelemetryServer


def main() -> int:
    """Serve and note signals, one line each."""
    log = Path(sys.argv[1])
    status = int(sys.argv[2]) if len(sys.argv) > 2 else 0

    def note(number: int, _frame: object) -> None:
        with log.open("a") as file:
            print(signal.Signals(number).name, file=file)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGWINCH,
                   signal.SIGUSR1):
        signal.signal(number, note)
    directory = Path(os.environ["XDG_RUNTIME_DIR"]) / "dpdk" / f"wrapped-{os.getpid()}"
    program = SimulatedPlugin(time.monotonic_ns, os.getpid())
    with TelemetryServer(directory / "dpdk_telemetry.v2", program.answer, os.getpid()):
        log.write_text("ready\n")
        print("the program speaks", flush=True)
        sys.stdin.readline()
    directory.rmdir()
    if status < 0:
        os.kill(os.getpid(), -status)
    return status


sys.exit(main())
