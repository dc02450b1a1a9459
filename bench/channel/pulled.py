#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A file is copied over several rails while one of them is pulled and put back.

Lays a test bed, lets lull-channel-copy move a file from node a to node b, and lets one rail fall
silent meanwhile. Says how much of what the rails carry at each moment the file got, compares the
two files, and writes OUT/pulled.json, .png and .md. With --docs the picture and the figures go
into README.md. Needs root: it makes network namespaces and removes them.

    sudo .venv/bin/python bench/channel/pulled.py
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

TREE = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(TREE / "python"), *(str(TREE / "bench" / name) for name in ("idle", "rounds"))]

from lull.channel.bed import SWITCH, Bed, beds, check_rights  # noqa: E402 - of this checkout
from lull.channel.bed_namespace import inside  # noqa: E402
from lull.channel.bed_plan import Plan, rails  # noqa: E402
from lull.errors import LullError  # noqa: E402
from lull.palette import INKS  # noqa: E402
from lull.quantities import parse_rate  # noqa: E402
from machine import describe  # noqa: E402
from repeat import portable  # noqa: E402
from station import Company, PeerError, Station, ready  # noqa: E402

NAME, BED = "lull-channel-copy", "pulled"
DEVICES = {"kernel": "kernel:r{}", "dpdk": "dpdk:af_packet=r{}"}
FRAME_BYTES = 1514  # of a rail with an MTU of 1500, as the switch counts them
PIECE_BYTES = {("kernel", "open"): 1440, ("kernel", "signed"): 1424, ("kernel", "sealed"): 1424,
               ("dpdk", "open"): 1464, ("dpdk", "signed"): 1456, ("dpdk", "sealed"): 1456}
PULL_AT, PULL_FOR = 0.3, 0.25  # of the time that the copy would take with all rails
LOOK_S = 0.05
DRAWN_S = 0.2  # over which a rate is drawn: a message of 1 MiB counts when all of it is there
MIB = 1 << 20
COLOURS = [INKS[name].light for name in ("objective", "ramp", "metronome", "drain", "fixed")]
SKIP = 77  # meson's exit status for a test that cannot run here


@dataclass
class Run:
    """One copy; times in s since the sender began, of one clock."""

    rail_bps: list[float]
    pulled_rail: int
    bytes: int
    ceiling_pct: float  # what a rail carries of a file, at most
    step_s: float = 0.0
    steps: list[int] = field(default_factory=list)  # bytes of the file in each
    pulled_s: float = 0.0
    back_s: float = 0.0
    wire_s: list[float] = field(default_factory=list)
    wire: list[list[int]] = field(default_factory=list)  # bytes that node b got, by rail
    equal: bool = False
    sha256: str = ""
    resent_pkts: int = 0
    flaw: str = ""

    def up_bps(self, at_s: float) -> float:
        """What is up at a time carries so much."""
        gone = self.pulled_s <= at_s < self.back_s
        return sum(self.rail_bps) - gone * self.rail_bps[self.pulled_rail]

    def up_bits(self, begin_s: float, end_s: float) -> float:
        """What could have passed in a window: the sum of what is up at each moment."""
        gone_s = max(0.0, min(end_s, self.back_s) - max(begin_s, self.pulled_s))
        return (sum(self.rail_bps) * (end_s - begin_s)
                - gone_s * self.rail_bps[self.pulled_rail])  # fmt: skip

    def share_pct(self) -> float:
        """Of that, the file got this much, from its first step to its last."""
        begin_s, end_s = self.span_s()
        return 100 * 8 * sum(self.steps) / self.up_bits(begin_s, end_s)

    def span_s(self) -> tuple[float, float]:
        """From the begin of the first step with bytes to the end of the last one.

        The last step is not full, and counts as far as it would be at the rate before.
        """
        moving = [number for number, count in enumerate(self.steps) if count]
        if len(moving) < 3:
            raise PeerError("the copy was too short for a rate: name more --bytes")
        first, last = moving[0], moving[-1]
        part = min(1.0, self.steps[last] / max(1, self.steps[last - 1]))
        return first * self.step_s, (last + part) * self.step_s

    def as_json(self) -> dict[str, Any]:
        """With what follows from it."""
        begin_s, end_s = self.span_s()
        return {**asdict(self), "share_pct": self.share_pct(), "seconds": end_s - begin_s}


def count_of(text: str) -> int:
    """Bytes, as `--bytes 64M` says them."""
    return round(parse_rate(text))


def options() -> argparse.ArgumentParser:
    """What the user may say."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--rails", default="200M,200M,100M,50M", help="rates [%(default)s]")
    add("--pull", type=int, default=1, metavar="N", help="rail that is pulled [%(default)s]")
    add("--bytes", type=count_of, default=1 << 30, metavar="N",
        help="of the file, such as 64M [1 GiB]")
    add("--kind", choices=DEVICES, default="kernel", help="of the rails [%(default)s]")
    add("--security", choices=("sealed", "signed", "open"), default="sealed",
        help="[%(default)s]")  # fmt: skip
    add("--rounds", type=int, default=1, help="of which the median counts [%(default)s]")
    add("--build", type=Path, default=TREE / "build", help="of the program [build]")
    add("--out", type=Path, default=TREE / "out" / "bench", help="where results go [out/bench]")
    add("--folder", type=Path, help="for the files [/dev/shm, where there is room, or /tmp]")
    add("--from", dest="earlier", type=Path, metavar="JSON", help="copy nothing, show this")
    add("--docs", action="store_true", help="also put figures and picture into README.md")
    return parser


class Wire:
    """What the switch has delivered to node b, rail by rail, and the moments of the pull."""

    def __init__(self, bed: Bed, run: Run) -> None:
        self._bed, self._run = bed, run
        self._stop = threading.Event()
        self._failed: Exception | None = None
        whole_s = 8 * run.bytes / (sum(run.rail_bps) * run.ceiling_pct / 100)
        self._pull_s, self._for_s = PULL_AT * whole_s, PULL_FOR * whole_s
        self._moves = threading.Event()
        self._threads = [threading.Thread(target=work) for work in (self._look, self._pull)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """When the copy has ended."""
        self._stop.set()
        for thread in self._threads:
            thread.join()
        if self._failed is not None:
            raise self._failed

    def _look(self) -> None:
        inside(self._bed.namespace(SWITCH), self._look_often)

    def _look_often(self) -> None:
        ports = [f"b.r{rail}:" for rail in range(len(self._run.rail_bps))]
        while not self._stop.is_set():
            at_s = time.monotonic()
            text = Path("/proc/thread-self/net/dev").read_text(encoding="ascii")
            found = {words[0]: int(words[9]) for line in text.splitlines()
                     if (words := line.split())[0] in ports}  # fmt: skip
            self._run.wire_s.append(at_s)
            self._run.wire.append([found[port] for port in ports])
            if sum(self._run.wire[-1]) - sum(self._run.wire[0]) > MIB:
                self._moves.set()
            self._stop.wait(LOOK_S)

    def _pull(self) -> None:
        """A cable is out when half of the command that pulls it is over."""
        try:
            while not self._moves.wait(LOOK_S):
                if self._stop.is_set():
                    return
            for wait_s, word, member in ((self._pull_s, "silent", "pulled_s"),
                                         (self._for_s, "heard", "back_s")):  # fmt: skip
                if self._stop.wait(wait_s):
                    return
                before_s = time.monotonic()
                self._bed.set(self._run.pulled_rail, [word])
                setattr(self._run, member, (before_s + time.monotonic()) / 2)
        except LullError as error:
            self._failed = error


class Copy:
    """The two programs and their files."""

    def __init__(self, chosen: argparse.Namespace, folder: Path) -> None:
        self.chosen = chosen
        self.program = chosen.build / "apps" / NAME / NAME
        if not self.program.exists():
            raise LullError(f"{NAME} is not built: run make build, or name its folder by --build")
        self.source, self.into = folder / "file", folder / "into"
        self.key, self.result = folder / "key", folder / "result.json"
        self.homes = {node: folder / node for node in ("a", "b")}
        for path in (self.into, *self.homes.values()):
            path.mkdir()
        self.key.touch(mode=0o600)
        self.key.write_text(secrets.token_hex(32) + "\n", encoding="ascii")
        with self.source.open("wb") as file:
            for _ in range(chosen.bytes // MIB):
                file.write(os.urandom(MIB))
            file.write(os.urandom(chosen.bytes % MIB))

    def words(self, node: str, rail_count: int) -> list[str]:
        """Of both sides."""
        device, security = DEVICES[self.chosen.kind], self.chosen.security
        found = [str(self.program), "--name", node, "--security", security]
        found += [] if security == "open" else ["--key-file", str(self.key)]
        return found + [word for rail in range(rail_count)
                        for word in ("--rail", device.format(rail))]  # fmt: skip

    def move(self, bed: Bed, run: Run) -> None:
        """Once from a to b."""
        company = Company()
        with Station(bed, 0) as station:
            count = len(run.rail_bps)
            homes = {node: {"RUNTIME_DIRECTORY": str(home)} for node, home in self.homes.items()}
            listener = station.start("b", *self.words("b", count), "--listen", "--once", "--into",
                                     str(self.into), environment=homes["b"])  # fmt: skip
            ready(self.homes["b"], listener, NAME)
            wire = Wire(bed, run)
            try:
                sender = station.start("a", *self.words("a", count), "--to", "b", "--json",
                                       str(self.result), str(self.source),
                                       environment=homes["a"])  # fmt: skip
                said = [process.communicate(timeout=self._limit_s(run))[0]
                        for process in (sender, listener)]  # fmt: skip
            except subprocess.TimeoutExpired:
                raise PeerError(f"the copy did not end in {self._limit_s(run):.0f} s") from None
            finally:
                wire.stop()
            if sender.returncode != 0 or listener.returncode != 0:
                raise PeerError(" / ".join(" ".join(text.split()[-25:]) for text in said))
        run.flaw = company.passed().flaw()
        self._take(run)

    def _limit_s(self, run: Run) -> float:
        return 60 + 10 * 8 * run.bytes / sum(run.rail_bps)

    def _take(self, run: Run) -> None:
        """The result of the sender, on its clock, which is ours."""
        told = json.loads(self.result.read_text(encoding="utf-8"))
        begin_s = told["rate"]["begin_ns"] / 1e9
        run.step_s, run.steps = told["rate"]["step_ns"] / 1e9, told["rate"]["bytes"]
        if not run.back_s:
            raise PeerError("the copy ended before its rail was put back: name more --bytes")
        run.pulled_s, run.back_s = run.pulled_s - begin_s, run.back_s - begin_s
        run.wire_s = [at_s - begin_s for at_s in run.wire_s]
        run.resent_pkts = sum(path["resent_pkts"] for path in told["peer"]["paths"])
        there = self.into / self.source.name
        run.sha256 = digest(there)
        run.equal = run.sha256 == digest(self.source) == told["items"][0]["sha256"]


def digest(path: Path) -> str:
    """SHA-256 of a file, by nothing of ours."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def copy_once(chosen: argparse.Namespace) -> Run:
    """Lay the bed, make the file, copy it, compare, remove all."""
    plan = Plan(id=BED, rails=rails(chosen.rails))
    rates = [rail.port.rate_bps for rail in plan.rails]
    if len(rates) < 2 or not all(rates):
        raise LullError("--rails: name two rails or more, each with a rate")
    if not 0 <= chosen.pull < len(rates):
        raise LullError(f"--pull: rails are 0 to {len(rates) - 1}")
    ceiling = 100 * PIECE_BYTES[chosen.kind, chosen.security] / FRAME_BYTES
    run = Run([float(rate or 0) for rate in rates], chosen.pull, chosen.bytes, ceiling)
    with tempfile.TemporaryDirectory(prefix="lull-pulled-", dir=room(chosen)) as folder:
        copy = Copy(chosen, Path(folder))
        with Bed.lay(plan) as bed:
            copy.move(bed, run)
    if not run.equal:
        raise LullError("the files differ")
    return run


def room(chosen: argparse.Namespace) -> Path:
    """Memory, so that no disk has a part in it."""
    memory = Path("/dev/shm")
    if chosen.folder:
        return Path(chosen.folder)
    if memory.is_dir() and shutil.disk_usage(memory).free > 3 * chosen.bytes:
        return memory
    return Path(tempfile.gettempdir())


def measured(chosen: argparse.Namespace) -> dict[str, Any]:
    """All rounds; that with the median share is the one that is shown."""
    runs = []
    for number in range(1, chosen.rounds + 1):
        runs.append(run := copy_once(chosen))
        print(f"round {number}: {run.share_pct():.1f} % {run.flaw}", file=sys.stderr, flush=True)
    valid = [run for run in runs if not run.flaw] or runs
    middle = sorted(valid, key=Run.share_pct)[(len(valid) - 1) // 2]
    command = ["sudo", ".venv/bin/python", "bench/channel/pulled.py", *portable(sys.argv[1:])]
    return {
        "machine": describe(TREE), "command": shlex.join(command), "kind": chosen.kind,
        "security": chosen.security, "rails": chosen.rails, "rounds": len(runs),
        "valid": sum(not run.flaw for run in runs),
        "shares_pct": [run.share_pct() for run in runs], **middle.as_json(),
    }  # fmt: skip


def run_of(result: dict[str, Any]) -> Run:
    """What was measured, from a result."""
    return Run(**{name: result[name] for name in Run.__dataclass_fields__})


def words(result: dict[str, Any]) -> str:
    """For README.md, and for the terminal."""
    run, machine = run_of(result), result["machine"]
    valid = f"{result['valid']} of {result['rounds']} rounds valid"
    if not result["valid"]:
        valid = f"no round valid, so this only shows how it looks ({run.flaw})"
    size = f"{run.bytes / (1 << 30):g} GiB" if run.bytes >= 1 << 30 else f"{run.bytes / MIB:g} MiB"
    rates = " + ".join(f"{bps / 1e6:g}" for bps in run.rail_bps)
    return (
        f"{size} over {len(run.rail_bps)} rails of {rates} Mb/s in {result['seconds']:.1f} s: "
        f"**{result['share_pct']:.1f} % of the sum of what was up at each moment**, where "
        f"{run.ceiling_pct:.1f} % is the most that frames of 1514 bytes leave to a file "
        f"({result['kind']} rails, {result['security']}). SHA-256 equal. Rail "
        f"r{run.pulled_rail} was silent from {run.pulled_s:.1f} s to {run.back_s:.1f} s; "
        f"{run.resent_pkts} packets were sent again.\n\n"
        f"{machine['cpu']}, {machine['cpus']} CPUs for both nodes, switch and kernel; commit "
        f"{machine['commit']}, {machine['date']}; {valid}, load at start {machine['load']}.\n"
    )


def draw(result: dict[str, Any], path: Path) -> None:
    """What each rail brought, what the file got, what was up."""
    from lull import drawing  # matplotlib is in .venv only

    run = run_of(result)
    at_s, by_rail = rates_of(run.wire_s, run.wire)
    _, end_s = run.span_s()
    with drawing.style():
        made = drawing.figure(9.0, 3.4)
        axes = made.add_subplot()
        names = [f"r{rail}, {bps / 1e6:g} Mb/s" for rail, bps in enumerate(run.rail_bps)]
        axes.stackplot(at_s, by_rail, labels=names, alpha=0.75,
                       colors=[COLOURS[rail % len(COLOURS)] for rail in range(len(names))])
        file_s, file_mbps = file_rate(run)
        axes.plot(file_s, file_mbps, color=drawing.INK, linewidth=1.4, label="the file")
        edges = [0.0, run.pulled_s, run.pulled_s, run.back_s, run.back_s, end_s]
        inner = [0.0, 0.0, run.pulled_s, run.pulled_s, run.back_s, run.back_s]
        axes.plot(edges, [run.up_bps(at) / 1e6 for at in inner], color=drawing.BAD, linewidth=1.2,
                  linestyle="--", label="sum of what is up")
        axes.set_xlim(0, end_s)
        axes.set_ylim(0, 1.12 * sum(run.rail_bps) / 1e6)
        axes.set_xlabel("s")
        axes.set_ylabel("Mb/s")
        axes.set_title(f"{NAME}: r{run.pulled_rail} is pulled and put back, "
                       f"{result['share_pct']:.1f} % of what is up", loc="left")  # fmt: skip
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        drawing.save(made, path)


def rates_of(at_s: Sequence[float], counts: Sequence[Sequence[int]]
             ) -> tuple[list[float], list[list[float]]]:  # fmt: skip
    """Times and Mb/s by rail, each over DRAWN_S."""
    step = max(1, round(DRAWN_S / LOOK_S))
    ends = range(step, len(at_s))
    return [at_s[i] for i in ends], [
        [8e-6 * (counts[i][rail] - counts[i - step][rail]) / (at_s[i] - at_s[i - step])
         for i in ends] for rail in range(len(counts[0]))]  # fmt: skip


def file_rate(run: Run) -> tuple[list[float], list[float]]:
    """Of the file, at the middle of windows of DRAWN_S or more."""
    step = max(1, round(DRAWN_S / run.step_s))
    ends = range(step, len(run.steps) + 1)
    return [(i - step / 2) * run.step_s for i in ends], [
        8e-6 * sum(run.steps[i - step:i]) / (step * run.step_s) for i in ends]  # fmt: skip


def save(result: dict[str, Any], folder: Path) -> None:
    """JSON, Markdown, and the picture where matplotlib is."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pulled.json").write_text(json.dumps(result) + "\n", encoding="utf-8")
    (folder / "pulled.md").write_text(words(result), encoding="utf-8")
    try:
        draw(result, folder / "pulled.png")
    except ImportError:
        print("no picture: matplotlib is missing; use .venv/bin/python", file=sys.stderr)
    print("written:", folder / "pulled.json")


def update_docs(folder: Path) -> None:
    """Put it where readers look for it."""
    (TREE / "docs" / "images" / "channel.png").write_bytes((folder / "pulled.png").read_bytes())
    with (folder / "pulled.md").open("rb") as given:
        section = [str(TREE / "bench" / "section"), str(TREE / "README.md"), "channel-copy"]
        subprocess.run(section, stdin=given, check=True)


def end_in_order(number: int, _frame: FrameType | None) -> None:
    """A signal ends the run like an error does; further ones do not disturb the cleaning up."""
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, signal.SIG_IGN)
    sys.exit(128 + number)


def main() -> None:
    """Copy, or show an earlier copy."""
    chosen = options().parse_args()
    if chosen.earlier:
        result = json.loads(chosen.earlier.read_text(encoding="utf-8"))
    else:
        if os.geteuid() != 0:
            print("needs root: it makes network namespaces of its own", file=sys.stderr)
            sys.exit(SKIP)
        check_rights()
        for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(sign, end_in_order)
        if BED in beds():  # what a killed run has left
            Bed(BED).remove()
        result = measured(chosen)
    print(words(result))
    save(result, chosen.out)
    if chosen.docs:
        update_docs(chosen.out)


if __name__ == "__main__":
    try:
        main()
    except (LullError, PeerError) as error:
        sys.exit(f"pulled: {error}")
