# SPDX-License-Identifier: BSD-3-Clause
"""Packets that lull-cam keeps: read again they are the same frames, and other programs read them.

packets.py LULL-CAM LULL-CAM-SOURCE
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "netns"))

from lull_cam import TIMEOUT_S, Pair
from pictures import fill
from rights import take
from verdict import check, free_ports, wait_for

FRAMES = 30
SIZE = "width=128,height=96"
# what lull-cam and lull-cam-source are told
PROTOCOLS = (
    ("rfc4175", f"{SIZE},pixel=rgb8", ("--pixel", "rgb8")),
    ("gvsp", "", ("--pixel", "bayer-rg12p")),
    ("cmp", f"{SIZE},pixel=raw12-csi", ("--interface", "lo")),
    ("rvf", f"{SIZE},pixel=mono8", ("--interface", "lo")),
)
Line = dict[str, Any]


class Keeper(Pair):
    def send(self, *words: object) -> None:
        """On one CPU: loopback keeps the order of packets only there."""
        command = [
            self.source, "--width", 128, "--height", 96, "--packet", 1000, "--rate", 100,
            "--cpus", min(os.sched_getaffinity(0)), "--stats", 0, *words,
        ]  # fmt: skip
        sender = subprocess.run(
            list(map(str, command)),
            cwd=self.scratch, capture_output=True, text=True, check=False, timeout=TIMEOUT_S,
        )  # fmt: skip
        check(sender.returncode == 0, "the sender ends well", sender.stderr)

    def outcome(self) -> dict[str, Any]:
        result: dict[str, Any] = json.loads((self.scratch / "result.json").read_text())
        return result

    def replay(self, stream: str, file: str = "packets.pcapng") -> list[Line]:
        """The frames in a file, recorded in the folder again."""
        shutil.rmtree(self.scratch / "again", ignore_errors=True)
        run = self.start("--backend", f"pcap:{file}", "--stream", stream, "--record", "again")
        run.sums_up()
        return self.lines("again/frames.jsonl")

    def read_by_tshark(self, fields: str, file: str = "packets.pcapng") -> list[list[str]]:
        """These fields of each packet; nothing when there is no tshark."""
        if shutil.which("tshark") is None:
            return []
        asked = [word for field in fields.split() for word in ("-e", field)]
        run = subprocess.run(
            ["tshark", "-n", "-r", file, "-o", "ip.check_checksum:TRUE", "-T", "fields", *asked],
            cwd=self.scratch, capture_output=True, text=True, check=False, timeout=TIMEOUT_S,
        )  # fmt: skip
        check(run.returncode == 0, "tshark reads it", run.stderr)
        return [line.split("\t") for line in run.stdout.splitlines()]


def same_frames(keeper: Keeper, protocol: str, live: list[Line], again: list[Line]) -> None:
    check(len(live) == len(again) == FRAMES, f"{protocol}: frames", (len(live), len(again)))
    for one, other in zip(live, again, strict=True):
        for member in ("key", "reason", "bytes", "missing", "width", "height", "pixel"):
            check(one[member] == other[member], f"{protocol}: {member}", (one, other))
        first, last = other["first_ns"], other["last_ns"]
        if one["clock"] == "kernel":
            check((one["first_ns"], one["last_ns"]) == (first, last), "stamps", (one, other))
        seen = (keeper.scratch / "live" / one["file"]).read_bytes()
        read = (keeper.scratch / "again" / other["file"]).read_bytes()
        check(fill(read, seen, one["missing"]) == seen, f"{protocol}: picture", one)


def all_of_them(keeper: Keeper) -> None:
    for backend in ("kernel:lo", "kernel-busy:lo"):
        for protocol, known, words in PROTOCOLS:
            udp = "--interface" not in words
            if not udp and os.geteuid() != 0:
                print(f"packets: {protocol}: needs root")
                continue
            port = free_ports(1)
            stream = f"protocol={protocol},{known},deadline=1h,buffers=64".replace(",,", ",")
            stream += f",port={port}" * udp
            shutil.rmtree(keeper.scratch / "live", ignore_errors=True)
            run = keeper.start(
                *("--backend", backend, "--unchecked", "--frames", str(FRAMES)),
                *("--stream", stream, "--record", "live", "--packets", "packets.pcapng"),
            )
            # Those after the last damaged one supersede it.
            keeper.send(
                *("--protocol", protocol, *words, "--frames", FRAMES, "--duplicate", 100000),
                *("--lose", "3/5-6,9/12,14/10,14/13,20/7"),
                *(("--to", f"127.0.0.1:{port}", "--bind", keeper.camera) if udp else ()),
            )
            run.sums_up()
            result = keeper.outcome()
            live = keeper.lines("live/frames.jsonl")
            check(sum(bool(line["missing"]) for line in live) == 4, f"{protocol}: damaged", live)
            again = keeper.replay(stream)
            same_frames(keeper, protocol, live, again)
            kept = result["packets"]
            check(kept["left_out"] == 0, "none left out", kept)
            read = keeper.outcome()
            check(read["totals"]["pkts"] == kept["written"], "all kept", (read["totals"], kept))
            # the last packets of all may have come after the last frame
            before, after = (r["streams"][0]["assembler"]["duplicates"] for r in (result, read))
            check(before >= 10 and abs(before - after) <= 2, "duplicates", (before, after))
            if backend == "kernel:lo":
                read_elsewhere(keeper, port if udp else 0, kept["written"])


def read_elsewhere(keeper: Keeper, port: int, count: int) -> None:
    fields = "frame.cap_len ip.src ip.checksum.status udp.dstport udp.length eth.type"
    packets = keeper.read_by_tshark(fields)
    check(len(packets) in (0, count), "tshark sees all packets", (len(packets), count))
    for length, source, checksum, to, inside, ether_type in packets:
        if port != 0:
            good = (source, checksum, to) == (keeper.camera, "1", str(port))
            good = good or (source.startswith("127.") and (checksum, to) == ("1", str(port)))
            check(good and int(inside) + 34 == int(length), "headers", (source, checksum, to))
        else:
            check(ether_type in ("0x99fe", "0x22f0"), "an Ethernet protocol", ether_type)


def around_a_partial_frame(keeper: Keeper) -> None:
    """Of much more than fits into memory only what was there when it was needed."""
    port, frames, damaged = free_ports(1), 160, 100
    stream = f"protocol=rfc4175,{SIZE},pixel=rgb8,port={port},deadline=1h,buffers=64"
    run = keeper.start(
        *("--backend", "kernel:lo", "--unchecked", "--frames", str(frames), "--stream", stream),
        *("--packets", "packets.pcapng", "--packets-when", "partial", "--packets-room", "1048576"),
        *("--missing", "missing.jsonl"),
    )
    keeper.send(
        *("--pixel", "rgb8", "--frames", frames, "--to", f"127.0.0.1:{port}"),
        *("--lose", f"{damaged}/7-9"),
    )
    run.sums_up()
    (missing,) = keeper.lines("missing.jsonl")
    again = {line["key"]: line for line in keeper.replay(stream)}
    check(again[missing["key"]]["missing"] == missing["missing"], "the same is missing", missing)
    kept = keeper.outcome()
    check(len(again) < frames, "not all", len(again))
    # 1 MiB of frames of 36,864 bytes, of which the last segment is not full yet
    check(len(again) >= 15, "what came before", len(again))
    size = (keeper.scratch / "packets.pcapng").stat().st_size
    check(size <= 1048576 + 512, "no more than fits", size)
    check(kept["end"] == "input", "the end of the file", kept["end"])


def pictures(folder: Path, count: int) -> None:
    wait_for(f"{count} frames", lambda: len(list(folder.glob("*.raw"))) == count)


def grows(file: Path, size: int) -> None:
    wait_for("written", lambda: file.stat().st_size > size)


def when_told(keeper: Keeper) -> None:
    port, file = free_ports(1), keeper.scratch / "packets.pcapng"
    stream = f"protocol=rfc4175,{SIZE},pixel=rgb8,port={port},deadline=1h"
    run = keeper.start(
        *("--backend", "kernel:lo", "--unchecked", "--stream", stream, "--record", "live"),
        *("--packets", "packets.pcapng", "--packets-when", "signal"),
    )
    start = file.stat().st_size
    folder = keeper.scratch / "live"
    for first, count, asks in ((0, 3, True), (3, 5, True), (8, 2, False)):
        keeper.send(
            *("--pixel", "rgb8", "--frames", count, "--to", f"127.0.0.1:{port}"),
            *("--first", first, "--first-packet", 1000 * first),
        )
        pictures(folder, first + count)
        size = file.stat().st_size
        check(first > 0 or size == start, "nothing before it is told", size)
        if asks:
            run.process.send_signal(signal.SIGUSR1)
            grows(file, size)
    run.process.send_signal(signal.SIGTERM)
    run.sums_up()
    written = keeper.outcome()["packets"]["written"]
    packets = keeper.read_by_tshark("frame.number")
    per_frame = -(-128 * 96 * 3 // (1000 - 20))
    check(len(packets) in (0, written), "tshark sees them", (len(packets), written))
    check(written % 8 == 0, "each once", written)
    check(per_frame <= written // 8 <= per_frame + 2, "all but the last", (written, per_frame))


def is_refused(keeper: Keeper) -> None:
    video = f"--backend kernel:lo --unchecked --stream protocol=rfc4175,{SIZE},pixel=rgb8,port="
    video += f"{free_ports(1)}"
    keeper.refused(f"{video} --packets-when partial", "packets-when: name the file")
    keeper.refused(f"{video} --packets none/p.pcapng", "cannot write none/p.pcapng", status=1)
    keeper.refused(f"{video} --packets p.pcapng --packets-room 1k", "packets-room")
    run = keeper.call(*video.split(), "--packets", "/dev/full", "--duration", "50ms")
    check(run.returncode == 1 and "cannot write /dev/full" in run.stderr, "full", run.stderr)


def main() -> None:
    take("namespaces", wish=True)  # for frames on lo
    for test in (is_refused, all_of_them, around_a_partial_frame, when_told):
        with tempfile.TemporaryDirectory() as scratch:
            test(Keeper(sys.argv[1], sys.argv[2], scratch))
        print(f"packets: {test.__name__}: ok", flush=True)


main()
