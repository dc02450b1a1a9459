# SPDX-License-Identifier: BSD-3-Clause
"""All programs side by side: what the frame does for each, and options that must be the same.

programs.py GST-PLUGIN|none PROGRAM...
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from command import Command, await_signals
from verdict import check

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 60
NS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
FAILURE = 1
# Words with which a program would run.
RUNS = {
    "lull-fwd": "--traffic off",
    "lull-gen": "--vdev net_ring0",
    "lull-flow": "--vdev net_ring0",
    "lull-model": "",
    "lull-cam": "--backend kernel:lo --stream protocol=gvsp,port=20202",
    "lull-cam-source": "--to 127.0.0.1:9",
    "lull-sim": "",
    "lull-flow-sim": "",
    "lull-channel-sim": "",
}
OBJECTIVE = {"max-latency", "percentile", "loss", "max-rest"}
KALMAN = {f"kalman-{name}" for name in ("step", "tolerance", "row", "window", "layout")}
ALL = OBJECTIVE | KALMAN | {"rest", "pps-max", "sched-policy", "cpu-latency"}
RESTING = {
    "lull-fwd": {"governor", *ALL},
    "lull-flow": {"governor", *ALL},
    "lull-cam": {"governor", *ALL},
    "lull-model": {"send-max-latency", *OBJECTIVE, *KALMAN},
    "lull-sim": {"send-max-latency", *ALL} - {"rest", "cpu-latency"},
}

DISPATCH = {"order", "threshold", "sticky-enter", "sticky-leave", "flush-burst", "flush-time",
            "resequence-delay", "resequence-window"}


class Program(Command):
    def rows(self) -> dict[str, str]:
        """The manual's row of each option, less what programs may differ in."""
        found = {}
        for row in self.call("--man").stdout.split(".TP\n\\fB\\-\\-")[1:]:
            row = re.sub(r"(?m)^(Default: |Live: |\.SS ).*\n", "", row.replace("\\-", "-"))
            key, _, rest = row.partition("\\fR")
            found[key] = rest
        return found


def usage_has_one_status(program: Program) -> None:
    Path(program.scratch, "key.yaml").write_text("jsn: x\n", encoding="ascii")
    program.refused("--nonsense", "unknown option --nonsense", file=None)
    program.refused("stray", "'stray' is not an option", file=None)
    program.refused("--json", "--json needs a value", file=None)
    program.refused("--config none.yaml", "none.yaml", file=None)
    program.refused("--config key.yaml", "key.yaml.*jsn", file=None)
    program.refused("--help=yes", "--help takes no value", file=None)


def failure_has_another(program: Program) -> None:
    words = f"{RUNS[program.name]} --json none/result.json"
    program.refused(words, "none/result.json", FAILURE, None)
    with Path("/dev/full").open("w") as full:
        run = subprocess.run([program.program, "--help"], stdout=full, stderr=subprocess.PIPE,
                             text=True, timeout=TIMEOUT_S, check=False)
    check(run.returncode == FAILURE and "cannot write to stdout" in run.stderr, program.name,
          run.stderr)


def shows_what_it_knows(program: Program) -> None:
    for option, pattern in (("--help", "--json"), ("--version", f"^{program.name} "),
                            ("--man", r"\.TP"), ("--completion-bash", "complete -")):
        program.shows(option, pattern)


def hangs_up_only_who_listens(program: Program) -> None:
    """Started by nohup, the end of a terminal does not end it."""
    if program.name != "lull-sim":
        return
    with subprocess.Popen(["nohup", program.program, "--duration", "24h", "--json", "never"],
                          cwd=program.scratch, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True) as run:
        await_signals(run, signal.SIGINT)
        run.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        check(run.poll() is None, "goes on", run.returncode)
        run.send_signal(signal.SIGTERM)
        _, stderr = run.communicate(timeout=TIMEOUT_S)
    check(run.returncode == FAILURE and "stopped by a signal" in stderr, "ends", stderr)


def shared_options_are_the_same(programs: list[Program]) -> None:
    rows = {program.name: program.rows() for program in programs}
    first: dict[str, str] = {}
    for name, keys in RESTING.items():
        check(keys <= rows[name].keys(), f"{name} has them", keys - rows[name].keys())
        for key in keys:
            row = first.setdefault(key.removeprefix("send-"), rows[name][key])
            check(rows[name][key] == row, f"{name} --{key} is the row of all",
                  (rows[name][key], row))
    for key in DISPATCH:
        check(rows["lull-flow"][key] == rows["lull-flow-sim"][key], f"--{key} of both",
              (rows["lull-flow"][key], rows["lull-flow-sim"][key]))
    resting = set().union(*RESTING.values()) - {"governor"}
    # rests of lull-channel-sim are those of simulated loops
    for name in rows.keys() - RESTING.keys() - {"lull-channel-sim"}:
        known = rows[name].keys() & resting
        check(not known, f"{name} rests not", known)


def element_properties(plugin: str, scratch: Path) -> dict[str, tuple[str, str]]:
    """Help and type of each property of the GStreamer element."""
    run = subprocess.run(["gst-inspect-1.0", "--no-colors", "lullcamerasrc"], text=True,
                         capture_output=True, timeout=TIMEOUT_S, check=True,
                         env={**os.environ, "GST_PLUGIN_PATH": str(Path(plugin).parent),
                              "GST_REGISTRY": str(scratch / "registry.bin")})
    found = re.findall(r"(?m)^  ([\w-]+) +: (.*)\n +flags: .*\n +(.*)$", run.stdout)
    return {name: (text, kind) for name, text, kind in found}


def range_of_row(row: str) -> tuple[int, int]:
    """Of a time, in ns."""
    low, high, unit = re.findall(r"(?m)^Range: (\w+)\.\.(\w+)(?: \((\w+)\))?\.$", row)[0]
    ends = []
    for end in (low, high):
        number, own = re.findall(r"^(\d+)(\w*)$", end)[0]
        ends.append(int(number) * NS[own or unit])
    return ends[0], ends[1]


def element_has_the_same(program: Program, plugin: str, scratch: Path) -> None:
    """The element has the resting options of lull-cam, with their help and their range."""
    properties = element_properties(plugin, scratch)
    rows = program.rows()
    for key in RESTING["lull-cam"]:
        argument, text, *_ = rows[key].splitlines()
        check(key in properties, "the element has", key)
        said, kind = properties[key]
        if argument != " \\fITIME\\fR":
            check(said == text and kind.startswith("String."), f"help of {key}", (said, text))
            continue
        low, high = range_of_row(rows[key])
        check(said == f"{text} In ns.", f"help of {key}", (said, text))
        check(kind.startswith(f"Unsigned Integer64. Range: {low} - {high} "), f"range of {key}",
              (kind, low, high))


def declared_once() -> None:
    """Nobody writes a resting option down again: not as a row, not as a property."""
    keys = "|".join(ALL)
    again = re.compile(rf'(?:\.key\s*=|(?:g_param_spec|LULL_ROW)_\w+\()\s*'
                       rf'(?:prefix )?"(?:{keys})"')
    written = {}
    for folder in ("apps", "camera", "export", "gst", "plugin", "program"):
        for path in (ROOT / folder).rglob("*.[ch]"):
            found = again.findall(path.read_text(encoding="utf-8"))
            if found:
                written[str(path.relative_to(ROOT))] = found
    written.pop("apps/lull-channel-sim/settings.c", None)  # rests of simulated loops
    check(written.keys() == {"program/resting.h"}, "resting options are in resting.h", written)


def times_have_one_unit(programs: list[Program]) -> None:
    """A bare number means what the help says, and the same in all programs, or is refused."""
    first: dict[str, str] = {}
    for program in programs:
        for key, row in program.rows().items():
            if not re.match(r" \\fITIME(?!:)", row):  # TIME:PERCENT refuses it in words of its own
                continue
            unit = re.search(r"(?m)^Range: .*\((\w+)\)\.$|^A bare number is in (\w+)\.$", row)
            if unit is None:
                program.refused(f"--{key} 5", "with ns, us, ms, s, m or h", file=None)
                continue
            found = unit[1] or unit[2]
            check(first.setdefault(key, found) == found, f"{program.name} --{key}",
                  (found, first[key]))
    check(first["duration"] == "s" and first["warmup"] == "s", "in s", first)


def main() -> None:
    plugin, *paths = sys.argv[1:]
    check({Path(path).name for path in paths} == RUNS.keys(), "all programs", paths)
    with tempfile.TemporaryDirectory() as scratch:
        programs = [Program(path, scratch) for path in paths]
        for test in (usage_has_one_status, failure_has_another, shows_what_it_knows,
                     hangs_up_only_who_listens):
            for program in programs:
                test(program)
            print(f"{test.__name__}: ok")
        shared_options_are_the_same(programs)
        print("shared_options_are_the_same: ok")
        declared_once()
        print("declared_once: ok")
        if plugin != "none" and shutil.which("gst-inspect-1.0") is not None:
            lull_cam = next(program for program in programs if program.name == "lull-cam")
            element_has_the_same(lull_cam, plugin, Path(scratch))
            print("element_has_the_same: ok")
        times_have_one_unit(programs)
        print("times_have_one_unit: ok")


main()
