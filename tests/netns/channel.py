# SPDX-License-Identifier: BSD-3-Clause
"""The channel over the test bed: messages come whole and once, whatever happens to the rails.

channel.py PERF COPY [CASE ...]: run these cases, or all. Judged by conditions and ratios. With
LULL_LONG each kind of rail takes part in each case.
"""

from __future__ import annotations

import hashlib
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from channel_stand import (
    COPY,
    PERF,
    Row,
    Stand,
    ended,
    more_delivered,
    more_messages,
    path,
    paths,
    peers,
    sent_bytes,
    state,
    whole,
)
from lull.channel.bed_namespace import inside
from recorder import Recorder
from rights import take
from verdict import Failure, check, wait_for
from world import Program

TRIES = 3
LONG = bool(os.environ.get("LULL_LONG"))
UNEQUAL = "200M,100M,50M"
UDP_HEADERS = 14 + 20 + 8  # Ethernet, IPv4, UDP
HELLO_BYTES = 512 + UDP_HEADERS
HANDSHAKES_MAX = 4  # packets of a handshake on one rail; they belong to no path yet
WINDOWS = 20  # of 100 ms
Programs = dict[str, str]


def quiet(stand: Stand) -> None:
    """Until the wire carries no messages any more."""

    def still() -> bool:
        before = sum(one.seen_bytes for one in stand.bed.look())
        time.sleep(0.1)
        return sum(one.seen_bytes for one in stand.bed.look()) - before < 20000

    wait_for("the wire is quiet", still)


def comes_up(caller: Program, rail: int) -> None:
    """Without anyone's help, and carries messages again."""
    wait_for("it is up", lambda: state(caller, rail) == "up")
    more_delivered(caller, rail)


# ---- statistics ----


def counts_what_the_wire_lost(stand: Stand, caller: Program, rails: list[int]) -> None:
    """Each path's lost packets are those of the bed's counters, both ways."""

    def differences() -> dict[int, tuple[int, int, int]]:
        found = {}
        for rail in rails:
            seen, look = path(caller, rail), stand.port(rail, "b")
            check(seen, "the caller runs", caller.stderr())
            wire = look.lost_pkts + look.silenced_pkts + look.large_pkts + look.queue_drops
            ours = int(seen["lost_pkts"]) - int(seen["late_pkts"])
            if ours != wire or look.backlog_pkts:
                found[rail] = (ours, wire, int(seen["tx_pkts"]))
        return found

    wait_for(f"lost packets agree: {differences()}", lambda: not differences())


def counts_what_the_wire_saw(stand: Stand, caller: Program, rails: list[int]) -> None:
    """Packets and bytes of a path are those that the wire saw, but for those of the handshake."""
    for rail in rails:
        seen, look = path(caller, rail), stand.port(rail, "b")
        more = look.seen_pkts - int(seen["tx_pkts"])
        check(0 <= more <= HANDSHAKES_MAX, f"packets of r{rail}", (look.seen_pkts, seen))
        if stand.kind == KERNEL:
            frames = int(seen["tx_bytes"]) + int(seen["tx_pkts"]) * UDP_HEADERS
            check(look.seen_bytes - frames == more * HELLO_BYTES, f"bytes of r{rail}",
                  (look.seen_bytes, frames, more))  # fmt: skip


def loss(programs: Programs, kind: str) -> None:
    """1 % of the packets is lost everywhere; every one of them is counted, none is missed."""
    with Stand(programs, "200M:loss=1%,100M:loss=1%,50M:loss=1%") as stand:
        stand.kind = kind
        stand.listen()
        caller = stand.call("periodic", 60, "--period 25s --burst 1s --verify")
        wait_for("packets are lost on each", lambda: all(
            stand.port(rail, "b").lost_pkts > 10 for rail in range(3)))  # fmt: skip
        wait_for("the burst ends", lambda: sent_bytes(caller) > 0 and all(
            one["under_way_pkts"] == 0 for one in paths(caller)))  # fmt: skip
        quiet(stand)
        counts_what_the_wire_lost(stand, caller, [0, 1, 2])
        counts_what_the_wire_saw(stand, caller, [0, 1, 2])
        peer = whole(caller.finish(signal.SIGINT))
        check(sum(one["resent_pkts"] for one in peer["paths"]) > 0, "sent again", peer["paths"])


def rates(programs: Programs, kind: str) -> None:
    """What a path counts in 100 ms is what passed the wire, and so is the rate that it measures."""
    with Stand(programs, "40M,20M") as stand:
        stand.kind = kind
        stand.listen()
        caller = stand.call()
        more_delivered(caller, 0, 4 << 20)
        found: dict[str, list[float]] = {"counted": [], "measured": []}
        wait_for("windows in which the wire is full", lambda: full_window(stand, caller, found))
        for name, ratios in found.items():
            check(abs(median(ratios) - 1) < 0.02, f"the rate that is {name}", ratios)
        whole(caller.finish(signal.SIGINT))


def full_window(stand: Stand, caller: Program, found: dict[str, list[float]]) -> bool:
    """Compare for 100 ms; true: often enough."""
    before = [wire_and_paths(stand, caller)]
    time.sleep(0.1)
    before.append(wire_and_paths(stand, caller))
    (begin_s, wire, look), (end_s, wire_then, look_then) = before
    for rail, rate_bps in ((0, 40e6), (1, 20e6)):
        name = f"b.r{rail}:"
        passed_bps = 8 * (wire_then[name] - wire[name]) / (end_s - begin_s)
        if passed_bps < 0.98 * rate_bps or rail not in look or rail not in look_then:
            continue
        pkts, size = (look_then[rail][key] - look[rail][key] for key in ("tx_pkts", "tx_bytes"))
        sent = wire_then[f"a.r{rail}:"] - wire[f"a.r{rail}:"]
        frames = size + pkts * UDP_HEADERS
        found["counted"].append(frames / sent)
        found["measured"].append(look_then[rail]["rate_bps"] * frames / size / passed_bps)
    return len(found["counted"]) >= WINDOWS


def wire_and_paths(stand: Stand, caller: Program) -> tuple[float, dict[str, int], dict[int, Row]]:
    """At one moment: bytes that came from node a and that went to node b, and the paths."""

    def look() -> tuple[float, dict[str, int]]:
        text = Path("/proc/thread-self/net/dev").read_text(encoding="ascii")
        rows = [line.split() for line in text.splitlines()]
        return time.monotonic(), {row[0]: int(row[1 if row[0].startswith("a.") else 9])
                                  for row in rows if row[0][:3] in ("a.r", "b.r")}  # fmt: skip

    seen = {int(one["rail"]): one for one in paths(caller)}
    return *inside(stand.bed.namespace("switch"), look), seen


def unequal_rates(programs: Programs, kind: str) -> None:
    """4:2:1: each carries its share. Two threads that poll get no share of a busy CPU to judge."""
    with Stand(programs, UNEQUAL) as stand:
        stand.kind = kind
        stand.listen()
        result = stand.call(seconds=2).finish()
        peer = whole(result)
        shares = {one["rail"]: one["share_pct"] for one in peer["paths"]}
        for rail, part in enumerate((4, 2, 1)):
            low, high = (0.6, 1.5) if kind == KERNEL else (0.1, 4)
            check(low < shares[rail] / (100 * part / 7) < high, f"share of r{rail}", shares)
        rate = peer["far"]["goodput_bits_per_s"]
        check(rate < 350e6, "no more than the rails carry", rate)


# ---- rails that change ----


def silent_rail(programs: Programs, kind: str) -> None:
    """It goes down, messages go on over the others, and it comes back by itself."""
    with Stand(programs, "100M,100M,100M") as stand:
        stand.kind = kind
        stand.listen()
        caller = stand.call(more="--verify")
        more_delivered(caller, 1)
        stand.bed.set(1, ["silent"])
        wait_for("it is down", lambda: state(caller, 1) == "down")
        for rail in (0, 2):
            more_delivered(caller, rail)
        stand.bed.set(1, ["heard"])
        comes_up(caller, 1)
        peer = whole(caller.finish(signal.SIGINT))
        downs = {one["rail"]: one["downs"] for one in peer["paths"]}
        check(downs[1] > 0, "counted", downs)


def one_way_silence(programs: Programs, kind: str) -> None:
    """What goes to the receiver is heard, what comes back is not: messages go on."""
    with Stand(programs, "100M,100M") as stand:
        stand.kind = kind
        stand.listen()
        caller = stand.call(more="--verify")
        more_delivered(caller, 1)
        stand.bed.set(1, ["silent"], "a")
        more_delivered(caller, 0, 4 << 20)
        listener = stand.here.programs[0]
        more_messages(listener)
        stand.bed.set(1, ["heard"])
        comes_up(caller, 1)
        whole(caller.finish(signal.SIGINT))


def flapping_rail(programs: Programs, kind: str) -> None:
    with Stand(programs, "100M,100M") as stand:
        stand.kind = kind
        listener = stand.listen()
        caller = stand.call(more="--verify")
        for turn in range(6):
            stand.bed.set(turn % 2, ["silent"])
            more_messages(listener, 1)
            stand.bed.set(turn % 2, ["heard"])
            more_messages(listener, 1)
        for rail in (0, 1):
            comes_up(caller, rail)
        whole(caller.finish(signal.SIGINT))


def changed_speed(programs: Programs, kind: str) -> None:
    """200 -> 50 -> 200 Mbit/s: the measured rate follows, and so does what it carries."""
    with Stand(programs, "200M,100M") as stand:
        stand.kind = kind
        stand.listen()
        caller = stand.call()

        def rate(low: float, high: float) -> None:
            wait_for(f"its rate is {low:.0f} to {high:.0f}",
                     lambda: low < path(caller, 0).get("rate_bps", 0) < high)  # fmt: skip

        rate(120e6, 220e6)
        stand.bed.set(0, ["rate=50M"])
        rate(30e6, 70e6)
        stand.bed.set(0, ["rate=200M"])
        rate(120e6, 220e6)
        whole(caller.finish(signal.SIGINT))


def mixed_mtu(programs: Programs, kind: str) -> None:
    with Stand(programs, "100M,100M:mtu=9000,100M:mtu=1400") as stand:
        stand.kind = kind
        stand.listen()
        caller = stand.call(more="--verify")
        for rail in range(3):
            more_delivered(caller, rail)
        whole(caller.finish(signal.SIGINT))


def black_hole(programs: Programs, kind: str) -> None:
    """A rail that loses what is long is used for nothing long; the other goes on."""
    with Stand(programs, "100M,100M:largest=1000") as stand:
        stand.kind = kind
        stand.listen()
        caller = stand.call(more="--verify")
        more_delivered(caller, 0, 4 << 20)
        wait_for("it is small or down", lambda: state(caller, 1) in ("small", "join", "down"))
        more_delivered(caller, 0, 4 << 20)
        if LONG:  # it is tried again each 30 s
            stand.bed.set(1, ["largest=any"])
            comes_up(caller, 1)
        whole(caller.finish(signal.SIGINT))


def unequal_rails(programs: Programs, kind: str) -> None:
    """Three rails here, two there, at one switch."""
    with Stand(programs, "100M,100M,100M:nodes=a", joined=True) as stand:
        stand.kind = kind
        stand.listen()
        caller = stand.call(more="--verify")
        wait_for("three paths", lambda: len(paths(caller)) >= 3)
        for rail in range(3):
            more_delivered(caller, rail)
        whole(caller.finish(signal.SIGINT))


# ---- ends ----


def killed_caller(programs: Programs, kind: str) -> None:
    with Stand(programs, UNEQUAL) as stand:
        stand.kind = kind
        listener = stand.listen()
        for name in ("first", "second"):
            caller = stand.call(name=name)
            more_messages(listener)
            caller.process.kill()
            caller.wait()
        check(not ended(listener), "the listener goes on", listener.stderr())
        whole(stand.call(seconds=0.5, name="third").finish())


def killed_listener(programs: Programs, kind: str) -> None:
    """The caller ends with a sentence, and a listener that is started again works at once."""
    with Stand(programs, UNEQUAL) as stand:
        stand.kind = kind
        listener = stand.listen()
        caller = stand.call(more="--peer-timeout 1s")
        more_messages(listener)
        listener.process.kill()
        listener.wait()
        check(caller.wait() == 1, "the caller ends with 1", caller.stderr())
        lines = caller.stderr().splitlines()
        check(len(lines) == 1 and lines[0].startswith(f"{PERF}: b"), "says why", lines)
        stand.listen(name="again")
        whole(stand.call(seconds=0.5, name="second").finish())


# ---- those who should not ----


def stranger(programs: Programs, kind: str) -> None:
    """Who has another key is not answered; who has ours does not notice."""
    with Stand(programs, "100M,100M", nodes=3) as stand:
        stand.kind = kind
        listener = stand.listen()
        caller = stand.call(more="--verify")
        other = stand.start("c", "--to b --wait 500ms", key=stand.new_key("other"))
        check(other.wait() == 1, "the stranger ends with 1", other.stderr())
        check("key" in other.stderr() and len(other.stderr().splitlines()) == 1,
              "and hears of both causes", other.stderr())  # fmt: skip
        check(len(peers(listener)) == 1, "it is no peer", peers(listener))
        refused = listener.ask("/lull/channel")["hellos_refused"]
        check(refused > 0, "it was noticed", refused)
        more_messages(listener)
        whole(caller.finish(signal.SIGINT))


def replaying_recorder(programs: Programs, kind: str) -> None:
    """Packets that come once more, during and after their epoch, change nothing."""
    with (Stand(programs, "100M,100M") as stand,
          Recorder(stand.bed.namespace("switch"), "a.r0") as recorder):  # fmt: skip
        stand.kind = kind
        listener = stand.listen()
        caller = stand.call(more="--verify")
        more_delivered(caller, 0, 1 << 20)
        before = listener.ask("/lull/channel")["replayed"]
        recorder.replay("b.r0", list(recorder.frames))
        wait_for("it was noticed", lambda: listener.ask("/lull/channel")["replayed"] > before)
        more_messages(listener)
        recorder.stop()
        whole(caller.finish(signal.SIGINT))
        wait_for("nobody is there", lambda: not any(one["up"] for one in peers(listener)))
        recorder.replay("b.r0", recorder.frames)
        quiet(stand)
        check(not any(one["up"] for one in peers(listener)), "nobody comes of it", peers(listener))
        whole(stand.call(seconds=0.5, name="next").finish())


# ---- copy ----


def copied_file(programs: Programs, kind: str) -> None:
    """Whole and exact over rails that lose and fall silent."""
    size = (64 if LONG else 16) << 20
    with Stand(programs, "200M:loss=1%,100M:loss=0.1%,100M") as stand:
        stand.kind = kind
        source, folder = stand.here.path("bytes"), stand.here.path("into")
        folder.mkdir()
        source.write_bytes(os.urandom(size))
        stand.start("b", f"--listen --into {folder}", program=COPY).ready()
        sender = stand.start("a", f"--to b {source}", program=COPY)
        wait_for("bytes flow", lambda: sent_bytes(sender) > size // 16 or ended(sender))
        stand.bed.set(2, ["silent"])
        wait_for("more of them", lambda: sent_bytes(sender) > size // 3 or ended(sender))
        stand.bed.set(2, ["heard"])
        sender.finish()
        there = hashlib.sha256((folder / "bytes").read_bytes()).hexdigest()
        check(there == hashlib.sha256(source.read_bytes()).hexdigest(), "the same bytes", there)


KERNEL, PACKET, XDP, MIXED = "kernel:r{}", "dpdk:af_packet=r{}", "dpdk:af_xdp=r{}", "mixed"
CASES: list[Callable[[Programs, str], None]] = [
    loss, rates, unequal_rates, silent_rail, one_way_silence, flapping_rail, changed_speed,
    mixed_mtu, black_hole, unequal_rails, killed_caller, killed_listener, stranger,
    replaying_recorder, copied_file,
]  # fmt: skip
# Two threads that poll, on CPUs that others use as well, take their time.
OTHERS: dict[str, list[Callable[[Programs, str], None]]] = {
    PACKET: [loss, silent_rail],
    XDP: [loss],
    MIXED: [flapping_rail],
}


def verdict(case: Callable[[Programs, str], None], programs: Programs, kind: str) -> str:
    """A fault of ours fails each time; a host that stood still does not."""
    failed: list[str] = []
    for _ in range(TRIES):
        try:
            case(programs, kind)
            return "ok" if not failed else f"ok after {'; '.join(failed)}"
        except Failure as failure:
            failed.append(str(failure))
    return f"FAILED {TRIES} times: {'; '.join(failed)}"


def main() -> None:
    take("namespaces")
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, lambda number, _frame: sys.exit(128 + number))
    programs = {name: str(Path(given).resolve())
                for name, given in zip((PERF, COPY), sys.argv[1:3], strict=True)}  # fmt: skip
    wanted, failed = sys.argv[3:], 0
    for kind in (KERNEL, *OTHERS):
        for case in CASES if LONG or kind == KERNEL else OTHERS[kind]:
            if wanted and case.__name__ not in wanted:
                continue
            begin_s = time.monotonic()
            seen = verdict(case, programs, kind)
            failed += not seen.startswith("ok")
            passed_s = time.monotonic() - begin_s
            print(f"{case.__name__} {kind.format('')}: {seen} ({passed_s:.1f} s)", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
