# SPDX-License-Identifier: BSD-3-Clause
"""Flow commands: top, report and parquet, as users type them."""

import json
import signal
import sys
from pathlib import Path

import click
from rich.console import Console

from lull.errors import Interrupted, LullError
from lull.flow import top as flow_top
from lull.program import watching
from lull.program.choosing import choosing
from lull.program.pace import RealPace
from lull.program.programs import Choice, connect

PROGRAM = "lull-flow"


@click.group(short_help="Show flows: live, as a report, as a Parquet file.")
def flow() -> None:
    """Show the flows that lull-flow records."""


@flow.command(short_help="Show the heaviest flows, live.")
@choosing
@click.argument("which", required=False, metavar="[PROGRAM|PID]")
@click.option("--interval", type=click.FloatRange(0.1, 60), default=1.0, show_default=True,
              metavar="S", help="Time between two updates, in seconds.")
@click.option("--once", is_flag=True, help="Print the flows once, after one interval.")
@click.option("--json", "as_json", is_flag=True, help="Print the flows once, as JSON.")
def top(pid: int | None, socket: Path | None, program: str | None, which: str | None,
        interval: float, once: bool, as_json: bool) -> None:
    """Show the heaviest flows of a running lull-flow, with their rates per second."""
    pace = RealPace()
    with connect(_choice(pid, socket, program, which)) as telemetry:
        picture = flow_top.FlowWatch(telemetry)
        if once or as_json:
            pace.sleep(interval)
            picture.look()
            if as_json:
                print(json.dumps(flow_top.as_data(picture), indent=1, ensure_ascii=False))
                return
            console = Console(highlight=False)
            console.print(picture.render(console.width))
            return
        try:
            watching.watch(picture, pace, sys.stdout, interval)
        except Interrupted as error:
            if error.status != 128 + signal.SIGINT:
                raise


@flow.command(short_help="Draw records as one HTML page.")
@click.argument("source", type=click.Path(path_type=Path), metavar="FILE.jsonl")
@click.option("--result", type=click.Path(path_type=Path), required=True, metavar="RESULT.json",
              help="File that lull-flow --json wrote in the same run.")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False),
              metavar="FILE", help="File for the page; - is standard output.  "
              "[default: report.html beside the records]")
def report(source: Path, result: Path, output: Path | None) -> None:
    """Draw records of lull-flow: balance over workers, moves, protocols, flows over time."""
    from lull.flow import report as flow_report  # takes a second to load: not before it is needed

    text = flow_report.make(source, result)
    if output == Path("-"):
        sys.stdout.write(text)
        return
    path = output or source.parent / "report.html"
    flow_report.save(text, path)
    print(path)


@flow.command(short_help="Convert records to a Parquet file.")
@click.argument("source", type=click.Path(path_type=Path), metavar="FILE.jsonl")
@click.argument("out", type=click.Path(path_type=Path, dir_okay=False), metavar="OUT.parquet")
def parquet(source: Path, out: Path) -> None:
    """Convert JSON lines of lull-flow --records (-: standard input) to a Parquet file.

    Works on any number of records. All files have the same typed columns.
    """
    try:  # takes a second to load: not before it is needed
        from lull.flow import parquet as flow_parquet
    except ModuleNotFoundError as error:
        raise LullError(f"the Python library {error.name} is missing, which Debian does not have: "
                        "pip install pyarrow, into a virtual environment that sees the libraries "
                        "of the system, or read the JSON lines as they are") from None

    print(f"{out}: {flow_parquet.write(source, out)} records")


def _choice(pid: int | None, socket: Path | None, program: str | None,
            which: str | None) -> Choice:
    """Whom the user means; lull-flow when nothing is said."""
    if which is not None and (pid, socket, program) != (None, None, None):
        raise LullError(f"{which}: give either this argument or --pid, --program, --socket", 2)
    if which is not None and which.isdigit():
        return Choice(int(which))
    if (pid, socket, program, which) == (None, None, None, None):
        return Choice(program=PROGRAM)
    return Choice(pid, socket, program or which)
