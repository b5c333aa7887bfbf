"""Media of folders."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from format_bench.instruments import probe
from format_bench.instruments.medium import MediumFacts


@click.group("media")
def command() -> None:
    """Show and measure the storage medium of a folder.

    \b
    Examples:
      format-bench media show /mnt/disk
      format-bench run --scratch /mnt/slow --scratch ssd=/data --cold
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)


@command.command("show")
@click.argument(
    "folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path)
)
def show(folders: tuple[Path, ...]) -> None:
    """Show media, and measure each for two seconds."""
    for folder in folders:
        facts, found = MediumFacts.of(folder), probe.measure(folder)
        click.echo(f"{folder}: {facts.label(found.random_read_seconds)}")
        click.echo(f"  {found}")
        for name, value in asdict(facts).items():
            if value is not None:
                click.echo(f"  {name.replace('_', ' ')}: {value}")


def _moved(arguments: tuple[str, ...]) -> None:
    """Say that a recipe does it now, `sudo tools/emulated_medium`."""
    wanted = " ".join(("media", str(click.get_current_context().info_name), *arguments))
    raise click.UsageError(
        f"`{wanted}`: `sudo tools/emulated_medium` of the repository makes and removes emulated media"
    )


for _name in ("make", "list", "remove"):
    command.command(_name, context_settings={"ignore_unknown_options": True}, hidden=True)(
        click.argument("arguments", nargs=-1)(_moved)
    )
