# SPDX-License-Identifier: BSD-3-Clause
"""lull-gen -> veth -> lull-fwd -> veth -> lull-gen: everything comes back, in order."""

from __future__ import annotations

import signal
import struct
from pathlib import Path

from figures import check_all_back, check_latency, measure
from verdict import check, wait_for
from world import Program, World, main, world

# fewer packets than a ring holds: nothing is lost however long the host lets a loop wait
RING = "framecnt=4096,framesz=2048,blocksz=4096"
COUNT = 4000
FINISH = f"--count {COUNT} --drain 5s"
GOVERNORS = ("spin yield fixed ramp halve drain metronome kalman kalman-guarded objective "
             "phase").split()


def port(number: int, interface: str, queues: int = 1) -> str:
    return f"--vdev net_af_packet{number},iface={interface},qpairs={queues},{RING} "


class Wires:
    """Two namespaces with as many veth pairs as ports: g0 - f0, g1 - f1."""

    def __init__(self, here: World, binaries: list[str], ports: int, queues: int = 1) -> None:
        self.here = here
        self.gen_binary, self.fwd_binary = binaries
        self.gen_namespace = here.namespace("gen")
        self.fwd_namespace = here.namespace("fwd")
        self.gen_ports = "".join(port(i, f"g{i}") for i in range(ports))
        self.fwd_ports = "".join(port(i, f"f{i}", queues) for i in range(ports))
        self.fwd_ports += f"--queues {queues} "
        for i in range(ports):
            here.veth((self.gen_namespace, f"g{i}"), (self.fwd_namespace, f"f{i}"), queues)

    def fwd(self, options: str = "") -> Program:
        words = self.fwd_ports + options
        return self.here.start("fwd", self.fwd_binary, words, self.fwd_namespace).ready()

    def gen(self, options: str, name: str = "gen") -> Program:
        words = self.gen_ports + options
        return self.here.start(name, self.gen_binary, words, self.gen_namespace)


def round_trip(binaries: list[str], ports: int, mode: str, traffic: str) -> None:
    with world() as here:
        wires = Wires(here, binaries, ports)
        fwd = wires.fwd(f"--mode {mode}")
        result = wires.gen(f"--traffic {traffic} {FINISH}").finish()
        check_all_back(result, COUNT, f"{ports} ports, {mode}")
        check(result["end"] == "count", "ends by itself", result["end"])
        fwd.finish(signal.SIGTERM)
        here.check_clean()


def one_port_io(binaries: list[str]) -> None:
    round_trip(binaries, 1, "io", "constant:20k")


def one_port_macswap(binaries: list[str]) -> None:
    sizes = "--traffic-size 64:7,594:4,1518:1 --flows 100"
    round_trip(binaries, 1, "macswap", f"constant:20k {sizes}")


def two_ports_io(binaries: list[str]) -> None:
    round_trip(binaries, 2, "io", "poisson:20k")


def two_ports_macswap(binaries: list[str]) -> None:
    round_trip(binaries, 2, "macswap", "onoff:40k,1ms,1ms")


def two_queues(binaries: list[str]) -> None:
    """Flows are spread over the queues, and each keeps its order."""
    with world() as here:
        wires = Wires(here, binaries, 2, queues=2)
        fwd = wires.fwd()
        result = wires.gen(f"--traffic constant:20k --flows 16 {FINISH}").finish()
        check_all_back(result, COUNT, "two queues")
        fwd.finish(signal.SIGINT)
        here.check_clean()


def every_governor(binaries: list[str]) -> None:
    with world() as here:
        wires = Wires(here, binaries, 1)
        fwd = wires.fwd("--governor spin")
        gen = wires.gen("--traffic off").ready()
        loop = fwd.ask("/lull/info")["loops"][0]

        def governed(name: str) -> None:
            fwd.set(f"governor={name}")
            path = f"/lull/loop,{loop}"
            wait_for(f"{name} governs", lambda: fwd.ask(path)["governor"] == name)
            measure(gen, "constant:5k", 500)

        for name in GOVERNORS:
            governed(name)
        gen.finish(signal.SIGTERM)
        fwd.finish(signal.SIGTERM)
        here.check_clean()


CHANGES = {
    "governor": "fixed",
    "rest": "100us",
    "max-latency": "500us",
    "percentile": "99.9",
    "loss": "tolerate",
    "max-rest": "700us",
    "pps-max": "2M",
}
CHANGED = {
    "governor": "fixed",
    "rest_us": 100,
    "max_latency_us": 500,
    "percentile": "99.9",
    "loss": "tolerate",
    "max_rest_us": 700,
    "pps_max": "2000000",
}


def refused(program: Program, assignments: str) -> None:
    for assignment in assignments.split():
        reply = program.ask(f"/lull/set,{assignment}")
        check(bool(reply.get("error")), f"{program.name} refuses {assignment}", reply)


def change_while_it_runs(binaries: list[str]) -> None:
    with world() as here:
        wires = Wires(here, binaries, 1)
        fwd = wires.fwd()
        gen = wires.gen("--traffic constant:2k").ready()
        loop = fwd.ask("/lull/info")["loops"][0]

        def received() -> int:
            return int(gen.ask("/lull/traffic,gen0")["received"])

        def flows(more: int) -> None:
            begin = received()
            wait_for("traffic flows", lambda: received() > begin + more)

        flows(100)
        for key, value in CHANGES.items():
            fwd.set(f"{key}={value}")
            flows(50)
        seen = fwd.ask(f"/lull/loop,{loop}")
        seen = {key: seen[key] for key in CHANGED}
        check(seen == CHANGED, "the loop has the changes", seen)
        refused(fwd, f"max-latency=0 governor=lazy nonsense=1 rest rest@no{loop}=1us")
        refused(gen, "traffic=often flows=3 traffic=constant:1k,5")
        check(gen.ask("/lull/settings")["traffic"] == "constant:2k", "a refusal changes nothing")
        gen.set("traffic=poisson:4k")
        check(gen.ask("/lull/settings")["traffic"] == "poisson:4k", "settings tell the change")
        flows(200)
        result = gen.finish(signal.SIGINT)
        check(result["lost"] == 0 and result["reordered"] == 0, "nothing was lost", result["lost"])
        check(result["end"] == "signal", "why it ended", result["end"])
        fwd.finish(signal.SIGINT)
        here.check_clean()


SHARED = "--threads 5 --share-queues --governor metronome"


def shared_queues(binaries: list[str]) -> None:
    """Five threads, four queues of two ports: in order, all back, and nobody else's governor."""
    with world() as here:
        wires = Wires(here, binaries, 2, queues=2)
        fwd = wires.fwd(SHARED)
        gen = wires.gen(f"--traffic poisson:20k --flows 16 {FINISH}")
        loops = fwd.ask("/lull/info")["loops"]
        check(len(loops) == 5, "a loop for each thread", loops)
        wait_for("each thread has vacations", lambda: all(
            fwd.ask(f"/lull/loop,{loop}")["vacation_count"] > 20 for loop in loops))
        refused(fwd, "governor=objective governor@fwd1=spin share-queues=off")
        fwd.set("governor=metronome")
        fwd.set("rest=30us")
        fwd.set("backup-rest=300us")
        explained = fwd.ask("/lull/explain,fwd4")
        check("the governor asks for rests" in explained["text"], "lull explain", explained)
        check_all_back(gen.finish(), COUNT, "five threads, four queues")
        result = fwd.finish(signal.SIGINT)
        check(sum(loop["pkts"] for loop in result["loops"]) == COUNT, "each packet once")
        for loop in result["loops"]:
            share = loop["share"]
            check(share["tries"] > share["tries_failed"] >= 0, "tries", share)
            vacation = share["vacation_ns"]
            check(0 < vacation["mean"] <= vacation["max"], "vacations", vacation)
        here.check_clean()


def write_pcap(path: Path, frames: list[bytes], gap_us: int) -> None:
    with path.open("wb") as file:
        file.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number, frame in enumerate(frames):
            file.write(struct.pack("<IIII", 1, number * gap_us, len(frame), len(frame)) + frame)


def replay(binaries: list[str]) -> None:
    header = bytes([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xB5])
    frames = [header + bytes(46 + i % 1000) for i in range(1500)]
    size = 2 * sum(map(len, frames))
    with world() as here:
        capture = here.path("frames.pcap")
        write_pcap(capture, frames, gap_us=100)
        wires = Wires(here, binaries, 1)
        fwd = wires.fwd()
        for speed, least_s in (("original", 0.3), ("2", 0.15), ("max", 0)):
            options = f"--pcap {capture} --pcap-speed {speed} --pcap-loop 2 --drain 5s"
            result = wires.gen(options, f"replay-{speed}").finish()
            seen = [result[key] for key in ("sent", "received", "sent_bytes", "rx_bytes", "lost")]
            check(seen == [3000, 3000, size, size, 0], f"replay at speed {speed}", seen)
            check(result["latency_ns"] is None, "no stamps, no latency")
            check(result["sending_s"] >= 0.99 * least_s, "keeps the timing", result["sending_s"])
        fwd.finish(signal.SIGTERM)
        here.check_clean()


def apart(binaries: list[str]) -> None:
    """One process sends, another judges."""
    with world() as here:
        near, far = here.namespace("near"), here.namespace("far")
        here.veth((near, "n0"), (far, "f0"))
        sink = here.start("sink", binaries[0], f"{port(0, 'f0')} --rx-only --count {COUNT}", far)
        sink.ready()
        options = f"--tx-only --traffic constant:20k --count {COUNT}"
        source = here.start("source", binaries[0], port(0, "n0") + options, near)
        sent = source.finish()
        check(sent["sent"] == COUNT and sent["latency_ns"] is None, "sent", sent["sent"])
        received = sink.finish()
        seen = {key: received[key] for key in ("received", "lost", "reordered", "duplicates")}
        check(list(seen.values()) == [COUNT, 0, 0, 0], "judged", seen)
        check_latency(received)
        here.check_clean()


main(
    [
        one_port_io,
        one_port_macswap,
        two_ports_io,
        two_ports_macswap,
        two_queues,
        every_governor,
        change_while_it_runs,
        shared_queues,
        replay,
        apart,
    ],
    need="rings",
)
