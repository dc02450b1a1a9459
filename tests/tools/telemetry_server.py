# SPDX-License-Identifier: BSD-3-Clause
"""A telemetry socket as DPDK 22.11 has it: greeting, then one reply for each request."""

import contextlib
import json
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

MAX_OUTPUT_LEN = 16384


class TelemetryServer:
    """Serves answer(request) on a socket until the `with` block is left."""

    def __init__(self, path: Path, answer: Callable[[str], Any], pid: int = 4711) -> None:
        self.path = path
        self._answer = answer
        self._pid = pid
        self._lock = threading.Lock()
        self._clients: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._listener.bind(str(path))
        self._listener.listen(8)

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(self, *what: object) -> None:
        self.hang_up()
        for thread in self._threads:
            thread.join()
        self.path.unlink(missing_ok=True)

    def hang_up(self) -> None:
        """Stop as a program that ends does: no new clients, and the old ones are dropped."""
        for one in [self._listener, *self._clients]:
            with contextlib.suppress(OSError):  # its peer was quicker
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self._clients.append(client)
            self._start(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        try:
            client.send(json.dumps({"version": "DPDK 22.11.11", "pid": self._pid,
                                    "max_output_len": MAX_OUTPUT_LEN}).encode())
            while data := client.recv(1024):
                with self._lock:
                    reply = self.reply(data.decode())
                client.send(reply)
        except OSError:
            return
        finally:
            client.close()

    def reply(self, request: str) -> bytes:
        """Reply to one request, as bytes on the socket; tests replace it to misbehave."""
        command = request.partition(",")[0]
        text = json.dumps({command: self._answer(request)}, separators=(",", ":"))
        assert len(text) <= MAX_OUTPUT_LEN, f"{request}: DPDK would cut this reply"
        return text.encode()
