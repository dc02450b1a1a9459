# SPDX-License-Identifier: BSD-3-Clause
"""Channel stand: programs with a channel in the nodes of a test bed, and what tests ask them."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from verdict import TIMEOUT_S, check, wait_for
from world import Program, World

TREE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "python"))

from lull.channel.bed import Bed  # noqa: E402 - of this checkout
from lull.channel.bed_plan import Plan, rails  # noqa: E402
from lull.channel.bed_wire import PortLook  # noqa: E402

Row = dict[str, Any]
PERF, COPY = "lull-channel-perf", "lull-channel-copy"


class Stand:
    """A bed, a key, and programs that end with it."""

    def __init__(self, programs: dict[str, str], text: str, **more: Any) -> None:
        self.here = World()
        try:
            self.bed = Bed.lay(Plan(id="stand", rails=rails(text), **more))
        except BaseException:
            self.here.close()
            raise
        self.count = len(rails(text))
        self.programs = programs
        self.kind = "kernel:r{}"
        self.security = "sealed"
        self.key = self.new_key("key")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:  # fmt: skip
        if kind is not None:
            for program in self.here.programs:
                print(f"--- {' '.join(program.argv)}\n{program.stderr()}", file=sys.stderr)
        self.here.close()
        self.bed.remove()

    def new_key(self, name: str) -> Path:
        path = self.here.path(name)
        path.touch(mode=0o600)
        path.write_text(secrets.token_hex(32) + "\n", encoding="ascii")
        return path

    # ---- programs ----

    def rail_word(self, rail: int) -> str:
        """Of one kind, or of two in turn; rails of one kind reach each other."""
        if self.kind == "mixed":
            return ("kernel:r{}", "dpdk:af_packet=r{}")[rail % 2].format(rail)
        return self.kind.format(rail)

    def start(self, node: str, options: str, name: str = "", program: str = PERF,
              rail_words: list[str] | None = None, key: Path | None = None,
              called: str = "") -> Program:  # fmt: skip
        """A program in a node, with the rails that the node has; called as the node is."""
        mine = [one.rail for one in self.bed.look() if one.node == node]
        words = rail_words or [self.rail_word(rail) for rail in mine]
        options += " " + " ".join(f"--rail {word}" for word in words)
        options += f" --name {called or node} --security {self.security} --stats 0"
        if self.security != "open":
            options += f" --key-file {key or self.key}"
        return self.here.start(name or f"{program}-{node}", self.programs[program], options,
                               self.bed.namespace(node))  # fmt: skip

    def listen(self, node: str = "b", **more: Any) -> Program:
        return self.start(node, "--listen", **more).ready()

    def call(self, job: str = "bandwidth", seconds: float = 60, more: str = "",
             node: str = "a", name: str = "") -> Program:  # fmt: skip
        """A caller whose job has begun: messages flow."""
        caller = self.start(node, f"--to b --job {job} --duration {seconds}s {more}", name)
        wait_for("messages flow", lambda: sent_bytes(caller) > 0 or ended(caller))
        check(not ended(caller), f"{caller.name} runs", caller.stderr())
        return caller

    # ---- the wire ----

    def port(self, rail: int, node: str) -> PortLook:
        return next(one for one in self.bed.look() if (one.rail, one.node) == (rail, node))


def ended(program: Program) -> bool:
    return program.process.poll() is not None


def table(reply: Row | None) -> list[Row]:
    """A reply of columns, row by row; none before the program knows the command."""
    columns = {name: value for name, value in (reply or {}).items() if isinstance(value, list)}
    return [dict(zip(columns, values, strict=True))
            for values in zip(*columns.values(), strict=True)]  # fmt: skip


def peers(program: Program) -> list[Row]:
    try:
        return table(program.ask("/lull/channel_peers,0"))
    except (OSError, ValueError, KeyError, TypeError):
        return []  # it has not begun yet, or has ended


def paths(program: Program) -> list[Row]:
    """Those to its first peer."""
    for peer in peers(program):
        try:
            return table(program.ask(f"/lull/channel_paths,{peer['peer']}"))
        except (OSError, ValueError, KeyError, TypeError):
            break
    return []


def path(program: Program, rail: int) -> Row:
    """The path that begins at a rail; empty when there is none."""
    return next((one for one in paths(program) if one["rail"] == rail), {})


def sent_bytes(program: Program) -> int:
    return sum(int(one["delivered_bytes"]) for one in paths(program))


def state(program: Program, rail: int) -> str:
    return str(path(program, rail).get("state", "none"))


def more_delivered(program: Program, rail: int, least: int = 1 << 20) -> None:
    """Wait until a path has delivered more."""
    begin = int(path(program, rail).get("delivered_bytes", 0))
    wait_for(f"rail {rail} delivers", lambda: int(
        path(program, rail).get("delivered_bytes", 0)) > begin + least, TIMEOUT_S)  # fmt: skip


def more_messages(program: Program, least: int = 3) -> None:
    """Wait until a peer's node has received more."""

    def received() -> int:
        return sum(int(one["received_messages"]) for one in peers(program))

    begin = received()
    wait_for("messages arrive", lambda: received() >= begin + least)


def whole(result: Row) -> Row:
    """The caller's result: every message as it was sent, each once, and both sides agree."""
    peer: Row = result["peers"][0]
    for side in (result, peer["far"]):
        bad = (side["bad_messages"], side["misordered_messages"])
        check(bad == (0, 0), "messages are whole and in order", side)
    check(result["messages"] > 0, "messages", result["messages"])
    check(result["messages"] == peer["far"]["messages"], "each arrives once", peer)
    return peer
