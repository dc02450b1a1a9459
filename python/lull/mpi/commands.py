# SPDX-License-Identifier: BSD-3-Clause
"""MPI commands: `lull mpi env`, `run` and `check` as users type them."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console

from lull.doctor import view
from lull.errors import LullError
from lull.mpi import check as node_check
from lull.mpi import env as mpi_env
from lull.mpi import nodes
from lull.mpi import run as mpi_run
from lull.mpi.env import RAILS, VARIABLES, Setting
from lull.program.child import CHECKOUT
from lull.program.tree import Tree

NUMBERS = ("US", "MS", "N")
Function = TypeVar("Function", bound=Callable[..., Any])


def settings(function: Function) -> Function:
    """Options for everything that the provider can be told; without one, its variable counts."""
    for one in reversed(VARIABLES):
        kind: click.ParamType[Any] = click.STRING
        if one.choices:
            kind = click.Choice(one.choices)
        elif one.metavar in NUMBERS:
            kind = click.IntRange(0)
        click.option(one.option, _keyword(one.name), type=kind, envvar=one.name,
                     metavar=one.metavar or None, multiple=one.name == RAILS,
                     help=one.help)(function)
    click.option("--provider", metavar="DIR", help="Folder of liblull-fi.so.  [default: that of "
                 "FI_PROVIDER_PATH, of the build or of the installation]")(function)
    return function


def _keyword(name: str) -> str:
    return name.lower()


def _setting(provider: str | None, options: dict[str, Any]) -> Setting:
    said = {one.name: options[_keyword(one.name)] for one in VARIABLES if one.name != RAILS}
    given = {name: None if value is None else str(value) for name, value in said.items()}
    return mpi_env.choose(provider, options[_keyword(RAILS)], given)


@click.group("mpi", short_help="Run MPI programs over the channel.")
def mpi() -> None:
    """Run programs of Open MPI, as they are, over several network cards as one link.

    lull mpi run -n 4 --nodes a,b --rail kernel:eth0 --rail kernel:eth1 -- ./program
    """


@mpi.command("env", short_help="Print what Open MPI needs to take the channel.")
@settings
@click.option("--format", "form", type=click.Choice(list(mpi_env.FORMATS)), default="shell",
              show_default=True, help="Lines for a shell, or for a file of Open MPI.")
def env_command(provider: str | None, form: str, **options: Any) -> None:  # noqa: ANN401
    """Print the variables by which Open MPI takes the channel.

    \b
    eval "$(lull mpi env --rail kernel:eth0 --key FILE)"
    mpirun -x FI_PROVIDER_PATH -x FI_LULL_RAILS -x FI_LULL_KEY ...
    lull mpi env ... --format openmpi-mca-params.conf >~/.openmpi/mca-params.conf
    """
    setting = _setting(provider, options)
    mpi_env.require(setting)
    sys.stdout.write(mpi_env.FORMATS[form](setting))


@mpi.command("check", short_help="Check that this node has what ranks need.")
@settings
@click.option("--ranks", type=click.IntRange(0, 65535), default=0, metavar="N",
              help="Ranks that this node will run.")
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
@click.option("--root", type=click.Path(path_type=Path), default="/", hidden=True)
def check_command(provider: str | None, ranks: int, as_json: bool, root: Path,
                  **options: Any) -> int:  # noqa: ANN401
    """Check that this node has what ranks need, with a remedy for what is missing.

    Opens the rails as a rank would, and closes them. Ends with 1 where something is missing.
    """
    setting = _setting(provider, options)
    if not setting.rails():
        raise LullError(f"which network ports? --rail kernel:eth0, once for each (or set {RAILS})",
                        2)
    checks = node_check.examine(setting, ranks, Tree(root), node_check.probe, os.environ)
    if as_json:
        print(view.to_json(checks))
    else:
        view.print_checks(checks, Console(highlight=False))
    return 1 if any(one.status == "fail" for one in checks) else 0


@mpi.command("run", context_settings={"allow_interspersed_args": False},
             short_help="Run an MPI program over the channel.")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED,
                metavar="-- PROGRAM [ARGUMENT]...")
@click.option("-n", "--ranks", type=click.IntRange(1, 65535), required=True, metavar="N",
              help="Ranks of the job.")
@click.option("--nodes", "names", metavar="NODE[:COUNT],...",
              help="Nodes to run on, by name or address, and how many ranks each takes.  [default: "
                   "those of the Slurm job or of Open MPI's hostfile, else this machine]")
@settings
@click.option("--bind-to", "binding", metavar="WHAT", envvar=mpi_run.BINDING, default="",
              help="As of mpirun.  [default: none where ranks share cores]")
@click.option("--agent", metavar="COMMAND",
              help="What carries commands to nodes, as COMMAND NODE WORDS.  [default: "
                   "OMPI_MCA_plm_rsh_agent, else ssh; in a Slurm job srun]")
@click.option("--lull", "launcher", metavar="FILE",
              help="The lull command on the nodes.  [default: where it is here]")
@click.option("--mpirun", "more", multiple=True, metavar="WORDS",
              help="More options for mpirun, split into words as in a shell.")
@click.option("--allow-run-as-root", "as_root", is_flag=True, help="As of mpirun.")
@click.option("--unchecked", is_flag=True, help="Start without a look at the nodes.")
@click.pass_obj
def run_command(ignored: list[signal.Signals], /, program: tuple[str, ...], ranks: int,
                names: str | None, provider: str | None, binding: str, agent: str | None,
                launcher: str | None, more: tuple[str, ...], as_root: bool, unchecked: bool,
                **options: Any) -> int:  # noqa: ANN401
    """Run an MPI program over the channel: look at each node, make a key, call mpirun.

    Without --key and --security=open the job gets a key of its own, which is on the nodes while it
    runs. Signals go on to mpirun, and its exit status is that of this command. Without --nodes all
    ranks run on this machine, over kernel:lo unless --rail says more.
    """
    if program[0].startswith("-"):
        raise LullError(f"{program[0]}: options come before '--', a program after it", 2)
    job = mpi_run.Job(
        setting=_setting(provider, options), cluster=nodes.cluster(names, agent, os.environ),
        ranks=ranks, program=program, lull=launcher or mpi_run.here(CHECKOUT), binding=binding,
        more=tuple(word for words in more for word in shlex.split(words)), as_root=as_root,
        unchecked=unchecked)
    return mpi_run.run(job, ignored)
