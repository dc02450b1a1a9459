# SPDX-License-Identifier: BSD-3-Clause
"""Telemetry: the one module that speaks to a program's telemetry socket.

DPDK's protocol, version 2: connect a SOCK_SEQPACKET socket, read the greeting
{"version", "pid", "max_output_len"}, then send "/command,parameter" and read
{"/command": value} for each. A value of null means that the program does not
know the command or refused the parameter.
"""

import json
import socket
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from lull.document import Document, DocumentError
from lull.errors import LullError
from lull.program.camera_replies import Cameras
from lull.program.channel_replies import Channel, Paths, Peers, Rails
from lull.program.channel_replies import Path as ChannelPath
from lull.program.channel_replies import Peer as ChannelPeer
from lull.program.channel_replies import Rail as ChannelRail
from lull.program.replies import (
    Explain,
    FlowTop,
    FlowTotals,
    Greeting,
    Histogram,
    Info,
    Loop,
    MarkReply,
    SetReply,
    Traffic,
)

REPLY_BYTES_MIN = 65536
Reply = TypeVar("Reply", bound=Document)
Table = TypeVar("Table", Cameras, Rails, Peers, Paths)


class TelemetryError(LullError):
    """The socket cannot be reached, or the program behind it is gone or does not understand."""


class Telemetry:
    """One connection to one program. Not to be shared between threads."""

    def __init__(self, path: Path, timeout_s: float = 2.0) -> None:
        self.path = path
        self._reply_bytes = REPLY_BYTES_MIN
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(timeout_s)
        try:
            self._connect()
        except BaseException:
            self._socket.close()
            raise

    def _connect(self) -> None:
        try:
            self._socket.connect(str(self.path))
        except FileNotFoundError:
            raise self._error("no such socket: the program has ended, or never ran") from None
        except ConnectionRefusedError:
            raise self._error("nobody answers: the program has ended and left its socket, "
                              "which may be removed") from None
        except PermissionError:
            raise self._error("permission denied: run lull as the user who started "
                              "the program") from None
        except OSError as error:
            raise self._error(f"{error.strerror or error}: choose another one "
                              "with --socket") from None
        greeting = self._receive()
        try:
            self.greeting = Greeting.model_validate(greeting)
        except DocumentError:
            raise self._error("this is not a DPDK telemetry socket (version 2)") from None
        self._reply_bytes = max(REPLY_BYTES_MIN, self.greeting.max_output_len)

    def close(self) -> None:
        """Hang up; the object is of no use afterwards."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def ask(self, command: str, parameter: str = "") -> Any:  # noqa: ANN401 - JSON is anything
        """Value that the program gives for a command; None when it has no answer."""
        request = f"{command},{parameter}" if parameter else command
        try:
            self._socket.send(request.encode())
        except TimeoutError:
            raise self._silent() from None
        except OSError:
            raise self._gone() from None
        reply = self._receive()
        if not isinstance(reply, dict) or command not in reply:
            raise self._error(f"unexpected answer to {command}: is this a lull program?")
        return reply[command]

    def info(self) -> Info:
        """Name, version and loops of the program."""
        return self._ask_model(Info, "/lull/info")

    def loop(self, name: str) -> Loop:
        """Everything that is measured of one loop."""
        return self._ask_model(Loop, "/lull/loop", name)

    def loops(self, info: Info | None = None) -> list[Loop]:
        """All loops, in the program's order."""
        return [self.loop(name) for name in (info or self.info()).loops]

    def explain(self, name: str) -> Explain:
        """What the governor of a loop promises, and why."""
        return self._ask_model(Explain, "/lull/explain", name)

    def traffic(self, name: str) -> Traffic:
        """What a traffic loop sent and what came back in this window."""
        return self._ask_model(Traffic, "/lull/traffic", name)

    def histogram(self, name: str, which: str) -> Histogram:
        """Bins of "wait", "rest" or "latency" of a loop."""
        return self._ask_model(Histogram, "/lull/histogram", f"{name},{which}")

    def flow(self) -> FlowTotals:
        """What became of the packets of a program that keeps flows."""
        return self._ask_model(FlowTotals, "/lull/flow", unknown=(
            "this program keeps no flows: choose a lull-flow with --pid or --program"))

    def flow_top(self) -> FlowTop:
        """Its heaviest flows."""
        return self._ask_model(FlowTop, "/lull/flow_top")

    def cameras(self) -> Cameras:
        """Frames and latencies of a program that receives cameras."""
        return self._ask_rows(Cameras, "/lull/cameras")

    def channel(self) -> Channel:
        """Settings and counters of a program with a channel."""
        return self._ask_model(Channel, "/lull/channel", unknown=(
            "this program has no channel: choose one with --pid or --program"))

    def channel_rails(self) -> list[ChannelRail]:
        """Its rails."""
        return self._ask_rows(Rails, "/lull/channel_rails").rows()

    def channel_peers(self) -> list[ChannelPeer]:
        """Its peers, however many replies they take."""
        found: list[ChannelPeer] = []
        first = 0
        while True:
            part = self._ask_rows(Peers, "/lull/channel_peers", str(first))
            found += part.rows()
            if part.next <= first:
                return found
            first = part.next

    def channel_paths(self, peer: int) -> list[ChannelPath]:
        """Paths to a peer; none when it is gone."""
        return self._ask_rows(Paths, "/lull/channel_paths", str(peer)).rows()

    def settings(self) -> dict[str, str]:
        """Every setting that can be changed while the program runs, as text."""
        answer = self.ask("/lull/settings")
        if not isinstance(answer, dict):
            raise self._unknown("/lull/settings")
        # DPDK 22.11 allows no "-" in the names of a reply.
        return {key.replace("_", "-"): str(value) for key, value in answer.items()}

    def set(self, key: str, value: str, loop: str = "") -> None:
        """Change one setting of the program, or of one of its loops."""
        assignment = f"{key}@{loop}={value}" if loop else f"{key}={value}"
        reply = self._ask_model(SetReply, "/lull/set", assignment)
        if reply.error:
            raise LullError(reply.error)
        if not reply.ok:
            raise self._error(f"the program did not accept {assignment} and gave no reason")

    def mark(self) -> int:
        """Ask all loops to begin a measurement window; returns its number."""
        return self._ask_model(MarkReply, "/lull/mark").window

    def _ask_model(self, model: type[Reply], command: str, parameter: str = "",
                   unknown: str = "") -> Reply:
        answer = self.ask(command, parameter)
        if answer is None and unknown:
            raise self._error(unknown)
        if answer is None:
            raise self._unknown(f"{command},{parameter}" if parameter else command)
        try:
            return model.model_validate(answer)
        except DocumentError as error:
            raise self._bad_member(command, error) from None

    def _ask_rows(self, model: type[Table], command: str, parameter: str = "") -> Table:
        """A table whose rows have all members as well."""
        found = self._ask_model(model, command, parameter)
        try:
            found.rows()
        except DocumentError as error:
            raise self._bad_member(command, error) from None
        return found

    def _bad_member(self, command: str, error: DocumentError) -> TelemetryError:
        return self._error(f"{command} has a bad member {error.place()} ({error.what}): "
                           "lull and the program must be of the same version")

    def _receive(self) -> Any:  # noqa: ANN401 - JSON is anything
        try:
            data = self._socket.recv(self._reply_bytes)
        except TimeoutError:
            raise self._silent() from None
        except OSError:
            raise self._gone() from None
        if not data:
            raise self._gone()
        try:
            return json.loads(data.decode(errors="replace"))
        except ValueError:
            raise self._error("the answer is not JSON: is this a lull program?") from None

    def _unknown(self, request: str) -> TelemetryError:
        return self._error(f"no answer to {request}: the program has no such loop, "
                           "or is not a lull program")

    def _silent(self) -> TelemetryError:
        return self._error("the program does not answer in time: it may be stopped or overloaded; "
                           "look at it with 'ps'")

    def _gone(self) -> TelemetryError:
        return self._error("the program hung up: it has ended, or 10 clients are connected already")

    def _error(self, what: str) -> TelemetryError:
        return TelemetryError(f"{self.path}: {what}")
