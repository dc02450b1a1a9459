# SPDX-License-Identifier: BSD-3-Clause
"""Model replies: what lull-model says, as typed plain data.

Unknown members are kept: a newer program may say more.
"""

import json

from lull.document import Document, item
from lull.errors import LullError
from lull.program.replies import Reply


class Side(Reply):
    """Sender or receiver: figures of the window, totals since the start."""

    rest: str
    cpu_pct: float
    empty_pct: float
    usage_pct: float
    empty_requested_pct: float
    usage_requested_pct: float
    packets_per_s: float
    bits_per_s: float
    rest_mean_ns: float = 0
    burst_mean_pkts: float = 0
    steal_ns: int = 0
    total_taken: int
    missed: int = 0


class Machine(Reply):
    """The machine it ran on."""

    dpdk: str = ""


class BurstCost(Document):
    """Time of one receive and one send; None: could not be measured."""

    burst: int
    size: int
    rx_ns: float | None = None
    tx_ns: float | None = None


class ModelReply(Reply):
    """Everything that one lull-model wrote, or two of them together."""

    machine: Machine = item(default_factory=Machine)
    sender: Side | None = None
    receiver: Side | None = None
    lost: int | None = None
    burst_cost: list[BurstCost] = []

    def both(self) -> tuple[Side, Side]:
        """Sender and receiver."""
        if self.sender is None or self.receiver is None:
            raise LullError("lull-model left out a side: rebuild it with 'make build'")
        return self.sender, self.receiver


def parse(text: str) -> ModelReply:
    """What lull-model wrote; complains where it does not fit."""
    try:
        return ModelReply.model_validate(json.loads(text))
    except ValueError as error:
        first = str(error).replace("\n", " ")[:160]
        raise LullError(f"lull-model: reply not understood ({first}): rebuild it with "
                        "'make build'") from None


def join(send: ModelReply, receive: ModelReply) -> ModelReply:
    """Two processes with a side each: what one sent and the other never received is lost."""
    joined = send.model_copy(update={"receiver": receive.receiver})
    sender, receiver = joined.both()
    return joined.model_copy(update={"lost": max(0, sender.total_taken - receiver.total_taken)})
