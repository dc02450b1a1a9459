# SPDX-License-Identifier: BSD-3-Clause
"""Bed namespace: what is done inside of a network namespace, by programs and by threads."""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from lull.errors import LullError

FOLDERS = (Path("/run/netns"), Path("/var/run/netns"))
CLONE_NEWNET = 0x40000000
SIOCETHTOOL = 0x8946
# Of linux/ethtool.h: generic and TCP segmentation, generic receive, transmit checksums.
OFFLOADS = {"tso": 0x1F, "gso": 0x24, "gro": 0x2C, "tx": 0x17}
Answer = TypeVar("Answer")


def run(*words: str, given: str | None = None) -> str:
    """Run a program and return what it prints; its first line of complaint becomes an error."""
    try:
        done = subprocess.run(words, check=False, capture_output=True, text=True, input=given,
                              stdin=subprocess.DEVNULL if given is None else None)
    except FileNotFoundError:
        raise LullError(f"{words[0]} is missing: install the package "
                        f"{'nftables' if words[0] == 'nft' else 'iproute2'}") from None
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise LullError(f"{' '.join(words)}: {said[0] if said else f'status {done.returncode}'}")
    return done.stdout


def inside(namespace: str, work: Callable[[], Answer]) -> Answer:
    """What work() returns in a network namespace; a socket made there stays there.

    Works in a thread of its own, as the namespace is a thread's.
    """
    answers: list[Answer] = []
    errors: list[Exception] = []

    def enter() -> None:
        try:
            _enter(namespace)
            answers.append(work())
        except Exception as error:  # raised again by who waits
            errors.append(error)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return answers[0]


def _enter(namespace: str) -> None:
    path = next((folder / namespace for folder in FOLDERS if (folder / namespace).exists()), None)
    if path is None:
        raise LullError(f"there is no network namespace {namespace}")
    libc = ctypes.CDLL(None, use_errno=True)
    number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.setns(number, CLONE_NEWNET) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), str(path))
    finally:
        os.close(number)


def offloads_off(namespace: str, devices: list[str]) -> None:
    """A packet of a socket is a packet of the wire then, with its checksum."""

    def work() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plain:
            for device in devices:
                for command in OFFLOADS.values():
                    _ethtool(plain, device, command)

    inside(namespace, work)


def _ethtool(plain: socket.socket, device: str, command: int) -> None:
    value = ctypes.create_string_buffer(struct.pack("II", command, 0))
    request = struct.pack("16sQ8x", device.encode(), ctypes.addressof(value))
    fcntl.ioctl(plain.fileno(), SIOCETHTOOL, request)
