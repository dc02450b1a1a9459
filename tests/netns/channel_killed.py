# SPDX-License-Identifier: BSD-3-Clause
"""Programs with a channel are killed at any moment: the others go on, a restart works at once.

All of them stand still for longer than a silent peer is given: all of them go on.

channel_killed.py PERF COPY [SEED]: 2 rounds of each case, with LULL_LONG 20. The moments come
from a seed, which is printed.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from channel_stand import COPY, PERF, Stand, ended, more_messages, whole
from rights import take
from verdict import Failure, check, wait_for
from world import Program

ROUNDS = 20 if os.environ.get("LULL_LONG") else 2
RAILS = "100M,60M,40M"
LEFT_S = 8  # four times the time after which a silent peer is given up
LATEST_S = 0.8  # after the programs have begun, the handshake among it
STOOD_S = 4  # all processes are stopped; four times the time of a silent peer
MIB = 1 << 20
FILE_BYTES = 12 * MIB
Programs = dict[str, str]


def kill(program: Program) -> None:
    program.process.kill()
    program.process.wait()


class Bystanders:
    """Two programs of the same nodes, whose messages flow all the time."""

    def __init__(self, stand: Stand) -> None:
        self.listener = stand.start("b", "--listen --endpoint 7", "other-b", called="bee").ready()
        self.caller = stand.start("a", "--to bee --endpoint 7 --duration 0 --message 16k --verify "
                                  "--window 2", "other-a", called="ant")  # fmt: skip
        self.go_on()

    def go_on(self) -> None:
        more_messages(self.listener)
        check(not ended(self.caller), "the others go on", self.caller.stderr())

    def finish(self) -> None:
        whole(self.caller.finish(signal.SIGINT))
        check(not ended(self.listener), "both of them", self.listener.stderr())


def perf(programs: Programs, chance: random.Random) -> None:
    """A stream of messages: who is left says why, and who is started again is served at once."""
    with Stand(programs, RAILS) as stand:
        others = Bystanders(stand)
        listener = stand.listen()
        for turn in range(ROUNDS):
            caller = stand.start("a", "--to b --duration 0 --message 64k --peer-timeout 2s",
                                 f"caller-{turn}")  # fmt: skip
            moment_s, victim = chance.uniform(0, LATEST_S), chance.choice(("caller", "listener"))
            time.sleep(moment_s)
            what = f"round {turn}: the {victim} after {1000 * moment_s:.0f} ms"
            if victim == "listener":
                kill(listener)
                listener = stand.listen(name=f"listener-{turn}")
            else:
                kill(caller)
                check(not ended(listener), f"{what}: the listener goes on", listener.stderr())
            again = stand.start("a", "--to b --duration 200ms --message 64k", f"again-{turn}",
                                called="again")  # fmt: skip
            whole(again.finish())
            if victim == "listener":  # one that had not connected finds the new one instead
                left(caller, what)
            others.go_on()
        others.finish()


def left(caller: Program, what: str) -> None:
    """The caller of a listener that was killed ends with a sentence, or is served by the next."""
    try:
        wait_for("it ends", lambda: ended(caller), LEFT_S)
    except Failure:
        caller.process.send_signal(signal.SIGINT)
        check(caller.wait() == 0, f"{what}: the caller was served again", caller.stderr())
        return
    lines = caller.stderr().splitlines()
    check(caller.wait() == 1 and len(lines) == 1, f"{what}: the caller says why", lines)


def copy(programs: Programs, chance: random.Random) -> None:
    """A file: the same command once more goes on where it stopped."""
    with Stand(programs, RAILS) as stand:
        others = Bystanders(stand)
        source, into = stand.here.path("bytes"), stand.here.path("into")
        into.mkdir()
        listener = listen(stand, into, "listener")
        for turn in range(ROUNDS):
            source.write_bytes(chance.randbytes(FILE_BYTES))
            (into / source.name).unlink(missing_ok=True)
            moment_s, victim = chance.uniform(0, LATEST_S), chance.choice(("sender", "listener"))
            sender = send(stand, source, f"sender-{turn}")
            time.sleep(moment_s)
            what = f"round {turn}: the {victim} after {1000 * moment_s:.0f} ms"
            kill(sender if victim == "sender" else listener)
            part = into / f"{source.name}.part"
            there = part.stat().st_size if part.exists() else 0
            if victim == "listener":
                listener = listen(stand, into, f"listener-{turn}")
                wait_for(f"{what}: the sender ends", lambda: ended(sender))  # noqa: B023
            elif (into / source.name).exists():
                continue  # it had ended
            goes_on(stand, source, into, there, f"{what}, with {there} bytes there")
            others.go_on()
        others.finish()


def listen(stand: Stand, into: Path, name: str) -> Program:
    return stand.start("b", f"--listen --into {into}", name, program=COPY).ready()


def send(stand: Stand, source: Path, name: str) -> Program:
    return stand.start("a", f"--to b --restart {source}", name, program=COPY)


def goes_on(stand: Stand, source: Path, into: Path, there: int, what: str) -> None:
    """All of the file arrives, and what was there is not sent again."""
    again = send(stand, source, f"again-{time.monotonic_ns()}")
    check(again.wait() == 0, f"{what}: it arrives", again.stderr())
    result = json.loads(again.json_path.read_text())
    check(digest(into / source.name) == digest(source), f"{what}: the same bytes")
    had = result["resumed_bytes"] + result["same_bytes"]
    check(had + result["moved_bytes"] >= FILE_BYTES, f"{what}: it adds up", result)
    # What was written when the listener died counts; what was under way may be lost.
    check(had >= there - 2 * MIB, f"{what}: it goes on", result)


def stood(programs: Programs, chance: random.Random) -> None:
    """The machine stands still for longer than a silent peer is given: nobody is given up."""
    with Stand(programs, RAILS) as stand:
        limit = f"--peer-timeout {STOOD_S / 4}s"
        listener = stand.start("b", f"--listen {limit}").ready()
        caller = stand.start("a", f"--to b --duration 0 --message 16k --verify {limit}")
        for turn in range(ROUNDS):
            more_messages(listener)
            both = [caller.process, listener.process]
            chance.shuffle(both)
            for sign in (signal.SIGSTOP, signal.SIGCONT):
                for process in both:
                    process.send_signal(sign)
                if sign == signal.SIGSTOP:
                    time.sleep(STOOD_S)
            check(not ended(caller), f"round {turn}: the caller goes on", caller.stderr())
        more_messages(listener)
        whole(caller.finish(signal.SIGINT))


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> None:
    take("namespaces")
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, lambda number, _frame: sys.exit(128 + number))
    programs = {name: str(Path(given).resolve())
                for name, given in zip((PERF, COPY), sys.argv[1:3], strict=True)}  # fmt: skip
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 32)
    failed = 0
    for case in (perf, copy, stood):
        begin_s = time.monotonic()
        try:
            case(programs, random.Random(seed))
            seen = "ok"
        except Failure as failure:
            seen, failed = f"FAILED: {failure}", failed + 1
        passed_s = time.monotonic() - begin_s
        print(f"{case.__name__}, {ROUNDS} rounds of seed {seed}: {seen} ({passed_s:.1f} s)",
              flush=True)  # fmt: skip
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
