"""Folders of results joined in one."""

from __future__ import annotations

from pathlib import Path

import click

from adapter_core.text import printable
from format_bench.results.display.text import plural
from format_bench.runner import shards


@click.command
@click.argument("out", type=click.Path(path_type=Path))
@click.argument("folders", type=click.Path(path_type=Path), nargs=-1, required=True)
def command(out: Path, folders: tuple[Path, ...]) -> None:
    """Join the results of shards or machines in one folder.

    FOLDERS are only read; OUT may already contain results. No record is lost or duplicated, and merging
    again changes nothing. Results of different machines stay apart: OUT#FINGERPRINT names those of one.

    \b
    Examples:
      format-bench merge reports/all reports/part-1 reports/part-2 reports/part-3
      format-bench report reports/all
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    found = shards.merge(out, folders)
    for folder, number in zip(folders, found.added, strict=True):
        click.echo(printable(f"{folder}: {plural(number, 'record')} added"))
    click.echo(printable(f"{out}: {plural(found.cells, 'cell')}"))
    for machine, words in found.machines.items():
        click.echo(printable(f"{out}#{machine}: {words}"))
    for name in found.missing:
        click.echo(printable(f"{name} is missing"))
