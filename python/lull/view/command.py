# SPDX-License-Identifier: BSD-3-Clause
"""View command: lull view, as users type it."""

from itertools import pairwise
from pathlib import Path

import click

from lull.errors import LullError
from lull.program.child import find_program

LISTEN = "127.0.0.1:8080"
KINDS = ("auto", "gstreamer", "ffmpeg", "aravis", "lull")
DEMO_CAMERAS = 2


@click.command(context_settings={"ignore_unknown_options": True},
               short_help="Show cameras in the browser, live.")
@click.option("--demo", "kind", is_flag=False, flag_value="auto", type=click.Choice(KINDS),
              metavar="[SENDER]",
              help="Start a sender on loopback, for use without a camera. "
              f"One of {', '.join(KINDS[1:])}.  [default: gstreamer if installed, or lull]")
@click.option("--cameras", type=click.IntRange(1, 64), metavar="N",
              help="Number of cameras: in the demo (2), or like the one --stream (1).")
@click.option("--lose", type=click.FloatRange(0, 100), default=0.0, metavar="PERCENT",
              help="Share of packets that the demo's sender loses (gstreamer, lull).  [default: 0]")
@click.option("--socket", "attach", type=click.Path(path_type=Path), metavar="PATH",
              help="Show a lull-cam that was started with --view PATH.")
@click.option("--listen", default=LISTEN, show_default=True, metavar="ADDRESS:PORT",
              help="Address of the page; port 0 takes a free port.")
@click.option("--open", "open_browser", is_flag=True, help="Open the page in a browser.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[LULL-CAM OPTION]...")
def view(kind: str | None, cameras: int | None, lose: float, attach: Path | None,
         listen: str, open_browser: bool, options: tuple[str, ...]) -> int:
    """Show cameras in the browser: live pictures, missing bytes, rates, latency, CPU.

    Options of lull-cam choose what is received:

    \b
    lull view --demo
    lull view --backend kernel:eth0 --control 192.168.1.10
    lull view --backend dpdk:af_packet=eth0 --stream protocol=rfc4175,port=5004,...
    """
    from lull.view import demo as view_demo  # take a while to load: not before they are needed
    from lull.view import run as view_run

    arguments = list(options)
    if attach is not None:
        if arguments or kind is not None or cameras is not None:
            raise LullError("--socket shows a lull-cam that runs already: leave out its options", 2)
        return view_run.run(view_run.Request(listen, open_browser, attach=attach))
    _refuse_output(arguments)
    demo = None
    if kind is not None:
        if cameras is not None and cameras > view_demo.CAMERAS_MOST:
            raise LullError(f"--cameras {cameras}: at most {view_demo.CAMERAS_MOST} in a demo", 2)
        demo = view_demo.plan(kind, cameras or DEMO_CAMERAS if kind != "aravis" else cameras or 1,
                              lose)
        arguments = [*demo.receiver, *arguments]
    elif not arguments:
        raise LullError("nothing to show: name cameras with options of lull-cam (--backend, "
                        "--stream, --control), or try 'lull view --demo'", 2)
    elif cameras is not None:
        arguments += ["--cameras", str(cameras)]
    if lose > 0 and demo is None:
        raise LullError("--lose: only senders of --demo lose packets", 2)
    return view_run.run(view_run.Request(listen, open_browser, receiver=find_program("lull-cam"),
                                         arguments=arguments, demo=demo))


def _refuse_output(arguments: list[str]) -> None:
    """What lull-cam prints goes nowhere: a file is wanted."""
    for option, value in pairwise(["", *arguments, ""]):
        if option in ("--json", "--missing") and value == "-":
            raise LullError(f"{option} -: name a file", 2)
        if option in ("--json=-", "--missing=-"):
            raise LullError(f"{option}: name a file", 2)
