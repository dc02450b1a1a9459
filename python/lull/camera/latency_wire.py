# SPDX-License-Identifier: BSD-3-Clause
"""Wire: two network namespaces with a pair of interfaces between them, removed in any case."""

import os
import shutil
import signal
import subprocess
from types import TracebackType
from typing import Self

from lull.errors import LullError

SENDER, RECEIVER = "10.99.0.1", "10.99.0.2"
INTERFACE = "r0"  # of the receiver
MACS = {SENDER: "02:00:00:00:63:01", RECEIVER: "02:00:00:00:63:02"}
SIGNALS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


class Wire:
    """Leaving the block removes it."""

    def __init__(self, mtu: int) -> None:
        self.mtu = mtu
        self._send, self._receive = (f"lull-camera-{os.getpid()}-{end}" for end in "sr")

    def __enter__(self) -> Self:
        if os.geteuid() != 0 or shutil.which("ip") is None:
            raise LullError("needs root and ip(8) to make network namespaces: run it as root, as "
                            "in 'sudo lull camera latency'; --from FILE draws a result without")
        try:
            self._lay()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._remove()

    def sender(self) -> list[str]:
        """What makes a command run at the sender's end."""
        return ["ip", "netns", "exec", self._send]

    def receiver(self) -> list[str]:
        """What makes a command run at the receiver's end."""
        return ["ip", "netns", "exec", self._receive]

    def _lay(self) -> None:
        for namespace in (self._send, self._receive):
            _ip("netns", "add", namespace)
            _ip("netns", "exec", namespace, "sh", "-c",
                "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6")
        _ip("-n", self._send, "link", "add", "s0", "type", "veth", "peer", "name", INTERFACE,
            "netns", self._receive)
        ends = ((self._send, "s0", SENDER, RECEIVER),
                (self._receive, INTERFACE, RECEIVER, SENDER))
        for namespace, interface, own, other in ends:
            _ip("-n", namespace, "link", "set", interface, "address", MACS[own], "mtu",
                str(self.mtu), "up")
            _ip("-n", namespace, "addr", "add", f"{own}/24", "dev", interface)
            # A receiver on AF_XDP takes ARP from the kernel, too.
            _ip("-n", namespace, "neigh", "replace", other, "lladdr", MACS[other], "nud",
                "permanent", "dev", interface)

        # The sender hands over rows of packets; they are to be packets again on the wire.
        _ip("-n", self._send, "link", "set", "s0", "gso_max_segs", "1")

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


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        said = " ".join(done.stderr.split()) or f"status {done.returncode}"
        raise LullError(f"ip {' '.join(words)}: {said}: run it as root, on a machine where root "
                        "may make network namespaces")
