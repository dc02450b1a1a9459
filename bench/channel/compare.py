#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Side by side: what do several rails carry together, how soon does a message arrive, and what
does it cost to wait?

lull-channel-perf and what else bundles network cards, over the same test bed, in turn, round after
round. Prints tables and writes OUT/channel.json, .png, .svg and .md. Judges nothing. A peer that
is not installed or fails is a row with the reason. Needs root: it lays a bed of network
namespaces and removes it.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Protocol

TREE = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(TREE / "python"), *(str(TREE / "bench" / name)
                                       for name in ("idle", "rounds", "mpi"))]

import goals  # noqa: E402 - of this checkout
import recovery  # noqa: E402
import result as results  # noqa: E402
import scene  # noqa: E402
from fabric_rows import Pingpong, Ucx  # noqa: E402
from kernel_rows import Bonding, Iperf, Multipath, Raw, TcpPing  # noqa: E402
from ledger import Ledger  # noqa: E402
from lull.channel.bed import Bed, beds, check_rights  # noqa: E402
from lull.errors import LullError  # noqa: E402
from lull_rows import Channel  # noqa: E402
from machine import describe  # noqa: E402
from mpi_rows import BtlTcp, MtlOfi  # noqa: E402
from repeat import portable  # noqa: E402
from station import Company, PeerError, Station  # noqa: E402

SKIP = 77  # meson's exit status for a test that cannot run here
PROVIDERS = ("tcp;ofi_rxm", "udp;ofi_rxd")
SECURITIES = ("open", "signed", "sealed")
QUICK = {"rounds": 1, "tries": 1, "seconds": 1.0, "scenes": "200+100+50,64B-loss-1,wait"}
AROUND_S = 3.5  # a measurement takes so much more: bed, start, connecting
IDLE_S = 3.0  # of scenes that have a minimum, with --quick


class Peer(Protocol):
    """Something that bundles rails, or uses one."""

    name: str
    packages: Sequence[str]
    programs: Sequence[str]
    does: Sequence[str]
    remark: str

    def measure(self, station: Station, where: scene.Scene) -> dict[str, float]:
        """Figures of one run; PeerError: why there are none."""
        ...


def all_peers(build: Path) -> list[Peer]:
    """In the order of the tables."""
    return [
        Raw(), Iperf(), TcpPing(), Multipath(), Bonding(), BtlTcp(), *map(MtlOfi, PROVIDERS),
        *map(Pingpong, PROVIDERS), Ucx(),
        *(Channel(build, kind, security) for kind in ("kernel", "dpdk") for security in SECURITIES),
        Channel(build, "dpdk", "open", "spin"),
        *(Channel(build, kind, "open", governor) for kind in ("memif", "same node")
          for governor in ("", "spin")),
        Channel(build, "node", "open"),
    ]  # fmt: skip


def options() -> argparse.ArgumentParser:
    """What the user may say."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    names = ",".join(where.name for where in scene.SCENES)
    add("--scenes", default=names, help="rails, and what is measured [all: %(default)s]")
    add("--peers", default="", help="only peers whose names have one of these words [all]")
    add("--rows", default="*", metavar="SCENE/PEER,...",
        help="only these, with * and ?, such as '64B*/lull dpdk*,wait/*' [all]")
    add("--list", action="store_true", help="print rows and how long they take, measure nothing")
    add("--rounds", type=int, default=5, help="valid ones wanted of each peer [%(default)s]")
    add("--tries", type=int, default=3, help="as many times the rounds at most [%(default)s]")
    add("--seconds", type=float, default=3.0, help="of one measurement [%(default)s]")
    add("--build", type=Path, default=TREE / "build", help="of the programs [build]")
    add("--out", type=Path, default=TREE / "out" / "bench", help="where results go [out/bench]")
    add("--json", type=Path, metavar="FILE",
        help="each round is added to it as it ends [OUT/channel.jsonl]")
    add("--resume", action="store_true", help="go on with the rounds that --json has")
    add("--from", dest="earlier", type=Path, metavar="FILE",
        help="measure nothing, show this: .json, or .jsonl of a run that was killed")
    add("--docs", action="store_true", help="also put the figures into docs/measurements.md")
    add("--quick", action="store_true", help=f"smoke test: {QUICK}")
    return parser


def missing(peer: Peer) -> str:
    """Why it cannot take part."""
    absent = [name for name in peer.programs if shutil.which(name) is None]
    if not absent:
        return ""
    return f"{absent[0]} is not installed: apt-get install {' '.join(peer.packages)}"


class Comparison:
    """The run itself: A B C A B C, until each has enough valid rounds or had its tries."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self.chosen = chosen
        known = {where.name: where for where in scene.SCENES}
        unknown = [name for name in chosen.scenes.split(",") if name not in known]
        if unknown:
            raise LullError(f"--scenes: no scene '{unknown[0]}': {', '.join(known)}")
        self.scenes = [known[name] for name in chosen.scenes.split(",")]
        words = [word for word in chosen.peers.split(",") if word]
        self.peers = [peer for peer in all_peers(chosen.build)
                      if not words or any(word in peer.name for word in words)]  # fmt: skip
        if not self.peers:
            raise LullError(f"--peers: no name has '{chosen.peers}' in it")

    def rows(self, where: scene.Scene) -> list[Peer]:
        """Who takes part in a scene."""
        patterns = [word if "/" in word else f"{word}/*" for word in self.chosen.rows.split(",")]
        return [peer for peer in self.peers if takes(peer, where)
                and any(fnmatch.fnmatchcase(f"{where.name}/{peer.name}", pattern)
                        for pattern in patterns)]  # fmt: skip

    def rounds(self, earlier: Sequence[results.Round] = ()) -> Iterator[results.Round]:
        """Those of all scenes that are still to be measured."""
        for where in self.scenes:
            peers = self.rows(where)
            done = {peer.name: [one for one in earlier
                                if (one.scene, one.peer) == (where.name, peer.name)]
                    for peer in peers}  # fmt: skip
            for number in range(1, self.chosen.rounds * self.chosen.tries + 1):
                for peer in peers:
                    found = done[peer.name]
                    if len(found) < number and not self.enough(found):
                        one = measure(peer, where, number, self.seconds(where))
                        found.append(one)
                        yield one

    def seconds(self, where: scene.Scene) -> float:
        """Of one measurement in a scene."""
        least = min(where.seconds_min, IDLE_S) if self.chosen.quick else where.seconds_min
        return max(float(self.chosen.seconds), least)

    def list_rows(self) -> str:
        """Each row, and how long all of them take."""
        lines, whole_s = [], 0.0
        for where in self.scenes:
            lasts_s = AROUND_S + (recovery.SECONDS if where.what in scene.CURVES
                                  else self.seconds(where))  # fmt: skip
            for peer in self.rows(where):
                lines.append(f"{where.name}/{peer.name}: {lasts_s:.0f} s a round"
                             + f" ({missing(peer)})" * bool(missing(peer)))
                whole_s += 0 if missing(peer) else lasts_s * self.chosen.rounds
        lines.append(f"{len(lines)} rows; {self.chosen.rounds} rounds of each take about "
                     f"{whole_s / 60:.0f} minutes, up to {self.chosen.tries} times as long where "
                     "rounds are INVALID")  # fmt: skip
        return "\n".join(lines)

    def enough(self, found: list[results.Round]) -> bool:
        """Nobody tries again what is not installed, nor what failed twice."""
        valid = sum(not one.flaw and not one.error for one in found)
        failed = sum(bool(one.error) for one in found)
        absent = any(not one.commands for one in found)
        return valid >= self.chosen.rounds or failed > 1 or absent


def takes(peer: Peer, where: scene.Scene) -> bool:
    """Whether a peer takes part in a scene."""
    return peer.takes(where) if isinstance(peer, Channel) else where.what in peer.does


def measure(peer: Peer, where: scene.Scene, number: int, seconds: float) -> results.Round:
    """Lay the bed, let the peer run, remove the bed."""
    one = results.Round(where.name, peer.name, number, {}, "", missing(peer), [])
    if one.error:
        return one
    curve = where.what in scene.CURVES
    company = Company()
    try:
        with (Bed.lay(where.plan()) as bed,
              Station(bed, recovery.SECONDS + 1 if curve else seconds) as station):  # fmt: skip
            try:
                run(peer, where, station, one)
            finally:
                one.commands = station.commands
    except PeerError as error:
        one.error = str(error)
    if not one.error:
        one.flaw = company.passed().flaw()
    return one


def run(peer: Peer, where: scene.Scene, station: Station, one: results.Round) -> None:
    """Its figures; of a rail that changes those of the wire as well."""
    if where.what not in scene.CURVES:
        one.figures = peer.measure(station, where)
        if where.sum_bps() and "goodput_bps" in one.figures:
            one.figures["share_pct"] = 100 * one.figures["goodput_bps"] / where.sum_bps()
        return
    recorder = recovery.Recorder(station, where)
    try:
        peer.measure(station, where)
    except PeerError as error:  # it went on until the rail was silent: that is a figure too
        one.error = str(error)
    curve = recorder.stop()
    one.curve = recovery.thinned(curve)
    if curve.heard_s:
        one.figures = curve.figures(where)
        if one.error:
            one.figures["ended"] = 1.0
            one.error = ""


def progress(one: results.Round) -> None:
    """One line for each measurement."""
    figures = ", ".join(f"{key} {value:.4g}" for key, value in one.figures.items())
    print(f"{one.scene:16} round {one.number} {one.peer:32} {one.error or figures} {one.flaw}",
          file=sys.stderr, flush=True)  # fmt: skip


def result_of(chosen: argparse.Namespace) -> results.Result:
    """Measure, and say under which conditions."""
    comparison = Comparison(chosen)
    command = ["sudo", ".venv/bin/python", "bench/channel/compare.py", *portable(sys.argv[1:])]
    settings = {"command": shlex.join(command), "rounds": chosen.rounds,
                "seconds": chosen.seconds}  # fmt: skip
    remarks = {peer.name: peer.remark for peer in comparison.peers}
    made = results.Result(describe(TREE), settings, remarks)
    ledger = Ledger(chosen.json or chosen.out / "channel.jsonl")
    if chosen.resume:
        made = resumed(ledger, made)
    else:
        ledger.begin(made)
    print(comparison.list_rows().splitlines()[-1], file=sys.stderr)
    begin = time.monotonic()
    for one in comparison.rounds(tuple(made.rounds)):
        progress(one)
        ledger.add(one)
        made.rounds.append(one)
    made.settings["minutes"] = round((time.monotonic() - begin) / 60, 1)
    return made


def resumed(ledger: Ledger, made: results.Result) -> results.Result:
    """What was measured before, if it was measured alike."""
    before = ledger.load()
    for what, now, then in (("commit", made.machine, before.machine),
                            ("seconds", made.settings, before.settings)):  # fmt: skip
        if now[what] != then[what]:
            raise LullError(f"{ledger.path}: another {what} ({then[what]}, now {now[what]}): "
                            "rounds would not be alike")  # fmt: skip
    return results.Result(made.machine, made.settings, before.remarks | made.remarks, before.rounds)


def save(made: results.Result, folder: Path) -> Path:
    """JSON, plot and Markdown; the Markdown file."""
    folder.mkdir(parents=True, exist_ok=True)
    path, fragment = folder / "channel.json", folder / "channel.md"
    path.write_text(json.dumps(made.as_json(), indent=1) + "\n", encoding="utf-8")
    drawn = ""
    try:
        import picture  # matplotlib is in .venv only

        drawn = "measurements-channel.svg" if picture.save(made, folder / "channel") else ""
    except ImportError:
        print("no plot: matplotlib is missing; use .venv/bin/python", file=sys.stderr)
    fragment.write_text(results.markdown(made, drawn, judged(made)), encoding="utf-8")
    print("written:", path, fragment)
    return fragment


def judged(made: results.Result) -> list[results.Table]:
    """The goals and their verdicts, where there are any."""
    table = goals.table(made)
    return [table] if table else []


def load(path: Path) -> results.Result:
    """An earlier run, whole or killed."""
    if path.suffix == ".jsonl":
        return Ledger(path).load()
    return results.Result.from_json(json.loads(path.read_text(encoding="utf-8")))


def update_docs(fragment: Path) -> None:
    """Put the figures where readers look for them."""
    docs = TREE / "docs"
    plot = fragment.with_suffix(".svg")
    if plot.exists():
        (docs / "measurements-channel.svg").write_bytes(plot.read_bytes())
    with fragment.open("rb") as given:
        section = [str(TREE / "bench" / "section"), str(docs / "measurements.md"), "channel"]
        subprocess.run(section, stdin=given, check=True)


def end_in_order(number: int, _frame: FrameType | None) -> None:
    """A signal ends the run like an error does; further ones do not disturb the cleaning up."""
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, signal.SIG_IGN)
    sys.exit(128 + number)


def prepare() -> None:
    """Be root, and end in order."""
    if os.geteuid() != 0:
        print("needs root: it makes network namespaces of its own", file=sys.stderr)
        sys.exit(SKIP)
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, end_in_order)
    check_rights()
    if scene.BED in beds():  # what a killed run has left
        Bed(scene.BED).remove()


def main() -> None:
    """Measure, or show an earlier run."""
    chosen = options().parse_args()
    if chosen.quick:
        vars(chosen).update(QUICK)
    if chosen.list:
        print(Comparison(chosen).list_rows())
        return
    if chosen.earlier:
        made = load(chosen.earlier)
    else:
        prepare()
        made = result_of(chosen)
    print(results.text(made, judged(made)))
    fragment = save(made, chosen.out)
    if chosen.docs:
        update_docs(fragment)


if __name__ == "__main__":
    try:
        main()
    except LullError as error:
        sys.exit(f"compare: {error}")
