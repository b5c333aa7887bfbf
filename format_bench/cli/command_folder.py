"""Group of commands that lists a package: one module per command."""

from __future__ import annotations

import pkgutil
from importlib import import_module
from types import ModuleType
from typing import Any

import click


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
        return command
