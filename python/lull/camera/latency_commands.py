# SPDX-License-Identifier: BSD-3-Clause
"""Camera commands: `lull camera latency` as users type it."""

import os
import shlex
import sys
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from lull import __version__, atomic
from lull.camera import latency_table as camera_latency_table
from lull.camera.latency import (
    RECEIVERS,
    XDP,
    Report,
    Settings,
    conclude,
)
from lull.camera.latency_run import IP_UDP_BYTES, Bench, Programs, aside
from lull.camera.latency_wire import Wire
from lull.document import DocumentError
from lull.errors import LullError
from lull.program.child import CHECKOUT, find_program
from lull.program.machine import describe
from lull.program.pace import RealPace
from lull.program.tree import Tree
from lull.sim.simulation import progress_bar

# AF_XDP takes no larger packets on veth; and slots of a ring for jumbo packets are few.
MTU_USUAL, MTU_JUMBO = 3498, 9000
CAMERAS_MAX = 32
PIXELS = {"rfc4175": "uyvy8"}
PIXEL = "bayer-rg12p"


@click.group("camera", short_help="Measure the latency of camera pictures.")
def camera() -> None:
    """Measure the receiving of camera pictures."""


@camera.command(short_help="Compare the latency of receivers.")
@click.option("--cameras", default="1,8", show_default=True, metavar="N,N",
              help="Numbers of cameras to measure with.")
@click.option("--receivers", default=",".join(Settings().receivers), show_default=True,
              metavar="A,B", help=f"Receivers to compare, of {', '.join(RECEIVERS)}.")
@click.option("--protocol", type=click.Choice(["gvsp", "rfc4175"]), default="gvsp",
              show_default=True, help="Protocol of the packets.")
@click.option("--width", type=click.IntRange(1, 65535), default=1920, show_default=True,
              help="Width of a picture, in pixels.")
@click.option("--height", type=click.IntRange(1, 65535), default=1280, show_default=True,
              help="Height of a picture, in pixels.")
@click.option("--pixel", metavar="NAME",
              help="Pixel format.  [default: bayer-rg12p; uyvy8 with rfc4175]")
@click.option("--rate", type=click.FloatRange(1, 10_000), default=30.0, show_default=True,
              metavar="FPS", help="Frames per second of each camera.")
@click.option("--packet", type=click.IntRange(128, MTU_JUMBO - IP_UDP_BYTES), default=2880,
              show_default=True, metavar="BYTES", help="Largest UDP payload of a packet.")
@click.option("--pace", default="burst", show_default=True, metavar="SPEC",
              help="Spacing of the packets of a frame: burst, spread:TIME or rate:BITS.")
@click.option("--stagger", default="0", show_default=True, metavar="TIME",
              help="Delay of each camera's frames after those of the previous camera.")
@click.option("--duration", "seconds", type=click.FloatRange(0.1, 3600), default=4.0,
              show_default=True, metavar="S", help="Duration of each round, in seconds.")
@click.option("--rounds", type=click.IntRange(1, 1000), default=5, show_default=True,
              metavar="N", help="Rounds of each receiver; the receivers take turns.")
@click.option("--cpus", metavar="SEND,RECEIVE",
              help="CPU of the sender and CPU of the receiving thread.  [default: the first two]")
@click.option("--nice", type=click.IntRange(-20, 19), default=0, show_default=True,
              help="Nice value of sender and receivers.")
@click.option("--mtu", type=click.IntRange(576, 65535), metavar="BYTES",
              help="MTU of the veth pair.  "
                   f"[default: {MTU_USUAL} when packets fit, else {MTU_JUMBO}]")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True,
              help="Seed of the sender.")
@click.option("--json", "json_path", is_flag=False, flag_value="-", metavar="[FILE]",
              help="Write everything as JSON, to FILE or standard output.")
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Draw a picture: .png, .svg or .pdf.")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
              help="Write everything as a page: .html or .md.")
@click.option("--from", "source", type=click.Path(path_type=Path), metavar="FILE",
              help="Run nothing: show and draw a file that --json wrote.")
def latency(json_path: str | None, plot: Path | None, output: Path | None, source: Path | None,
            **asked: Any) -> None:  # noqa: ANN401 - options of all kinds
    """Measure how long after its last packet the application has a picture, by several receivers.

    One sender sends the same pictures to each receiver. The receivers take turns in short rounds,
    so that a slow moment of the machine affects all of them. Needs root: makes two network
    namespaces with a veth pair between them, and removes them afterwards. A round in which the
    host or another program used the receiver's CPU is INVALID: shown, but left out of the medians.
    """
    if plot is not None:
        from lull import drawing  # takes a second to load: not before it is needed

        drawing.check_path(plot)
    if output is not None:
        from lull.camera import latency_page as camera_latency_page

        camera_latency_page.check_path(output)
    if json_path and json_path != "-":
        atomic.check_target(Path(json_path))
    report = load(source) if source else measure(settings(asked))
    text = report.model_dump_json(indent=1) + "\n"
    if json_path and json_path != "-":
        atomic.write(Path(json_path), text)
    if plot is not None:
        from lull.camera import latency_plot as camera_latency_plot

        drawing.save(camera_latency_plot.picture(report), plot)
    if output is not None:
        camera_latency_page.save(report, output)
    if json_path == "-":
        sys.stdout.write(text)
    else:
        console = Console(highlight=False)
        # A table that is cut off is worse than one that wraps.
        console.width = max(console.width, camera_latency_table.WIDTH)
        camera_latency_table.show(report, console)


# ---- what was asked for ----


def settings(asked: dict[str, Any]) -> Settings:
    """Options, checked as far as they can be before the programs look at them."""
    receivers = _words(asked["receivers"])
    unknown = [name for name in receivers if name not in RECEIVERS]
    if unknown:
        raise LullError(f"--receivers: '{unknown[0]}' is not one of {', '.join(RECEIVERS)}", 2)
    mtu = asked["mtu"] or (MTU_USUAL if asked["packet"] + IP_UDP_BYTES <= MTU_USUAL else MTU_JUMBO)
    if asked["packet"] + IP_UDP_BYTES > mtu:
        raise LullError(f"--packet: {asked['packet']} bytes do not fit into --mtu {mtu}, which "
                        f"has room for {mtu - IP_UDP_BYTES}", 2)
    if XDP in receivers and mtu > MTU_USUAL:
        raise LullError(f"--receivers: {XDP} takes an --mtu of at most {MTU_USUAL}, and so a "
                        f"--packet of at most {MTU_USUAL - IP_UDP_BYTES}", 2)
    send, receive = _cpus(asked["cpus"])
    return Settings(
        cameras=_numbers("--cameras", asked["cameras"], 1, CAMERAS_MAX), receivers=receivers,
        pixel=asked["pixel"] or PIXELS.get(asked["protocol"], PIXEL), mtu=mtu, send_cpu=send,
        receive_cpu=receive,
        **{key: asked[key] for key in ("protocol", "width", "height", "rate", "packet", "pace",
                                       "stagger", "seconds", "rounds", "nice", "seed")})


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip())) or [""]


def _numbers(option: str, text: str, low: int, high: int) -> list[int]:
    words = _words(text)
    if not all(word.isdecimal() and low <= int(word) <= high for word in words):
        raise LullError(f"{option}: {text} is not a list of numbers from {low} to {high}", 2)
    return [int(word) for word in words]


def _cpus(text: str | None) -> tuple[int, int]:
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        raise LullError("needs two CPUs, one to send and one to receive: this process may use only "
                        f"CPU {allowed[0]}")
    if text is None:
        return allowed[0], allowed[1]
    chosen = _numbers("--cpus", text, 0, allowed[-1])
    if len(chosen) != 2:
        raise LullError(f"--cpus: {text} is not a pair of different CPUs, such as 0,1", 2)
    for cpu in chosen:
        if cpu not in allowed:
            raise LullError(f"--cpus: this process may not use CPU {cpu}, only "
                            f"{', '.join(map(str, allowed))}", 2)
    return chosen[0], chosen[1]


# ---- where a report comes from ----


def measure(chosen: Settings) -> Report:
    """All rounds, on this machine."""
    programs = Programs(find_program("lull-cam"), find_program("lull-cam-source"))
    tree = Tree(Path("/"))
    total = chosen.rounds * len(chosen.cameras) * len(chosen.receivers)
    progress, task = progress_bar(total, "measuring")

    def advance(detail: str) -> None:
        progress.update(task, advance=1, detail=detail)

    with Wire(chosen.mtu) as wire:
        bench = Bench(chosen, programs, wire, RealPace(), tree,
                      frozenset(os.sched_getaffinity(0)))
        with aside(bench.cpus_used()), progress:
            rounds = list(bench.rounds(advance))
    dpdk = f"DPDK {bench.dpdk}" if bench.dpdk else ""
    return conclude(chosen, describe(tree, dpdk, __version__, CHECKOUT), rounds,
                    shlex.join(["lull", *sys.argv[1:]]))


def load(path: Path) -> Report:
    """What --json wrote; conclusions are drawn anew."""
    try:
        found = Report.model_validate_json(path.read_bytes())
    except OSError as error:
        raise LullError(f"{path}: {error.strerror}; give a file that "
                        "'lull camera latency --json FILE' wrote") from None
    except DocumentError as error:
        raise LullError(f"{path}: {error}; give a file that "
                        "'lull camera latency --json FILE' wrote") from None
    return conclude(found.settings, found.machine, found.rounds, found.command)
