# SPDX-License-Identifier: BSD-3-Clause
"""Flow simulation replies: what lull-flow-sim says, as typed plain data."""

import json

from lull.document import item
from lull.errors import LullError
from lull.sim.reply import Data


class FlowWorker(Data):
    """What one worker did."""

    packets: int


class FlowDispatch(Data):
    """What the scheduler did."""

    relieved: int = 0  # packets that another worker got, as theirs had too much


class FlowRun(Data):
    """One scheduler under one load."""

    scheduler: str
    load: float
    offered: int
    lost: int
    loss_ppm: float
    watched: int = 0
    watched_lost_pct: float = 0
    dispatch: FlowDispatch = item(default_factory=FlowDispatch)
    worker: list[FlowWorker] = []


class FlowSimReply(Data):
    """Everything that one lull-flow-sim printed."""

    runs: list[FlowRun]


def parse(text: str) -> list[FlowRun]:
    """Its runs; complains where they do not fit."""
    try:
        return FlowSimReply.model_validate(json.loads(text)).runs
    except ValueError as error:
        first = str(error).replace("\n", " ")[:160]
        raise LullError(f"lull-flow-sim: reply not understood ({first}): rebuild it with "
                        "'make build'") from None
