# SPDX-License-Identifier: BSD-3-Clause
"""Open vSwitch between guests: ports that it polls through the vhost library, and an idle one.

The guests are a lull-gen on virtio_user, which owns the sockets, so that a new one can take the
place of one that went away. Judged by what is counted, as the machine may be doing other things.
"""

from __future__ import annotations

import shutil
import signal
import statistics
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from openvswitch import VSWITCHD, Port, Switch
from rights import skip
from stand import Files, Telemetry, main, rest_count
from verdict import check, wait_for
from world import Program, World

IDLE = Port("idle", "type=dpdk options:dpdk-devargs=net_null0,no-rx=1")
RING = 1024
BURST = 32
# Rests so long that a wrong one shows, however busy the machine.
LONG_REST = {"LULL": "on", "LULL_GOVERNOR": "fixed", "LULL_REST": "20ms", "LULL_MAX_REST": "20ms"}
SHORT_REST = {"LULL": "on", "LULL_GOVERNOR": "fixed", "LULL_REST": "50us"}
LOAD_S = 1.5
PAIRS = 5
KEPT_LEAST = 0.9  # of the packets that pass without rests; the bench has the exact figure


@dataclass
class Stand:
    """A switch and its guests."""

    here: World
    files: Files
    vswitchd: Path = VSWITCHD
    config: dict[str, str] = field(default_factory=dict)  # of the switch
    namespace: str = ""
    guests: list[Program] = field(default_factory=list)
    switch: Switch | None = None

    def sockets(self, pair: int) -> list[str]:
        return [str(self.here.path(f"guest{pair}{side}.sock")) for side in "ab"]

    def guest(self, pair: int = 0, traffic: str = "off") -> Program:
        """Two guests, one sends to the other."""
        vdevs = " ".join(
            f"--vdev net_virtio_user{i},path={path},server=1,queue_size={RING}"
            for i, path in enumerate(self.sockets(pair))
        )
        options = f"{vdevs} --cpus 0 --traffic {traffic} --link-wait 60s --drain 5s"
        name = f"guest{len(self.here.programs)}"
        guest = self.here.start(name, str(self.files.gen), f"{options} --ring {RING}")
        self.guests.append(guest)
        return guest

    def start(self, env: dict[str, str], pairs: int = 1, pmd_cpus: str = "0x2") -> Telemetry:
        """Both; the guests come first. With the plugin if it is told something."""
        self.namespace = self.here.namespace("ovs")
        for pair in range(pairs):
            self.guest(pair)
        ports = []
        for pair in range(pairs):
            for side, path in zip(("left", "right"), self.sockets(pair), strict=True):
                place = f"type=dpdkvhostuserclient options:vhost-server-path={path}"
                place += f" other_config:pmd-rxq-affinity=0:{1 - pair}" if pairs > 1 else ""
                ports.append(Port(f"{side}{pair}", place))
        self.switch = Switch(
            self.here,
            self.namespace,
            f"-d {self.files.plugin}" if env else "",
            env,
            ports=(*ports, IDLE),
            vswitchd=self.vswitchd,
            config={"pmd-cpu-mask": pmd_cpus, "pmd-rxq-isolate": "false", **self.config},
        )
        for guest in self.guests:
            guest.ready()
        socket = wait_for("telemetry", lambda: next(self.here.runtime.glob("dpdk/rte/*.v2"), None))
        self.switch.host.telemetry_path = socket
        return self.switch.host.telemetry

    def loops(self, telemetry: Telemetry, count: int = 1) -> dict[str, Any]:
        """Those of the threads that poll."""

        def polling() -> dict[str, Any]:
            loops = telemetry.loops()
            found = {name: loop for name, loop in loops.items() if name.startswith("pmd-")}
            return found if len(found) >= count else {}

        found: dict[str, Any] = wait_for(f"{count} PMD threads", polling)
        return found

    def end(self) -> str:
        assert self.switch is not None
        self.switch.finish()
        return self.switch.host.log()


def totals(loops: dict[str, Any]) -> tuple[int, int]:
    """Packets and rests of all threads."""
    return sum(loop["pkts"] for loop in loops.values()), sum(map(rest_count, loops.values()))


def traffic(guest: Program, key: str) -> int:
    return int(guest.ask(f"/lull/traffic,{guest.ask('/lull/info')['loops'][0]}")[key])


def received(guest: Program) -> int:
    return traffic(guest, "received")


def more_than(guest: Program, count: int) -> bool:
    return received(guest) > count


def all_back(guest: Program) -> bool:
    return traffic(guest, "received") == traffic(guest, "sent")


def rested_more(stand: Stand, telemetry: Telemetry, before: int) -> bool:
    return totals(stand.loops(telemetry))[1] > before


def load(stand: Stand, telemetry: Telemetry, guest: Program) -> tuple[int, int, int]:
    """What came through in LOAD_S, as the guest counts; packets and rests, as the plugin does."""
    guest.set("traffic=constant:20M")
    time.sleep(0.3)
    begin, begin_seen = received(guest), totals(stand.loops(telemetry))
    time.sleep(LOAD_S)
    end_seen, end = totals(stand.loops(telemetry)), received(guest)
    guest.set("traffic=off")
    return end - begin, end_seen[0] - begin_seen[0], end_seen[1] - begin_seen[1]


def busy_beside_idle(here: World, files: Files) -> str:
    """Two busy guests and a port without packets: it never rests while a guest's ring holds some,
    and passes as many packets as without rests."""
    stand = Stand(here, files)
    telemetry = stand.start(LONG_REST)
    guest = stand.guests[0]
    kept, seen, rests = load(stand, telemetry, guest)
    check(seen >= kept / 2, "the plugin sees guests", (seen, kept))
    # A rest follows polls of all rings that found nothing, so it has the ring that filled meanwhile
    # behind it. One between two bursts has at most a burst of each guest.
    check(seen > 4 * BURST * rests, "packets between two rests", (seen, rests))
    for setting in ("governor=objective", "max-rest=100us"):
        telemetry.set(setting)
    ratios: list[float] = []
    remarks = [f"{seen / max(rests, 1):.0f} packets a rest"]
    while len(ratios) < PAIRS and (len(ratios) < 2 or statistics.median(ratios) < KEPT_LEAST):
        kept, _, _ = load(stand, telemetry, guest)
        telemetry.set("mode=off")
        bare, _, rests = load(stand, telemetry, guest)
        telemetry.set("mode=on")
        check(rests == 0, "off does not rest", rests)
        ratios.append(kept / max(bare, 1))
        remarks.append(f"{kept}/{bare}")
    check(statistics.median(ratios) >= KEPT_LEAST, "packets with rests, and without", remarks)
    guest.finish(signal.SIGTERM)
    said = stand.end()
    check("cannot see" not in said, "all is seen", said[-600:])
    return ", ".join(remarks)


def pass_all(guest: Program, rate: str, count: int) -> int:
    """So many packets at this rate, all of them back once and in order."""
    before = traffic(guest, "sent")
    guest.set(f"traffic={rate}")

    def sent() -> int:
        return traffic(guest, "sent") - before

    wait_for(f"{count} packets at {rate}", lambda: sent() >= count, 120)
    guest.set("traffic=off")
    return sent()


def rates(here: World, files: Files) -> str:
    """Slow, fast and in spurts: nothing is lost, the plugin counts what Open vSwitch counts, and
    the threads rest in between."""
    stand = Stand(here, files)
    telemetry = stand.start(SHORT_REST)
    guest = stand.guests[0]
    remarks = []
    for rate, count in (
        ("poisson:1k", 500),
        ("poisson:5k", 3000),
        ("onoff:20k,2ms,18ms", 2000),
        ("poisson:200k", 50000),
    ):
        before = totals(stand.loops(telemetry))[1]
        sent = pass_all(guest, rate, count)
        grown = totals(stand.loops(telemetry))[1] - before
        check(grown > 0 or rate.endswith("200k"), f"rests at {rate}", grown)
        remarks.append(f"{rate} {sent / max(grown, 1):.1f} packets a rest")
    result = guest.finish(signal.SIGTERM)
    # What a full ring of the other guest refused is the other's affair.
    check(result["duplicates"] == 0 and result["reordered"] == 0, "once and in order", result)
    check(result["received"] >= 0.99 * result["sent"], "packets come through", result)
    assert stand.switch is not None
    stats = stand.switch.appctl("dpif-netdev/pmd-stats-show")
    seen = totals(stand.loops(telemetry))[0]
    check(f"packets received: {seen}\n" in stats, f"ovs-appctl counts {seen} too", stats)
    check(seen >= result["received"], "all of them seen", (seen, result["received"]))
    stand.end()
    return "; ".join(remarks)


def restarts(here: World, files: Files) -> str:
    """Guests that go away in the middle of traffic, and others that come: the switch rests when
    nobody is there, serves each, and counts each packet."""
    stand = Stand(here, files)
    telemetry = stand.start(SHORT_REST)
    remarks = []
    for turn in range(3):
        guest = stand.guests[-1]
        sent = pass_all(guest, "poisson:5k", 1000)
        if turn == 2:
            break
        guest.set("traffic=constant:50k")
        wait_for("traffic", partial(more_than, guest, sent + 500))
        guest.process.kill()
        guest.wait()
        before = totals(stand.loops(telemetry))[1]
        wait_for("rests without guests", partial(rested_more, stand, telemetry, before))
        for path in stand.sockets(0):
            here.path(path).unlink(missing_ok=True)
        stand.guest().ready()
        remarks.append(str(sent))
    result = stand.guests[-1].finish(signal.SIGTERM)
    check(result["received"] == result["sent"], "the last guest has all of its packets", result)
    assert stand.switch is not None
    stats = stand.switch.appctl("dpif-netdev/pmd-stats-show")
    seen = totals(stand.loops(telemetry))[0]
    check(f"packets received: {seen}\n" in stats, f"ovs-appctl counts {seen} too", stats)
    stand.end()
    return f"{', '.join(remarks)}, {result['received']} packets"


def several_threads(here: World, files: Files) -> str:
    """Two PMD threads with two guests each: each rests for its own and knows only those."""
    stand = Stand(here, files)
    telemetry = stand.start(SHORT_REST, pairs=2, pmd_cpus="0x3")
    loops = stand.loops(telemetry, 2)
    before = {name: rest_count(loop) for name, loop in loops.items()}
    for guest in stand.guests:
        pass_all(guest, "poisson:5k", 2000)
    for guest in stand.guests:
        wait_for("all packets are back", partial(all_back, guest))
    loops = stand.loops(telemetry, 2)  # a thread without guests polls nothing, and is not shown
    results = [guest.finish(signal.SIGTERM) for guest in stand.guests]
    for result in results:
        check(result["received"] == result["sent"], "all packets are back", result)
    busy = [loop["pkts"] for loop in loops.values()]
    check(min(busy) >= 1500, "each thread has its guests", busy)
    for name, loop in loops.items():
        check(rest_count(loop) > before.get(name, 0), f"{name} rests", loop)
    check(sum(busy) >= sum(one["sent"] for one in results), "and all are seen", busy)
    stand.end()
    return f"{busy} packets"


if __name__ == "__main__":
    if not VSWITCHD.exists() or shutil.which("ovsdb-tool") is None:
        skip("needs openvswitch-switch-dpdk")
    main([busy_beside_idle, rates, restarts, several_threads], need="rings")
