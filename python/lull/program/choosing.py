# SPDX-License-Identifier: BSD-3-Clause
"""Choosing: options of every command that speaks to a running program."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def choosing(command: Command) -> Command:
    """Give a command --socket, --program and --pid."""
    for option in (
        click.option("--socket", type=click.Path(path_type=Path),
                     help="Telemetry socket of the program."),
        click.option("--program", help="Name of the program, such as lull-fwd."),
        click.option("--pid", type=int, help="Process id of the program."),
    ):
        command = option(command)
    return command
