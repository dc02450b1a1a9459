# SPDX-License-Identifier: BSD-3-Clause
"""Latency wire: the wire between a camera in software and its receiver, with addresses."""

from lull.program import wire
from lull.program.wire import RECEIVE_INTERFACE as INTERFACE

__all__ = ["INTERFACE", "RECEIVER", "SENDER", "Wire"]

SENDER, RECEIVER = "10.99.0.1", "10.99.0.2"
MACS = {SENDER: "02:00:00:00:63:01", RECEIVER: "02:00:00:00:63:02"}


class Wire(wire.Wire):
    """Leaving the block removes it."""

    def __init__(self, mtu: int) -> None:
        super().__init__("camera", "run it as root, as in 'sudo lull camera latency', where root "
                                   "may make network namespaces; --from FILE draws a result "
                                   "without")
        self.mtu = mtu

    def settle(self) -> None:
        """Both ends get addresses, and know each other's."""
        pairs = zip(self.ends(), ((SENDER, RECEIVER), (RECEIVER, SENDER)), strict=True)
        for (namespace, interface), (own, other) in pairs:
            self.ip("-n", namespace, "link", "set", interface, "address", MACS[own], "mtu",
                    str(self.mtu), "up")
            self.ip("-n", namespace, "addr", "add", f"{own}/24", "dev", interface)
            # A receiver on AF_XDP takes ARP from the kernel, too.
            self.ip("-n", namespace, "neigh", "replace", other, "lladdr", MACS[other], "nud",
                    "permanent", "dev", interface)
        # The sender hands over rows of packets; they are to be packets again on the wire.
        namespace, interface = self.ends()[0]
        self.ip("-n", namespace, "link", "set", interface, "gso_max_segs", "1")
