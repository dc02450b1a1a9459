# SPDX-License-Identifier: BSD-3-Clause
"""lull-channel-perf and lull-channel-copy from their command lines: help, and what they refuse.

programs.py LULL-CHANNEL-PERF LULL-CHANNEL-COPY
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "netns"))

from command import Command
from verdict import check

RAIL = "--rail kernel:lo --key-file key"
FAILS = 1


def shown(program: Command, *words: str) -> None:
    for word in words:
        program.shows("--help", word)
    program.shows("--help", r"keeps\s+out\s+accidents,\s+not\s+attackers")
    program.shows("--version", rf"^{program.name} \d")
    program.shows("--man", r"\\fB\\-\\-rail\\fR")
    program.shows("--completion-bash", r"complete -F _lull_channel_\w+ lull-channel-\w+")


def channel(program: Command, rest: str) -> None:
    """What both refuse: {rest} is a command line that is right but for the channel."""
    program.refused(rest, "no rail: name the ports")
    program.refused(f"{rest} --rail kernel:lo", "no key: make one with `lull channel key > FILE`")
    program.refused(f"{rest} --rail pair:x --key-file key", "both ends of a pair are in one")
    program.refused(f"{rest} {RAIL} --security open", "security open uses no key")
    program.refused(f"{rest} {RAIL} --security shut", "security")
    program.refused(f"{rest} {RAIL} --spread even", "spread")
    program.refused(f"{rest} {RAIL} --max-latency 2s", "max-latency")
    program.refused(f"{rest} {RAIL} --cpu 0,1", "one CPU")
    program.refused(f"{rest} {RAIL} --endpoint 65536", "endpoint")
    program.refused(f"{rest} {RAIL} --rial x", "did you mean --rail")
    program.refused(f"{rest} --rail kernel:nosuch0 --key-file key", "nosuch0", FAILS)
    program.refused(f"{rest} --rail what:lo --key-file key", "what:lo", FAILS)
    program.refused(f"{rest} --rail kernel:lo --key-file missing", "missing", FAILS)
    program.refused(f"{rest} --rail kernel:lo --key-file readable", "readable", FAILS)
    program.refused(f"{rest} --rail kernel:lo --key-file wrong", "wrong", FAILS)
    program.refused(f"{rest} {RAIL} --name a/b\x07", "name", FAILS)
    program.refused(f"{rest} {RAIL}", "no/such", FAILS, "no/such/result.json")


def perf(program: Command) -> None:
    shown(program, r"Usage: lull-channel-perf ", "--job", r"incast +All nodes of --to", "--verify")
    channel(program, "--to b")
    program.refused(RAIL, "no node: start one side with --listen")
    program.refused(f"{RAIL} --listen --to b", "one side listens")
    program.refused(f"{RAIL} --to b --to c", "only --job incast")
    program.refused(f"{RAIL} --to b --to b --job incast", "there twice")
    program.refused(f"{RAIL} --to b --job speed", "bandwidth, latency, request, incast, periodic")
    program.refused(f"{RAIL} --to b --job latency --window 2", "choose --job request")
    program.refused(f"{RAIL} --to b --message 1G --window 2", "more than 1 GiB")
    program.refused(f"{RAIL} --to b --message 0", "message")
    program.refused(f"{RAIL} --to b --job periodic --burst 2s", "longer than the period")
    program.refused(f"{RAIL} --to b --jobs 2", "only --listen")
    program.refused(f"{RAIL} --to b file", "'file' is not an option")


def copy(program: Command) -> None:
    shown(program, r"Usage: lull-channel-copy .* \[FILE\|FOLDER\|-\]\.\.\.", "--into", "--restart")
    channel(program, "--to b key")
    program.refused(f"{RAIL} key", "no node: start one side with --listen")
    program.refused(f"{RAIL} --to b", "nothing to copy")
    program.refused(f"{RAIL} --to b - key -", r"stdin \(-\) is there 2 times")
    program.refused(f"{RAIL} --to b --as a/b -", "is no name of a file")
    program.refused(f"{RAIL} --to b --as .. -", "is no name of a file")
    program.refused(f"{RAIL} --to b --into folder key", "the side with --listen says")
    program.refused(f"{RAIL} --listen", "no folder: say where")
    program.refused(f"{RAIL} --listen --to b --into folder", "one side listens")
    program.refused(f"{RAIL} --listen --into folder key", "the side with --to names the files")
    program.refused(f"{RAIL} --listen --into -", "only one of them fits", file="-")
    program.refused(f"{RAIL} --listen --into nowhere", "make it with mkdir", FAILS)
    program.refused(f"{RAIL} --listen --into key", "cannot open the folder", FAILS)
    program.refused(f"{RAIL} --to b -x", "'-x' is not an option")


def main() -> None:
    for path, cases in zip(sys.argv[1:], (perf, copy), strict=True):
        with tempfile.TemporaryDirectory(prefix="lull-channel-") as scratch:
            for name, text, mode in (("key", "ab" * 32, 0o600), ("readable", "ab" * 32, 0o644),
                                     ("wrong", "ab" * 31, 0o600)):  # fmt: skip
                file = Path(scratch) / name
                file.write_text(f"{text}\n")
                file.chmod(mode)
            (Path(scratch) / "folder").mkdir()
            program = Command(path, scratch)
            cases(program)
            found = program.call("--check", *RAIL.split())
            check("lo" in found.stdout, "--check tells of the rail", found.stdout + found.stderr)
            check(found.returncode in (0, 1), "--check ends", found.returncode)


main()
