# SPDX-License-Identifier: BSD-3-Clause
"""The test bed itself: rates, losses, silence, and that nothing is left of it.

bed.py [CASE ...]: run these cases, or all.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from rights import take
from verdict import TIMEOUT_S, Failure, check, wait_for

TREE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TREE / "python"))

from lull.channel.bed import Bed, beds, namespaces  # noqa: E402 - of this checkout
from lull.channel.bed_namespace import inside  # noqa: E402
from lull.channel.bed_plan import Plan, rails  # noqa: E402
from lull.channel.bed_wire import PortLook  # noqa: E402
from lull.errors import LullError  # noqa: E402

PORT = 9000
PAYLOAD = 1000
IP_UDP_BYTES = 28
TRIES = 3


def lull(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "lull", "channel", "bed", *words],
        env={**os.environ, "PYTHONPATH": str(TREE / "python")},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def said(*words: str, status: int = 0) -> str:
    process = lull(*words)
    out, errors = process.communicate(timeout=TIMEOUT_S)
    check(process.returncode == status, f"bed {' '.join(words)} ends with {status}", errors)
    return errors if status else out


def udp(bed: Bed, node: str, rail: int) -> socket.socket:
    """A socket in a node, on one of its rails alone."""

    def make() -> socket.socket:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, f"r{rail}".encode())
        made.bind((bed.address(rail, node), PORT))
        made.setblocking(False)
        return made

    return inside(bed.namespace(node), make)


def taken(receiver: socket.socket) -> int:
    count = 0
    while True:
        try:
            receiver.recv(65536)
        except BlockingIOError:
            return count
        count += 1


def port(bed: Bed, rail: int, node: str) -> PortLook:
    return next(one for one in bed.look() if (one.rail, one.node) == (rail, node))


def send(bed: Bed, count: int, rail: int = 0, size: int = PAYLOAD, to_rail: int = -1) -> int:
    """Packets from a to b; how many of them came."""
    to_rail = rail if to_rail < 0 else to_rail
    before = port(bed, to_rail, "b")
    came = 0
    with udp(bed, "a", rail) as sender, udp(bed, "b", to_rail) as receiver:
        sender.setblocking(True)
        for number in range(count):
            sender.sendto(bytes(size), (bed.address(to_rail, "b"), PORT))
            if number % 50 == 49:  # the shaper's queue holds 200 kB
                wait_for("the queue is empty", lambda: port(bed, to_rail, "b").backlog_pkts == 0)
                came += taken(receiver)

        def through() -> bool:
            now = port(bed, to_rail, "b")
            return now.seen_pkts == before.seen_pkts + count and now.backlog_pkts == 0

        wait_for("all were seen by the switch", through)
        return came + taken(receiver)


# ---- cases ----


def loses_and_counts_exactly() -> None:
    with Bed.lay(Plan(id="loss", rails=rails("200M:loss=10%,200M"))) as bed:
        count = 3000
        came = send(bed, count)
        here, back = port(bed, 0, "b"), port(bed, 0, "a")
        check(here.seen_pkts == count, "seen", here)
        check(here.seen_bytes == count * (PAYLOAD + IP_UDP_BYTES + 14), "bytes", here)
        check(here.lost_pkts + here.delivered_pkts == count, "lost and delivered are all", here)
        check(came == here.delivered_pkts, "the socket has what was delivered", (came, here))
        check(here.queue_drops == 0, "the queue had room", here)
        # Six standard deviations: sqrt(3000 * 0.1 * 0.9) is 16.4.
        check(abs(here.lost_pkts - 300) < 100, "a tenth is lost", here)
        check(back.seen_pkts == 0 and port(bed, 1, "b").seen_pkts == 0, "nothing elsewhere", back)
        bed.set(0, ["loss=0"])
        check(send(bed, 500) == 500, "nothing is lost any more")
        after = port(bed, 0, "b")
        check(after.seen_pkts == count + 500, "a change keeps the counters", after)
        check(after.lost_pkts == here.lost_pkts, "a change keeps the losses", after)


def is_silent_with_its_link_up() -> None:
    with Bed.lay(Plan(id="still", rails=rails("200M,200M"))) as bed:
        check(send(bed, 20) == 20, "heard at first")
        bed.set(0, ["silent"], "b")
        check(send(bed, 20) == 0, "silent")
        check(port(bed, 0, "b").silenced_pkts == 20, "counted", port(bed, 0, "b"))
        check(not port(bed, 0, "a").port.silent, "not the other way", port(bed, 0, "a"))
        carrier = subprocess.run(bed.command("a", "cat", "/sys/class/net/r0/carrier"), check=True,
                                 capture_output=True, text=True)  # fmt: skip
        check(carrier.stdout.strip() == "1", "the link is up")
        check(send(bed, 20, rail=1) == 20, "the other rail is heard")
        bed.set(0, ["heard"])
        check(send(bed, 20) == 20, "heard again")


def drops_what_is_too_large() -> None:
    with Bed.lay(Plan(id="large", rails=rails("200M:mtu=9000,200M:mtu=1400"))) as bed:
        check(send(bed, 5, size=9000 - IP_UDP_BYTES) == 5, "9000 bytes pass")
        bed.set(0, ["largest=1400"])
        check(send(bed, 5, size=1401 - IP_UDP_BYTES) == 0, "1401 do not")
        check(send(bed, 5, size=1400 - IP_UDP_BYTES) == 5, "1400 do")
        check(port(bed, 0, "b").large_pkts == 5, "counted", port(bed, 0, "b"))
        check(bed.mtu(1) == 1400, "the other rail's MTU", bed.mtu(1))
        bed.set(1, ["mtu=9000"])
        check(send(bed, 5, rail=1, size=9000 - IP_UDP_BYTES) == 5, "the MTU changes")


def keeps_its_rates() -> None:
    """By iperf3; the wire's own counters say that it was no more, the machine may make it less."""
    with Bed.lay(Plan(id="rate", rails=rails("100M,20M"), control=True)) as bed:
        for rail, rate in ((0, 100e6), (1, 20e6), (1, 60e6)):
            if rate == 60e6:
                bed.set(1, ["rate=60M"])
            server = subprocess.Popen(bed.command("b", "iperf3", "-s", "-1", "--forceflush"),
                                      stdout=subprocess.PIPE, text=True)  # fmt: skip
            assert server.stdout is not None
            for line in server.stdout:
                if "listening" in line:
                    break
            before, begin_s = port(bed, rail, "b"), time.monotonic()
            client = ["iperf3", "-J", "-t", "1", "-c", bed.address(rail, "b")]
            run = subprocess.run(bed.command("a", *client), capture_output=True, text=True,
                                 timeout=TIMEOUT_S, check=False)  # fmt: skip
            after, passed_s = port(bed, rail, "b"), time.monotonic() - begin_s
            server.wait(TIMEOUT_S)
            check(run.returncode == 0, "iperf3", run.stdout + run.stderr)
            seen = json.loads(run.stdout)["end"]["sum_received"]["bits_per_second"]
            bits = 8 * (after.delivered_bytes - before.delivered_bytes)
            check(bits <= 1.02 * rate * passed_s + 8 * 65536, f"no more than {rate:.0f}",
                  bits / passed_s)  # fmt: skip
            check(0.6 * rate < seen < rate, f"about {rate:.0f}", seen)


def joins_rails_at_one_switch() -> None:
    plan = Plan(id="joined", rails=rails("200M,200M,200M:nodes=a"), joined=True)
    with Bed.lay(plan) as bed:
        ports = [(one.rail, one.node) for one in bed.look()]
        check(ports == [(0, "a"), (0, "b"), (1, "a"), (1, "b"), (2, "a")], "rails", ports)
        check(send(bed, 20, rail=2, to_rail=0) == 20, "r2 of a reaches r0 of b")
        check(port(bed, 1, "b").seen_pkts == 0, "and nobody else", bed.look())


def lies_beside_others() -> None:
    """By their names only own ones are found, and each by its own."""
    foreign = ["lull-bedroom-a", "lull-bed-a", "lull-bed-one-f", "mine"]
    for name in foreign:
        subprocess.run(["ip", "netns", "add", name], check=True)
    with ExitStack() as stack:
        first = stack.enter_context(Bed.lay(Plan(id="one", rails=rails("50M"), nodes=5)))
        stack.enter_context(Bed.lay(Plan(id="onemore", rails=rails("50M,50M"))))
        check(beds() == ["one", "onemore"], "both are there", beds())
        check(first.nodes() == ["a", "b", "c", "d", "e"], "nodes", first.nodes())
        check(send(first, 10) == 10, "works")
        said("up", "--id", "one", status=1)
        said("down", "one")
        check(beds() == ["onemore"], "the other stays", beds())
        said("down", "one", status=1)
    said("down", "--all")
    check(sorted(namespaces()) == sorted(foreign), "foreign ones stay", namespaces())
    for name in foreign:
        subprocess.run(["ip", "netns", "del", name], check=True)


def refuses_what_it_cannot_do() -> None:
    with Bed.lay(Plan(id="words", rails=rails("50M,50M"))) as bed:
        before = bed.look()
        for rail, words in ((0, ["loss=1%", "rate=fast"]), (0, ["quiet"]), (0, ["loss=200%"]),
                            (0, ["mtu=12"]), (7, ["silent"])):  # fmt: skip
            try:
                bed.set(rail, words)
            except LullError as error:
                check(len(str(error)) > 20, "says why", error)
            else:
                raise Failure(f"takes {words} for r{rail}")
        check(bed.look() == before, "nothing has changed", bed.look())
        line = said("set", "--id", "words", "q0", "silent", status=2)
        check("name a rail" in line, "says how", line)
    line = said("up", "--rails", "50M:delay=many", status=2)
    check("a time is" in line and not beds(), "refused before anything is made", line)


def is_removed_after_a_crash() -> None:
    """SIGKILL after ever more of it was made; and what runs in it ends."""

    def own() -> list[str]:
        return [name for name in namespaces() if name.startswith("lull-bed-")]

    def at_least(count: int) -> Callable[[], bool]:
        return lambda: len(own()) >= count

    for made in range(1, 5):
        process = lull("up", "--id", "crash", "--nodes", "3", "--rails", "50M,50M,50M")
        wait_for("it begins", at_least(made))
        process.kill()
        process.wait()
        check(beds() == ["crash"], "a part is there", own())
        said("down", "--all")
        check(not own(), f"nothing is left, killed at {made}", own())
    said("up", "--id", "crash")
    inner = lull("exec", "--id", "crash", "a", "sleep", "1000")
    name = Path(f"/proc/{inner.pid}/comm")
    wait_for("it runs", lambda: name.read_text(encoding="ascii").strip() == "sleep")
    said("down", "crash")
    check(inner.wait(TIMEOUT_S) == -signal.SIGTERM, "what ran there has ended", inner.returncode)
    check(not own(), "nothing is left", own())


CASES: list[Callable[[], None]] = [
    loses_and_counts_exactly,
    is_silent_with_its_link_up,
    drops_what_is_too_large,
    keeps_its_rates,
    joins_rails_at_one_switch,
    lies_beside_others,
    refuses_what_it_cannot_do,
    is_removed_after_a_crash,
]


def verdict(case: Callable[[], None]) -> str:
    """A fault of ours fails each time; a host that stood still does not."""
    failed: list[str] = []
    for _ in range(TRIES):
        try:
            case()
            return "ok" if not failed else f"ok after {'; '.join(failed)}"
        except Failure as failure:
            failed.append(str(failure))
            for left in beds():
                Bed(left).remove()
    return f"FAILED {TRIES} times: {'; '.join(failed)}"


def main() -> None:
    take("namespaces")
    failed = 0
    for case in CASES:
        if len(sys.argv) > 1 and case.__name__ not in sys.argv[1:]:
            continue
        begin_s = time.monotonic()
        seen = verdict(case)
        failed += not seen.startswith("ok")
        print(f"{case.__name__}: {seen} ({time.monotonic() - begin_s:.1f} s)", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
