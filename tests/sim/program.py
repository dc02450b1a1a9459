# SPDX-License-Identifier: BSD-3-Clause
"""lull-sim from its command line to its result: what it refuses, and what it writes."""

from __future__ import annotations

import json
import re
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from command import Command, await_signals
from verdict import check

TIMEOUT_S = 60
QUICK = ["--duration", "20ms", "--warmup", "5ms"]
HISTOGRAM = {
    "count", "min", "mean", "p50", "p90", "p99", "p995", "p999", "p9999", "p99999", "max",
}  # fmt: skip
RUN = {
    "governor", "rest_ns", "side", "duration_ns", "cpu_pct", "busy_pct", "offered",
    "offered_per_s", "delivered", "lost", "loss_ppm", "bytes", "bits_per_s", "latency_ns",
    "added_ns", "rests", "rest_mean_ns", "rest_p99_ns", "wakes_per_s", "empty_pct",
    "usage_pct", "empty_requested_pct", "usage_requested_pct", "power_w", "energy_j",
    "cpu_bound_pct", "verdict", "feasible_pct", "counters", "stolen_pct", "waited_pct",
    "fifo_pct", "fifo_left", "competitor_pct", "competitor_share_pct",
}  # fmt: skip
WHOLE = {"program", "version", "settings", "runs", "sweep", "simulated_pkts", "duration_s"}
VERDICT = {"state", "binding", "rest_ns", "predicted_ns", "text"}
# Where lull-sim begins elsewhere than lull-fwd; docs/simulator.md has the reasons.
OTHER_DEFAULTS = {"traffic", "duration", "sched-policy", "ring"}
SWEEP_ROW = {"rest_ns", "cpu_pct", "added_p50_ns", "added_p99_ns", "added_p999_ns", "lost"}


class Stand(Command):
    """And the forwarder."""

    def __init__(self, program: str, forwarder: str, scratch: str) -> None:
        super().__init__(program, scratch)
        self.forwarder = str(Path(forwarder).resolve())

    def file(self, name: str, content: bytes) -> str:
        (self.scratch / name).write_bytes(content)
        return name


# ---- captures ----


def frame(size: int, number: int) -> bytes:
    return bytes(12) + b"\x08\x00" + number.to_bytes(4, "big") + bytes(size - 18)


def pcap(times_ns: list[int], sizes: list[int], link: int = 1) -> bytes:
    """Nanosecond pcap, little endian."""
    out = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, link)
    for number, (time_ns, size) in enumerate(zip(times_ns, sizes, strict=True)):
        seconds, rest = divmod(time_ns, 10**9)
        out += struct.pack("<IIII", seconds, rest, size, size) + frame(size, number)
    return out


def block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    length = 12 + len(body)
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def pcapng(times_ns: list[int], sizes: list[int], link: int = 1) -> bytes:
    """One section, one interface with nanoseconds (option 9)."""
    out = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    resolution = struct.pack("<HHB3x", 9, 1, 9) + struct.pack("<HH", 0, 0)
    out += block(1, struct.pack("<HHI", link, 0, 65535) + resolution)
    for number, (time_ns, size) in enumerate(zip(times_ns, sizes, strict=True)):
        head = struct.pack("<IIIII", 0, time_ns >> 32, time_ns & 0xFFFFFFFF, size, size)
        out += block(6, head + frame(size, number))
    return out


# ---- refusals ----


def refuses_options(stand: Stand) -> None:
    stand.refused("--governor objectiv", "governor.*objectiv.*objective")
    stand.refused("--governor fixed:0us", "governor.*fixed:0us")
    stand.refused("--governor spin,,fixed", "governor")
    stand.refused("--send-governor spin,fixed", "send-governor.*one")
    stand.refused("--traffic often:3", "traffic.*often")
    stand.refused("--traffic poisson:many", "traffic.*poisson")
    stand.refused("--traffic selfsimilar:1k,2", "traffic")
    stand.refused("--traffic-size 10", "traffic-size.*64")
    stand.refused("--link 10", "link.*10G")
    stand.refused("--link fast", "link.*fast")
    stand.refused("--shape 5", "shape.*1G")
    stand.refused("--held 1024", "held.*--ring")
    stand.refused("--ring 0", "ring.*1")
    stand.refused("--queues 65", "queues.*64")
    stand.refused("--share-queues --governor metronome,spin", "metronome; spin")
    stand.refused("--share-queues --governor metronome --queues 2", "1 threads for 2 queues")
    stand.refused("--share-queues --governor metronome --path send-receive", "send-receive")
    stand.refused("--share-queues --governor metronome --sweep-rest 1us-9us,3", "fixed")
    stand.refused("--backup-rest 0", "backup-rest.*1")
    stand.refused("--round-bursts 33", "round-bursts.*--burst")
    stand.refused("--count-left", "count-left.*--round-bursts")
    stand.refused("--interrupt soon", "interrupt.*soon")
    stand.refused("--monitor 50:1us,20:2us", "monitor")
    stand.refused("--cores 2", "cores.*1 threads")
    stand.refused("--path send-receive --queues 2", "send-receive.*one")
    stand.refused("--path there-and-back", "path.*send-receive")
    stand.refused("--sweep-rest 1ms-1us,5", "sweep-rest.*1us-1ms,60")
    stand.refused("--sweep-rest 1us-1ms,1", "sweep-rest.*2\\.\\.1000")
    stand.refused("--sweep-rest 1us", "sweep-rest.*LOW-HIGH,STEPS")
    stand.refused("--late 200%:1ms", "late.*5%:2ms")
    stand.refused("--stall 1ns:1ms", "stall.*100ms:3ms")
    stand.refused("--stall 1s:3ms-1ms", "stall.*500us-3ms")
    stand.refused("--stall 1s:1ms-", "stall.*500us-3ms")
    stand.refused("--competitor 101", "competitor.*30:3ms")
    stand.refused("--competitor 0", "competitor.*none")
    stand.refused("--competitor 30:1ns", "competitor.*30:3ms")
    stand.refused("--competitor 30 --threads 2 --cores 1", "competitor.*--cores")
    stand.refused("--sched-policy deadline", "sched-policy.*deadline.*fifo")
    stand.refused("--sched-policy rr", "sched-policy.*fifo")
    stand.refused("--line-bursts 10ms:1000 --link 0", "line-bursts.*--link")
    stand.refused("--line-bursts 1us:65535", "line-bursts")
    stand.refused("--cost-change 1s:0", "cost-change.*TIME:PERCENT")
    stand.refused("--exit-latency 2us:1us,1us:2us", "exit-latency.*rising REST")
    stand.refused("--cold-cost 0", "cold-cost")
    stand.refused("--overshoot 50:1us,40:2us", "overshoot.*rising")
    stand.refused("--burst-cost 300:1us", "burst-cost.*256")
    stand.refused("--c-states C1:2us", "c-states.*C1:2us:5")
    stand.refused("--duration 100ns", "duration")
    stand.refused("--machine toaster", "machine.*guest")
    stand.refused("--describe-machine toaster", "describe-machine.*toaster")
    stand.refused("--pcap-speed 0", "pcap-speed.*original")
    stand.refused("--percentile 100", "percentile")
    stand.refused("--brust 3", "--brust.*burst")
    stand.refused("stray", "stray")


def refuses_without_a_table(stand: Stand) -> None:
    """The head of the table does not come before what is wrong, either."""
    for words in ("--duration 100ns", "--line-bursts 1us:65535", "--pcap none.pcap"):
        run = stand.call(*words.split())
        shown = f"{words}: {run.stdout}{run.stderr}"
        check(run.returncode == (1 if "pcap" in words else 2), "exit status", shown)
        check(run.stdout == "", "no head of a table", shown)


def refuses_captures(stand: Stand) -> None:
    times_ns = [number * 1000 for number in range(100)]
    sizes = [60 + number for number in range(100)]
    good, good_ng = pcap(times_ns, sizes), pcapng(times_ns, sizes)
    stand.refused("--pcap none.pcap", "none.pcap: No such file", 1)
    stand.file("empty.pcap", b"")
    stand.refused("--pcap empty.pcap", "empty.pcap.*empty", 1)
    stand.refused("--pcap .", "\\.: .*no file", 1)
    stand.file("cut.pcap", good[: len(good) // 2])
    stand.refused("--pcap cut.pcap", "cut.pcap: truncated at byte [0-9]+: ", 1)
    stand.file("cut.pcapng", good_ng[: len(good_ng) // 2])
    stand.refused("--pcap cut.pcapng", "cut.pcapng: truncated at byte [0-9]+: ", 1)
    stand.file("head.pcap", good[:20])
    stand.refused("--pcap head.pcap", "head.pcap: ", 1)
    stand.file("magic.pcap", b"\x01\x02\x03\x04" + good[4:])
    stand.refused("--pcap magic.pcap", "magic.pcap: ", 1)
    for name, content in (("other.pcap", pcap), ("other.pcapng", pcapng)):
        stand.file(name, content(times_ns, sizes, 105))
        stand.refused(f"--pcap {name}", f"{name}: no Ethernet frame", 1)
    stand.file("none.pcapng", pcapng([], []))
    stand.refused("--pcap none.pcapng", "none.pcapng: no Ethernet frame", 1)


def refuses_config_files(stand: Stand) -> None:
    stand.file("key.yaml", b"governor: spin\nmax-latancy: 5\n")
    stand.refused("--config key.yaml", "key.yaml.*max-latancy")
    stand.file("value.yaml", b"governor: spin\nburst: many\n")
    stand.refused("--config value.yaml", "value.yaml.*burst")
    stand.refused("--config none.yaml", "none.yaml")
    run = stand.call("--duration", "1ms", "--json", "no/such/directory.json")
    check(run.returncode == 1 and run.stdout == "", "unwritable result", run.stdout)
    check(len(run.stderr.splitlines()) == 1, "one line", run.stderr)


# ---- results ----


def helps(stand: Stand) -> None:
    stand.shows("--help", "--governor")
    stand.shows("--version", "lull-sim")
    described = stand.result("--describe-machine", "metal")
    check(described["name"] == "metal" and described["iteration_ns"] > 0, "describes", described)


def has_every_member(stand: Stand) -> None:
    result = stand.result("--governor", "spin,fixed:20us,objective", *QUICK)
    check(result.keys() >= WHOLE, "members", WHOLE - result.keys())
    check(result["program"] == "lull-sim" and result["sweep"] == [], "who", result["program"])
    names = [run["governor"] for run in result["runs"]]
    check(names == ["spin", "fixed", "objective"], "runs in order", names)
    check(result["runs"][1]["rest_ns"] == 20000, "rest of fixed", result["runs"][1])
    check(result["settings"]["traffic"] == "poisson:300k", "settings", result["settings"])
    for run in result["runs"]:
        check(run.keys() >= RUN, "members of a run", RUN - run.keys())
        check(run["verdict"].keys() >= VERDICT, "verdict", run["verdict"])
        for name in ("latency_ns", "added_ns"):
            check(run[name].keys() == HISTOGRAM, name, run[name])
            check(run[name]["count"] == run["delivered"], f"{name} of each", run)
        check(run["counters"]["iterations"] > 0, "counters", run["counters"])
        # a thread that rests has not yet met what came last
        met = result["runs"][0]["offered"] - run["offered"]
        check(abs(met) < 100, "same traffic", met)
    check(result["runs"][0]["cpu_pct"] == 100, "spin", result["runs"][0]["cpu_pct"])
    both = stand.result("--path", "send-receive", "--governor", "fixed", "--bins", *QUICK)
    sides = [run["side"] for run in both["runs"]]
    check(sorted(sides) == ["receive", "send"], "both sides", sides)
    bins = both["runs"][0]["latency_ns"]["bins"]
    check(sum(bins[1::2]) == both["runs"][0]["delivered"], "bins", bins)


def defaults(binary: str) -> dict[str, str]:
    """Default of each option that has one, as --help tells."""
    said = subprocess.run([binary, "--help"], capture_output=True, text=True, check=True).stdout
    parts = re.split(r"^  --", said, flags=re.MULTILINE)[1:]
    found = {}
    for part in parts:
        default = re.search(r"\[(?:[^][]*; )?default ([^];]*)", " ".join(part.split()))
        if default is not None:
            found[part.split()[0]] = default[1]
    return found


def begins_where_lull_fwd_does(stand: Stand) -> None:
    """The same defaults, so the same verdict about traffic that is made in its own process."""
    ours, theirs = defaults(stand.program), defaults(stand.forwarder)
    both = ours.keys() & theirs.keys()
    check(both >= {"max-latency", "loss", "pps-max", "ring", "burst"}, "options of both", both)
    differ = {key for key in both if ours[key] != theirs[key]}
    check(differ == OTHER_DEFAULTS, "defaults that differ", differ)
    check(ours["link"] == "0", "no link, as between threads", ours["link"])
    verdict = stand.result("--governor", "objective")["runs"][0]["verdict"]
    check(verdict["state"] == "feasible", "feasible as it is", verdict)
    check(verdict["text"].endswith("no loss up to 1 Mpps (learned, not proven)"), "so far", verdict)


def says_why_and_what_would_help(stand: Stand) -> None:
    words = ["--governor", "spin,objective", "--link", "10G"]
    spin, small = stand.result(*words)["runs"]
    check(spin["verdict"]["text"].startswith("no objective: "), "spin promises nothing", spin)
    pattern = (
        r"infeasible: the ring of 1024 packets fills in 66\.7 us at 14\.9 Mpps, but a wake-up "
        r"comes up to \S+ us late; the loop pauses the core; a ring of (\d+) allows rests of "
        r"\S+ us: (\d+) % CPU; or pps-max=(\S+): (\d+) %; or loss=tolerate: (\d+) %"
    )
    text = small["verdict"]["text"]
    remedy = re.fullmatch(pattern, text)
    check(remedy is not None and small["cpu_pct"] > 99, "why it does not rest", small["verdict"])
    lines = stand.call(*words).stdout.splitlines()
    check(len(lines) == 4 and lines[3].strip() == text, "a line of the table", lines)
    # Each way out that it names is one, at the CPU that it says.
    ring, ring_pct, pps, pps_pct, loss_pct = remedy.groups() if remedy is not None else [""] * 5
    for way_out, told in ((["--ring", ring], ring_pct), (["--pps-max", pps], pps_pct),
                          (["--loss", "tolerate"], loss_pct)):
        run = stand.result(*words, *way_out)["runs"][1]
        check(run["verdict"]["state"] == "feasible", " ".join(way_out), run["verdict"])
        check(run["verdict"]["remedies"] == [], "none needed", run["verdict"])
        # A loop that rests takes more packets at a time, which costs less than was told.
        check(-8 < run["cpu_pct"] - float(told) < 4 and run["lost"] == 0, " ".join(way_out), run)
    first = small["verdict"]["remedies"][0]
    check(first["ring"] == int(ring) and first["fits"] and first["measured"], "as data", first)
    check(first["text"] == f"a ring of {ring}" and round(first["cpu_pct"]) == int(ring_pct), "too",
          first)


def shares_a_core(stand: Stand) -> None:
    """What the other program gets, by class; a machine's defaults and what replaces them."""
    words = ["--governor", "fixed:100us", "--traffic", "poisson:10k", *QUICK]
    alone = stand.result(*words)["runs"][0]
    check(alone["competitor_pct"] is None and alone["waited_pct"] == 0, "alone", alone)
    check(alone["power_w"] is not None, "alone", alone)
    fifo = stand.result(*words, "--machine", "shared")["runs"][0]
    check(fifo["fifo_pct"] == 100 and fifo["fifo_left"] == 0, "fifo", fifo)
    check(75 < fifo["competitor_pct"] < 100 - fifo["cpu_pct"], "other's share", fifo)
    part = fifo["competitor_pct"] / (100 - fifo["cpu_pct"]) * 100
    check(abs(part - fifo["competitor_share_pct"]) < 0.01, "of what is left", fifo)
    check(fifo["power_w"] is None, "no power where a core is shared", fifo)
    other = stand.result(*words, "--machine", "shared", "--sched-policy", "other")["runs"][0]
    check(other["fifo_pct"] == 0, "other", other)
    free = stand.result(*words, "--machine", "shared", "--competitor", "none")["runs"][0]
    check(free["competitor_pct"] is None, "none", free)
    noisy = stand.result("--machine", "noisy", "--governor", "spin", "--duration", "4s")
    check(0.2 < noisy["runs"][0]["stolen_pct"] < 1.2, "stolen", noisy["runs"][0])
    check(noisy["machine"]["stall"]["ns_max"] == 3_000_000, "described", noisy["machine"])
    quiet = stand.result("--machine", "noisy", "--governor", "spin", "--stall", "none", *QUICK)
    check(quiet["runs"][0]["stolen_pct"] == 0, "none", quiet["runs"][0])
    table = stand.call(*words, "--competitor", "30:1ms", "--duration", "1s")
    check("other %" in table.stdout.splitlines()[0], "a column for it", table.stdout)


def drivers_and_late_packets(stand: Stand) -> None:
    """Many queues, bursts that are short although packets are left, interrupts that are late."""
    words = ["--ring", "4096", "--traffic", "poisson:300", "--duration", "1s"]
    many = stand.result("--queues", "16", "--governor", "spin,objective", "--link", "10G")["runs"]
    check(many[0]["verdict"]["state"] == "none", "spin", many[0])
    small = many[1]["verdict"]["text"]
    ring = re.search(r"a ring of (\d+) allows", small)
    check(ring is not None, "16 queues: which ring would do", small)
    run = stand.result("--queues", "16", "--link", "10G", "--ring", ring[1] if ring else "")
    check(run["runs"][0]["verdict"]["state"] == "feasible", "and it does", run["runs"][0])
    check(run["runs"][0]["lost"] == 0, "none lost", run["runs"][0])
    slow = stand.result("--queues", "64", "--link", "10G", "--ring", "8192", "--traffic",
                        "poisson:3M", "--line-bursts", "5ms:8192")["runs"][0]["verdict"]
    check(slow["state"] == "infeasible" and "faster than this loop takes them" in slow["text"],
          "64 queues are too slow for the rate", slow)
    rounded = stand.result("--round-bursts", "4", "--traffic", "poisson:3M", "--ring", "4096")
    check(rounded["runs"][0]["added_ns"]["p99"] <= 200_000, "rounded", rounded["runs"][0])
    even = ["--round-bursts", "4", "--traffic", "constant:8M", "--ring", "4096"]
    blind = stand.result(*even)["runs"][0]
    asking = stand.result(*even, "--count-left")["runs"][0]
    check(asking["cpu_pct"] < 80 < 99 < blind["cpu_pct"], "rests if it may ask", (blind, asking))
    check(asking["added_ns"]["p99"] <= 200_000, "in time", asking)
    early = stand.result(*words, "--warmup", "60s", "--interrupt", "0:10us,100:30us")["runs"][0]
    late = stand.result(*words, "--warmup", "60s", "--interrupt", "100:2ms")["runs"][0]
    check(early["cpu_pct"] < 3 < late["cpu_pct"], "waits for those that are early", (early, late))
    for run in (early, late):
        check(run["added_ns"]["p99"] <= 200_000, "kept", run)


def quirks_reach_the_simulator(stand: Stand) -> None:
    words = ["--governor", "fixed:200us", "--traffic", "constant:20k", "--overshoot", "0:1us",
             "--warmup", "0", "--duration", "400ms"]

    def figures(*more: str) -> tuple[int, int, int]:
        run = stand.result(*words, *more)["runs"][0]
        return run["latency_ns"]["p50"], run["latency_ns"]["max"], run["counters"]["misses"]

    usual = figures()
    check(figures("--cold-cost", "100") == usual, "as usual", usual)
    check(figures("--cold-cost", "5000")[0] > usual[0], "dear after rests", usual)
    check(figures("--cost-change", "350ms:5000")[1] > usual[1], "dear later", usual)
    check(figures("--exit-latency", "0:0us,100us:90us")[1] >= usual[1] + 80_000, "exit", usual)
    stall = ["--stall", "10ms:2ms"]
    check(figures(*stall)[1] > 1_000_000, "stalls")
    check(figures(*stall, "--stall-from", "1s") == usual, "stalls that begin later", usual)
    check(figures("--ring", "4", "--held", "0")[2] > 0, "losses are told")
    check(figures("--ring", "4", "--held", "0", "--loss-lag", "1s")[2] == 0, "and told later")


def shares_queues(stand: Stand) -> None:
    """Threads that share queues: who tried how often, and for how long nobody looked."""
    words = ["--governor", "metronome:100us", "--threads", "3", "--traffic", "poisson:50k"]
    alone = stand.result(*words, *QUICK)["runs"][0]
    check(alone["share"] is None, "nothing is shared", alone["share"])
    run = stand.result(*words, "--share-queues", "--queues", "2")["runs"][0]
    share = run["share"]
    check(share["vacation_ns"].keys() == HISTOGRAM, "vacations", share)
    check(90_000 < share["vacation_ns"]["mean"] < 110_000, "near the target", share)
    check(share["tries"] > 100 > share["tries_failed"], "tries", share)
    check(run["lost"] == 0 and run["delivered"] > 0, "all delivered", run)
    check(run["cpu_bound_pct"] is None, "the bound is of threads that are alone", run)
    # One delivers, and those in vain come in each 20 ms, or in each 2 ms.
    words = ["--governor", "metronome:100us", "--threads", "2", "--share-queues",
             "--traffic", "poisson:15M", "--ring", "65536", "--backup-rest"]
    rare, often = (stand.result(*words, rest)["runs"][0]["share"] for rest in ("20ms", "200us"))
    check(rare["tries_failed"] < often["tries_failed"], "backup-rest", (rare, often))


def same_seed_same_result(stand: Stand) -> None:
    words = ["--governor", "ramp,objective", "--traffic", "selfsimilar:200k", *QUICK]
    first, again = (stand.result(*words, "--seed", "7") for _ in range(2))
    other = stand.result(*words, "--seed", "8")
    for result in (first, again, other):
        del result["duration_s"]
        result["settings"].pop("json", None)
    check(first == again, "same seed, same result")
    del first["settings"], other["settings"]
    check(first != other, "other seed, other result")


def config_equals_options(stand: Stand) -> None:
    lines = "governor: fixed:30us,drain\ntraffic: onoff:500k,1ms,2ms\nlink: 25G\nring: 512\n"
    lines += "seed: 3\nduration: 20ms\nwarmup: 5ms\nlate: 1%:1ms\nstall: 5ms:10us-1ms\n"
    lines += "competitor: 20:500us\nsched-policy: fifo\n"
    stand.file("good.yaml", lines.encode())
    words = [word for line in lines.splitlines() for word in f"--{line}".split(": ")]
    by_file, by_words = stand.result("--config", "good.yaml"), stand.result(*words)
    del by_file["duration_s"], by_words["duration_s"]
    check(by_file == by_words, "the same by file and by options")


def sweeps(stand: Stand) -> None:
    result = stand.result("--sweep-rest", "1us-100us,5", "--governor", "spin", *QUICK)
    rests = [row["rest_ns"] for row in result["sweep"]]
    check(rests == [1000, 3162, 10000, 31623, 100000], "evenly by factor", rests)
    cpu = [row["cpu_pct"] for row in result["sweep"]]
    check(cpu == sorted(cpu, reverse=True), "longer rests, less CPU", cpu)
    for row in result["sweep"]:
        check(row.keys() >= SWEEP_ROW, "row", SWEEP_ROW - row.keys())
    check(len(result["runs"]) == 1, "the sweep stands apart", len(result["runs"]))


def replays_captures(stand: Stand) -> None:
    times_ns = [1_700_000_000 * 10**9 + number * 5000 for number in range(3001)]
    sizes = [60 + 37 * number % 1400 for number in range(3001)]
    for name, content in (("good.pcap", pcap), ("good.pcapng", pcapng)):
        stand.file(name, content(times_ns, sizes))
        result = stand.result("--pcap", name, "--governor", "spin,objective")
        capture = result["capture"]
        check(capture["packets"] == 3001 and capture["left_out"] == 0, name, capture)
        check(capture["length_ns"] == 15_000_000, name, capture)
        for run in result["runs"]:
            check(run["offered"] == 3001 and run["lost"] == 0, name, run)
            check(run["delivered"] == 3001 and run["bytes"] == sum(sizes), name, run)
        twice = stand.result("--pcap", name, "--governor", "spin", "--pcap-speed", "2")
        check(twice["capture"]["length_ns"] == 7_500_000, "half the time", twice["capture"])
        check(twice["runs"][0]["delivered"] == 3001, "all of it", twice["runs"][0])
        spans = [each["runs"][0]["duration_ns"] for each in (result, twice)]
        check(7_499_000 < spans[0] - spans[1] < 7_501_000, "shorter by half", spans)
    stand.file("back.pcap", pcap([5000, 3000, 9000], [60, 60, 60]))
    capture = stand.result("--pcap", "back.pcap")["capture"]
    check(capture["stamped_back"] == 1 and capture["length_ns"] == 4000, "back", capture)


def writes_a_file_or_none(stand: Stand) -> None:
    path = stand.scratch / "result.json"
    run = stand.call(*QUICK, "--json", str(path))
    check(run.returncode == 0 and run.stdout == "" and run.stderr == "", "quiet", run)
    check(json.loads(path.read_text(encoding="utf-8"))["program"] == "lull-sim", "whole")
    path.unlink()
    run = stand.call("--governor", "spin,fixed", *QUICK)
    check(run.returncode == 0 and len(run.stdout.splitlines()) == 3, "a table", run.stdout)


def ends_by_signal(stand: Stand) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        command = [stand.program, "--duration", "24h", "--json", "never.json"]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=stand.scratch
        ) as run:
            await_signals(run, number)
            run.send_signal(number)
            stdout, stderr = run.communicate(timeout=TIMEOUT_S)
        check(run.returncode == 1, f"ends by {number.name}", f"{run.returncode} {stderr}")
        check(stdout == "" and len(stderr.splitlines()) == 1, "one line", stdout + stderr)
        check("signal" in stderr, "says why", stderr)
        check(not list(stand.scratch.glob("never*")), "leaves no file")


TESTS: tuple[Callable[[Stand], None], ...] = (
    helps,
    refuses_options,
    refuses_without_a_table,
    refuses_captures,
    refuses_config_files,
    has_every_member,
    begins_where_lull_fwd_does,
    says_why_and_what_would_help,
    shares_a_core,
    shares_queues,
    drivers_and_late_packets,
    quirks_reach_the_simulator,
    same_seed_same_result,
    config_equals_options,
    sweeps,
    replays_captures,
    writes_a_file_or_none,
    ends_by_signal,
)


def main() -> None:
    for number, test in enumerate(TESTS, 1):
        with tempfile.TemporaryDirectory() as scratch:
            test(Stand(sys.argv[1], sys.argv[2], scratch))
        print(f"ok {number} {test.__name__}", flush=True)


main()
