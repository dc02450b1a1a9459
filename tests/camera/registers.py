# SPDX-License-Identifier: BSD-3-Clause
"""Write registers of a GigE Vision camera that nobody controls.

registers.py ADDRESS REGISTER=VALUE ...
"""

from __future__ import annotations

import socket
import struct
import sys
import time

GVCP_PORT = 3956
CONTROL = 0x0A00
TIMEOUT_S = 20.0


def write(camera: socket.socket, request: int, register: int, value: int) -> bool:
    """False: no answer."""
    camera.send(struct.pack("!BBHHHII", 0x42, 1, 0x82, 8, request, register, value))
    try:
        answer = camera.recv(1024)
    except (TimeoutError, ConnectionRefusedError):
        return False
    status, command, _, number = struct.unpack_from("!HHHH", answer)
    if (command, number) != (0x83, request):
        return False
    if status != 0:
        sys.exit(f"register {register:#x}: status {status:#x}")
    return True


def main() -> None:
    wanted = [(int(r, 0), int(v, 0)) for r, v in (word.split("=") for word in sys.argv[2:])]
    end = time.monotonic() + TIMEOUT_S
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as camera:
        camera.connect((sys.argv[1], GVCP_PORT))
        camera.settimeout(0.5)
        requests = [(CONTROL, 2), *wanted, (CONTROL, 0)]
        for request, (register, value) in enumerate(requests, 1):
            while not write(camera, request, register, value):
                if time.monotonic() > end:
                    sys.exit(f"no answer from {sys.argv[1]}")
                time.sleep(0.05)


if __name__ == "__main__":
    main()
