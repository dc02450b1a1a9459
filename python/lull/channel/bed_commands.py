# SPDX-License-Identifier: BSD-3-Clause
"""Bed commands: up, down, show, set and exec, as users type them."""

import json
import os
import re
import shutil
import signal
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table

from lull.channel import bed_plan
from lull.channel.bed import Bed, beds, check_rights
from lull.channel.bed_plan import NODES_MAX, Plan
from lull.channel.bed_wire import PortLook
from lull.errors import LullError
from lull.quantities import si
from lull.wrap import wrap

TABLE_COLUMNS = 110
RAIL = re.compile(r"r(\d+)(?:@([a-e]))?")
ID = click.option("--id", "bed_id", default="0", show_default=True, metavar="ID",
                  help="Name of the bed; several may lie side by side.")


@click.group("bed", short_help="Lay a test bed: nodes, a switch, slow and lossy rails.")
def bed() -> None:
    """Lay, change and remove a test bed on this machine, as root.

    A bed has 2 to 5 nodes, a, b, c, d and e, as network namespaces, and a switch between them. A
    rail has the same device name in every node: r0, r1, ... The switch's port towards a node
    limits the rate of what goes there, and loses it as told.

    sudo lull channel bed up --rails 200M,100M,50M:loss=1%
    """


@bed.command(short_help="Lay a bed.")
@ID
@click.option("--nodes", type=click.IntRange(2, NODES_MAX), default=2, show_default=True,
              help="Nodes.")
@click.option("--rails", default="200M,200M", show_default=True, metavar="RATE[:KEY=VALUE],...",
              help="Rate of each rail in bit/s, or full for no limit. More words of 'set' may "
                   "follow, parted by colons, and nodes=ab for a rail that only these nodes have.")
@click.option("--control", is_flag=True,
              help="One more network without limits: device ctl in every node.")
@click.option("--joined", is_flag=True,
              help="Join all rails at one switch, so that each reaches each.")
@click.option("--offloads", is_flag=True,
              help="Leave segmentation to the wire, as for TCP at full speed. Losses and counters "
                   "are of segments of up to 64 KiB then.")
def up(bed_id: str, nodes: int, rails: str, **more: bool) -> None:
    """Lay a bed, and say what its nodes have.

    Addresses are 10.77.RAIL.NODE: 10.77.1.2 is r1 of node b, and 10.77.255.2 its ctl.
    """
    plan = Plan(id=bed_plan.check_id(bed_id), nodes=nodes, rails=bed_plan.rails(rails), **more)
    laid = Bed.lay(plan)
    for node in plan.names():
        devices = [f"r{i} {laid.address(i, node)}" for i in plan.of(node)]
        devices += [f"ctl {laid.control_address(node)}"] * plan.control
        print(f"node {node}: {', '.join(devices)}")
    print(f"run a program there: lull channel bed exec{_id_words(bed_id)} a COMMAND")


@bed.command(short_help="Remove a bed, and end what runs in it.")
@click.argument("bed_id", metavar="[ID]", default="0")
@click.option("--all", "every", is_flag=True,
              help="Remove all beds, also what a crash has left of one.")
def down(bed_id: str, every: bool) -> None:
    """Remove a bed, and end the programs that run in its nodes."""
    check_rights()
    for one in beds() if every else [Bed.find(bed_plan.check_id(bed_id)).id]:
        Bed(one).remove()


@bed.command(short_help="Change a rail while packets flow.")
@ID
@click.argument("rail", metavar="RAIL[@NODE]")
@click.argument("words", nargs=-1, required=True, metavar="WORD...")
def set(bed_id: str, rail: str, words: tuple[str, ...]) -> None:  # noqa: A001 - as users type it
    """Change a rail while packets flow; with @NODE only what goes to this node.

    \b
    rate=RATE          bits per second, such as 50M; full: no limit
    loss=PERCENT       packets lost at random
    silent, heard      everything is lost while the link stays up; no longer
    mtu=BYTES          of the devices
    largest=BYTES      longer IP packets are lost, whatever the MTU says; any: none
    delay=TIME, jitter=TIME, reorder=PERCENT, duplicate=PERCENT
                       where the kernel has netem

    lull channel bed set r1 rate=50M loss=1% silent
    """
    found = RAIL.fullmatch(rail)
    if found is None:
        raise LullError(f"'{rail}': name a rail such as r1, or what goes to a node: r1@b", 2)
    Bed.find(bed_plan.check_id(bed_id)).set(int(found[1]), list(words), found[2] or "")


@bed.command(short_help="Show beds, and count what became of packets.")
@click.argument("bed_id", metavar="[ID]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print all of it as JSON.")
def show(bed_id: str | None, as_json: bool) -> None:
    """Show what the switch does, and what became of all packets.

    A row is the switch's port towards a node. seen: sent to this node; lost: by loss=; silenced;
    large: by largest=; queue: the shaper had no room; delivered to the node.
    """
    check_rights()
    wanted = beds() if bed_id is None else [Bed.find(bed_plan.check_id(bed_id)).id]
    looks = {one: Bed(one).look() for one in wanted}
    if as_json:
        print(json.dumps([{"id": one, "nodes": Bed(one).nodes(),
                           "ports": [port_data(port) for port in ports]}
                          for one, ports in looks.items()], indent=1))
        return
    console = Console(highlight=False)
    console.width = max(console.width, TABLE_COLUMNS)
    for one, ports in looks.items():
        console.print(_table(one, ports))


@bed.command("exec", context_settings={"ignore_unknown_options": True,
                                       "allow_interspersed_args": False},
             short_help="Run a command in a node.")
@ID
@click.argument("node")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED,
                metavar="COMMAND [ARGUMENT]...")
@click.pass_obj
def execute(ignored: list[signal.Signals], bed_id: str, node: str,
            command: tuple[str, ...]) -> None:
    """Run a command in a node, or in the switch; its exit status is that of this command."""
    words = Bed.find(bed_plan.check_id(bed_id)).command(node, *command)
    program = shutil.which(words[0])
    assert program is not None  # find() has looked for it
    wrap.become(wrap.Wrapped(Path(program), tuple(words), wrap.own_environment(os.environ),
                             ignored))


def port_data(port: PortLook) -> dict[str, Any]:
    """A port as JSON has it."""
    data = asdict(port)
    return {"rail": data.pop("rail"), "node": data.pop("node"), **data.pop("port"), **data}


def _id_words(bed_id: str) -> str:
    return "" if bed_id == "0" else f" --id {bed_id}"


def _table(bed_id: str, ports: list[PortLook]) -> Table:
    table = Table(title=f"bed {bed_id}", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False,
                  show_edge=False)
    for title in ("rail", "to", "set"):
        table.add_column(title, no_wrap=True)
    for title in ("seen", "lost", "silenced", "large", "queue", "delivered"):
        table.add_column(title, justify="right", no_wrap=True)
    for one in ports:
        counts = (one.seen_pkts, one.lost_pkts, one.silenced_pkts, one.large_pkts,
                  one.queue_drops, one.delivered_pkts)
        table.add_row(f"r{one.rail}", one.node, one.port.words(), *map(si, counts))
    return table


