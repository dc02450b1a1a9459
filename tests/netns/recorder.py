# SPDX-License-Identifier: BSD-3-Clause
"""Recorder: takes packets from a wire, and sends them once more."""

from __future__ import annotations

import socket
import threading
from types import TracebackType
from typing import Self

from verdict import check

ETH_P_ALL = 3
SO_RCVBUFFORCE = 33
PACKET_OUTGOING = 4
FRAME_BYTES_MAX = 65536


class Recorder:
    """Records what arrives at one device of a namespace, while a `with` block runs."""

    def __init__(self, namespace: str, device: str) -> None:
        from lull.channel.bed_namespace import inside

        def make() -> socket.socket:
            made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
            made.bind((device, ETH_P_ALL))
            made.settimeout(0.05)
            return made

        self._socket = inside(namespace, make)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._record)
        self.frames: list[bytes] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:  # fmt: skip
        self.stop()
        self._socket.close()

    def stop(self) -> None:
        """Record no more."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _record(self) -> None:
        while not self._stop.is_set():
            try:
                frame, address = self._socket.recvfrom(FRAME_BYTES_MAX)
            except TimeoutError:
                continue
            if address[2] != PACKET_OUTGOING:
                self.frames.append(frame)

    def replay(self, device: str, frames: list[bytes]) -> None:
        """Send them by a device of the same namespace, as if they came from there."""
        check(frames, "something was recorded")
        for frame in frames:
            self._socket.sendto(frame, (device, 0))
