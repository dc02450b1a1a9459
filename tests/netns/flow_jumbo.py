# SPDX-License-Identifier: BSD-3-Clause
"""lull-flow on a mirror of jumbo frames: all of each frame counts.

flow_jumbo.py PROGRAM     in a network namespace of its own: see rights.py
"""

import json
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from verdict import check

DEVICE = "net_af_packet0,iface=jb,framesz=16384,blocksz=65536,framecnt=512"
PACKETS = 20
PAYLOAD = 8900


def ip(words: str) -> None:
    subprocess.run(["ip", *words.split()], check=True)


def lay_out() -> None:
    ip("link add ja mtu 9000 type veth peer name jb mtu 9000")
    ip("link set ja up")
    ip("link set jb up")
    ip("addr add 10.9.0.1/24 dev ja")
    ip("neigh add 10.9.0.2 lladdr 02:00:00:00:00:01 dev ja")


def send() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for _ in range(PACKETS):
            sender.sendto(bytes(PAYLOAD), ("10.9.0.2", 9))


def main() -> None:
    lay_out()
    with tempfile.TemporaryDirectory() as scratch:
        records = Path(scratch, "records")
        words = [sys.argv[1], "--vdev", DEVICE, "--mtu", "9000", "--identify=no",
                 "--filter", "udp dst port 9", "--records", str(records), "--stats", "0.05",
                 "--duration", "30s"]
        with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as run:
            assert run.stderr is not None
            told = []
            for line in run.stderr:
                told.append(line)
                if len(told) == 1:
                    send()
                if f" open {PACKETS}," in line:
                    run.terminate()
            check(run.wait() == 0, "ends well", told)
        (record,) = [json.loads(line) for line in records.read_text().splitlines()]
        check(record["packets"] == PACKETS, "all packets", record)
        check(record["bytes"] == PACKETS * (PAYLOAD + 28), "and all of each", record)


if __name__ == "__main__":
    main()
