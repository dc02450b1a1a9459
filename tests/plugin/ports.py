# SPDX-License-Identifier: BSD-3-Clause
"""Unmodified dpdk-testpmd on all kinds of ports: rests when idle, loses nothing, as without."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import partial
from pathlib import Path

from stand import LONG, Files, Testpmd, main, rested, spins
from verdict import Failure, check, wait_for
from worker import worker
from world import Program, World

COUNT = 4000
GEN = f"--count {COUNT} --drain 10s --cpus 0 --traffic"
QUIET = ["net_null0,no-rx=1", "net_null1,no-rx=1"]


def plugins(files: Files, control: bool) -> tuple[Path | None, ...]:
    """With the plugin, and for a control without."""
    return (files.plugin, None) if control or LONG else (files.plugin,)


def both(here: World, files: Files, control: bool = False, **how: object) -> str:
    """A testpmd with the plugin that rests, where one without spins."""
    with_it = Testpmd(here, QUIET, plugin=files.plugin, **how)  # type: ignore[arg-type]
    threads = [worker(i + 1) for i in range(int(str(how.get("lcores", 1))))]
    with_it.command("start")
    remarks = [rested(with_it, thread) for thread in threads]
    with_it.quit()
    if not control and not LONG:
        return ", ".join(remarks)
    without = Testpmd(here, QUIET, plugin=None, **how)  # type: ignore[arg-type]
    without.command("start")
    for thread in threads:
        spins(without, thread)
    without.quit()
    return ", ".join(remarks)


def io(here: World, files: Files) -> str:
    return both(here, files, control=True)


def mac(here: World, files: Files) -> str:
    return both(here, files, options="--forward-mode=mac")


def rxonly(here: World, files: Files) -> str:
    return both(here, files, options="--forward-mode=rxonly")


def four_queues(here: World, files: Files) -> str:
    return both(here, files, options="--rxq=4 --txq=4")


def two_lcores(here: World, files: Files) -> str:
    return both(here, files, lcores=2)


def received(testpmd: Testpmd) -> tuple[int, int, int]:
    """Packets received, sent and dropped, of all ports together."""
    text = testpmd.command("stop")
    total = text[text.index("Accumulated forward statistics") :]
    rx, tx = (int(found) for found in re.findall(r"[RT]X-packets: (\d+)", total))
    return rx, tx, sum(map(int, re.findall(r"X-dropped: (\d+)", total)))


def all_back(gen: Program) -> int:
    """All that was sent came back, once and in order; returns how many packets that are."""
    gen.wait(120)
    result = gen.finish()
    sent: int = result["sent"]
    check(sent > COUNT / 10, "packets were sent", result)
    for key, expected in {"received": sent, "duplicates": 0, "reordered": 0}.items():
        check(result[key] == expected, f"{key} of {sent}", result)
    return sent


def pass_all(testpmd: Testpmd, gen: Program, *, counts: bool = True) -> None:
    """All that was sent came through testpmd and back, once and in order.

    A generator that was kept off its CPU has much to send at once, more than a ring may
    hold; what it could not send is not under test.
    """
    sent = all_back(gen)
    own = received(testpmd)
    check(own == (sent, sent, 0) or not counts, f"testpmd's own count of {sent}", own)
    if "-d" in testpmd.argv:
        seen = testpmd.telemetry.loop(worker())["pkts"]
        check(seen == sent, f"the plugin saw each of {sent} packets once", seen)


def rings(here: World, files: Files) -> str:
    return circling(here, files, "io", control=True)


def rings_mac(here: World, files: Files) -> str:
    return circling(here, files, "mac")


def rings_four_queues(here: World, files: Files) -> str:
    return circling(here, files, "io", queues=4)


def rings_two_lcores(here: World, files: Files) -> str:
    return circling(here, files, "io", lcores=2)


def rings_all_of_it(here: World, files: Files) -> str:
    return circling(here, files, "mac", queues=4, lcores=2)


def circling(
    here: World, files: Files, mode: str, queues: int = 1, lcores: int = 1, control: bool = False
) -> str:
    """Rings lead back to where they come from: what is put in goes round until one stops.

    In the end `rxonly` takes it out; its threads rest when there is nothing left.
    """
    put_in, remarks = 8 * queues, []
    for plugin in plugins(files, control):
        options = f"--burst=4 --no-flush-rx --forward-mode={mode} --rxq={queues} --txq={queues}"
        ports = ["net_ring0", "net_ring1"]
        testpmd = Testpmd(here, ports, plugin=plugin, options=options, lcores=lcores)
        testpmd.command("start tx_first")
        wait_packets(testpmd, 10000)
        rx, tx, dropped = received(testpmd)
        check(tx == rx + put_in and dropped == 0, "nothing is lost on the way", (rx, tx, dropped))
        testpmd.command("set fwd rxonly")
        testpmd.command("start")
        wait_packets(testpmd, put_in)
        out = received(testpmd)[0]
        check(out == put_in, "as many packets come out as went in", out)
        if plugin is not None:
            testpmd.command("start")
            remarks = [rested(testpmd, worker(i + 1)) for i in range(lcores)]
        testpmd.quit()
    return ", ".join(remarks)


def wait_packets(testpmd: Testpmd, least: int) -> None:
    def seen() -> bool:
        text = testpmd.command("show fwd stats all")
        return int(re.findall(r"RX-packets: (\d+)", text)[-1]) >= least

    wait_for(f"{least} packets", seen)


def af_packet(here: World, files: Files) -> str:
    gen_side, fwd_side = here.namespace("gen"), here.namespace("fwd")
    ring = "framecnt=4096,framesz=2048,blocksz=4096"
    for i in range(2):
        here.veth((gen_side, f"g{i}"), (fwd_side, f"f{i}"))
    ports = [[f"net_af_packet{i},iface={side}{i},{ring}" for i in range(2)] for side in "fg"]
    vdevs = " ".join(f"--vdev {vdev}" for vdev in ports[1])
    remark = ""
    for plugin in plugins(files, True):
        testpmd = Testpmd(here, ports[0], plugin=plugin, namespace=fwd_side)
        testpmd.command("start")
        if plugin is not None:
            remark = rested(testpmd, worker())
        name = "with" if plugin else "without"
        options = f"{vdevs} {GEN} poisson:5k"
        pass_all(testpmd, here.start(name, str(files.gen), options, gen_side))
        testpmd.quit()
    return remark


def vhost(here: World, files: Files) -> str:
    paths = [here.path(f"vhost{i}.sock") for i in range(2)]
    guest = [
        f"net_virtio_user{i},path={path},server=1,queue_size=1024" for i, path in enumerate(paths)
    ]
    host = [f"net_vhost{i},iface={path},client=1" for i, path in enumerate(paths)]
    return connected(here, files, host, guest)


def virtio_user(here: World, files: Files) -> str:
    """The other way round: the program with the plugin is the guest."""
    paths = [here.path(f"vhost{i}.sock") for i in range(2)]
    guest = [f"net_virtio_user{i},path={path},queue_size=1024" for i, path in enumerate(paths)]
    host = [f"net_vhost{i},iface={path}" for i, path in enumerate(paths)]
    return connected(here, files, guest, host)


def memif(here: World, files: Files) -> str:
    """Counts nothing any more once the other side has gone."""

    def ports(role: str) -> list[str]:
        socket = f"socket={here.path('memif.sock')},socket-abstract=no,rsize=12"
        return [f"net_memif{i},role={role},id={i},{socket}" for i in range(2)]

    return connected(here, files, ports("client"), ports("server"), counts=False)


def connected(
    here: World, files: Files, ports: list[str], others: list[str], *, counts: bool = True
) -> str:
    """Ports that have a link once both are there; the generator comes first."""
    vdevs = " ".join(f"--vdev {vdev}" for vdev in others)
    remark = ""
    for plugin in plugins(files, False):
        options = f"{vdevs} {GEN} off --link-wait 60s --ring 1024"
        gen = here.start("with" if plugin else "without", str(files.gen), options)
        wait_for("the generator listens", partial(listens, gen, others))
        testpmd = Testpmd(here, ports, plugin=plugin)
        testpmd.command("start")
        gen.ready()
        if plugin is not None:
            remark = rested(testpmd, worker())
        gen.set("traffic=constant:2k")
        pass_all(testpmd, gen, counts=counts)
        testpmd.quit()
    return remark


def listens(gen: Program, ports: list[str]) -> bool:
    """virtio-user waits for its client while it starts. A client of memif that comes before all has
    started is sent away for good, although the socket is there."""
    if gen.process.poll() is not None:
        raise Failure(f"{gen.name} ended at once: {gen.stderr()}")
    if "memif" not in ports[0]:
        return Path(re.findall(r"(?:path|iface)=([^,]*)", ports[0])[0]).exists()
    with suppress(OSError, LookupError, ValueError):
        return all(gen.ask(f"/ethdev/info,{i}")["dev_started"] for i in range(len(ports)))
    return False


def silent_without_lull(here: World, files: Files) -> None:
    """Loaded and not asked: no thread, no message, no command."""
    testpmd = Testpmd(here, QUIET, plugin=files.plugin, env={"LULL": ""})
    testpmd.command("start")
    check("lull-watch" not in testpmd.threads(), "no thread of ours", testpmd.threads())
    commands = testpmd.telemetry.ask("/")
    check(not [c for c in commands if c.startswith("/lull")], "no command of ours", commands)
    spins(testpmd, worker())
    check("lull: " not in testpmd.quit(), "no word of ours", testpmd.log())


if __name__ == "__main__":
    idle = [io, mac, rxonly, four_queues, two_lcores, silent_without_lull]
    circle = [rings, rings_mac, rings_four_queues, rings_two_lcores, rings_all_of_it]
    main([*idle, *circle, af_packet, vhost, virtio_user, memif], need="rings")
