# SPDX-License-Identifier: BSD-3-Clause
"""Which GigE Vision cameras lull-cam finds, on which interfaces, and that a MAC address will do.

discover.py LULL-CAM LULL-CAM-SOURCE
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import struct
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from camera_world import inside
from verdict import TIMEOUT_S, check, wait_for
from world import World, main, run, world

FAKE = "arv-fake-gv-camera-0.8"
Found = list[dict[str, Any]]


class Sight:
    """A host with two interfaces, and cameras behind both."""

    def __init__(self, here: World, stack: ExitStack, binaries: list[str]) -> None:
        self.here, self.stack = here, stack
        self.lull_cam, self.source = binaries
        self.camera, self.other = here.namespace("camera"), here.namespace("other")
        self.host = here.namespace("host")
        here.veth((self.camera, "v0"), (self.host, "v1"))
        here.veth((self.other, "v2"), (self.host, "v3"))
        for namespace, name, *addresses in (
            (self.camera, "v0", "10.9.0.1/24", "10.9.0.3/24", "172.16.0.1/24"),
            (self.host, "v1", "10.9.0.2/24"),
            (self.other, "v2", "10.9.1.1/24"),
            (self.host, "v3", "10.9.1.2/24"),
        ):
            run("ip", "-n", namespace, "link", "set", name, "arp", "on")
            for address in addresses:
                run("ip", "-n", namespace, "addr", "add", address, "dev", name)
            # a camera of another network shall be heard
            self.inside(namespace, "sh", "-c", "echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter;"
                        f"echo 0 >/proc/sys/net/ipv4/conf/{name}/rp_filter")  # fmt: skip

    def inside(self, namespace: str, *words: str) -> None:
        run("ip", "netns", "exec", namespace, *words)

    def start(self, namespace: str, *words: str) -> None:
        """A program until the end of the test."""
        program = subprocess.Popen(
            ["ip", "netns", "exec", namespace, *words],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.stack.callback(program.wait)
        self.stack.callback(program.kill)

    def source_at(self, address: str, *words: str) -> None:
        self.start(self.camera, self.source, "--protocol", "gvsp", "--bind", address,
                   "--interface", "v0", "--width", "64", "--height", "48", *words)  # fmt: skip

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["ip", "netns", "exec", self.host, self.lull_cam, *words],
            capture_output=True, text=True, check=False, timeout=TIMEOUT_S, env=self.here.env,
        )  # fmt: skip

    def discover(self, *words: str) -> Found:
        ran = self.call("--discover", "--duration", "300ms", "--json", "-", *words)
        check(ran.returncode in (0, 1), "ends by itself", ran.stderr)
        result: dict[str, Any] = json.loads(ran.stdout)
        check(result["program"] == "lull-cam", "who asked", result)
        found: Found = result["cameras"]
        check((ran.returncode == 0) == (found != []), "says when there is none", ran.stderr)
        return found


def addresses(found: Found) -> list[tuple[str, str]]:
    return [(camera["interface"], camera["address"]) for camera in found]


def answer(number: int, address: str) -> bytes:
    """Of a camera there, to question @p number."""
    device = bytearray(248)
    device[10:16] = bytes.fromhex("020000000042")
    device[36:40] = socket.inet_aton(address)
    device[72:78] = b"forged"
    for at in (104, 136, 216, 232):  # model, version, serial, name
        device[at : at + 8] = b"\x1b[31mred"
    return struct.pack("!HHHH", 0, 0x0003, len(device), number) + device


def believes_no_liar(binaries: list[str]) -> None:
    """Answers to other questions, for other addresses, and from other ports are none."""
    with ExitStack() as stack, world() as here:
        sight = Sight(here, stack, binaries)
        asked, stop = [], threading.Event()
        with inside(sight.camera):
            ear = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            ear.bind(("255.255.255.255", 3956))
            ear.settimeout(0.1)
            mouth, other = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
            mouth.bind(("10.9.0.1", 3956))
            other.bind(("10.9.0.1", 0))

        def lie() -> None:
            while not stop.is_set():
                try:
                    question, who = ear.recvfrom(600)
                except TimeoutError:
                    continue
                number = struct.unpack("!H", question[6:8])[0]
                asked.append(number)
                mouth.sendto(answer((number + 1) & 0xFFFF, "10.9.0.1"), who)
                mouth.sendto(answer(0x6C75, "10.9.0.1"), who)
                mouth.sendto(answer(number, "10.9.0.9"), who)
                other.sendto(answer(number, "10.9.0.1"), who)
                if honest:
                    mouth.sendto(answer(number, "10.9.0.1"), who)

        honest = False
        thread = threading.Thread(target=lie)
        thread.start()
        try:
            check(sight.discover() == [] and asked != [], "lies are heard, not believed", asked)
            honest, first = True, asked[0]
            found = sight.discover()
            check(addresses(found) == [("v1", "10.9.0.1")], "the truth is", found)
            texts = {found[0][member] for member in ("model", "version", "serial", "name")}
            check(texts == {"?[31mred"}, "no escapes", texts)
            shown = sight.call("--discover", "--duration", "300ms").stdout
            check("forged" in shown and "\x1b" not in shown, "nor in the list", shown)
            check(asked[-1] != first, "each question has a number of its own", asked)
        finally:
            stop.set()
            thread.join()
            for end in (ear, mouth, other):
                end.close()


def discovers(binaries: list[str]) -> None:
    with ExitStack() as stack, world() as here:
        sight = Sight(here, stack, binaries)
        check(sight.discover() == [], "nobody is there")
        for address in ("10.9.0.1", "10.9.0.3", "172.16.0.1"):
            sight.source_at(address)
        near = [("v1", "10.9.0.1"), ("v1", "10.9.0.3"), ("v1", "172.16.0.1")]
        wait_for("all cameras answer", lambda: addresses(sight.discover()) == near)
        found = sight.discover("--backend", "kernel:v1")
        check([camera["reachable"] for camera in found] == [True, True, False], "where", found)
        check(len({camera["mac"] for camera in found}) == 3, "MAC addresses", found)
        check(found[0]["maker"] == "lull" and found[0]["serial"] != "", "what it is", found[0])
        check(sight.discover("--backend", "kernel:v3") == [], "not on the other interface")
        if shutil.which(FAKE) is not None:
            sight.start(sight.other, FAKE, "-i", "v2")
            both = [*near, ("v3", "10.9.1.1")]
            wait_for("aravis answers", lambda: addresses(sight.discover()) == both)
            (fake,) = sight.discover("--backend", "kernel:v3")
            check(fake["maker"] == "Aravis" and fake["reachable"], "aravis", fake)
        lists_them(sight)
        takes_by_mac(sight, found)


def lists_them(sight: Sight) -> None:
    ran = sight.call("--discover", "--backend", "kernel-busy:v1", "--duration", "300ms")
    lines = ran.stdout.splitlines()
    check(ran.returncode == 0 and len(lines) == 4, "a line each", ran.stdout + ran.stderr)
    check(re.match(r"10\.9\.0\.1 +([0-9a-f]{2}:){5}[0-9a-f]{2} +v1 +lull ", lines[1]) is not None,
          "what a line says", lines[1])  # fmt: skip
    check("in no network of this interface" in lines[3], "one cannot be talked to", lines[3])
    for backend, said in (("kernel:none9", "none9"), ("pcap:file", "--backend kernel:IF")):
        ran = sight.call("--discover", "--backend", backend)
        check(ran.returncode == 1 and said in ran.stderr, f"refuses {backend}", ran.stderr)


def takes_by_mac(sight: Sight, found: Found) -> None:
    """The camera that has it streams; who is not there, or in another network, is told."""
    words = ("--backend", "kernel:v1", "--unchecked", "--frames", "3", "--control")
    ran = sight.call(*words, found[1]["mac"].upper())
    check(ran.returncode == 0 and "3 frames" in ran.stderr, "streams", ran.stderr)
    ran = sight.call(*words, found[2]["mac"])
    check(ran.returncode == 1 and "172.16.0.1, which is in no network" in ran.stderr, "far away",
          ran.stderr)  # fmt: skip
    ran = sight.call(*words, "02:00:00:00:00:99")
    check(ran.returncode == 1 and "no camera 02:00:00:00:00:99" in ran.stderr, "not there",
          ran.stderr)  # fmt: skip
    ran = sight.call(*words, "front")
    check(ran.returncode == 1 and "neither an IPv4 nor a MAC" in ran.stderr, "no address",
          ran.stderr)  # fmt: skip


main([discovers, believes_no_liar])
