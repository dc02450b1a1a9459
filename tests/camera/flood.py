# SPDX-License-Identifier: BSD-3-Clause
"""A flood of broken packets at one camera's port, an unknown source at another's: who minds?

flood.py LULL-CAM CAMERA-PEER
"""

from __future__ import annotations

import json
import random
import signal
import socket
import threading

from camera_world import CAMERA, HOST, Link, inside
from verdict import check
from world import main, run, world

GOOD, BAD, FRAMES = 50040, 5005, 50  # ports that no single broken byte confuses
INTRUDER, STRANGE_PKTS = "10.9.0.3", 500
FLOOD_PPS, FLOOD_S = 20000, 3
SEED = random.SystemRandom().randrange(1 << 32)
STREAM = "protocol=gvsp,width=640,height=480,pixel=bayer-rg12p,deadline=1s"


def intrude(link: Link) -> None:
    """Datagrams to a camera's port from an address that is not the camera's."""
    with inside(link.camera), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.bind((INTRUDER, 0))
        for number in range(STRANGE_PKTS):
            end.sendto(bytes(8) + number.to_bytes(400, "big"), (HOST, GOOD))


def flood(binaries: list[str], backend: str) -> None:
    with world() as here:
        link = Link(here, binaries)
        link.address_host()
        run("ip", "-n", link.camera, "addr", "add", f"{INTRUDER}/24", "dev", "v0")
        mac = str(link.look(link.host, "v1")["address"])
        receiver = link.receive(
            f"--backend {backend} --stream {STREAM},port={GOOD},source={CAMERA},name=good "
            f"--stream {STREAM},port={BAD},name=bad"
        )
        told: list[str] = []
        flooding = threading.Thread(target=lambda: told.append(link.call(
            link.camera, link.binaries[1], "flood", "v0", mac, INTRUDER, HOST, str(BAD),
            str(FLOOD_PPS), str(FLOOD_S), str(SEED))))  # fmt: skip
        flooding.start()
        intrude(link)
        link.call(link.camera, link.binaries[1], "send", CAMERA, HOST, str(GOOD), str(FRAMES),
                  "1400", "30000")  # fmt: skip
        flooding.join()
        result = receiver.finish(signal.SIGTERM)
        good, bad = result["streams"]
        seen = (backend, SEED, good["reasons"], bad["counters"], result["totals"])
        check(len(told) == 1, "the flood came to its end")
        sent = json.loads(told[0])
        check(good["reasons"]["complete"] == FRAMES == good["frames"], "good pictures", seen)
        mismatch = good["counters"]["source_mismatch"]
        check(mismatch == STRANGE_PKTS, "other sources are counted", (mismatch, seen))
        refused = sum(bad["counters"][name] for name in ("malformed", "foreign", "other"))
        check(refused > sent["sent"] // 20, "what is broken is counted", seen)
        check(bad["counters"]["pkts"] > sent["sent"] // 2, "the flood was there", (sent, seen))
        rate = sent["sent"] * 10**9 // sent["ns"]
        print(f"{backend}: {rate} broken packets/s, {refused} refused, seed {SEED}", flush=True)


def kernel(binaries: list[str]) -> None:
    flood(binaries, "kernel:v1")


def af_packet(binaries: list[str]) -> None:
    flood(binaries, "dpdk:af_packet=v1")


def af_xdp(binaries: list[str]) -> None:
    flood(binaries, "dpdk:af_xdp=v1")


main([kernel, af_packet, af_xdp], need="root")
