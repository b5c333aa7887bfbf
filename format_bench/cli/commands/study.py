"""Group of the studies: measurements beside the suites."""

from __future__ import annotations

import click

from format_bench import studies
from format_bench.cli.command_folder import CommandFolder


@click.command(cls=CommandFolder, folder=studies)
def command() -> None:
    """Run a study: one question that the suites do not answer.

    A study prints a table or a page. Each has its own options: see format-bench study NAME --help.

    \b
    Examples:
      format-bench study noise --out noise.json
      format-bench study codecs Parquet Feather
      format-bench study table-losses > docs/losses.md
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
