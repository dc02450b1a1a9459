# SPDX-License-Identifier: BSD-3-Clause
"""Rails: the words for rails of a bed, and the node's program that has them for others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from station import Station, await_path

NODE = "lull-channel-node"
DEVICES = {"kernel": "kernel:r{}", "dpdk": "dpdk:af_packet=r{}"}


def devices(kind: str, rails: int) -> list[str]:
    """As --rail has them."""
    return [DEVICES[kind].format(rail) for rail in range(rails)]


def memif(folder: Path, node: str) -> str:
    """Shared memory of two DPDK programs; node b makes it."""
    role = "client" if node == "a" else "server"
    return f"dpdk:net_memif0,role={role},socket-abstract=no,socket={folder}/memif"


def program_of(build: Path, name: str) -> Path:
    """Where one of ours lies."""
    return build / "apps" / name / name


def node_program(station: Station, build: Path, folder: Path, node: str, rails: Sequence[str],
                 governor: str = "") -> Path:  # fmt: skip
    """Starts the node's program, once for each node; its socket."""
    name = f"program-{node}"
    socket = folder / f"{name}.socket"
    if name in station.apart:
        return socket
    home = folder / name
    home.mkdir(exist_ok=True)
    words = [word for rail in rails for word in ("--rail", rail)]
    words += ["--governor", governor] if governor else []
    process = station.start(node, str(program_of(build, NODE)), *words, "--socket", str(socket),
                            environment={"RUNTIME_DIRECTORY": str(home)})  # fmt: skip
    await_path(lambda: [socket] * socket.exists(), process, NODE)
    station.apart[name] = process.pid
    return socket
