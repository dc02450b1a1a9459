#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Side by side: what does an idle, a quiet and a busy polling thread cost, and what does it add?

lull-fwd, dpdk-testpmd and Open vSwitch forward the same packets between the
same ports, in turn, round after round. Prints a table and writes OUT/idle.json,
.png, .svg and .md. Judges nothing. Needs root: it makes a network namespace of
its own, works in there, and removes it.
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
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import generator
import machine
import peers
import ports
import repeat
import report
import session

from program import BenchError, Place

TREE = Path(__file__).resolve().parent.parent.parent
SKIP = 77  # meson's exit status for a test that cannot run here
PEERS = (
    "lull-spin,lull-ramp:max-rest=500,lull-objective,lull-objective:loss=tolerate,"
    "lull-spin-macswap,testpmd-io,testpmd-macswap,ovs-0,ovs-100,ovs-500"
)
QUICK = {"rounds": 1, "seconds": 0.5, "rates": "0,10k,sat"}
SATURATION = "20M"
SETTLE_S = 0.5
UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}


def options() -> argparse.ArgumentParser:
    """What the user may say."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--ports", default="veth,vhost,null", help="kinds of ports [veth,vhost,null]")
    add("--peers", default=PEERS, help=f"forwarders [{PEERS}]")
    add("--rates", default="0,1k,10k,100k,sat", help="packets/s [0,1k,10k,100k,sat]")
    add("--saturation", default=SATURATION, help="packets/s offered for sat [%(default)s]")
    add("--nice", type=int, default=0, help="of forwarder and generator, -20..19 [0]")
    add("--baseline", default="testpmd-io", help="peer that ratios refer to [testpmd-io]")
    add("--quick", action="store_true", help="smoke test: " + str(QUICK))
    return common(parser)


def common(parser: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """What every comparison takes."""
    add = parser.add_argument
    add("--rounds", type=int, default=5, help="times through all peers [%(default)s]")
    add("--seconds", type=float, default=3.0, help="of one measurement [%(default)s]")
    add("--max-latency", default="200", help="objective of lull, us [%(default)s]")
    add("--build", type=Path, default=TREE / "build", help="of the programs [build]")
    add("--out", type=Path, default=TREE / "out" / "bench", help="where results go [out/bench]")
    add("--from", dest="earlier", type=Path, metavar="JSON", help="measure nothing, show this")
    add("--docs", action="store_true", help="also put the figures into docs/measurements.md")
    return parser


def packets_per_second(text: str) -> int:
    """300k, 14.88M, 1000."""
    digits = text.rstrip("kMG")
    try:
        return round(float(digits) * UNITS[text[len(digits) :]])
    except (KeyError, ValueError):
        raise BenchError(f"no rate: {text!r}") from None


def rates(wanted: str, saturation: str) -> list[generator.Rate]:
    """Read --rates."""
    return [
        generator.Rate(
            label, packets_per_second(saturation if label == generator.SATURATED else label)
        )
        for label in wanted.split(",")
    ]


def plan(chosen: argparse.Namespace) -> generator.Plan:
    """What all sessions have in common."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise BenchError("two CPUs are needed: one for the polling thread, one for the rest")
    apps = chosen.build / "apps"
    lull_gen = apps / "lull-gen" / "lull-gen"
    if not lull_gen.exists():
        raise BenchError(f"{lull_gen} is not built: run make build, or name its folder by --build")
    setup = peers.Setup(
        lull_fwd=apps / "lull-fwd" / "lull-fwd",
        cpu=cpus[-1],
        other_cpu=cpus[0],
        nice=chosen.nice,
        lull_options={"max-latency": chosen.max_latency},
        plugin=getattr(chosen, "plugin", None),
        generator_nice=getattr(chosen, "generator_nice", None),
    )
    return generator.Plan(
        lull_gen,
        setup,
        rates(chosen.rates, getattr(chosen, "saturation", SATURATION)),
        chosen.seconds,
        getattr(chosen, "settle", SETTLE_S),
    )


@contextmanager
def plugin_of(build: Path, wanted: bool = True) -> Iterator[Path | None]:
    """The plugin, where EAL agrees to load it from: not below what anybody may write to."""
    if not wanted:
        yield None
        return
    file = build / "plugin" / "liblull_plugin.so"
    if not file.exists():
        raise BenchError(f"{file} is not built: run make build")
    with tempfile.TemporaryDirectory(prefix="lull-bench-", dir="/run") as folder:
        yield Path(shutil.copy(file, folder))


def one_of(wanted: str, known: dict[str, Any]) -> list[str]:
    """Read --ports."""
    for name in wanted.split(","):
        if name not in known:
            raise BenchError(f"no ports {name!r}: {', '.join(known)}")
    return wanted.split(",")


def progress(sample: session.Sample) -> None:
    """One line for each measurement."""
    print(
        f"round {sample.round} {sample.ports:5} {sample.peer:28} {sample.rate:>5}:"
        f" CPU {sample.cpu_pct:5.1f} %, p99 {sample.p99_us:8.1f} us,"
        f" {sample.received_pps / 1000:8.1f} kpps, lost {sample.lost}",
        file=sys.stderr,
        flush=True,
    )


class Comparison:
    """The run itself: who takes part, who had to be left out."""

    def __init__(self, chosen: argparse.Namespace) -> None:
        self.chosen = chosen
        self.plan = plan(chosen)
        self.kinds = one_of(chosen.ports, ports.KINDS)
        self.left_out: dict[str, str] = {}
        self.peers: list[peers.Peer] = []
        for peer in [peers.parse(name) for name in chosen.peers.split(",")]:
            reason = peers.missing(peer, self.plan.setup)
            if reason:
                self.leave_out(peer.name, reason)
            else:
                self.peers.append(peer)

    def leave_out(self, peer: str, reason: str) -> None:
        """Go on without it."""
        self.left_out[peer] = reason.partition("\n")[0]
        print(f"left out: {peer}: {reason}", file=sys.stderr, flush=True)

    def measure(self, place: Place) -> Iterator[session.Sample]:
        """All rounds: A B C A B C ..."""
        for turn in range(1, self.chosen.rounds + 1):
            for kind in self.kinds:
                for peer in self.peers:
                    where = f"{peer.name} on {kind}"
                    if where in self.left_out:
                        continue
                    try:
                        yield from session.run(place, self.plan, kind, peer, turn)
                    except BenchError as error:
                        self.leave_out(where, str(error))

    def result(self) -> report.Result:
        """Measure, and say under which conditions."""
        about = machine.describe(tree_of(self.chosen.build))
        samples: list[session.Sample] = []
        begin = time.monotonic()
        with Place() as place:
            for sample in self.measure(place):
                progress(sample)
                samples.append(sample)
        setup = self.plan.setup
        present = [sample.peer for sample in samples]
        asked = self.chosen.baseline
        settings = {
            "command": command(),
            "rounds": self.chosen.rounds,
            "seconds": self.chosen.seconds,
            "cpu": setup.cpu,
            "other_cpu": setup.other_cpu,
            "nice": setup.nice,
            "lull_options": " ".join(f"{key}={text}" for key, text in setup.lull_options.items()),
            "baseline": asked if asked in present else next(iter(present), asked),
            "minutes": round((time.monotonic() - begin) / 60, 1),
        }
        return report.Result(about, settings, self.left_out, samples)


def command() -> str:
    """How anybody repeats this run."""
    script = Path(sys.argv[0]).resolve().relative_to(TREE)
    return shlex.join(["sudo", ".venv/bin/python", str(script), *repeat.portable(sys.argv[1:])])


def save(result: report.Result, folder: Path, name: str = "idle") -> Path:
    """JSON, plot and Markdown; the Markdown file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(result.as_json(), indent=1) + "\n", encoding="utf-8")
    written = [path]
    plot_name = ""
    try:
        import plot  # matplotlib is in .venv only

        written += plot.save(result, folder / name)
        plot_name = f"measurements-{name}.svg"
    except ImportError:
        print("no plot: matplotlib is missing; use .venv/bin/python", file=sys.stderr)
    fragment = folder / f"{name}.md"
    text = report.markdown(result, str(result.settings["command"]), plot_name)
    fragment.write_text(text, encoding="utf-8")
    print("written:", *[*written, fragment])
    return fragment


def tree_of(build: Path) -> Path:
    """Whose programs these are: the tree around a build folder, ours where there is none."""
    around = build.resolve().parent
    return around if (around / ".git").exists() else TREE


def update_docs(fragment: Path) -> None:
    """Put the figures where readers look for them."""
    docs = TREE / "docs"
    plot_path = fragment.with_suffix(".svg")
    if plot_path.exists():
        (docs / f"measurements-{fragment.stem}.svg").write_bytes(plot_path.read_bytes())
    with fragment.open("rb") as text:
        section = [str(TREE / "bench" / "section"), str(docs / "measurements.md"), fragment.stem]
        subprocess.run(section, stdin=text, check=True)


def end_in_order(number: int, _frame: FrameType | None) -> None:
    """A signal ends the run like an error does; further ones do not disturb the cleaning up."""
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, signal.SIG_IGN)
    sys.exit(128 + number)


def prepare() -> None:
    """Be root, and end in order."""
    if os.geteuid() != 0:
        print("needs root: it makes a network namespace of its own", file=sys.stderr)
        sys.exit(SKIP)
    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, end_in_order)


def main(chosen: argparse.Namespace | None = None, name: str = "idle") -> None:
    """Measure, or show an earlier run."""
    chosen = chosen or options().parse_args()
    if chosen.quick:
        vars(chosen).update(QUICK)
    if chosen.earlier:
        data = json.loads(chosen.earlier.read_text(encoding="utf-8"))
        result = report.Result.from_json(data)
    else:
        prepare()
        result = Comparison(chosen).result()
    if not result.samples:
        raise BenchError("nothing could be measured")
    print(report.text(result))
    fragment = save(result, chosen.out, name)
    if chosen.docs:
        update_docs(fragment)


if __name__ == "__main__":
    try:
        main()
    except BenchError as error:
        sys.exit(f"compare: {error}")
