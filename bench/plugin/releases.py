#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The plugin in unmodified programs of two Debian releases, on two DPDKs.

dpdk-testpmd and Open vSwitch of this Debian and of the next one, and Suricata of the
next one, each as it is and with the plugin for its DPDK, in turn, round after round:
CPU of the polling thread in silence and under load, and whether the same packets came
through. The other Debian is made with devtools/debian-root where it is missing (1.5 GB),
its programs run in it, on this kernel, in the network namespaces of this benchmark.
Prints a table and writes OUT/releases.json and .md. Judges nothing. Needs root.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "idle"))

import compare
import figures
import generator
import machine
import peers
import session

from program import BenchError, Place

TREE = compare.TREE
HERE, NEXT = "bookworm", "trixie"
PACKAGES = "libdpdk-dev dpdk-dev openvswitch-switch-dpdk suricata libcyaml1".split()
WAITED_PCT = 2.0  # of a window, in which others had the polling thread's CPU
HEAD = (
    "program",
    "DPDK",
    "packets/s",
    "CPU % as it is",
    "with the plugin",
    "p99 us as it is",
    "with the plugin",
    "packets lost as it is",
    "with the plugin",
)


@dataclass(frozen=True)
class Program:
    """One program of one Debian."""

    title: str
    family: str
    kind: str  # of ports
    root: str  # "": of this machine
    package: str
    setting: str = ""

    def peer(self, plugin: bool) -> peers.Peer:
        """As it is, or wrapped."""
        name = f"{self.title}{'+plugin' if plugin else ''}"
        return peers.Peer(name, self.family, self.setting, plugin=plugin)


@dataclass(frozen=True)
class Result:
    """Everything that is known of a run; what the JSON file holds."""

    machine: dict[str, str]
    settings: dict[str, Any]
    programs: dict[str, dict[str, str]]  # by title: DPDK and version
    left_out: dict[str, str]
    samples: list[session.Sample]


def options() -> argparse.ArgumentParser:
    """What the user may say."""
    parser = compare.common(argparse.ArgumentParser(description=__doc__))
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("--rates", default="0,10k", help="packets/s [%(default)s]")
    add("--nice", type=int, default=0, help="of program and generator, -20..19 [0]")
    add("--programs", default="", help="only those with one of these words in their name")
    add(
        "--root",
        type=Path,
        default=Path("/var/tmp/lull-bench") / NEXT,
        help="Debian 13, made where it is missing [%(default)s]",
    )
    parser.set_defaults(max_latency="100", rounds=3, seconds=3.0)
    return parser


def programs(root: Path) -> list[Program]:
    """All that are measured."""
    there = str(root)
    testpmd, switch = "dpdk-dev", "openvswitch-switch-dpdk"
    return [
        Program("dpdk-testpmd, Debian 12", "testpmd", "veth", "", testpmd, "io"),
        Program("dpdk-testpmd, Debian 13", "testpmd", "veth", there, testpmd, "io"),
        Program("Open vSwitch, Debian 12", "ovs", "veth", "", switch, "0"),
        Program("Open vSwitch, Debian 13", "ovs", "veth", there, switch, "0"),
        Program("Suricata, Debian 13", "suricata", "capture", there, "suricata"),
    ]


def version_in(root: str, package: str) -> str:
    """Upstream's version of an installed package; "" when it is not there."""
    query = ["dpkg-query", f"--admindir={root}/var/lib/dpkg", "-W", "-f", "${Version}", package]
    version = machine.first_line(*query)
    return version.rpartition(":")[2].partition("-")[0]


def abi_of(version: str) -> str:
    """23 for 22.11."""
    year, month, *_ = (int(part) for part in version.split("."))
    return str(year + (month >= 11))


def make_root(root: Path) -> None:
    """The other Debian with its programs."""
    command = [str(TREE / "devtools" / "debian-root"), "make", NEXT, str(root), *PACKAGES]
    if subprocess.run(command, check=False, stdout=sys.stderr).returncode != 0:
        raise BenchError(f"no Debian 13 in {root}: see above, or name another folder by --root")


def build_plugins(root: Path, out: Path) -> Path:
    """Plugins for both, from this tree; their folder."""
    build = out / "releases-build"
    abis = {abi_of(version_in(where, "libdpdk-dev")) for where in ("", str(root))}
    prefix = f"-Ddpdk_prefixes={root}/usr"
    known = ["--reconfigure"] if (build / "build.ninja").exists() else []
    for command in (
        ["meson", "setup", *known, "-Dtests=false", prefix, str(build), str(TREE)],
        ["meson", "compile", "-C", str(build), *(f"dpdk-{abi}" for abi in sorted(abis))],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BenchError(f"{' '.join(command)}: {done.stdout[-2000:]}{done.stderr[-500:]}")
    return build / "plugin"


@contextmanager
def loadable(folder: Path) -> Iterator[dict[str, Path]]:
    """The plugins by ABI, where EAL agrees to load them from: not below a place like /tmp."""
    with tempfile.TemporaryDirectory(prefix="lull-bench-", dir="/run") as safe:
        found = {}
        for path in folder.glob("dpdk-*/liblull_plugin.so"):
            target = Path(safe) / path.parent.name
            target.mkdir()
            found[path.parent.name.removeprefix("dpdk-")] = Path(shutil.copy(path, target))
        Path(safe).chmod(0o755)
        yield found


class Comparison:
    """The run: who takes part, who had to be left out."""

    def __init__(self, chosen: argparse.Namespace, plugins: dict[str, Path]) -> None:
        self.chosen = chosen
        self.plugins = plugins
        self.plan = compare.plan(chosen)
        self.left_out: dict[str, str] = {}
        self.about: dict[str, dict[str, str]] = {}
        words = [word for word in chosen.programs.split(",") if word]
        self.programs = []
        for program in programs(chosen.root):
            if words and not any(word.lower() in program.title.lower() for word in words):
                continue
            version = version_in(program.root, program.package)
            if not version:
                self.leave_out(program.title, f"{program.package} is not installed")
                continue
            dpdk = version_in(program.root, "libdpdk-dev")
            self.about[program.title] = {"version": version, "dpdk": dpdk}
            self.programs.append(program)

    def leave_out(self, what: str, reason: str) -> None:
        """Go on without it."""
        self.left_out[what] = reason.partition("\n")[0]
        print(f"left out: {what}: {reason}", file=sys.stderr, flush=True)

    def plan_for(self, program: Program) -> generator.Plan:
        """With the plugin for its DPDK."""
        plugin = self.plugins.get(abi_of(self.about[program.title]["dpdk"]))
        if plugin is None:
            raise BenchError(f"no plugin for DPDK {self.about[program.title]['dpdk']}")
        setup = dataclasses.replace(self.plan.setup, plugin=plugin)
        return dataclasses.replace(self.plan, setup=setup)

    def measure(self, place: Place) -> Iterator[session.Sample]:
        """A, A with the plugin, B, B with the plugin, and again."""
        place.shown = [path.parent for path in self.plugins.values()]
        for turn in range(1, self.chosen.rounds + 1):
            for program in self.programs:
                place.root = Path(program.root) if program.root else None
                for plugin in (False, True):
                    peer = program.peer(plugin)
                    if peer.name in self.left_out:
                        continue
                    try:
                        plan = self.plan_for(program)
                        yield from session.run(place, plan, program.kind, peer, turn)
                    except BenchError as error:
                        self.leave_out(peer.name, str(error))

    def result(self) -> Result:
        """Measure, and say under which conditions."""
        about = machine.describe(TREE)
        samples = []
        with Place() as place:
            for sample in self.measure(place):
                compare.progress(sample)
                samples.append(sample)
        setup = self.plan.setup
        settings = {
            "command": compare.command(),
            "rounds": self.chosen.rounds,
            "seconds": self.chosen.seconds,
            "cpu": setup.cpu,
            "other_cpu": setup.other_cpu,
            "nice": setup.nice,
            "max_latency_us": self.chosen.max_latency,
        }
        return Result(about, settings, self.about, self.left_out, samples)


def medians(samples: list[session.Sample]) -> dict[str, float]:
    """Of a program at a rate."""
    names = ("cpu_pct", "p99_us", "offered", "lost", "waited_pct")
    return {name: statistics.median(figures.value(one, name) for one in samples) for name in names}


def number(figure: float) -> str:
    """Three digits that count."""
    return f"{figure:.0f}" if figure >= 100 else f"{figure:.1f}"


def rows(result: Result) -> Iterator[list[str]]:
    """One for each program and rate; a dagger where others took the polling thread's CPU."""
    for title, about in result.programs.items():
        program, _, debian = title.partition(", ")
        for rate in dict.fromkeys(sample.rate for sample in result.samples):
            sides = []
            for name in (title, f"{title}+plugin"):
                here = [one for one in result.samples if (one.peer, one.rate) == (name, rate)]
                sides.append(medians(here) if here else None)
            if sides == [None, None]:
                continue
            cpu, late, lost = [], [], []
            for side in sides:
                disturbed = side is not None and side["waited_pct"] > WAITED_PCT
                dagger = " †" if disturbed else ""
                cpu.append(f"{number(side['cpu_pct'])}{dagger}" if side else "-")
                late.append(number(side["p99_us"]) if side and side["p99_us"] > 0 else "-")
                offered = side["offered"] if side else 0
                lost.append(f"{side['lost']:.0f} of {offered:.0f}" if side and offered else "-")
            name = f"{program} {about['version']}, {debian}"
            yield [name, about["dpdk"], rate, *cpu, *late, *lost]


def captions(result: Result) -> list[str]:
    """What was measured, where and how."""
    about, settings = result.machine, result.settings
    lines = [
        f"{about['cpu']}, {about['cpus']} CPUs, hypervisor {about['hypervisor']}, kernel"
        f" {about['kernel']}; commit {about['commit']}, {about['date']}, load at start"
        f" {about['load']}.",
        f"Medians of {settings['rounds']} interleaved rounds of {settings['seconds']:g} s; CPU time"
        f" of the polling thread alone, on CPU {settings['cpu']}, everything else on CPU"
        f" {settings['other_cpu']}, nice {settings['nice']}; objective"
        f" {settings['max_latency_us']} us. testpmd and Open vSwitch forward, and lull-gen judges;"
        " of Suricata, which forwards nothing, sent and captured packets are compared.",
    ]
    if any("†" in cell for row in rows(result) for cell in row):
        lines.append(
            "†: for more than"
            f" {WAITED_PCT:g} % of the time the polling thread waited for its CPU, which others"
            " used; CPU and p99 of such a row say little."
        )
    lines += [f"Left out: {what}: {reason}" for what, reason in result.left_out.items()]
    return lines


def markdown(result: Result) -> str:
    """A section for docs/measurements.md."""
    lines = ["```", str(result.settings["command"]), "```", ""]
    for line in captions(result):
        lines += [line, ""]
    lines += ["| " + " | ".join(HEAD) + " |", "|---|---" + "|---:" * (len(HEAD) - 2) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows(result)]
    return "\n".join(lines) + "\n"


def save(result: Result, folder: Path) -> Path:
    """JSON and Markdown; the Markdown file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "releases.json").write_text(
        json.dumps(asdict(result), indent=1) + "\n", encoding="utf-8"
    )
    fragment = folder / "releases.md"
    fragment.write_text(markdown(result), encoding="utf-8")
    return fragment


def measure(chosen: argparse.Namespace) -> Result:
    """Make what is missing, then measure."""
    compare.prepare()
    if f"VERSION_CODENAME={HERE}\n" not in Path("/etc/os-release").read_text(encoding="utf-8"):
        print("needs Debian 12, beside which it puts Debian 13", file=sys.stderr)
        sys.exit(compare.SKIP)
    make_root(chosen.root)
    with loadable(build_plugins(chosen.root, chosen.out)) as plugins:
        return Comparison(chosen, plugins).result()


def main() -> None:
    """Measure, or show an earlier run."""
    chosen = options().parse_args()
    if chosen.earlier:
        data = json.loads(chosen.earlier.read_text(encoding="utf-8"))
        samples = [session.Sample(**sample) for sample in data.pop("samples")]
        result = Result(**data, samples=samples)
    else:
        result = measure(chosen)
    if not result.samples:
        raise BenchError("nothing could be measured")
    fragment = save(result, chosen.out)
    print(markdown(result))
    if chosen.docs:
        compare.update_docs(fragment)


if __name__ == "__main__":
    try:
        main()
    except BenchError as error:
        sys.exit(f"releases: {error}")
