# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for the program lull-fwd: same options as the demo uses, same socket, no packets."""

import os
import signal
import sys
import time
from pathlib import Path

from simulated_program import Faults, SimulatedProgram
from telemetry_server import TelemetryServer


def main() -> int:
    """Serve until a signal comes; LULL_FAKE tells what to do wrong."""
    fault = os.environ.get("LULL_FAKE", "")
    if fault == "fail":
        print("EAL: some noise", file=sys.stderr)
        print("lull-fwd: cpus: 99 is not a CPU of this machine", file=sys.stderr)
        return 1
    if fault == "deaf":
        signal.pause()
    directory = Path(os.environ["XDG_RUNTIME_DIR"]) / "dpdk" / f"lull-fwd-{os.getpid()}"
    program = SimulatedProgram(time.monotonic_ns, os.getpid(),
                               Faults(leak=5) if fault == "leak" else None)
    ended = False

    def end(_number: int, _frame: object) -> None:
        nonlocal ended
        ended = True

    signal.signal(signal.SIGTERM, end)
    with TelemetryServer(directory / "dpdk_telemetry.v2", program.answer, os.getpid()):
        while not ended:
            time.sleep(0.02)
            if fault == "die" and any("mark" in request for request in program.log):
                print("lull-fwd: the sky fell on port 0", file=sys.stderr)
                os._exit(3)
            if fault == "leave" and len(program.log) > 8:
                break
    directory.rmdir()
    return 0


sys.exit(main())
