# SPDX-License-Identifier: BSD-3-Clause
"""Comparison: peers take turns over one bed, round after round, and what becomes of a run.

A program of it says who takes part, where, and what for (Bench), and calls main().
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import goal
import recovery
import result as results
from ledger import Ledger
from lull.channel.bed import Bed, beds, check_rights
from lull.errors import LullError
from machine import describe, package_version
from peer import Peer
from repeat import portable
from scene import Scene
from station import Company, PeerError, Station

TREE = Path(__file__).resolve().parent.parent.parent
SKIP = 77  # meson's exit status for a test that cannot run here
AROUND_S = 3.5  # a measurement takes so much more: bed, start, connecting
IDLE_S = 3.0  # of scenes that have a minimum, with --quick


@dataclass(frozen=True)
class Bench:
    """What one comparison is made of."""

    name: str  # of its files, and of its section in the documents
    script: str  # below the checkout
    purpose: str
    shows: str  # its picture
    scenes: Sequence[Scene]
    goals: Callable[[], Iterable[goal.Goal]]
    peers: Callable[[Path], list[Peer]]  # by the folder of the build, in the order of the tables
    draw: Callable[[results.Result, Path], bool]  # as PATH.png and .svg; false: nothing to draw
    quick: Mapping[str, object]  # options of a smoke test
    packages: Mapping[str, str] = field(default_factory=dict)  # whose versions matter, by word
    # Makes the place in the documents where there is none yet; by their folder, and the Markdown.
    document: Callable[[results.Result, Path, Path], None] | None = None

    @property
    def bed(self) -> str:
        """Name of its bed."""
        return "bench" if self.name == "channel" else self.name


def options(bench: Bench) -> argparse.ArgumentParser:
    """What the user may say."""
    parser = argparse.ArgumentParser(
        description=bench.purpose, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    names = ",".join(where.name for where in bench.scenes)
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
        help=f"each round is added to it as it ends [OUT/{bench.name}.jsonl]")
    add("--resume", action="store_true", help="go on with the rounds that --json has")
    add("--from", dest="earlier", type=Path, metavar="FILE",
        help="measure nothing, show this: .json, or .jsonl of a run that was killed")
    add("--docs", action="store_true", help="also put the figures into docs/measurements.md")
    add("--quick", action="store_true", help=f"smoke test: {dict(bench.quick)}")
    return parser


class Comparison:
    """The run itself: A B C A B C, until each has enough valid rounds or had its tries."""

    def __init__(self, bench: Bench, chosen: argparse.Namespace) -> None:
        self.bench = bench
        self.chosen = chosen
        known = {where.name: where for where in bench.scenes}
        unknown = [name for name in chosen.scenes.split(",") if name not in known]
        if unknown:
            raise LullError(f"--scenes: no scene '{unknown[0]}': {', '.join(known)}")
        self.scenes = [known[name] for name in chosen.scenes.split(",")]
        words = [word for word in chosen.peers.split(",") if word]
        self.peers = [peer for peer in bench.peers(chosen.build)
                      if not words or any(word in peer.name for word in words)]  # fmt: skip
        if not self.peers:
            raise LullError(f"--peers: no name has '{chosen.peers}' in it")

    def rows(self, where: Scene) -> list[Peer]:
        """Who takes part in a scene."""
        patterns = [word if "/" in word else f"{word}/*" for word in self.chosen.rows.split(",")]
        return [peer for peer in self.peers if peer.takes(where)
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
                        one = measure(peer, where, number, self.seconds(where), self.bench.bed)
                        found.append(one)
                        yield one

    def seconds(self, where: Scene) -> float:
        """Of one measurement in a scene."""
        least = min(where.seconds_min, IDLE_S) if self.chosen.quick else where.seconds_min
        return max(float(self.chosen.seconds), least)

    def list_rows(self) -> str:
        """Each row, and how long all of them take."""
        lines, whole_s = [], 0.0
        for where in self.scenes:
            lasts_s = AROUND_S + (recovery.SECONDS if where.what.curve else self.seconds(where))
            for peer in self.rows(where):
                missing = peer.missing(where)
                lines.append(f"{where.name}/{peer.name}: {lasts_s:.0f} s a round"
                             + f" ({missing})" * bool(missing))  # fmt: skip
                whole_s += 0 if missing else lasts_s * self.chosen.rounds
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


def measure(peer: Peer, where: Scene, number: int, seconds: float, bed_id: str) -> results.Round:
    """Lay the bed, let the peer run, remove the bed."""
    one = results.Round(where.name, peer.name, number, {}, "", peer.missing(where), [])
    if one.error:
        return one
    company = Company()
    lasts_s = recovery.SECONDS + 1 if where.what.curve else seconds
    try:
        with Bed.lay(where.plan(bed_id)) as bed, Station(bed, lasts_s) as station:
            try:
                run(peer, where, station, one)
            finally:
                one.commands = station.commands
    except PeerError as error:
        one.error = str(error)
    if not one.error:
        one.flaw = company.passed().flaw()
    return one


def run(peer: Peer, where: Scene, station: Station, one: results.Round) -> None:
    """Its figures; of a rail that changes those of the wire as well."""
    if not where.what.curve:
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
        one.figures["went_on"] = float(not one.error)
        one.error = ""


def progress(one: results.Round) -> None:
    """One line for each measurement."""
    figures = ", ".join(f"{key} {value:.4g}" for key, value in one.figures.items())
    print(f"{one.scene:16} round {one.number} {one.peer:32} {one.error or figures} {one.flaw}",
          file=sys.stderr, flush=True)  # fmt: skip


def result_of(bench: Bench, chosen: argparse.Namespace) -> results.Result:
    """Measure, and say under which conditions."""
    comparison = Comparison(bench, chosen)
    command = ["sudo", ".venv/bin/python", bench.script, *portable(sys.argv[1:])]
    settings: dict[str, Any] = {"command": shlex.join(command), "rounds": chosen.rounds,
                                "seconds": chosen.seconds}  # fmt: skip
    if bench.packages:
        settings["versions"] = ", ".join(f"{word} {package_version(package) or '-'}"
                                         for word, package in bench.packages.items())  # fmt: skip
    remarks = {peer.name: peer.remark for peer in comparison.peers}
    made = results.Result(describe(TREE), settings, remarks, scenes=bench.scenes)
    ledger = Ledger(chosen.json or chosen.out / f"{bench.name}.jsonl", bench.scenes)
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
    return results.Result(made.machine, made.settings, before.remarks | made.remarks,
                          before.rounds, made.scenes)  # fmt: skip


def save(bench: Bench, made: results.Result, folder: Path) -> Path:
    """JSON, plot and Markdown; the Markdown file."""
    folder.mkdir(parents=True, exist_ok=True)
    path, fragment = folder / f"{bench.name}.json", folder / f"{bench.name}.md"
    path.write_text(json.dumps(made.as_json(), indent=1) + "\n", encoding="utf-8")
    drawn = ""
    try:
        if bench.draw(made, folder / bench.name):
            drawn = f"measurements-{bench.name}.svg"
    except ImportError:  # matplotlib is in .venv only
        print("no plot: matplotlib is missing; use .venv/bin/python", file=sys.stderr)
    fragment.write_text(results.markdown(made, drawn, judged(bench, made), bench.shows),
                        encoding="utf-8")  # fmt: skip
    print("written:", path, fragment)
    return fragment


def judged(bench: Bench, made: results.Result) -> list[results.Table]:
    """The goals and their verdicts, where there are any."""
    table = goal.table(made, bench.goals())
    return [table] if table else []


def load(bench: Bench, path: Path) -> results.Result:
    """An earlier run, whole or killed."""
    if path.suffix == ".jsonl":
        return Ledger(path, bench.scenes).load()
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return results.Result.from_json(data, bench.scenes)
    except OSError as error:
        raise LullError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise LullError(f"{path} is no result of this program") from None


def update_docs(bench: Bench, made: results.Result, fragment: Path) -> None:
    """Put the figures where readers look for them."""
    docs = TREE / "docs"
    if bench.document is not None:
        bench.document(made, docs, fragment)
    plot = fragment.with_suffix(".svg")
    if plot.exists():
        (docs / f"measurements-{bench.name}.svg").write_bytes(plot.read_bytes())
    with fragment.open("rb") as given:
        section = [str(TREE / "bench" / "section"), str(docs / "measurements.md"), bench.name]
        subprocess.run(section, stdin=given, check=True)


def end_in_order(number: int, _frame: FrameType | None) -> None:
    """A signal ends the run like an error does; further ones do not disturb the cleaning up."""
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, signal.SIG_IGN)
    sys.exit(128 + number)


def prepare(bed_id: str) -> None:
    """Be root, and end in order."""
    if os.geteuid() != 0:
        print("needs root: it makes network namespaces of its own", file=sys.stderr)
        sys.exit(SKIP)
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, end_in_order)
    check_rights()
    if bed_id in beds():  # what a killed run has left
        Bed(bed_id).remove()


def _main(bench: Bench) -> None:
    chosen = options(bench).parse_args()
    if chosen.quick:
        vars(chosen).update(bench.quick)
    if chosen.list:
        print(Comparison(bench, chosen).list_rows())
        return
    if chosen.earlier:
        made = load(bench, chosen.earlier)
    else:
        prepare(bench.bed)
        made = result_of(bench, chosen)
    print(results.text(made, judged(bench, made)))
    fragment = save(bench, made, chosen.out)
    if chosen.docs:
        update_docs(bench, made, fragment)


def main(bench: Bench) -> None:
    """Measure, or show an earlier run."""
    try:
        _main(bench)
    except LullError as error:
        sys.exit(f"compare: {error}")
