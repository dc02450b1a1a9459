# SPDX-License-Identifier: BSD-3-Clause
"""Flow capture: a capture file of made-up flows, the same each time."""

import random
import struct
from pathlib import Path

BEGAN_S = 1_700_000_000
GAP_US = 10
ETHERNET = bytes.fromhex("020000000002020000000001") + b"\x08\x00"
PAYLOAD = bytes(18)


def write(path: Path, packets: int, flows: int, seed: int) -> None:
    """UDP packets over IPv4, each of any of the flows, all flows alike."""
    # Traffic, not a secret.
    dice = random.Random(seed)  # noqa: S311
    frames = [_frame(dice.getrandbits(32), dice.getrandbits(32), dice.getrandbits(16))
              for _ in range(flows)]
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for index in range(packets):
            frame = frames[dice.randrange(flows)]
            seconds, micros = divmod(index * GAP_US, 1_000_000)
            file.write(struct.pack("<IIII", BEGAN_S + seconds, micros, len(frame), len(frame)))
            file.write(frame)


def _frame(source: int, destination: int, port: int) -> bytes:
    udp = struct.pack("!HHHH", port or 1, 5001, 8 + len(PAYLOAD), 0) + PAYLOAD
    header = struct.pack("!BBHHHBBHII", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0, source,
                         destination)
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    checksum = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    return ETHERNET + header[:10] + struct.pack("!H", checksum) + header[12:] + udp
