# SPDX-License-Identifier: BSD-3-Clause
"""Command line: what the user types, checked and handed on."""

import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import click
from rich.console import Console

from lull import __version__, atomic
from lull.camera import latency_commands as camera_latency_commands
from lull.channel import commands as channel_commands
from lull.demo import markdown, result, result_table
from lull.demo import settings as demo_settings
from lull.demo.demo import Demo, View
from lull.demo.view import LiveView, PlainView, SilentView
from lull.doctor import doctor, sleep_probe
from lull.doctor import view as doctor_view
from lull.errors import Interrupted, LullError, ReaderGone
from lull.flow import commands as flow_commands
from lull.model import commands as model_commands
from lull.mpi import commands as mpi_commands
from lull.program import explain_view, loops_view
from lull.program.child import CHECKOUT, Child, find_program
from lull.program.choosing import choosing
from lull.program.energy import EnergyMeter
from lull.program.machine import describe
from lull.program.pace import RealPace
from lull.program.placement import at_large, step_aside
from lull.program.programs import Choice, connect
from lull.program.replies import Info
from lull.program.telemetry import Telemetry, TelemetryError
from lull.program.tree import Tree
from lull.sim import commands as sim_commands
from lull.view import command as view_command
from lull.wrap import hugepages, plugin_file, plugin_settings, program_dpdk, wrap
from lull.wrap import live as wrap_live

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(arguments: Sequence[str]) -> int:
    """Run a command; whatever goes wrong becomes one line and an exit status."""
    ignored = [number for number in SIGNALS if signal.getsignal(number) is signal.SIG_IGN]
    for number in SIGNALS:
        signal.signal(number, _interrupt)
    try:
        status = cli.main(args=list(arguments), prog_name="lull", standalone_mode=False,
                          obj=ignored)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # of click 8.2; 8.1 shows it itself
            click.echo(error.format_message())
            return 0
        path = error.ctx.command_path if error.ctx is not None else "lull"
        return _fail(f"{error.format_message().rstrip('.')}; see '{path} --help'", 2)
    except click.ClickException as error:
        return _fail(error.format_message(), error.exit_code)
    except LullError as error:
        return _fail(str(error), error.status)
    except (BrokenPipeError, ReaderGone):
        # Whoever read our output has had enough; nothing more may be flushed to it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _fail(f"{error.filename or 'output'}: {error.strerror}", 1)
    except Interrupted as error:
        return error.status
    except (click.Abort, KeyboardInterrupt):
        return 128 + signal.SIGINT


def _interrupt(number: int, _frame: FrameType | None) -> None:
    raise Interrupted(number)


def _fail(message: str, status: int) -> int:
    print(f"lull: {' '.join(message.split())}", file=sys.stderr)
    return status


class Commands(click.Group):
    """Commands whose output may be cut off: click would leave with 1 at a closed pipe."""

    def invoke(self, context: click.Context) -> Any:  # noqa: ANN401 - whatever a command returns
        """Run the command that the context holds."""
        try:
            return super().invoke(context)
        except BrokenPipeError:
            raise ReaderGone from None


@click.group(cls=Commands,
             context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="lull %(version)s")
def cli() -> None:
    """Let DPDK loops rest without breaking their latency promise.

    Start with 'lull demo': it shows on this machine what resting saves and what it costs.
    """


@cli.command(short_help="Compare governors on this machine.")
@click.option("--duration", type=float, default=demo_settings.DURATION_S, show_default=True,
              metavar="S", help="Duration of the whole demo, in seconds.")
@click.option("--governors", default=",".join(demo_settings.GOVERNORS), show_default=True,
              metavar="A,B", help="Governors to compare.")
@click.option("--phases", default=",".join(phase.name for phase in demo_settings.PHASES),
              show_default=True, metavar="A,B", help="Phases of the demo, by kind of traffic.")
@click.option("--max-latency", type=float, default=demo_settings.MAX_LATENCY_US, show_default=True,
              metavar="US", help="Objective: largest added latency at p99, in microseconds.")
@click.option("--sched-policy", type=click.Choice(demo_settings.SCHED_POLICIES),
              help="Scheduling class of the loop's thread; see 'lull-fwd --help'.  "
                   "[default: lull-fwd's own]")
@click.option("--json", "as_json", is_flag=True,
              help="Print only the result, as JSON on standard output.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False),
              default=demo_settings.OUT, show_default=True, metavar="DIR",
              help="Folder for result.json and report.html.")
@click.option("--root", type=click.Path(path_type=Path), default="/", hidden=True)
def demo(duration: float, governors: str, phases: str, max_latency: float,
         sched_policy: str | None, as_json: bool, out: Path, root: Path) -> None:
    """Compare governors on this machine, with traffic made in memory.

    Starts one lull-fwd and sends it idle, low, medium, high and bursty traffic. The governors
    take turns. In the last phase a busy program runs on the same CPU. Needs no network card, no
    hugepages and no configuration.
    """
    settings = demo_settings.plan(
        duration, demo_settings.choose_governors(_names(governors)),
        demo_settings.choose_phases(_names(phases)), max_latency, sched_policy or "")
    executable = find_program("lull-fwd")
    json_path, html_path = out / "result.json", out / "report.html"
    atomic.check_writable(out)
    pace, tree = RealPace(), Tree(root)
    arguments = ["--traffic", "off", "--ring", str(settings.ring_pkts),
                 "--governor", settings.governors[0], "--stats", "0"]
    if sched_policy:
        arguments += ["--sched-policy", sched_policy]
    try:
        with at_large(), Child(executable, arguments, pace) as child:
            telemetry = child.connect()
            with telemetry:
                try:
                    outcome = _demonstrate(telemetry, settings, as_json, tree)
                except TelemetryError:
                    child.check()  # says why the program ended, when it has
                    raise
    except Interrupted as error:
        raise LullError("interrupted: lull-fwd was stopped, and there is no result",
                        error.status) from None
    result.save(outcome, json_path)
    from lull.demo import report  # takes a second to load: not before it is needed

    report.save(outcome, html_path)
    if as_json:
        sys.stdout.write(result.to_json(outcome))
        return
    console = Console(highlight=False)
    result_table.print_result(outcome, console)
    console.print(f"\n[dim]figures[/]  {json_path}\n[dim]report [/]  {html_path}", soft_wrap=True)


def _demonstrate(telemetry: Telemetry, settings: demo_settings.Settings, as_json: bool,
                 tree: Tree) -> result.Result:
    info = telemetry.info()
    spare = step_aside(telemetry.loops(info))
    pace, energy = RealPace(), EnergyMeter(tree)
    stream = sys.stderr if as_json else sys.stdout

    def run(view: View) -> list[result.Sample]:
        return Demo(telemetry, settings, view, pace, energy, tree).run()

    if stream.isatty():
        with LiveView(Console(file=stream, highlight=False), spare) as view:
            samples = run(view)
    else:
        samples = run(SilentView() if as_json else PlainView(stream))
    return result.Result(
        machine=describe(tree, info.dpdk, info.version, CHECKOUT), settings=settings,
        runs=result.summarise(samples, settings), samples=samples)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()] or [""]


@cli.command(context_settings={"ignore_unknown_options": True},
             short_help="Start lull-fwd with a configuration and watch it.")
@click.argument("config", type=click.Path(path_type=Path))
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
@click.option("--program", default="lull-fwd", show_default=True, help="Program to run.")
@click.option("--interval", type=click.FloatRange(0.1, 60), default=1.0, show_default=True,
              metavar="S", help="Time between two updates, in seconds.")
def run(config: Path, options: tuple[str, ...], program: str, interval: float) -> int:
    """Start lull-fwd with a configuration file and watch it; Ctrl-C ends both.

    Further OPTIONS go to the program.
    """
    if not config.is_file():
        raise LullError(f"{config}: no such file; write one: 'man {program}' lists the keys")
    pace = RealPace()
    with Child(find_program(program), ["--config", str(config), "--stats", "0", *options],
               pace) as child:
        try:
            with child.connect() as telemetry:
                loops_view.watch(telemetry, pace, sys.stdout, interval, check=child.check)
        except LullError:
            # Its socket closes a moment before it is gone.
            status = child.ended(within_s=1.0)
            if status is None:
                raise
            if status != 0:
                raise child.failure(status) from None
        except Interrupted:
            return child.stop()
    return 0


@cli.command("wrap", context_settings={"allow_interspersed_args": False},
             short_help="Run any DPDK program with the plugin.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED,
                metavar="-- COMMAND [ARGUMENT]...")
@click.option("--mode", type=click.Choice(plugin_settings.MODES),
              help="on: rest. shadow: only compute the rests. passive: only measure how busy "
                   "the threads are.  [default: on]")
@click.option("--governor", type=click.Choice(plugin_settings.GOVERNORS),
              help="Policy that decides how long threads rest.  [default: objective]")
@click.option("--max-latency", metavar="US",
              help="Objective: largest added latency at the percentile, in microseconds.  "
                   "[default: 100]")
@click.option("--percentile", metavar="P", help="Percentile of the objective.  [default: 99]")
@click.option("--loss", type=click.Choice(plugin_settings.LOSSES),
              help="Whether a rest may lose packets.  [default: zero]")
@click.option("--max-rest", metavar="US",
              help="Longest rest, in microseconds; the program may have other work.  "
                   "[default: 100]")
@click.option("--rest", metavar="US",
              help="fixed: length of a rest; metronome: mean pause of a queue; in microseconds.  "
                   "[default: 50]")
@click.option("--pps-max", metavar="PPS",
              help="Largest arrival rate, for --loss zero: auto, link, learned or packets/s.  "
                   "[default: auto]")
@click.option("--kalman-step", metavar="US",
              help="kalman governors: step by which a rest grows, in microseconds.  "
                   "[default: 10]")
@click.option("--kalman-tolerance", metavar="PERCENT",
              help="kalman governors: loss of speed to ignore, in percent.  [default: 1]")
@click.option("--kalman-row", metavar="BYTES",
              help="kalman governors: packet sizes per row of the record table, in bytes.  "
                   "[default: 10]")
@click.option("--kalman-window", metavar="MS",
              help="kalman governors: window over which sizes and speeds are estimated, in "
                   "milliseconds.  [default: 10]")
@click.option("--kalman-layout", type=click.Choice(plugin_settings.LAYOUTS),
              help="kalman governors: layout of the record table.  [default: linked]")
@click.option("--sched-policy", type=click.Choice(plugin_settings.POLICIES),
              help="Scheduling class of threads that rest.  [default: other]")
@click.option("--unseen", type=click.Choice(plugin_settings.UNSEEN),
              help="What threads do beside work that the plugin cannot see.  [default: stay]")
@click.option("--config", type=click.Path(), metavar="FILE",
              help="YAML file with these options as keys; options on the command line win.")
@click.option("--report", type=click.Path(), metavar="FILE",
              help="Destination of the final report: FILE, - or none.  [default: - (stderr)]")
@click.option("--plugin", type=click.Path(path_type=Path), metavar="FILE",
              help="Plugin to load, unchecked.  [default: the one for the program's DPDK]")
@click.option("--memory", type=click.Choice(["auto", "as-is"]), default="auto", show_default=True,
              help="auto: without free hugepages, add the arguments that EAL needs. as-is: never.")
@click.option("--no-place", is_flag=True,
              help="Do not change the arguments; the program gets '-d PLUGIN' in another way.")
@click.option("--live", is_flag=True,
              help="Show the loops while the program runs, and its output afterwards.")
@click.option("--interval", type=click.FloatRange(0.1, 60), default=1.0, show_default=True,
              metavar="S", help="Time between two updates of --live, in seconds.")
@click.option("--print", "only_print", is_flag=True,
              help="Print the command line and run nothing.")
@click.option("--root", type=click.Path(path_type=Path), default="/", hidden=True)
@click.pass_obj
def wrap_command(ignored: list[signal.Signals], /, command: tuple[str, ...],
                 plugin: Path | None, memory: str, no_place: bool, live: bool, interval: float,
                 only_print: bool, root: Path, **asked: str | None) -> int:
    """Run any DPDK program, unmodified, with the plugin: its threads rest when they can.

    The program gets '-d PLUGIN' as its first argument and the settings in its environment.
    Signals, terminal and exit status are those of the program. Without free hugepages it also
    gets '--no-huge -m 1024' or '--in-memory', unless its arguments have a memory option. lull
    top, show, explain and set work on it.

    lull wrap --max-latency 50 -- dpdk-testpmd -l 0-1 -- --forward-mode=mac
    """
    settings = {key.replace("_", "-"): value for key, value in asked.items()}
    before = wrap.own_environment(os.environ)
    environment = plugin_settings.environment(settings, before)
    if not no_place:
        wrap.refuse_launcher(command)
    executable = wrap.resolve(command[0])
    arguments, remarks = command, []
    if plugin is not None or not no_place:
        try:
            path, remark = plugin_file.choose(plugin, executable, before)
            remarks.append(remark)
            if not no_place:
                as_is = memory == "as-is"
                more, remark = ((), "") if as_is else hugepages.added(command, Tree(root))
                arguments = wrap.place(command, path, more)
                remarks.append(remark)
        except program_dpdk.Unwrapped as why:
            remarks.append(f"{why}; running it without the plugin")
            environment = before
    for remark in filter(None, remarks):
        print(f"lull: {remark}", file=sys.stderr)
    if only_print:
        print(plugin_settings.shell_line(arguments, before, environment))
        return 0
    wrapped = wrap.Wrapped(executable, arguments, environment, ignored)
    return wrap_live.run(wrapped, interval) if live else wrap.become(wrapped)


@cli.command(short_help="Watch a running program.")
@choosing
@click.option("--interval", type=click.FloatRange(0.1, 60), default=1.0, show_default=True,
              metavar="S", help="Time between two updates, in seconds.")
@click.option("--count", type=click.IntRange(1), metavar="N",
              help="End after this number of updates.  [default: no limit]")
def top(pid: int | None, socket: Path | None, program: str | None, interval: float,
        count: int | None) -> None:
    """Watch a running program: CPU, rests, waits and verdict of each loop."""
    with connect(Choice(pid, socket, program)) as telemetry:
        try:
            loops_view.watch(telemetry, RealPace(), sys.stdout, interval, count)
        except Interrupted as error:
            if error.status != 128 + signal.SIGINT:
                raise


@cli.command(short_help="Show a running program once.")
@choosing
@click.option("--interval", type=click.FloatRange(0.05, 60), default=0.5, show_default=True,
              metavar="S", help="Time over which rates are measured, in seconds.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def show(pid: int | None, socket: Path | None, program: str | None, interval: float,
         as_json: bool) -> None:
    """Show a running program once: settings and loops."""
    pace = RealPace()
    with connect(Choice(pid, socket, program)) as telemetry:
        seen = loops_view.Watch(telemetry)
        pace.sleep(interval)
        seen.look()
        settings = telemetry.settings()
        if as_json:
            print(_json(loops_view.as_data(seen, settings)))
            return
        console = Console(highlight=False)
        console.print(loops_view.render(seen, console.width))
        words = "  ".join(f"[dim]{key}[/] {value}" for key, value in settings.items())
        console.print(f"\n {words}")


@cli.command(short_help="Say why a loop rests as it does.")
@choosing
@click.argument("loop", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
def explain(pid: int | None, socket: Path | None, program: str | None, loop: str | None,
            as_json: bool) -> None:
    """Say why a running loop rests as it does, and what it promises."""
    with connect(Choice(pid, socket, program)) as telemetry:
        info = telemetry.info()
        if loop is not None and loop not in info.loops:
            raise _no_loop(loop, info)
        if not info.loops:
            raise LullError(f"{info.program} (pid {info.pid}): {loops_view.NOBODY_POLLS}")
        loops = [telemetry.loop(name) for name in ([loop] if loop else info.loops)]
        chosen = [one for one in loops if loop or one.kind != "traffic"] or loops
        if as_json:
            print(_json({one.name: telemetry.explain(one.name).model_dump() for one in chosen}))
            return
        console = Console(highlight=False)
        for one in chosen:
            explain_view.print_explain(one, telemetry.explain(one.name), console)


@cli.command("set", short_help="Change settings of a running program.")
@choosing
@click.argument("changes", nargs=-1, required=True, metavar="[GOVERNOR] [KEY=VALUE]...")
@click.option("--loop", default="", metavar="NAME", help="Change only this loop.")
def set_command(pid: int | None, socket: Path | None, program: str | None,
                changes: tuple[str, ...], loop: str) -> None:
    """Change settings of a running program; changes take effect within one rest.

    'lull set objective max-latency=200' is short for governor=objective max-latency=200.
    """
    pairs = [("governor", change) if index == 0 and "=" not in change else _pair(change)
             for index, change in enumerate(changes)]
    with connect(Choice(pid, socket, program)) as telemetry:
        info = telemetry.info()
        if loop and loop not in info.loops:
            raise _no_loop(loop, info)
        before = telemetry.settings()
        done: list[str] = []
        for key, value in pairs:
            try:
                telemetry.set(key, value, loop)
            except LullError as error:
                if done:
                    raise LullError(f"{error} (already set: {', '.join(done)})") from None
                raise
            done.append(f"{key}={value}")
            old = before.get(key)
            was = f" (was {old})" if old not in (None, value) and not loop else ""
            where = f" of {loop}" if loop else ""
            print(f"{info.program} {info.pid}: {key}{where} = {value}{was}")


def _pair(change: str) -> tuple[str, str]:
    key, equals, value = change.partition("=")
    if not equals or not key:
        raise LullError(f"{change}: not KEY=VALUE, as in max-latency=200", 2)
    return key, value


def _no_loop(name: str, info: Info) -> LullError:
    return LullError(f"{info.program} (pid {info.pid}) has no loop {name}: "
                     f"it has {', '.join(info.loops)}")


@cli.command("report", short_help="Draw a result as one HTML page.")
@click.argument("source", type=click.Path(path_type=Path), metavar="RESULT.json")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False),
              metavar="FILE", help="File for the page; - is standard output.  "
              "[default: report.html beside the result]")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Instead of the page, draw the picture of phase shared: .png, .svg or .pdf.")
@click.option("--markdown", "markdown_part", type=click.Choice(list(markdown.PARTS)),
              help="Instead of the page, print one table as Markdown.")
def report_command(source: Path, output: Path | None, plot: Path | None,
                   markdown_part: str | None) -> None:
    """Draw the result of a demo as one HTML page that needs no other file."""
    outcome = result.load(source)
    if plot is not None:
        from lull import drawing  # takes a second to load
        from lull.demo import shared_plot

        drawing.check_path(plot)
        shared_plot.save(outcome, plot)
    if markdown_part is not None:
        sys.stdout.write(markdown.PARTS[markdown_part](outcome))
    if plot is not None or markdown_part is not None:
        return
    from lull.demo import report  # takes a second to load: not before it is needed

    if output == Path("-"):
        sys.stdout.write(report.render(outcome))
        return
    path = output or source.parent / "report.html"
    report.save(outcome, path)
    print(path)


@cli.command("doctor", short_help="Check this machine.")
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
@click.option("--root", type=click.Path(path_type=Path), default="/", hidden=True)
def doctor_command(as_json: bool, root: Path) -> int:
    """Check what helps or hinders resting on this machine, with a remedy for each problem."""
    checks = doctor.examine(Tree(root), RealPace(), sleep_probe.measure_sleeps,
                            doctor.installed_dpdk)
    if as_json:
        print(doctor_view.to_json(checks))
    else:
        doctor_view.print_checks(checks, Console(highlight=False))
    return 1 if any(check.status == "fail" for check in checks) else 0


for command in (*sim_commands.COMMANDS, model_commands.model_group, flow_commands.flow,
                view_command.view, camera_latency_commands.camera, channel_commands.channel,
                mpi_commands.mpi):
    cli.add_command(command)


def _json(value: object) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False)
