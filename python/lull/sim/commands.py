# SPDX-License-Identifier: BSD-3-Clause
"""Simulation commands: sim, scoreboard and reproduce, as users type them."""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console

from lull import __version__, atomic
from lull.program.child import find_program
from lull.reproduce.run import Bench
from lull.sim import request as sim_request
from lull.sim import scoreboard as scoreboard_judgement
from lull.sim import scoreboard_cells, scoreboard_objective, scoreboard_store
from lull.sim import table as sim_table
from lull.sim.simulation import Pool, progress_bar

PROGRAM = "lull-sim"
SWEEP = "2us-1ms,64"
JOBS = click.option("--jobs", type=click.IntRange(1), metavar="N",
                    help="Simulations that run at a time.  [default: one per core]")


@click.command(context_settings={"ignore_unknown_options": True},
               short_help="Simulate governors on your traffic.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
@click.option("--traffic", multiple=True, metavar="SPEC",
              help="Traffic, such as poisson:300k; see 'man 7 lull'. Repeat it for a sweep.")
@click.option("--pcap", type=click.Path(), metavar="FILE",
              help="Replay this capture instead of --traffic.")
@click.option("--traffic-size", metavar="SIZE",
              help="Packet size on the wire with CRC, in bytes, or SIZE:WEIGHT,...  [default: 64]")
@click.option("--governor", default=",".join(sim_request.GOVERNORS), show_default=True,
              metavar="A,B", help="Governors to compare, such as fixed:50us,ramp,objective.")
@click.option("--link", metavar="BPS",
              help="Rate of the link, in bit/s; a list or range makes a sweep.  [default: none]")
@click.option("--objective", "--max-latency", metavar="TIME",
              help="Largest added latency; a list or range makes a sweep.  [default: 200us]")
@click.option("--load", metavar="PERCENT",
              help="Mean rate, as a share of the capacity; a list or range makes a sweep.")
@click.option("--machine", metavar="NAME",
              help="Set of costs: guest, metal, paper, noisy, shared.  [default: guest]")
@click.option("--ring", metavar="N", help="Descriptors of the Rx ring.  [default: 1024]")
@click.option("--seed", metavar="N", help="The same seed gives the same run.  [default: 1]")
@click.option("--duration", metavar="TIME",
              help="Simulated time.  [default: 1s, or the length of the capture]")
@click.option("--json", "json_path", is_flag=False, flag_value="-", metavar="[FILE]",
              help="Write everything as JSON, to FILE or standard output.")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Draw a picture: .png, .svg or .pdf.")
@JOBS
def sim(options: tuple[str, ...], traffic: tuple[str, ...], pcap: str | None, governor: str,
        json_path: str | None, plot: Path | None, jobs: int | None,
        **asked: str | None) -> None:
    """Simulate governors in virtual time: what would resting do to this traffic?

    --link, --objective and --load take lists (A,B) and ranges (LOW-HIGH:COUNT); --traffic may be
    repeated. All combinations run, on all cores. Further OPTIONS go to lull-sim.

    lull sim --traffic poisson:300k --governor spin,ramp,objective --objective 50us-1ms:8
    """
    given = {key: value or "" for key, value in asked.items()}
    request = sim_request.Request(
        governors=tuple(name.strip() for name in governor.split(",")), traffic=traffic,
        pcap=pcap or "", size=given.pop("traffic_size"), link=given.pop("link"),
        objective=given.pop("objective"), load=given.pop("load"), machine=given.pop("machine"),
        single=given, further=options)
    if plot is not None:
        from lull import drawing  # take a second to load: not before they are needed
        from lull.sim import plot as sim_plot

        drawing.check_path(plot)
    outcomes = _simulate(request, jobs)
    if plot is not None:
        sim_plot.draw(outcomes, plot)
    if json_path == "-":
        sys.stdout.write(sim_request.to_json(__version__, outcomes))
        return
    if json_path:
        atomic.write(Path(json_path), sim_request.to_json(__version__, outcomes))
    sim_table.print_outcomes(outcomes, Console(highlight=False))


def _simulate(request: sim_request.Request, workers: int | None) -> list[sim_request.Outcome]:
    with Pool(find_program(PROGRAM), workers) as pool:

        def capacity() -> float:
            return capacity_of(pool, request.machine)

        found = sim_request.points(request, capacity)
        work = sim_request.jobs(request, found)
        return sim_request.gather(request, found, run_all(pool, work, "simulating"))


def capacity_of(pool: Pool, machine: str) -> float:
    """Packets/s that the simulated thread can handle."""
    return sim_request.capacity_pps(describe(pool, machine))


def describe(pool: Pool, machine: str) -> str:
    """What lull-sim says of a machine."""
    return pool.one(("--describe-machine", machine or sim_request.MACHINE, "--json", "-"))


def run_all(pool: Pool, work: Sequence[Sequence[str]], what: str) -> list[str]:
    """What each run printed, in their order, with a bar for whoever waits."""
    texts = [""] * len(work)
    progress, task = progress_bar(len(work), what)
    with progress:
        for index, text in pool.run(work):
            texts[index] = text
            progress.advance(task)
    return texts


@click.command(context_settings={"ignore_unknown_options": True},
               short_help="Compare all governors in 400 simulated cases.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
@click.option("--quick", is_flag=True, help="Run only a few cells, as a trial.")
@click.option("--cells", multiple=True, metavar="A,B",
              help="Run only these cells, such as poisson,onoff,10G,50%,100us.")
@click.option("--machine", default=sim_request.MACHINE, show_default=True, metavar="NAME",
              help="Set of costs: guest, metal, paper, noisy, shared.")
@click.option("--world", type=click.Choice(list(scoreboard_cells.WORLDS)), default="plain",
              show_default=True, metavar="NAME",
              help=f"Queues and drivers: {', '.join(scoreboard_cells.WORLDS)}.")
@click.option("--seed", default="1", show_default=True, metavar="N",
              help="The same seed gives the same result.")
@click.option("--traffic-size", default=scoreboard_cells.SIZE, show_default=True, metavar="SIZE",
              help="Packet size on the wire with CRC, in bytes, or SIZE:WEIGHT,...")
@click.option("--duration", default="", metavar="TIME", help="Simulated time of each run.")
@click.option("--sweep-rest", default=SWEEP, show_default=True, metavar="LOW-HIGH,STEPS",
              help="Fixed sleeps that the oracle tries.")
@click.option("--objective-only", is_flag=True,
              help="Run objective beside polling, no other governor and no oracle, and count what "
                   "it promises and keeps. Writes objective.json.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), show_default=True,
              default="out/scoreboard", metavar="DIR", help="Folder for the results.")
@JOBS
def scoreboard(options: tuple[str, ...], quick: bool, cells: tuple[str, ...], machine: str,
               world: str, seed: str, traffic_size: str, duration: str, sweep_rest: str,
               objective_only: bool, out: Path, jobs: int | None) -> None:
    """Compare all governors, and an oracle, in 400 cells of traffic, load, link and objective.

    The oracle is the best of all fixed sleeps. Writes scoreboard.json, scoreboard.html and
    scoreboard.png. Finished cells are kept, so an interrupted scoreboard continues where it
    stopped. Further OPTIONS go to lull-sim.
    """
    chosen = scoreboard_cells.choose((scoreboard_cells.QUICK if quick else ()) + cells)
    atomic.check_writable(out)
    executable = find_program(PROGRAM)
    with Pool(executable, jobs) as pool:
        text = describe(pool, machine)
        duration = duration or scoreboard_cells.duration(sim_request.stall_ns(text))
        setup = scoreboard_cells.Setup(machine, sim_request.capacity_pps(text), seed,
                                       traffic_size, duration, sweep_rest,
                                       (*scoreboard_cells.WORLDS[world], *options))
        work = (scoreboard_objective if objective_only else scoreboard_cells).jobs(chosen, setup)
        store = scoreboard_store.Store(out / "cells.jsonl",
                                       scoreboard_store.version_of(executable))
        progress, task = progress_bar(len(work), "scoreboard")
        with progress:
            store.complete(pool, work, lambda: progress.advance(task))
    if objective_only:
        promises = scoreboard_objective.promises(chosen, setup, store.known)
        atomic.write(out / "objective.json",
                     json.dumps([one.model_dump() for one in promises], indent=1) + "\n")
        for line in scoreboard_objective.summary(promises):
            print(line)
        return
    found = scoreboard_judgement.scores(chosen, setup, store.known)
    from lull.sim import scoreboard_page  # takes a second to load: not before it is needed

    command = ["lull scoreboard", *(["--quick"] if quick else []),
               *(f"--cells {one}" for one in cells), f"--machine {machine}",
               *([f"--world {world}"] if world != "plain" else []), f"--seed {seed}",
               f"--traffic-size {traffic_size} --sweep-rest {sweep_rest}",
               *([f"--duration {duration}"] if duration else []), *options]
    scoreboard_page.save(found, setup, f"lull {__version__}", " ".join(command), out)
    console = Console(highlight=False)
    for one in scoreboard_judgement.statements(found):
        console.print(f"[{'green' if one.holds else 'red'}]{'yes' if one.holds else 'no ':3}[/] "
                      f"{one.text}")
    console.print()
    for line in scoreboard_judgement.summary(found):
        console.print(line)
    console.print(f"\n[dim]page[/]     {out / 'scoreboard.html'}", soft_wrap=True)


@click.group(short_help="Reproduce published results.")
def reproduce() -> None:
    """Reproduce published results, in the simulator and on this machine."""


@reproduce.command(short_help="Reproduce the published sleep model.")
@click.option("--no-live", is_flag=True, help="Only simulate.")
@click.option("--no-sim", is_flag=True, help="Only measure on this machine.")
@click.option("--figures", default="", metavar="A,B",
              help="Only these figures and tables, such as 2,8,20.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, metavar="N",
              help="Seed of the simulations.")
@click.option("--rounds", type=click.IntRange(1), default=8, show_default=True, metavar="N",
              help="Simulations of each run, with a seed each; a statement must hold in all.")
@click.option("--duration", default="1s", show_default=True, metavar="TIME",
              help="Simulated time of each run.")
@click.option("--live-ms", type=click.IntRange(50), default=500, show_default=True, metavar="MS",
              help="Duration of each live run, in milliseconds.")
@click.option("--max-latency", type=click.IntRange(1), default=1100, show_default=True,
              metavar="US", help="Objective of lull's governors at the receiver, in microseconds.")
@click.option("--public-ring", type=click.IntRange(1), default=64, show_default=True, metavar="N",
              help="Room between producer and sender, in packets.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), show_default=True,
              default="out/reproduce-sleep", metavar="DIR", help="Folder for the results.")
@JOBS
def sleep(no_live: bool, no_sim: bool, figures: str, seed: int, rounds: int, duration: str,
          live_ms: int, max_latency: int, public_ring: int, out: Path, jobs: int | None) -> None:
    """Run every figure and table of the published sleep model, simulated and live.

    Writes reproduce.json, reproduce.html and a picture per figure.
    """
    atomic.check_writable(out)
    from lull.reproduce import (
        sleep_command as reproduce_sleep,  # takes a second to load: not before it is needed
    )

    bench = Bench(seed=seed, rounds=rounds, duration=duration, live_ms=live_ms,
                  objective_us=max_latency, public_ring=public_ring)
    reproduce_sleep.run(bench, reproduce_sleep.Choice(not no_sim, not no_live, figures, jobs), out,
                        len(os.sched_getaffinity(0)))


@reproduce.command(short_help="Reproduce the paper about Subflow.")
@click.option("--no-live", is_flag=True, help="Only simulate.")
@click.option("--no-sim", is_flag=True, help="Only measure on this machine.")
@click.option("--figures", default="", metavar="A,B",
              help="Only these figures and Table 1, such as 1,4,6.")
@click.option("--quick", is_flag=True, help="Use fewer loads and packets, as a trial.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, metavar="N",
              help="Seed of the traffic, simulated and live.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), show_default=True,
              default="out/reproduce-dispatch", metavar="DIR", help="Folder for the results.")
@JOBS
def dispatch(no_live: bool, no_sim: bool, figures: str, quick: bool, seed: int, out: Path,
             jobs: int | None) -> None:
    """Run Table 1 and Fig. 2-6 of the paper about Subflow, simulated and live.

    Writes reproduce.json, reproduce.html and a picture per figure. Figures that need more CPUs
    are not testable here; the command that measures them on a larger machine is told.
    """
    atomic.check_writable(out)
    from lull.reproduce import (
        dispatch_command as reproduce_dispatch,  # takes a second to load: not before it is needed
    )
    from lull.reproduce.dispatch_run import QUICK, DispatchBench

    given = {"--quick": quick, "--no-live": no_live, "--no-sim": no_sim}
    command = " ".join(["lull reproduce dispatch", f"--seed {seed}",
                        *(name for name, is_given in given.items() if is_given),
                        *([f"--figures {figures}"] if figures else [])])
    reproduce_dispatch.run(
        replace(QUICK if quick else DispatchBench(), seed=seed),
        reproduce_dispatch.Choice(not no_sim, not no_live, figures, jobs), out,
        len(os.sched_getaffinity(0)), command)


@reproduce.command(short_help="Reproduce what is published of BPCM.")
@click.option("--live", is_flag=True, help="Also measure on this machine, over a test bed; needs "
                                           "root.")
@click.option("--no-sim", is_flag=True, help="Only measure on this machine.")
@click.option("--figures", default="", metavar="A,B",
              help="Only these: 20, 21, 22, steps, rings.")
@click.option("--quick", is_flag=True, help="Use fewer sizes and less time, as a trial.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, metavar="N",
              help="Seed of the simulations.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), show_default=True,
              default="out/reproduce-channel", metavar="DIR", help="Folder for the results.")
@JOBS
def channel(live: bool, no_sim: bool, figures: str, quick: bool, seed: int, out: Path,
            jobs: int | None) -> None:
    """Run what is published of BPCM: eight ports as one, with its governor and with ours.

    Writes reproduce.json, reproduce.html and a picture per figure.
    """
    atomic.check_writable(out)
    from lull.reproduce import (
        channel_command as reproduce_channel,  # takes a second to load: not before it is needed
    )
    from lull.reproduce.channel_run import QUICK as QUICK_CHANNEL
    from lull.reproduce.channel_run import ChannelBench

    given = {"--quick": quick, "--live": live, "--no-sim": no_sim}
    command = " ".join(["lull reproduce channel", f"--seed {seed}",
                        *(name for name, is_given in given.items() if is_given),
                        *([f"--figures {figures}"] if figures else [])])
    reproduce_channel.run(
        replace(QUICK_CHANNEL if quick else ChannelBench(), seed=seed),
        reproduce_channel.Choice(not no_sim, live, figures, jobs), out,
        len(os.sched_getaffinity(0)), command)


COMMANDS: tuple[click.Command, ...] = (sim, scoreboard, reproduce)
