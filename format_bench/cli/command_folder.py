"""Group of commands that lists a package: one module per command."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from types import ModuleType
from typing import Any

import click
from click.exceptions import NoSuchCommand

from format_bench.cli.help import PageContext, with_page

# Characters of a command's first sentence beyond which help cuts it: none is cut.
LONGEST_SENTENCE = 1000


class CommandFolder(click.Group):
    """Command group whose members are the modules of a package; only the one called is imported.

    A module is a member if its name has no leading underscore and it is not a package. Its command is
    the module's attribute `command`; the command's name is the module's, with hyphens.

    Parameters
    ----------
    folder : module
        The package.
    **settings
        Passed on to `click.Group`.
    """

    def __init__(self, *, folder: ModuleType, **settings: Any) -> None:
        super().__init__(**settings)
        self.folder = folder
        self.context_class = PageContext

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Return the names of all commands, sorted."""
        modules = pkgutil.iter_modules(self.folder.__path__)
        return sorted(
            module.name.replace("_", "-")
            for module in modules
            if not module.ispkg and not module.name.startswith("_")
        )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None if no module has this name."""
        if cmd_name not in self.list_commands(ctx):
            return None
        name = f"{self.folder.__name__}.{cmd_name.replace('-', '_')}"
        command: click.Command = import_module(name).command
        return with_page(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments name, as click does.

        Raises
        ------
        NoSuchCommand
            If there is none; the message has near matches, which click finds in groups alone that have
            imported all commands.
        """
        try:
            return super().resolve_command(ctx, args)
        except NoSuchCommand as error:
            raise NoSuchCommand(
                error.command_name, possibilities=self.list_commands(ctx), ctx=ctx
            ) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the first sentence of each command, whole."""
        members = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [
            (name, each.get_short_help_str(limit=LONGEST_SENTENCE))
            for name, each in members
            if each and not each.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
