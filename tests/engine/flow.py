# SPDX-License-Identifier: BSD-3-Clause
"""lull-flow from its command line to its records, on captures nobody here made.

    flow.py PROGRAM CAPTURES         what the test suite runs
    flow.py PROGRAM CAPTURES --all   every scheduler, order and number of workers; some minutes

Nothing here looks at the time that something takes; it waits for conditions only.
"""

import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from command import Command
from verdict import check

TIMEOUT_S = 120
ORDERS = ("none", "drain", "resequence")
# Those that split flows, and those that do not; with more and fewer workers than CPUs.
SOME = (
    ("rr-packet", 4, "none"),
    ("rr-burst", 2, "resequence"),
    ("hrw", 8, "drain"),
    ("subflow", 4, "resequence"),
    ("subflow-paper", 2, "none"),
    ("sticky", 8, "none"),
    ("sticky", 2, "drain"),
    ("jsq", 4, "drain"),
)


class Trial(Command):
    """And captures."""

    def __init__(self, program: str, captures: str, scratch: str) -> None:
        super().__init__(program, scratch)
        self.captures = str(Path(captures).resolve())

    def records(self, *options: object) -> str:
        """The records of a run that ends well and loses nothing."""
        result = self.scratch / "result.json"
        run = self.call("--records", "-", "--json", result, *options)
        check(run.returncode == 0, f"ends well with {options}", run.stderr)
        adds_up(json.loads(result.read_text(encoding="utf-8")), run.stdout)
        return run.stdout


def adds_up(result: dict[str, Any], records: str) -> None:
    """Every packet has come to a record, and all counters agree about it."""
    totals, lines = result["totals"], [json.loads(line) for line in records.splitlines()]
    packets = sum(line["packets"] + line["packets_rev"] for line in lines)
    check(result["conservation"]["violations"] == 0, "packets add up", result["conservation"])
    check(result["conservation"]["checks"] > 0, "was checked")
    check(totals["dispatched"] == totals["recorded"] == packets, "all recorded", totals)
    check(totals["records"] == len(lines), "all records came out", totals)
    check(totals["open"] == totals["in_flight"] == totals["drop_ring"] == 0, "none left", totals)
    sent = sum(sum(dispatch["worker_pkts"]) for dispatch in result["dispatch"])
    check(sent == totals["dispatched"], "dispatched what it counts", result["dispatch"])
    if result["settings"]["order"] == "drain":
        check(totals["reordered"] == 0, "drain keeps order", totals)


def matrix(trial: Trial, cells: list[tuple[str, int, str]]) -> None:
    plain = ["--pcap", trial.captures, "--identify=no"]
    one = trial.records(*plain, "--workers", 1, "--scheduler", "crc32", "--order", "none")
    check(one.count("\n") > 100, "has flows", one)
    for scheduler, workers, order in cells:
        same = trial.records(*plain, "--workers", workers, "--scheduler", scheduler,
                             "--order", order)
        check(same == one, f"{scheduler}, {workers} workers, {order}: the same records", same)


def some_schedulers_make_the_same_records(trial: Trial) -> None:
    matrix(trial, list(SOME))


def all_schedulers_make_the_same_records(trial: Trial) -> None:
    text = trial.call("--help").stdout
    found = re.search(r"--scheduler(.*?)--shadow", text, re.DOTALL)
    check(found is not None, "tells its schedulers", text)
    names = re.findall(r"^ {30}([a-z]\S*)", found.group(1) if found else "", re.MULTILINE)
    check(len(names) >= 8, "has schedulers", names)
    matrix(trial, list(itertools.product(names, (1, 2, 4, 8), ORDERS)))


def without(records: str, member: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in records.splitlines()]
    for line in lines:
        del line[member]
    return lines


def labels_hardly_depend_on_workers(trial: Trial) -> None:
    one = trial.records("--pcap", trial.captures, "--workers", 1)
    result = json.loads((trial.scratch / "result.json").read_text(encoding="utf-8"))
    if result["ndpi"] is None:
        print("built without nDPI: no labels")
        return
    four = trial.records("--pcap", trial.captures, "--workers", 4, "--scheduler", "hrw")
    check(without(one, "app") == without(four, "app"), "all but labels is the same")
    pairs = list(zip(one.splitlines(), four.splitlines(), strict=True))
    differ = [pair for pair in pairs if pair[0] != pair[1]]
    named = sum(json.loads(line)["app"] != "" for line in one.splitlines())
    check(named > len(pairs) / 2, "names most of them", named)
    check(len(differ) <= len(pairs) / 50, "with the same names", differ)


def files_named_one_by_one_are_the_folder(trial: Trial) -> None:
    names = sorted(Path(trial.captures).glob("*.pcap"))[:16]
    folder = trial.scratch / "some"
    folder.mkdir()
    for name in names:
        shutil.copy(name, folder)
    listed = [option for name in names for option in ("--pcap", name)]
    check(trial.records(*listed, "--identify=no")
          == trial.records("--pcap", folder, "--identify=no"), "a folder is its files")


def refused(trial: Trial, sentence: str, *options: object) -> None:
    run = trial.call(*options)
    check(run.returncode != 0 and sentence in run.stderr and run.stdout == "",
          f"refuses {options}: {sentence}", run.stderr)


def mistakes_are_refused(trial: Trial) -> None:
    refused(trial, "no input")
    refused(trial, "No such file", "--pcap", trial.scratch / "missing.pcap")
    refused(trial, "neither pcap nor pcapng", "--pcap", __file__)
    refused(trial, "no capture", "--pcap", trial.scratch)
    refused(trial, "scheduler", "--pcap", trial.captures, "--scheduler", "best")
    refused(trial, "power of two", "--pcap", trial.captures, "--ring", 100)
    refused(trial, "one thread", "--pcap", trial.captures, "--io", 2)
    refused(trial, "wait for every worker", "--pcap", trial.captures, "--late-timeout", "1s")
    refused(trial, "100 ms to 24 h", "--vdev", "net_null0", "--late-timeout", "1ms")
    refused(trial, "not from both", "--pcap", trial.captures, "--vdev", "net_null0")
    one_queue = f"net_pcap0,rx_pcap={Path(trial.captures) / 'http.pcap'}"
    refused(trial, "each of the 2 I/O threads", "--vdev", one_queue, "--io", 2)
    refused(trial, "not a trace", "--replay", "/dev/null")


def truncated_files_count_and_are_told(trial: Trial) -> None:
    cut = trial.scratch / "cut.pcap"
    cut.write_bytes((Path(trial.captures) / "http.pcap").read_bytes()[:-7])
    run = trial.call("--pcap", cut, "--records", "-")
    check(run.returncode != 0, "is an error", run.stderr)
    check(re.search(r"cut\.pcap: truncated at byte \d+", run.stderr) is not None, "says where",
          run.stderr)
    check(run.stdout != "", "gives what can be read")
    result = trial.scratch / "cut.json"
    again = trial.call("--pcap", cut, "--records", "-", "--keep-going", "--json", result)
    check(again.returncode == 0 and "truncated at byte" in again.stderr, "goes on when told to",
          again.stderr)
    check(again.stdout == run.stdout, "with the same records")
    check(len(json.loads(result.read_text(encoding="utf-8"))["files"]["faults"]) == 1, "counted")


def decisions_can_be_repeated(trial: Trial) -> None:
    trace = trial.scratch / "trace"
    trial.records("--pcap", trial.captures, "--workers", 4, "--scheduler", "subflow",
                  "--shadow", "hrw", "--trace", trace)
    again = json.loads(trial.call("--replay", trace).stdout)
    check(again["pkts"] > 0 and again["differences"] == 0, "decides the same again", again)
    other = json.loads(trial.call("--replay", trace, "--scheduler", "rr-packet").stdout)
    check(other["pkts"] == again["pkts"] and other["differences"] > 0, "another differs", other)
    cut = trial.scratch / "cut.trace"
    cut.write_bytes(trace.read_bytes()[:-3])
    refused(trial, "at byte", "--replay", cut)


def dealt(trial: Trial, *options: object) -> tuple[int, str, str]:
    """Seed, packets per worker, and records."""
    result = trial.scratch / "seed.json"
    run = trial.call("--pcap", trial.captures, "--identify=no", "--records", "-", "--workers", 4,
                    "--scheduler", "hash", "--order", "none", "--json", result, *options)
    check(run.returncode == 0, "ends well", run.stderr)
    end = json.loads(result.read_text(encoding="utf-8"))
    return int(end["settings"]["seed"]), str(end["dispatch"][0]["worker_pkts"]), run.stdout


def a_seed_deals_flows_out_anew(trial: Trial) -> None:
    """And makes no difference to records; captures have the same one each time."""
    none, zero = dealt(trial), dealt(trial, "--seed", 0)
    other = dealt(trial, "--seed", 4_000_000_000)
    check(none[0] == 0 and none == zero, "captures have seed 0", (none[:2], zero[:2]))
    check(other[0] == 4_000_000_000 and other[1] != zero[1], "another deals them out anew",
          (zero[:2], other[:2]))
    check(other[2] == zero[2], "with the same records", other[2])
    refused(trial, "seed", "--pcap", trial.captures, "--seed", 1 << 32)


def ports_draw_a_seed(trial: Trial) -> None:
    result = trial.scratch / "seed.json"
    seeds = []
    for options in ([], [], ["--seed", 0], ["--seed", 77]):
        run = trial.call("--vdev", "net_null0,no-rx=1", "--duration", "10ms", "--json", result,
                        *options)
        check(run.returncode == 0, "ends well", run.stderr)
        settings = json.loads(result.read_text(encoding="utf-8"))["settings"]
        seeds.append(int(settings["seed"]))
    # 0 or the same twice by chance: once in two thousand million trials.
    check(seeds[2:] == [0, 77], "obeys", seeds)
    check(len({*seeds[:3]}) == 3, "draws another one each time", seeds)


def ask(client: socket.socket, command: str) -> dict[str, Any]:
    client.send(command.encode())
    replies: dict[str, dict[str, Any]] = json.loads(client.recv(65536))
    return replies[command.split(",", maxsplit=1)[0]]


def started(trial: Trial, *options: object) -> "subprocess.Popen[str]":
    """A program that runs for certain: it has shown progress."""
    run = subprocess.Popen([trial.program, *map(str, options), "--stats", "0.05"],
                           env={**os.environ, "RUNTIME_DIRECTORY": str(trial.scratch)},
                           stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert run.stderr is not None
    for line in run.stderr:
        if " pkt/s" in line:
            break
    return run


def live_it_answers_and_ends_by_signal(trial: Trial) -> None:
    result = trial.scratch / "live.json"
    with started(trial, "--vdev", "net_ring0", "--workers", 2, "--json", result) as run:
        path = trial.scratch / f"dpdk/lull-flow-{run.pid}"
        check(path.exists(), "has a folder at run time", path)
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.settimeout(TIMEOUT_S)
            client.connect(f"{path}/dpdk_telemetry.v2")
            client.recv(65536)
            flow = ask(client, "/lull/flow")
            check(flow["violations"] == 0 and len(flow["worker_pkts"]) == 2, "tells", flow)
            check(ask(client, "/lull/flow_top")["src"] == [], "has no flow yet")
            for change in ("scheduler=hrw", "idle-timeout=5s", "worker-delay=1us",
                           "governor@worker1=fixed"):
                reply = ask(client, f"/lull/set,{change}")
                check(reply.get("ok") == 1, f"takes {change}", reply)
            settings = ask(client, "/lull/settings")
            check(settings["scheduler"] == "hrw" and settings["idle_timeout"] == "5s",
                  "has taken it", settings)
            reply = ask(client, "/lull/set,scheduler@io0=hrw")
            check("error" in reply, "refuses a scheduler for one loop", reply)
        run.send_signal(signal.SIGINT)
        _, stderr = run.communicate(timeout=TIMEOUT_S)
        check(run.returncode == 0, "ends well", stderr)
    check(json.loads(result.read_text(encoding="utf-8"))["end"] == "signal", "says why")
    check(not path.exists(), "leaves nothing behind", path)


def nobody_dispatches(trial: Trial, pid: int) -> None:
    """Flows would be split, and nobody would know, were they dealt out anew."""
    path = trial.scratch / f"dpdk/lull-flow-{pid}/dpdk_telemetry.v2"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
        client.settimeout(TIMEOUT_S)
        try:
            client.connect(str(path))
            client.recv(65536)
        except (FileNotFoundError, ConnectionError):
            return  # it has read everything already
        for change in ("scheduler=crc32", "shadow=sticky", "flush-burst=8"):
            reply = str(ask(client, f"/lull/set,{change}"))
            check("workers read" in reply, f"refuses {change}", reply)
        check(ask(client, "/lull/set,idle-timeout=5s").get("ok") == 1, "takes a timeout")


def a_signal_ends_reading_with_all_records(trial: Trial) -> None:
    result = trial.scratch / "ended.json"
    with started(trial, "--pcap", trial.captures, "--worker-delay", "2ms", "--ring", 64,
                 "--records", "-", "--json", result) as run:
        nobody_dispatches(trial, run.pid)
        run.send_signal(signal.SIGTERM)
        stdout, stderr = run.communicate(timeout=TIMEOUT_S)
        check(run.returncode == 0, "ends well", stderr)
    end = json.loads(result.read_text(encoding="utf-8"))
    # All has been read already if this machine gave us no CPU meanwhile.
    check(end["end"] in ("signal", "input"), "says why", end["end"])
    adds_up(end, stdout)


TESTS = (
    some_schedulers_make_the_same_records,
    labels_hardly_depend_on_workers,
    files_named_one_by_one_are_the_folder,
    mistakes_are_refused,
    truncated_files_count_and_are_told,
    decisions_can_be_repeated,
    a_seed_deals_flows_out_anew,
    ports_draw_a_seed,
    live_it_answers_and_ends_by_signal,
    a_signal_ends_reading_with_all_records,
)


def main() -> None:
    program, captures = sys.argv[1:3]
    every = "--all" in sys.argv[3:]
    with tempfile.TemporaryDirectory() as scratch:
        trial = Trial(program, captures, scratch)
        for test in (all_schedulers_make_the_same_records,) if every else TESTS:
            test(trial)
            print(f"{test.__name__}: ok", flush=True)


main()
