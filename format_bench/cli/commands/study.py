"""Group of the studies: measurements beside the suites."""

from __future__ import annotations

from importlib import import_module

import click

from format_bench import studies
from format_bench.cli.command_folder import CommandFolder
from format_bench.cli.help import with_page
from format_bench.studies.declared import study
from format_bench.studies.declared.command import command_of

ALIASES = {"codec-offers": ("list", "codecs", "--markdown")}
"""Earlier names of commands, and their present ones."""

GONE = {
    "noise": "study noise has nothing left to measure: the rounds of each run show the run's own noise, "
    "and all views mark ties by it; a noise.json is not read any more"
}
"""Earlier commands, and the present ones in their place."""


def _alias(name: str) -> click.Command:
    command, *arguments = ALIASES[name]
    module = import_module(f"format_bench.cli.commands.{command}")
    words = " ".join(ALIASES[name])

    def run() -> None:
        module.command.main(arguments, standalone_mode=False)

    return click.Command(name, callback=run, help=f"Alias of format-bench {words}.", hidden=True)


def _gone(name: str) -> click.Command:
    return click.Command(
        name,
        callback=lambda: click.echo(GONE[name], err=True),
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
        help=f"Do nothing: {GONE[name]}.",
        hidden=True,
    )


class Studies(CommandFolder):
    """Group of the studies: modules with a command, and declarations, which are TOML files."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all studies, sorted."""
        return sorted({*super().list_commands(ctx), *study.places(), *ALIASES, *GONE})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of a study, or None if there is none of this name.

        A module's command comes first: it may measure before it shows its declaration's page. A module
        of the name of a declaration with an instrument has none.
        """
        cmd_name = study.RENAMED.get(cmd_name, cmd_name)
        if cmd_name in ALIASES:
            return with_page(_alias(cmd_name))
        if cmd_name in GONE:
            return with_page(_gone(cmd_name))
        is_declared = cmd_name in study.places()
        has_instrument = is_declared and study.read(cmd_name).instrument
        if cmd_name in super().list_commands(ctx) and not has_instrument:
            return super().get_command(ctx, cmd_name)
        return with_page(command_of(cmd_name)) if is_declared else None


@click.command(cls=Studies, folder=studies)
def command() -> None:
    """Run a study of a question beyond the suites.

    A study prints a table or a page; its options are in format-bench study NAME --help.

    \b
    Examples:
      format-bench study codecs Parquet Feather
      format-bench study table-losses > docs/losses.md
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
