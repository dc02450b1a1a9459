# SPDX-License-Identifier: BSD-3-Clause
"""Threads with more to do than to poll ports: guests, crypto and event devices, work of their own.

A thread whose other work the plugin cannot see does not rest, and says why. Judged by what is
counted: a thread that does not rest has not one rest more.
"""

from __future__ import annotations

import re
import signal
import time
from functools import partial
from pathlib import Path

from stand import FORWARDER_CPU, Files, Host, Telemetry, main, rest_count
from verdict import check, wait_for
from world import World

THREAD = "worker"
FIXED = {"LULL": "on", "LULL_GOVERNOR": "fixed", "LULL_REST": "100us"}
LONG_REST = {**FIXED, "LULL_REST": "200ms", "LULL_MAX_REST": "200ms"}
QUIET_S = 0.5  # of a thread that must not rest
ANSWER_S = 5.0
HALF_OF_A_REST_US = 100000
FOUND_S = 4.0  # four times the longest time between two looks
WORK_US = 20000  # of the program between two polls


def start(
    here: World, files: Files, way: str, *, static: bool = False, vdev: str = "", **env: str
) -> Host:
    binary = files.duties_static if static else files.duties
    argv = f"{binary} -d {files.plugin} --lcores 0@{FORWARDER_CPU} --no-huge --no-pci -m 128"
    argv += f" --vdev net_null0,no-rx=1 {vdev} --file-prefix PREFIX -- {way}"
    host = Host(here, way.split()[0], argv.split(), env={**FIXED, **env})
    wait_for("telemetry", host.socket_path.exists)
    wait_for("it polls", host.telemetry.loops)
    return host


def rests(telemetry: Telemetry) -> int:
    return rest_count(telemetry.loop(THREAD))


def awake(telemetry: Telemetry, what: str) -> None:
    """From some moment on, not one rest in half a second."""

    def still() -> bool:
        before = rests(telemetry)
        time.sleep(QUIET_S)
        return rests(telemetry) == before

    wait_for(f"{what}: no rest", still)


def rested(telemetry: Telemetry, count: int) -> bool:
    return rests(telemetry) > count


def resting(telemetry: Telemetry, what: str) -> None:
    before = rests(telemetry)
    wait_for(f"{what}: it rests", lambda: rests(telemetry) > before + 2)


def unseen(telemetry: Telemetry, word: str) -> None:
    """It says what it cannot see: of the program, and of the thread."""
    told = telemetry.ask("/lull/plugin")
    check(word in told["unseen"], f"the program's {word}", told)
    name = telemetry.loop(THREAD)["name"]
    verdict = telemetry.ask(f"/lull/explain,{name}")
    text = verdict["text"] + verdict.get("text_more", "")
    check(word in text and verdict["state"] == "none", f"{THREAD} says {word}", verdict)


def devices(here: World, files: Files) -> None:
    """A crypto or event device that runs keeps the threads awake; one that stopped does not."""
    for way, vdev in (("crypto", "crypto_null"), ("event", "event_dsw0")):
        host = start(here, files, way, vdev=f"--vdev {vdev}")
        telemetry = host.telemetry
        awake(telemetry, way)
        unseen(telemetry, f"{way} device")
        telemetry.set("unseen=rest")
        resting(telemetry, f"{way}, as the user wants it")
        telemetry.set("unseen=stay")
        awake(telemetry, f"{way} again")
        host.type("stop it")
        resting(telemetry, f"{way} has stopped")
        check(telemetry.ask("/lull/plugin")["unseen"] == "", "nothing is unseen")
        host.type("end")
        said = host.finish()
        check("cannot see" not in said, "no word of what has gone", said[-600:])


def guest(here: World, files: Files, path: Path, count: int) -> None:
    """Send so many packets to the socket, as a guest does."""
    options = f"--vdev net_virtio_user0,path={path},queue_size=1024 --cpus 0 --tx-only"
    options += f" --link-wait 60s --traffic poisson:5k --count {count} --drain 1s"
    gen = here.start(f"guest{len(here.programs)}", str(files.gen), options)
    gen.wait(120)
    sent = gen.finish()["sent"]
    check(sent > count / 10, "the guest sent", sent)


def guests_seen(here: World, files: Files) -> str:
    """Polls of the vhost library count like those of ports, in one guest after the other."""
    path = here.path("guests.sock")
    host = start(here, files, f"vhost {path}")
    host.says("serving")
    telemetry = host.telemetry
    resting(telemetry, "without a guest")
    for i in range(2):
        guest(here, files, path, 2000)
        resting(telemetry, f"after guest {i}")
    told = telemetry.ask("/lull/plugin")
    check(told["vhost_queues"] == 1 and told["unseen"] == "", "one queue, and it is seen", told)
    seen = telemetry.loop(THREAD)["pkts"]
    host.type("end")
    said = host.finish()
    taken = int(re.findall(r"taken (\d+)", said)[0])
    check(seen == taken > 400, "the plugin counts what the program took", (seen, taken))
    return f"{taken} packets"


def guests_unseen(here: World, files: Files) -> str:
    """What is linked statically calls without a table: no thread rests while there are guests."""
    path = here.path("guests.sock")
    host = start(here, files, f"vhost {path}", static=True)
    host.says("serving")
    telemetry = host.telemetry
    awake(telemetry, "guests that nobody sees")
    unseen(telemetry, "vhost")
    guest(here, files, path, 2000)
    check(telemetry.loop(THREAD)["pkts"] == 0, "the plugin sees none of them")
    awake(telemetry, "afterwards")
    telemetry.set("unseen=rest")
    resting(telemetry, "as the user wants it")
    telemetry.set("unseen=stay")
    host.type("end")
    said = host.finish()
    taken = int(re.findall(r"taken (\d+)", said)[0])
    check(taken > 200, "the program took them", taken)
    check("lull: the program has guests, " in said, "the report says it", said[-900:])
    # The same file without guests rests.
    host = start(here, files, "busy", static=True)
    host.type("idle")
    resting(host.telemetry, "no guests")
    host.type("end")
    host.finish()
    return f"{taken} packets"


def guests_late(here: World, files: Files) -> None:
    """The thread that serves guests is found by its name, whenever it gets it. Each question is a
    thread too, which comes and goes, so none is asked meanwhile."""
    host = start(here, files, "late-name", static=True)
    resting(host.telemetry, "without guests")
    time.sleep(FOUND_S)
    told = host.telemetry.ask("/lull/plugin")
    check("vhost" in told["unseen"], "the thread is found", told)
    awake(host.telemetry, "guests that nobody sees")
    unseen(host.telemetry, "vhost")
    host.type("end")
    host.finish()


def has_due(here: World, files: Files) -> str:
    """A rest ends when a duty is due, though the program has used time since its last poll."""
    said = []
    for static in (False, True):
        host = start(here, files, "due", static=static, **LONG_REST)
        before = rests(host.telemetry)
        wait_for("rests", partial(rested, host.telemetry, before + 30))
        host.type("end")
        said += re.findall(r"late_us (\d+) of (\d+)", host.finish())
    late = [int(us) for us, count in said]
    check(max(late) < WORK_US / 2, "a rest ends when a duty is due", said)
    return f"{said}"


def says_busy(here: World, files: Files) -> None:
    """lull_busy(), of liblull and of the plugin."""
    for static in (False, True):
        host = start(here, files, "busy", static=static)
        telemetry = host.telemetry
        awake(telemetry, "busy, as it says")
        host.type("idle")
        resting(telemetry, "no longer busy")
        host.type("end")
        host.finish()


def has_source(here: World, files: Files) -> str:
    """An item that waits keeps the thread awake; an armed source ends rests of 200 ms."""
    waited = []
    for static in (False, True):
        host = start(here, files, "source", static=static, **LONG_REST)
        telemetry = host.telemetry
        awake(telemetry, "an item waits")
        before = rests(telemetry)
        host.type("take them")
        host.says("seen")
        check(rests(telemetry) > before, "it rests between items")
        loop = telemetry.loop(THREAD)
        check(loop["wakes_packet"] > 0, "items end rests", loop)
        host.type("take the source away")
        resting(telemetry, "the source has gone")
        host.type("end")
        waited.append(int(re.findall(r"waited_us (\d+)", host.finish())[0]))
    # Half of the items wait less than this: without a wake-up it would be half of a rest.
    check(min(waited) < HALF_OF_A_REST_US / 2, "items do not wait for the end of a rest", waited)
    return f"{waited} us"


def gone_at_once(here: World, files: Files) -> None:
    """A program that is told to end while it serves guests ends."""
    host = start(here, files, f"vhost {here.path('guests.sock')}")
    host.says("serving")
    resting(host.telemetry, "without a guest")
    host.process.send_signal(signal.SIGTERM)
    status = host.process.wait(30)
    check(status == -signal.SIGTERM, "it ended by the signal", status)


if __name__ == "__main__":
    seen = [guests_seen, guests_unseen]
    main([devices, says_busy, has_source, has_due, *seen, guests_late, gone_at_once], need="rings")
