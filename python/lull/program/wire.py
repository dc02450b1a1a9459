# SPDX-License-Identifier: BSD-3-Clause
"""Wire: two network namespaces with a pair of interfaces between them, removed in any case."""

import os
import shutil
import signal
import subprocess
from types import TracebackType
from typing import Self

from lull.errors import LullError

SEND_INTERFACE, RECEIVE_INTERFACE = "s0", "r0"
SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


class Wire:
    """Leaving the block removes it. Subclasses say in settle() how the interfaces are set up."""

    def __init__(self, name: str, way_out: str) -> None:
        """The name tells whose namespaces they are; the way out ends each sentence of an error."""
        self._way_out = way_out
        self._send, self._receive = (f"lull-{name}-{os.getpid()}-{end}" for end in "sr")

    def __enter__(self) -> Self:
        if os.geteuid() != 0 or shutil.which("ip") is None:
            raise LullError(f"needs root and ip(8) to make network namespaces: {self._way_out}")
        try:
            self._lay()
            self.settle()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._remove()

    def settle(self) -> None:
        """Set the interfaces up; nothing is but made before."""
        raise NotImplementedError

    def sender(self) -> list[str]:
        """What makes a command run at the sender's end."""
        return ["ip", "netns", "exec", self._send]

    def receiver(self) -> list[str]:
        """What makes a command run at the receiver's end."""
        return ["ip", "netns", "exec", self._receive]

    def ip(self, *words: str) -> None:
        """Run ip(8)."""
        done = subprocess.run(["ip", *words], check=False, capture_output=True, text=True)
        if done.returncode != 0:
            said = " ".join(done.stderr.split()) or f"status {done.returncode}"
            raise LullError(f"ip {' '.join(words)}: {said}: {self._way_out}")

    def ends(self) -> tuple[tuple[str, str], tuple[str, str]]:
        """Namespace and interface of the sender, then of the receiver."""
        return (self._send, SEND_INTERFACE), (self._receive, RECEIVE_INTERFACE)

    def _lay(self) -> None:
        for namespace in (self._send, self._receive):
            self.ip("netns", "add", namespace)
            self.ip("netns", "exec", namespace, "sh", "-c",
                    "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6")
        self.ip("-n", self._send, "link", "add", SEND_INTERFACE, "type", "veth",
                "peer", "name", RECEIVE_INTERFACE, "netns", self._receive)

    def _remove(self) -> None:
        # A second Ctrl-C must not leave half of it.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            for namespace in (self._send, self._receive):
                # A session of its own: Ctrl-C on a terminal would reach ip(8), too.
                subprocess.run(["ip", "netns", "del", namespace], check=False,
                               capture_output=True, start_new_session=True)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
