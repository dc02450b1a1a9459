# SPDX-License-Identifier: BSD-3-Clause
"""Model commands: `lull model ...` as users type them."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console

from lull import __version__, atomic
from lull.model import figures as model
from lull.model import table as model_table
from lull.model.run import RingBench, VethBench
from lull.program.child import CHECKOUT, find_program
from lull.program.machine import describe
from lull.program.pace import RealPace
from lull.program.tree import Tree
from lull.sim.simulation import progress_bar

PROGRAM = "lull-model"
Command = TypeVar("Command", bound=Callable[..., Any])
Work = Callable[[model.Bench, model.Settings, model.Advance], model.Report]


@click.group("model", short_help="Measure the published sleep model.")
def model_group() -> None:
    """Repeat the measurements of the published sleep model on this machine.

    A sender and a receiver rest with functions of the system or by governors; see 'man
    lull-model'.
    """


def where(command: Command) -> Command:
    """Options of every command."""
    for option in (
        click.option("--json", "json_path", is_flag=False, flag_value="-", metavar="[FILE]",
                     help="Write everything as JSON, to FILE or standard output."),
        click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
                     help="Draw a picture: .png, .svg or .pdf."),
        click.option("--ports", type=click.Choice(["ring", "veth"]), default="ring",
                     show_default=True,
                     help="ring: one process over rings. veth: two processes over veth, as root."),
    ):
        command = option(command)
    return command


def how(command: Command) -> Command:
    """Options of every command that runs sender and receiver."""
    for option in (
        click.option("--load", type=click.FloatRange(1, 100), default=model.LOAD_PCT,
                     show_default=True, metavar="PERCENT",
                     help="Rate of the producer, as a share of the link's rate."),
        click.option("--link", default=model.LINK, show_default=True, metavar="BPS",
                     help="Rate of the link, in bit/s."),
        click.option("--seconds", type=click.FloatRange(0.1, 3600), metavar="S",
                     help="Duration of each measurement, in seconds.  "
                          "[default: 3; 1 with --quick]"),
        click.option("--rounds", type=click.IntRange(1, 1000), metavar="N",
                     help="Measurements of each row; the median is shown.  "
                          "[default: 3; 1 with --quick]"),
        click.option("--quick", is_flag=True, help="Measure fewer points, in one short round."),
    ):
        command = option(command)
    return where(command)


@model_group.command("sleep-functions", short_help="Measure CPU and loss of sleep functions.")
@how
def sleep_functions(**asked: Any) -> None:  # noqa: ANN401 - options of all kinds
    """Measure a receiver that waits with rte_delay_us_block() or usleep(), idle and with data.

    Figures 2 to 4 of the paper.
    """
    scenarios = len(model.sleep_scenarios(asked["quick"]))
    _run(asked, model.sleep_functions, scenarios)


@model_group.command("burst-cost", short_help="Measure the cost of a receive and of a send.")
@where
def burst_cost(ports: str, plot: Path | None, json_path: str | None) -> None:
    """Measure one receive and one send by burst and packet size: figure 6 of the paper."""
    asked = {"ports": ports, "plot": plot, "json_path": json_path}
    _run(asked, lambda bench, _, advance: model.burst_cost(bench, advance), 1)


@model_group.command("sender-sweep", short_help="Vary the sender's sleep; measure speed and loss.")
@how
def sender_sweep(**asked: Any) -> None:  # noqa: ANN401 - options of all kinds
    """Vary the sleep of the sender, with a receiver that polls or calls usleep(0).

    Table 1 and figures 7 to 9 of the paper.
    """
    _run(asked, model.sender_sweep, len(model.sender_scenarios(asked["quick"])))


@model_group.command("receiver-sweep",
                     short_help="Vary the receiver's sleep; measure speed and loss.")
@how
def receiver_sweep(**asked: Any) -> None:  # noqa: ANN401 - options of all kinds
    """Vary the sleep of the receiver, with a sender that sleeps: figures 10 and 11 of the paper."""
    _run(asked, model.receiver_sweep, len(model.receiver_scenarios(asked["quick"])))


@model_group.command(short_help="Compare polling, usleep(0) and governors.")
@click.option("--rests", default=",".join(model.RESTS), show_default=True, metavar="A,B",
              help="Ways in which both sides rest; see --send-rest of lull-model.")
@how
def evaluate(rests: str, **asked: Any) -> None:  # noqa: ANN401 - options of all kinds
    """Let both sides rest alike at 128 to 1024 bytes: table 2, figures 20 to 22 of the paper."""
    names = tuple(name.strip() for name in rests.split(","))

    def work(bench: model.Bench, settings: model.Settings, advance: model.Advance) -> model.Report:
        return model.evaluate(bench, settings, advance, names)

    _run(asked, work, len(model.evaluate_scenarios(asked["quick"], names)))


def _settings(asked: dict[str, Any]) -> model.Settings:
    quick = bool(asked.get("quick"))
    settings = model.Settings(
        seconds=asked.get("seconds") or (1.0 if quick else 3.0),
        rounds=asked.get("rounds") or (1 if quick else 3),
        link=asked.get("link") or model.LINK, load_pct=asked.get("load") or model.LOAD_PCT,
        quick=quick)
    model.check_settings(settings)
    return settings


def _run(asked: dict[str, Any], work: Work, scenarios: int) -> None:
    settings, plot, json_path = _settings(asked), asked["plot"], asked["json_path"]
    if plot is not None:
        from lull import drawing  # take a second to load: not before they are needed
        from lull.model import plot as model_plot

        drawing.check_path(plot)
    if json_path and json_path != "-":
        atomic.check_target(Path(json_path))
    executable = find_program(PROGRAM)
    bench = RingBench(executable) if asked["ports"] == "ring" else VethBench(
        executable, RealPace())
    progress, task = progress_bar(settings.rounds * scenarios, "measuring")

    def advance(detail: str) -> None:
        progress.update(task, advance=1, detail=detail)

    with bench, progress:
        report = work(bench, settings, advance)
    report = report.model_copy(update={"machine": describe(Tree(Path("/")), bench.dpdk,
                                                           __version__, CHECKOUT)})
    if plot is not None:
        model_plot.draw(report, plot)
    text = report.model_dump_json(indent=1) + "\n"
    if json_path == "-":
        sys.stdout.write(text)
        return
    if json_path:
        atomic.write(Path(json_path), text)
    model_table.print_report(report, Console(highlight=False))
