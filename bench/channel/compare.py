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
sys.path[:0] = [str(TREE / "python"), str(TREE / "bench" / "idle")]

import recovery  # noqa: E402 - of this checkout
import result as results  # noqa: E402
import scene  # noqa: E402
from fabric_rows import Pingpong, Ucx  # noqa: E402
from kernel_rows import Bonding, Iperf, Multipath, Raw  # noqa: E402
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
QUICK = {"rounds": 1, "seconds": 1.0, "scenes": "200+100+50,64B-loss-1,wait"}


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
        Raw(), Iperf(), Multipath(), Bonding(), BtlTcp(), *map(MtlOfi, PROVIDERS),
        *map(Pingpong, PROVIDERS), Ucx(),
        *(Channel(build, kind, security) for kind in ("kernel", "dpdk") for security in SECURITIES),
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
    add("--rounds", type=int, default=5, help="valid ones wanted of each peer [%(default)s]")
    add("--tries", type=int, default=3, help="as many times the rounds at most [%(default)s]")
    add("--seconds", type=float, default=3.0, help="of one measurement [%(default)s]")
    add("--build", type=Path, default=TREE / "build", help="of the programs [build]")
    add("--out", type=Path, default=TREE / "out" / "bench", help="where results go [out/bench]")
    add("--from", dest="earlier", type=Path, metavar="JSON", help="measure nothing, show this")
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

    def rounds(self) -> Iterator[results.Round]:
        """Those of all scenes."""
        for where in self.scenes:
            done: dict[str, list[results.Round]] = {
                peer.name: [] for peer in self.peers if where.what in peer.does
            }
            for number in range(1, self.chosen.rounds * self.chosen.tries + 1):
                for peer in self.peers:
                    if peer.name in done and not self.enough(done[peer.name]):
                        one = measure(peer, where, number, self.chosen.seconds)
                        done[peer.name].append(one)
                        yield one

    def enough(self, found: list[results.Round]) -> bool:
        """Nobody tries again what is not installed, nor what failed twice."""
        valid = sum(not one.flaw and not one.error for one in found)
        failed = sum(bool(one.error) for one in found)
        absent = any(not one.commands for one in found)
        return valid >= self.chosen.rounds or failed > 1 or absent


def measure(peer: Peer, where: scene.Scene, number: int, seconds: float) -> results.Round:
    """Lay the bed, let the peer run, remove the bed."""
    one = results.Round(where.name, peer.name, number, {}, "", missing(peer), [])
    if one.error:
        return one
    silence = where.what == scene.SILENCE
    company = Company()
    try:
        with (Bed.lay(where.plan()) as bed,
              Station(bed, recovery.SECONDS + 1 if silence else seconds) as station):  # fmt: skip
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
    """Its figures; of a silent rail those of the wire as well."""
    if where.what != scene.SILENCE:
        one.figures = peer.measure(station, where)
        if where.sum_bps() and "goodput_bps" in one.figures:
            one.figures["share_pct"] = 100 * one.figures["goodput_bps"] / where.sum_bps()
        return
    recorder = recovery.Recorder(station, len(where.rail_list()))
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
    begin = time.monotonic()
    for one in comparison.rounds():
        progress(one)
        made.rounds.append(one)
    settings["minutes"] = round((time.monotonic() - begin) / 60, 1)
    return made


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
    fragment.write_text(results.markdown(made, drawn), encoding="utf-8")
    print("written:", path, fragment)
    return fragment


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
    if chosen.earlier:
        made = results.Result.from_json(json.loads(chosen.earlier.read_text(encoding="utf-8")))
    else:
        prepare()
        made = result_of(chosen)
    print(results.text(made))
    fragment = save(made, chosen.out)
    if chosen.docs:
        update_docs(fragment)


if __name__ == "__main__":
    try:
        main()
    except LullError as error:
        sys.exit(f"compare: {error}")
