# SPDX-License-Identifier: BSD-3-Clause
"""Watch commands: status and top of a running channel, as users type them."""

import json
import signal
import sys
from pathlib import Path

import click
from rich.console import Console

from lull.channel.look import Watch, as_data
from lull.channel.view import Picture, render
from lull.errors import Interrupted, LullError
from lull.program import watching
from lull.program.choosing import choosing
from lull.program.pace import RealPace
from lull.program.programs import Choice, connect

WIDTH = 120  # of a table that is not cut off


@click.command(short_help="Show rails, paths and peers of a running channel.")
@choosing
@click.argument("which", required=False, metavar="[PROGRAM|PID]")
@click.option("--json", "as_json", is_flag=True, help="Print all of it as JSON.")
def status(pid: int | None, socket: Path | None, program: str | None, which: str | None,
           as_json: bool) -> None:
    """Show rails, paths and peers of a running program with a channel, and what they did so far."""
    with connect(_choice(pid, socket, program, which)) as telemetry:
        watch = Watch(telemetry)
        if as_json:
            print(json.dumps(as_data(watch), indent=1, ensure_ascii=False))
            return
        _print(watch)


@click.command(short_help="Show the rates of a running channel, live.")
@choosing
@click.argument("which", required=False, metavar="[PROGRAM|PID]")
@click.option("--interval", type=click.FloatRange(0.1, 60), default=1.0, show_default=True,
              metavar="S", help="Time between two updates, in seconds.")
@click.option("--once", is_flag=True, help="Print it once, after one interval.")
@click.option("--json", "as_json", is_flag=True, help="Print it once, as JSON.")
def top(pid: int | None, socket: Path | None, program: str | None, which: str | None,
        interval: float, once: bool, as_json: bool) -> None:
    """Show what each path of a running program with a channel offers and delivers per second.

    Of a peer: goodput in both directions, and what it waits for. lost, again and dup count packets
    since the start: those lost, those sent again, those that came twice.
    """
    pace = RealPace()
    with connect(_choice(pid, socket, program, which)) as telemetry:
        watch = Watch(telemetry)
        if once or as_json:
            pace.sleep(interval)
            watch.look()
            if as_json:
                print(json.dumps(as_data(watch), indent=1, ensure_ascii=False))
            else:
                _print(watch)
            return
        try:
            watching.watch(Picture(watch), pace, sys.stdout, interval)
        except Interrupted as error:
            if error.status != 128 + signal.SIGINT:
                raise


def _print(watch: Watch) -> None:
    console = Console(highlight=False)
    console.width = max(console.width, WIDTH)
    console.print(render(watch))


def _choice(pid: int | None, socket: Path | None, program: str | None,
            which: str | None) -> Choice:
    """Whom the user means; the only program there is when nothing is said."""
    if which is not None and (pid, socket, program) != (None, None, None):
        raise LullError(f"{which}: give either this argument or --pid, --program, --socket", 2)
    if which is not None and which.isdigit():
        return Choice(int(which))
    return Choice(pid, socket, program or which)
