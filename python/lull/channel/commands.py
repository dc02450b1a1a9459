# SPDX-License-Identifier: BSD-3-Clause
"""Channel commands: `lull channel ...` as users type them."""

import os
import signal
import sys

import click

from lull.channel.bed_commands import bed
from lull.channel.key import write_key
from lull.channel.watch_commands import status, top
from lull.program.child import find_program
from lull.wrap import wrap


class Passed(click.Command):
    """A command that is a program: all that follows its name is the program's, --help too."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take nothing for an option of our own."""
        return super().parse_args(ctx, ["--", *args])


@click.group("channel", short_help="Bundle network cards into one reliable link.")
def channel() -> None:
    """Bundle the network cards of a node into one reliable link to other nodes.

    Nodes share a key; 'lull channel key > FILE' makes one. 'perf' measures a link and 'copy' moves
    files over it.
    """


@channel.command(short_help="Make a key file.")
def key() -> None:
    """Print a new key file: 32 random bytes.

    lull channel key > channel.key

    A file is closed to group and others, as a channel refuses a key that others may read. Copy it
    to each node over a way that nobody else reads. To change keys, put the new line below the old
    one on all nodes, later above it, and take the old line away in the end.
    """
    remark = write_key(sys.stdout)
    if remark:
        print(f"lull: {remark}", file=sys.stderr)


@channel.command(cls=Passed, add_help_option=False, short_help="Measure a link between two nodes.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[OPTION]...")
@click.pass_obj
def perf(ignored: list[signal.Signals], options: tuple[str, ...]) -> None:
    """Become lull-channel-perf."""
    _become("lull-channel-perf", options, ignored)


@channel.command(cls=Passed, add_help_option=False, short_help="Copy files to another node.")
@click.argument("options", nargs=-1, type=click.UNPROCESSED, metavar="[OPTION]... [FILE]...")
@click.pass_obj
def copy(ignored: list[signal.Signals], options: tuple[str, ...]) -> None:
    """Become lull-channel-copy."""
    _become("lull-channel-copy", options, ignored)


for command in (bed, status, top):
    channel.add_command(command)


def _become(name: str, options: tuple[str, ...], ignored: list[signal.Signals]) -> None:
    """Turn into the program: its signals, its terminal, its exit status."""
    executable = find_program(name)
    wrap.become(wrap.Wrapped(executable, (name, *options), wrap.own_environment(os.environ),
                             ignored))
