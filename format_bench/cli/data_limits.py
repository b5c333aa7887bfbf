"""Options for the limits of the process that reads a user's data, for all commands that read them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from data_generator.confinement.limits import (
    DISK_SHARE,
    MEMORY_SHARE,
    USUAL_LIMITS,
    USUAL_SECONDS,
    DataLimits,
)
from format_bench.cli.sizes import Size

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--data-memory",
        type=Size(),
        help=f"Memory to read your data, as in 4G. [default: {MEMORY_SHARE:.0%} of what is available]",
    ),
    click.option(
        "--data-disk",
        type=Size(),
        help=f"Disk to read your data, as in 20G. [default: {DISK_SHARE:.0%} of what is free]",
    ),
    click.option(
        "--data-seconds",
        type=click.FloatRange(0, min_open=True),
        help=f"Time to read your data. [default: {USUAL_SECONDS:.0f}]",
    ),
)


def with_data_limits(command: Command) -> Command:
    """Add the options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def taken_limits(options: dict[str, Any], data: str | None) -> DataLimits:
    """Take the values of the options out of others.

    Raises
    ------
    click.UsageError
        If one is given, but no data.
    """
    memory, disk = options.pop("data_memory"), options.pop("data_disk")
    found = DataLimits(options.pop("data_seconds") or USUAL_SECONDS, memory, disk)
    if data is None and found != USUAL_LIMITS:
        raise click.UsageError(
            "--data-memory, --data-disk and --data-seconds are about --data, which is not given"
        )
    return found
