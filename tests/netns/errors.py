# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong is said in one line, with a non-zero exit, and leaves nothing behind."""

from __future__ import annotations

import re
import subprocess

from verdict import TIMEOUT_S, check
from world import World, main, world

GEN, FWD = 0, 1


def refused(here: World, binary: str, words: str, pattern: str) -> None:
    before = sorted(here.directory.rglob("*"))
    command = [binary, *words.split()]
    result = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env=here.env,
        cwd=here.directory,
        timeout=TIMEOUT_S,
        check=False,
    )
    shown = f"{' '.join(command)}: {result.returncode} {result.stdout}{result.stderr}"
    check(result.returncode not in (0, 77) and result.returncode > 0, "fails", shown)
    check(result.stdout == "", "says nothing on stdout", shown)
    check(len(result.stderr.splitlines()) == 1, "says one line", shown)
    check(re.search(pattern, result.stderr) is not None, f"says {pattern}", shown)
    here.check_clean()
    after = sorted(here.directory.rglob("*"))
    # the runtime directory itself may stay, empty
    left = [p for p in after if p not in before and p != here.runtime / "dpdk"]
    check(not left, "leaves nothing behind", left)


def options(binaries: list[str]) -> None:
    with world() as here:
        for binary in binaries:
            refused(here, binary, "--vdev net_ring0 --brust 3", "--brust.*burst")
            refused(here, binary, "--vdev net_ring0 --burst 0", "burst.*1\\.\\.")
            refused(here, binary, "--vdev net_ring0 --traffic often:3", "traffic.*often")
            refused(here, binary, "--vdev net_ring0 --cpus 1000", "CPU")
            refused(here, binary, "--vdev net_ring0 --config none.yaml", "none.yaml")
            refused(here, binary, "stray", "stray")
        gen = binaries[GEN]
        refused(here, gen, "--vdev net_ring0 --rx-only --tx-only", "one of them")
        refused(here, gen, "--vdev net_ring0 --traffic-size 40", "traffic-size.*64")
        refused(here, gen, "--vdev net_ring0 --pcap-speed 0", "pcap-speed.*original")


def config_files(binaries: list[str]) -> None:
    with world() as here:
        here.path("key.yaml").write_text("vdev: net_ring0\nmax-latancy: 5\n")
        here.path("value.yaml").write_text("vdev: net_ring0\nburst: many\n")
        here.path("broken.yaml").write_text("vdev: [net_ring0\n")
        for binary in binaries:
            refused(here, binary, "--config key.yaml", "key.yaml.*max-latancy")
            refused(here, binary, "--config value.yaml", "value.yaml.*burst")
            refused(here, binary, "--config broken.yaml", "broken.yaml")


def ports(binaries: list[str]) -> None:
    with world() as here:
        for binary in binaries:
            refused(here, binary, "", "no port|--vdev")
            refused(here, binary, "--vdev net_nonsense0", "net_nonsense0")
            refused(here, binary, "--vdev net_af_packet0,iface=nowhere0", "nowhere0|net_af_packet0")
        gen = binaries[GEN]
        refused(here, gen, "--vdev net_ring0 --rx-port 3", "rx-port.*3")
        refused(here, gen, "--vdev net_ring0 --tx-port 1", "tx-port.*1")


def peers(binaries: list[str]) -> None:
    """A peer that is not there."""
    with world() as here:
        gen = binaries[GEN]
        path = here.path("nobody.sock")
        client = f"--vdev net_memif0,role=client,socket={path},socket-abstract=no"
        server = client.replace("client", "server")
        refused(here, gen, client, "net_memif0 does not start.*connect.*nobody.sock")
        refused(here, gen, f"{server} --link-wait 100ms", "net_memif0 has no link")
        refused(here, gen, f"--vdev net_virtio_user0,path={path}", "net_virtio_user0|nobody.sock")


def captures(binaries: list[str]) -> None:
    with world() as here:
        gen = binaries[GEN]
        head = bytes.fromhex("d4c3b2a1020004000000000000000000ffff0000")
        frame = bytes.fromhex("00000000000000003c0000003c000000") + bytes(60)
        here.path("cut.pcap").write_bytes(head + b"\1\0\0\0" + frame + frame[:40])
        here.path("linux.pcap").write_bytes(head + b"\x71\0\0\0" + frame)
        here.path("empty.pcap").write_bytes(head + b"\1\0\0\0")
        here.path("text.pcap").write_text("not a capture at all, but long enough to look like one")
        port = "--vdev net_ring0 --pcap"
        refused(here, gen, f"{port} absent.pcap", "absent.pcap: No such file")
        refused(here, gen, f"{port} cut.pcap", "cut.pcap: truncated at byte 100")
        refused(here, gen, f"{port} linux.pcap", "linux.pcap.*link type 113")
        refused(here, gen, f"{port} empty.pcap", "empty.pcap.*no frame")
        refused(here, gen, f"{port} text.pcap", "text.pcap: unsupported")


def results(binaries: list[str]) -> None:
    with world() as here:
        here.path("folder").mkdir()
        for binary in binaries:
            run = "--vdev net_ring0 --duration 0.05s"
            if binary == binaries[FWD]:  # which warns without the right to a better class
                run += " --sched-policy other"
            refused(here, binary, f"{run} --json /dev/full", "/dev/full: No space left")
            refused(here, binary, f"{run} --json none/result.json", "none/result.json")
            refused(here, binary, f"{run} --json folder", "folder")


main([options, config_files, ports, peers, captures, results])
