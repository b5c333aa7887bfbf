"""Group of the studies: measurements beside the suites."""

from __future__ import annotations

import click

from format_bench import studies
from format_bench.cli.command_folder import CommandFolder
from format_bench.studies.declared import study


class Studies(CommandFolder):
    """Group of the studies: modules with a command, and declarations, which are TOML files."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all studies, sorted."""
        return sorted({*super().list_commands(ctx), *study.places()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a study, or None if there is none of this name."""
        if cmd_name in study.places():
            return study.command_of(cmd_name)
        return super().get_command(ctx, cmd_name)


@click.command(cls=Studies, folder=studies)
def command() -> None:
    """Run a study: one question that the suites do not answer.

    A study prints a table or a page. Each has its own options: see format-bench study NAME --help.

    \b
    Examples:
      format-bench study noise --out noise.json
      format-bench study codecs Parquet Feather
      format-bench study table-losses > docs/losses.md
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
