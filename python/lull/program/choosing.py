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
        click.option("--socket", type=click.Path(path_type=Path), help="Its telemetry socket."),
        click.option("--program", help="Its name, such as lull-fwd or lull-gen."),
        click.option("--pid", type=int, help="Its process id."),
    ):
        command = option(command)
    return command
