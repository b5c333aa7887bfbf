"""Help of every command and every group of commands."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from format_bench.cli.main import format_bench


def every_path(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the names that lead to a command and to all commands below it."""
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None, name
            yield from every_path(found, (*path, name))


PATHS = list(every_path(format_bench))


def test_commands_are_found_below_their_groups():
    assert {(), ("run",), ("study",), ("study", "noise"), ("media", "show")} <= set(PATHS)


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_help_is_printed_at_every_width(path, width):
    done = CliRunner().invoke(format_bench, [*path, "--help"], terminal_width=width)
    assert done.exit_code == 0, done.output
    usage, *lines = done.output.splitlines()
    assert usage.startswith(f"Usage: {' '.join(['format-bench', *path])} ")
    described = [line.split() for line in lines if line.startswith("  ") and line[2] != " "]
    command = format_bench
    for name in path:
        command = command.get_command(click.Context(command), name)
    for each in command.params:
        if isinstance(each, click.Option) and not each.hidden:
            assert any(words[0].strip(",") in each.opts for words in described), each.opts
    if isinstance(command, click.Group):
        for name in command.list_commands(click.Context(command)):
            assert any(words[0] == name and len(words) > 1 for words in described), name
