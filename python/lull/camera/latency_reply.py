# SPDX-License-Identifier: BSD-3-Clause
"""What lull-cam and lull-cam-source wrote of a round, checked and joined."""

import json
from pathlib import Path
from typing import TypeVar

from lull.camera.latency import Sent
from lull.camera.latency_histogram import Histogram, pool
from lull.document import Document, DocumentError
from lull.errors import LullError


class Reply(Document):
    """Part of what a program writes; what is not named here is not looked at."""


class Reasons(Reply):
    """Frames by the way they ended."""

    complete: int
    deadline: int
    superseded: int
    restart: int
    flush: int


class Assembler(Reply):
    """Counters of one."""

    bytes: int
    late: int = 0


class Stream(Reply):
    """One camera."""

    frames: int
    partial: int
    reasons: Reasons
    assembler: Assembler
    sent_done_ns: Histogram
    sent_fetched_ns: Histogram
    fetched_ns: Histogram


class Totals(Reply):
    """Of the whole receiver."""

    missed: int
    gaps_late: int
    cpu_ns: int
    steal_ns: int
    wall_ns: int


class Finding(Reply):
    """A line of the self-check."""

    subject: str
    grade: int
    text: str


class Host(Reply):
    """Where it ran."""

    dpdk: str = ""


class CamReply(Reply):
    """lull-cam --sent-stamp --json."""

    machine: Host = Host()
    totals: Totals
    gap_ns: Histogram
    streams: list[Stream]
    findings: list[Finding] = []

    def done(self) -> Histogram:
        """All streams together."""
        return pool([stream.sent_done_ns for stream in self.streams])

    def fetched(self) -> Histogram:
        """All streams together."""
        return pool([stream.sent_fetched_ns for stream in self.streams])

    def arrived(self) -> Histogram:
        """All streams together: frames with holes, too."""
        return pool([stream.fetched_ns for stream in self.streams])

    def complete(self) -> int:
        """Whole frames."""
        return sum(stream.reasons.complete for stream in self.streams)

    def partial(self) -> int:
        """Frames with holes."""
        return sum(stream.partial for stream in self.streams)

    def late(self) -> int:
        """Packets of frames that had been given up."""
        return sum(stream.assembler.late for stream in self.streams)

    def picture_bytes(self) -> int:
        """Of a whole frame; 0 when frames have holes in every stream."""
        whole = [stream for stream in self.streams if stream.frames and not stream.partial]
        return whole[0].assembler.bytes // whole[0].frames if whole else 0

    def notes(self) -> list[str]:
        """What the self-check did not like. Its threads were given their CPUs from outside."""
        return [f"{one.subject}: {one.text}" for one in self.findings
                if one.grade > 0 and one.subject != "core"]


class SourceCamera(Reply):
    """One camera of the sender."""

    behind_ns_max: int = 0


class SourceReply(Reply):
    """lull-cam-source --json."""

    frames: int
    packets: int
    refused: int
    sending_s: float
    cameras: list[SourceCamera]

    def sent(self) -> Sent:
        """In our words."""
        return Sent(frames=self.frames, packets=self.packets, refused=self.refused,
                    seconds=self.sending_s,
                    behind_ns=max((one.behind_ns_max for one in self.cameras), default=0))


Kind = TypeVar("Kind", bound=Reply)


def read(path: Path, kind: type[Kind], program: str) -> Kind:
    """The result of a program."""
    try:
        return kind.model_validate(json.loads(path.read_bytes()))
    except OSError:
        raise LullError(f"{program} left no result: run it by hand to see why") from None
    except ValueError as error:
        raise LullError(f"{program}: result not understood ({_where(error)}): rebuild it with "
                        "'make build'") from None


def _where(error: ValueError) -> str:
    """The first thing that is wrong."""
    return str(error) if isinstance(error, DocumentError) else "no JSON"
