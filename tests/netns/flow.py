# SPDX-License-Identifier: BSD-3-Clause
"""Known packets -> veth -> lull-flow: records, order, loss by cause, timeouts, changes live."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import frames
from frames import ARP, ETHERNET, SERVER, Traffic
from verdict import check, wait_for
from world import Program, World, main, world

# Fewer frames than a port's ring holds: nothing is lost however long the host lets a loop wait.
RING = "framecnt=4096,framesz=2048,blocksz=4096"
FLOWS = 40
COUNT = 2000
LONG = "--idle-timeout=1h --active-timeout=0"
SCHEDULERS = "rr-packet rr-burst crc32 hash hrw ahrw ahrw-paper subflow subflow-paper sticky jsq"
EXPORT_SLACK_S = 20


class Probe(Program):
    """lull-flow in the namespace "far", wired to "near" by as many veth pairs as ports."""

    def __init__(self, here: World, binary: str, ports: int, options: str,
                 more: str = "") -> None:
        self.near, self.far = here.namespace("near"), here.namespace("far")
        words: list[str] = []
        for i in range(ports):
            here.veth((self.near, f"n{i}"), (self.far, f"f{i}"))
            words += ["--vdev", f"net_af_packet{i},iface=f{i},{RING}{more}"]
        self.records_path = here.path("flow.records")
        words += ["--records", str(self.records_path), "--stats", "0.05", *options.split()]
        words += ["--seed", "0"]  # which flows share a bucket is the same each time
        super().__init__(here, "flow", [binary, *words], self.far)
        here.programs.append(self)
        self.ready()

    def send(self, data: list[bytes], port: int = 0) -> None:
        path = frames.write(self.world.path("send.frames"), data)
        frames.send_from(self.near, f"n{port}", path)

    def totals(self) -> dict[str, Any]:
        answer: dict[str, Any] = self.ask("/lull/flow")
        check(answer["violations"] == 0, "packets add up", self.stderr())
        return answer

    def late(self) -> list[int]:
        """Per worker: 1 while it is late."""
        answer: list[int] = self.ask("/lull/flow")["worker_late"]
        return answer

    def received(self, count: int) -> None:
        wait_for(f"{count} packets are here", lambda: self.totals()["rx"] >= count)

    def records(self) -> list[dict[str, Any]]:
        if not self.records_path.exists():
            return []
        text = self.records_path.read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines(keepends=True) if line[-1] == "\n"]

    def end(self, sign: int) -> dict[str, Any]:
        """Its result, when nothing was miscounted and every record has come out."""
        self.process.send_signal(sign)
        status = self.wait()
        check(status == 0, "ends with 0", f"{status}, {self.stderr()}")
        result: dict[str, Any] = json.loads(self.json_path.read_text(encoding="utf-8"))
        totals, conservation = result["totals"], result["conservation"]
        check(conservation["violations"] == 0, "packets added up", conservation)
        check(conservation["checks"] > 1, "that was checked", conservation)
        check(totals["in_flight"] == totals["open"] == 0, "nothing is left", totals)
        lost = sum(totals[cause] for cause in ("not_ip", "malformed", "truncated", "link",
                                               "drop_ring"))
        check(totals["rx"] == totals["dispatched"] + lost, "received = kept + lost", totals)
        check(totals["dispatched"] == totals["recorded"] + totals["unrecorded"],
              "kept = recorded", totals)
        records = self.records()
        check(len(records) == totals["records"], "all records came out", len(records))
        packets = sum(record["packets"] + record["packets_rev"] for record in records)
        check(packets == totals["recorded"], "with all packets", packets)
        check(result["end"] == "signal", "a signal ended it", result["end"])
        self.world.check_clean()
        return result


def check_all_recorded(probe: Probe, traffic: Traffic) -> None:
    found = frames.sums(probe.records())
    differ = {name: (found.get(name), sent) for name, sent in traffic.sent.items()
              if found.get(name) != sent}
    check(not differ and len(found) == len(traffic.sent), "records are what was sent", differ)


# ---- records ----


def records_are_what_was_sent(binaries: list[str]) -> None:
    with world() as here:
        probe, traffic = Probe(here, binaries[1], 1, f"--workers 2 {LONG}"), Traffic()
        probe.send(traffic.mix(FLOWS, COUNT))
        probe.received(COUNT)
        result = probe.end(signal.SIGTERM)
        check_all_recorded(probe, traffic)
        check(all(record["src_ip"] != SERVER for record in probe.records()), "who came first")
        check(len(probe.records()) == FLOWS, "one record per flow", len(probe.records()))
        check(result["totals"]["reordered"] == 0, "drain keeps order", result["totals"])


def both_directions_by_two_ports(binaries: list[str]) -> None:
    """Half of each flow comes by another port, I/O thread and dispatcher."""
    options = ("--io 2 --aggregators 2 --workers 3 --scheduler rr-packet --order none "
               f"--facts {LONG} --observation-point 12")
    with world() as here:
        probe, traffic = Probe(here, binaries[1], 2, options), Traffic()
        forth = [traffic.make(i % FLOWS) for i in range(COUNT)]
        back = [traffic.make(i % FLOWS, back=True) for i in range(COUNT)]
        for part in range(4):
            probe.send(forth[part::4], port=0)
            probe.send(back[part::4], port=1)
            probe.received((part + 1) * COUNT // 2)
        told = probe.ask("/lull/flow_interfaces")
        result = probe.end(signal.SIGINT)
        check_all_recorded(probe, traffic)
        records = probe.records()
        check(len(records) == FLOWS, "one record per flow", len(records))
        check(all(record["exact"] for record in records), "nothing is missing")
        seen = [sum(dispatch["worker_pkts"]) for dispatch in result["dispatch"]]
        check(seen == [COUNT, COUNT], "each I/O thread had a port", seen)
        check({record["observation_point"] for record in records} == {12}, "where that was")
        named = {port["interface"]: port["name"] for port in result["ports"]}
        check(named == dict(zip(told["interface"], told["name"], strict=True))
              == {1: "net_af_packet0", 2: "net_af_packet1"}, "numbers have names", (named, told))


def one_port_by_two_queues(binaries: list[str]) -> None:
    """The kernel deals the packets of one interface out to two I/O threads."""
    options = f"--io 2 --workers 3 --scheduler rr-packet --facts {LONG}"
    with world() as here:
        probe, traffic = Probe(here, binaries[1], 1, options, ",qpairs=2"), Traffic()
        probe.send(traffic.mix(FLOWS, COUNT))
        probe.received(COUNT)
        result = probe.end(signal.SIGINT)
        check_all_recorded(probe, traffic)
        records = probe.records()
        check(len(records) == FLOWS, "one record per flow", len(records))
        check(all(record["exact"] for record in records), "nothing is missing")
        seen = [sum(dispatch["worker_pkts"]) for dispatch in result["dispatch"]]
        check(len(seen) == 2 and min(seen) > 0 and sum(seen) == COUNT, "both had packets", seen)
        (port,) = result["ports"]
        check(port["queues"] == 2 and port["spread"] == "symmetric", "that is told", port)


def what_is_filtered_is_told(binaries: list[str]) -> None:
    """Even flows are UDP."""
    with world() as here:
        probe, traffic = Probe(here, binaries[1], 1, f"--workers 2 --scheduler hrw {LONG} "
                               "--filter udp"), Traffic()
        probe.send([traffic.make(i % FLOWS) for i in range(COUNT)])
        wait_for("all have come", lambda: probe.totals()["rx"] + probe.totals()["filtered"]
                 == COUNT)
        wait_for("they are in tables", lambda: probe.totals()["open"] == COUNT // 2)
        told = probe.totals()
        check(told["filtered"] == COUNT // 2, "half of them", told["filtered"])
        check(told["open_flows"] == FLOWS // 2, "flows, not packets", told["open_flows"])
        result = probe.end(signal.SIGINT)
        check(result["filtered"] == COUNT // 2, "in the result too", result["filtered"])
        check(f", filtered {COUNT // 2}" in probe.stderr(), "and in words", probe.stderr())


# ---- changes ----


def refused(probe: Probe, assignments: str) -> None:
    for assignment in assignments.split():
        reply = probe.ask(f"/lull/set,{assignment}")
        check(bool(reply.get("error")), f"refuses {assignment}", reply)


def changes_while_it_runs(binaries: list[str]) -> None:
    changes = [f"scheduler={name}" for name in SCHEDULERS.split()]
    changes += ["shadow=hrw", "threshold=60", "sticky-enter=50", "sticky-leave=10",
                "flush-burst=4", "flush-time=1ms", "worker-delay=20us", "worker-delay=0",
                "idle-timeout=20m", "governor=fixed", "scheduler=rr-packet"]
    with world() as here:
        probe, traffic = Probe(here, binaries[1], 1, f"--workers 3 {LONG}"), Traffic()
        for done, change in enumerate(changes):
            probe.set(change)
            probe.send(traffic.mix(FLOWS, 100))
            probe.received(100 * (done + 1))
            key, _, value = change.partition("=")
            told = probe.ask("/lull/settings")[key.replace("-", "_")]
            check(told == value or value == "0", f"has taken {change}", told)
        refused(probe, "order=none workers=2 scheduler=best threshold=0 scheduler@io0=hrw stall=1 "
                "idle-timeout=2h")
        check(probe.ask("/lull/settings")["scheduler"] == "rr-packet", "a refusal changes nothing")
        wait_for("all is recorded", lambda: probe.totals()["in_flight"] == 0)
        spread = probe.totals()["worker_pkts"]
        check(all(count > 0 for count in spread), "all workers had some", spread)
        result = probe.end(signal.SIGTERM)
        check_all_recorded(probe, traffic)
        check(result["totals"]["reordered"] == 0, "drain keeps order throughout",
              result["totals"])


# ---- output ----


def output_is_in_order(binaries: list[str]) -> None:
    options = ("--workers 4 --scheduler rr-packet --order resequence --output 1 "
               f"--resequence-delay 1s {LONG}")
    with world() as here:
        probe, traffic = Probe(here, binaries[1], 2, options), Traffic()
        out = here.path("out.frames")
        command = ["ip", "netns", "exec", probe.near, sys.executable, frames.__file__, "take",
                   "n1", str(out), str(COUNT)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as taker:
            assert taker.stdout is not None
            check(taker.stdout.readline() == "ready\n", "somebody takes what leaves")
            sent = traffic.mix(FLOWS, COUNT)
            probe.send(sent)
            check(taker.wait() == 0, "every packet left", probe.stderr())
        got = frames.read(out)
        check(sorted(got) == sorted(sent), "the same packets", len(got))
        last: dict[tuple[bytes, bytes], int] = {}
        for data in got:
            flow, number = frames.number_of(data)
            check(number == last.get(flow, -1) + 1, "in their order", (flow, number))
            last[flow] = number
        result = probe.end(signal.SIGTERM)
        totals, resequence = result["totals"], result["resequence"]
        check(totals["output"] == COUNT and totals["output_drops"] == 0, "all left", totals)
        check(resequence["late"] == 0, "none was late", resequence)
        check_all_recorded(probe, traffic)


# ---- loss ----


def overload_is_counted_by_cause(binaries: list[str]) -> None:
    options = f"--workers 2 --ring 64 --order drain --scheduler hrw --facts {LONG}"
    broken = ETHERNET + b"\x08\x00" + b"\x41" + bytes(45)
    with world() as here:
        probe, traffic = Probe(here, binaries[1], 1, options), Traffic()
        probe.set("worker-delay=5ms")
        probe.send(traffic.mix(FLOWS, COUNT))
        probe.received(COUNT)
        checks = probe.totals()["checks"]
        wait_for("checked meanwhile", lambda: probe.totals()["checks"] > checks + 3)
        probe.set("worker-delay=0")
        wait_for("rings are empty", lambda: probe.totals()["in_flight"] == 0)
        probe.send([ETHERNET + ARP + bytes(46)] * 7 + [broken] * 5)
        probe.received(COUNT + 12)
        # Flows that go on, few packets at a time, tell what they have lost.
        for more in range(4):
            probe.send([traffic.make(more * 10 + i) for i in range(10)])
            probe.received(COUNT + 12 + 10 * (more + 1))
            wait_for("all is recorded", lambda: probe.totals()["in_flight"] == 0)
        totals = probe.end(signal.SIGTERM)["totals"]
        check(totals["drop_ring"] > COUNT / 10, "rings were full", totals)
        check(totals["not_ip"] == 7 and totals["malformed"] == 5, "causes", totals)
        check(totals["missed"] == 0, "the port lost none", totals)
        check_loss_is_told(probe, traffic, totals["drop_ring"])


def check_loss_is_told(probe: Probe, traffic: Traffic, lost: int) -> None:
    found, missing = frames.sums(probe.records()), 0
    for record in probe.records():
        name = record["src_ip"] if record["src_ip"] != SERVER else record["dst_ip"]
        short = sum(traffic.sent[name][::2]) - sum(found[name][::2])
        check(short >= 0, "no record has too much", record)
        check(short == 0 or not record["exact"], "says that something is missing",
              (record, short))
        missing += short
    check(missing == lost, "what is missing was counted", (missing, lost))


# ---- late workers ----


def late_workers_are_named(binaries: list[str]) -> None:
    """One worker is busy with a single flow; the flows of the other leave meanwhile."""
    options = ("--workers 2 --scheduler hrw --idle-timeout=200ms --active-timeout=0 --facts "
               "--late-timeout=100ms")
    with world() as here:
        probe, traffic = Probe(here, binaries[1], 1, options), Traffic()
        probe.set("worker-delay=20ms")
        probe.send([traffic.make(0) for _ in range(300)])
        wait_for("one of them is late", lambda: 1 in probe.late(), EXPORT_SLACK_S)
        late = probe.late().index(1)
        wait_for("progress names it", lambda: f"LATE worker{late}" in probe.stderr())
        wait_for("a line says so", lambda: f"worker{late} is late" in probe.stderr())
        check(probe.records() == [], "it has told nothing", probe.records())
        probe.send([traffic.make(i) for i in range(1, FLOWS)])
        wait_for("the flows of the other leave",
                 lambda: any(record["workers"] == [1 - late] for record in probe.records()),
                 EXPORT_SLACK_S)
        check(1 in probe.late(), "while it is late", probe.late())
        probe.set("worker-delay=0")
        wait_for("it is back", lambda: 1 not in probe.late(), EXPORT_SLACK_S)
        wait_for("a line says that too", lambda: f"worker{late} is back" in probe.stderr())
        result = probe.end(signal.SIGTERM)
        check_all_recorded(probe, traffic)
        check(all(record["exact"] for record in probe.records()), "all whole, none was split")
        workers = result["late"]["workers"]
        check(workers[late]["times"] >= 1 and workers[late]["ns"] > 0, "result", result["late"])
        check(workers[1 - late]["times"] == 0, "the other one was in time", result["late"])
        check(result["late"]["behind"] == 0, "no packet behind its watermark", result["late"])
        check(f"worker{late} was late for" in probe.stderr(), "in the end", probe.stderr())


# ---- timeouts ----


def timeouts_export_in_time(binaries: list[str]) -> None:
    options = "--workers 2 --scheduler rr-packet --idle-timeout=300ms --active-timeout=1s --facts"
    with world() as here:
        probe, traffic = Probe(here, binaries[1], 1, options), Traffic()
        probe.send(traffic.mix(FLOWS, COUNT))
        # Not a packet follows, and the records come out.
        wait_for("idle flows are exported",
                 lambda: frames.sums(probe.records()) == traffic.sent, EXPORT_SLACK_S)
        check({record["end"] for record in probe.records()} <= {"idle", "active"}, "why")

        def cut() -> bool:
            probe.send([traffic.make(FLOWS)])
            return any(record["end"] == "active" for record in probe.records())

        wait_for("a long flow is exported in parts", cut, EXPORT_SLACK_S)
        probe.end(signal.SIGINT)
        check_all_recorded(probe, traffic)
        check(Path(probe.records_path).stat().st_size > 0, "records stay")


# ---- the life of a daemon ----


def checks_a_configuration(binaries: list[str]) -> None:
    with world() as here:
        path = here.path("check.yaml")
        vdev = "vdev: net_null0"
        cases = (
            (vdev + "\nthreshold: 60", 0, ""),
            (vdev + "\nthreshold: much", 1, "threshold"),
            (vdev + "\nno-such-key: 1", 1, "no-such-key"),
            (vdev + "\nipfix: [udp://a:1, 'udp://b']", 1, "HOST:PORT"),
            (vdev + "\nipfix: [udp://a:1, 'udp://a:1']", 1, "twice"),
            (vdev + "\nkafka-property: sasl.password=x", 1, "--kafka-properties"),
            ("workers: 2", 1, "no input"),
        )
        for text, status, word in cases:
            path.write_text(text + "\n", encoding="ascii")
            run = subprocess.run([binaries[1], "--check-config", "--config", str(path)],
                                 capture_output=True, text=True, check=False)
            check(run.returncode == status, f"{text}: {status}", (run.returncode, run.stderr))
            check(word in run.stderr and bool(run.stderr) == bool(status), f"{text}: says {word}",
                  run.stderr)
            check(run.stdout == "", "prints nothing else", run.stdout)


def a_hangup_opens_files_and_settings_anew(binaries: list[str]) -> None:
    with world() as here:
        config, moved = here.path("flow.yaml"), here.path("flow.records.1")
        config.write_text("threshold: 60\n", encoding="ascii")
        options = ("--workers 2 --idle-timeout=300ms --active-timeout=0 --records /dev/null "
                   f"--config {config}")
        probe, traffic = Probe(here, binaries[1], 1, options), Traffic()
        probe.send(traffic.mix(FLOWS, COUNT))
        wait_for("they are exported", lambda: frames.sums(probe.records()) == traffic.sent,
                 EXPORT_SLACK_S)
        first = len(probe.records())
        probe.records_path.rename(moved)
        probe.set("sticky-enter=50")
        config.write_text("threshold: 70\nring: 2048\n", encoding="ascii")
        probe.process.send_signal(signal.SIGHUP)
        wait_for("a new file", probe.records_path.exists)
        wait_for("the setting", lambda: probe.ask("/lull/settings")["threshold"] == "70")
        check(probe.ask("/lull/settings")["sticky_enter"] == "50", "what was set stays")
        later = "ring has changed; it takes effect at the next start"
        wait_for("says what cannot be", lambda: later in probe.stderr())
        check("threshold is 70 now" in probe.stderr(), "says what it did", probe.stderr())
        config.write_text("threshold: [\n", encoding="ascii")
        probe.process.send_signal(signal.SIGHUP)
        wait_for("says what is wrong", lambda: "settings stay as they are" in probe.stderr())
        probe.send(traffic.mix(FLOWS, COUNT))
        wait_for("the rest is exported", lambda: probe.totals()["records"] > first and
                 sum(packets(probe.records())) == COUNT, EXPORT_SLACK_S)
        check(len(moved.read_text(encoding="utf-8").splitlines()) == first, "the old file stays")
        told = probe.ask("/lull/flow_export")
        check(told["kind"] == ["records", "records"] and told["up"] == [1, 1], "all is well", told)
        check(told["volumes"] == [1, 0], "one file was begun", told)
        with probe.records_path.open("a", encoding="utf-8") as file:
            file.write(moved.read_text(encoding="utf-8"))
        probe.stderr_path.write_text("", encoding="ascii")
        result = probe.end(signal.SIGTERM)
        check_all_recorded(probe, traffic)
        told = result["export"]["destinations"]
        check([one["up"] for one in told] == [True, True], "in the result too", told)
        taken = result["export"]["records"]["taken"]
        check(taken == sum(one["taken"] for one in told), "sums", told)


def packets(records: list[dict[str, Any]]) -> list[int]:
    return [record["packets"] + record["packets_rev"] for record in records]


main(
    [
        checks_a_configuration,
        a_hangup_opens_files_and_settings_anew,
        records_are_what_was_sent,
        both_directions_by_two_ports,
        one_port_by_two_queues,
        what_is_filtered_is_told,
        changes_while_it_runs,
        output_is_in_order,
        overload_is_counted_by_cause,
        late_workers_are_named,
        timeouts_export_in_time,
    ],
    need="rings",
)
