# SPDX-License-Identifier: BSD-3-Clause
"""Model run: lull-model over rings in one process, or over veth in two, each in its namespace."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from lull.errors import LullError
from lull.model import reply as model_reply
from lull.model.figures import Bench
from lull.model.reply import BurstCost, ModelReply
from lull.program.child import Child
from lull.program.pace import Pace
from lull.program.telemetry import Telemetry
from lull.program.wire import Wire
from lull.sim.simulation import Pool

PACKET_RING = "framecnt=1024,framesz=2048,blocksz=4096"
CATCH_UP_S = 2.0
STEP_S = 0.02


class RingBench(Bench):
    """One process, nothing of the system but its CPUs."""

    ports = "ring"

    def __init__(self, executable: Path) -> None:
        self._pool = Pool(executable, workers=1)

    def __enter__(self) -> Self:
        self._pool.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._pool.__exit__(kind, value, trace)

    def run(self, arguments: Sequence[str], send: Sequence[str],
            receive: Sequence[str]) -> ModelReply:
        """Both sides in one process."""
        return self._one([*arguments, *send, *receive])

    def costs(self) -> list[BurstCost]:
        """Measure bursts."""
        return self._one(["--burst-cost"]).burst_cost

    def _one(self, arguments: Sequence[str]) -> ModelReply:
        reply = model_reply.parse(self._pool.one([*arguments, "--json", "-"]))
        self.dpdk = reply.machine.dpdk
        return reply


class VethBench(Wire, Bench):
    """Two namespaces with a pair of interfaces between them; leaving the block removes them."""

    ports = "veth"

    def __init__(self, executable: Path, pace: Pace) -> None:
        super().__init__("model", "for --ports veth, run it as root, or take --ports ring")
        self._executable, self._pace = executable, pace

    def settle(self) -> None:
        """No ARP: what arrives is what the other side sends."""
        for namespace, interface in self.ends():
            self.ip("-n", namespace, "link", "set", interface, "arp", "off", "up")

    def run(self, arguments: Sequence[str], send: Sequence[str],
            receive: Sequence[str]) -> ModelReply:
        """The receiver first; it ends when it has what was sent."""
        with tempfile.TemporaryDirectory(prefix="lull-model-") as scratch:
            sent, received = Path(scratch, "send.json"), Path(scratch, "receive.json")
            sinks = [*self._port("receive", "r0"), *arguments, *receive, "--json", str(received)]
            sends = [*self._port("send", "s0"), *arguments, *send, "--json", str(sent)]
            with self._child(self.receiver(), sinks) as receiver, receiver.connect() as telemetry:
                with self._child(self.sender(), sends) as sender:
                    self._wait(sender, receiver)
                source = _read(sent)
                self.dpdk = source.machine.dpdk
                self._catch_up(telemetry, source)
                status = receiver.stop()
                if status != 0:
                    raise receiver.failure(status)
            return model_reply.join(source, _read(received))

    def costs(self) -> list[BurstCost]:
        """Both interfaces in one process, in a namespace of their own."""
        with tempfile.TemporaryDirectory(prefix="lull-model-") as scratch:
            path = Path(scratch, "cost.json")
            self.ip("-n", self._receive, "link", "set", "r0", "netns", self._send)
            self.ip("-n", self._send, "link", "set", "r0", "arp", "off", "up")
            ports = [f"--vdev=net_af_packet{index},iface={name},{PACKET_RING}"
                     for index, name in enumerate(("s0", "r0"))]
            with self._child(self.sender(), [*ports, "--burst-cost", "--json", str(path)]) as child:
                self._wait(child)
            reply = _read(path)
            self.dpdk = reply.machine.dpdk
            return reply.burst_cost

    @staticmethod
    def _port(side: str, interface: str) -> list[str]:
        return ["--side", side, "--vdev", f"net_af_packet0,iface={interface},{PACKET_RING}"]

    def _child(self, prefix: Sequence[str], arguments: Sequence[str]) -> Child:
        return Child(self._executable, arguments, self._pace, prefix=prefix)

    def _wait(self, awaited: Child, *others: Child) -> None:
        while (status := awaited.ended()) is None:
            for other in others:
                other.check()
            self._pace.sleep(STEP_S)
        if status != 0:
            raise awaited.failure(status)

    def _catch_up(self, telemetry: Telemetry, source: ModelReply) -> None:
        """Until the receiver has taken or missed all; a wire that lost some is not waited for."""
        sent = source.sender.total_taken if source.sender else 0
        end = self._pace.now() + CATCH_UP_S
        while self._pace.now() < end:
            loop = telemetry.loop("receiver")
            if loop.count("pkts") + loop.count("rx_missed") >= sent:
                return
            self._pace.sleep(STEP_S)


def _read(path: Path) -> ModelReply:
    try:
        return model_reply.parse(path.read_text(encoding="utf-8"))
    except OSError:
        raise LullError("lull-model left no result: run it by hand to see why") from None
