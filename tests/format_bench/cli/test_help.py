"""Help of every command and every group of commands."""

from __future__ import annotations

import re
import shlex
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
    assert {(), ("run",), ("study",), ("study", "samples"), ("media", "show")} <= set(PATHS)


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
        context = click.Context(command)
        for name in command.list_commands(context):
            is_listed = any(words[0] == name and len(words) > 1 for words in described)
            assert is_listed != command.get_command(context, name).hidden, name


@pytest.mark.parametrize("path", PATHS, ids=" ".join)
def test_lines_break_between_words_and_fit(path):
    pages = {
        width: CliRunner().invoke(format_bench, [*path, "--help"], terminal_width=width).output
        for width in (60, 80, 1000)
    }
    words = set(re.split(r"[\s,|]+", pages[1000]))
    for width in (60, 80):
        lines = pages[width].splitlines()
        assert [line for line in lines if len(line) > width] == []
        # A line that a backslash ends goes on; long words end after commas and bars alone.
        assert set(re.split(r"[\s,|]+", pages[width])) - {"\\"} <= words


@pytest.mark.parametrize("path", [path for path in PATHS if path == () or path[0] in {"media", "study"}])
def test_summaries_fit_a_line(path):
    page = CliRunner().invoke(format_bench, [*path, "--help"], terminal_width=80).output
    if "Commands:\n" in page:
        commands = page.partition("Commands:\n")[2].splitlines()
        assert [line for line in commands if line.startswith("   ") or line.endswith("...")] == []


def test_options_are_listed_in_sections():
    page = CliRunner().invoke(format_bench, ["run", "--help"], terminal_width=100).output
    sections = dict(re.findall(r"^([A-Z][a-z ]+):\n((?:  .*\n)+)", page, re.MULTILINE))
    assert [*sections] == ["Data", "What to measure", "How to measure", "Where", "Output", "Help"]
    assert "--data FILE|FOLDER" in sections["Data"]
    assert "--data-memory SIZE" in sections["Data"]
    assert "--threads VALUES" in sections["How to measure"]
    assert "--link VALUES" in sections["Where"]
    assert "--json" in sections["Output"]
    assert "One of: tabular, " in sections["What to measure"]
    page = CliRunner().invoke(format_bench, ["recommend", "--help"], terminal_width=100).output
    assert re.findall(
        r"^(Data|What counts|How to measure|Output|Help|Options):$", page, re.MULTILINE
    ) == [
        *("Data", "What counts", "How to measure", "Output", "Help"),
    ]


def test_commands_go_on_after_a_backslash_and_keep_options_with_their_values():
    page = CliRunner().invoke(format_bench, ["run", "--help"], terminal_width=60).output
    command = re.search(r"^ +(format-bench run --rows 1000000 .*\\\n.*)", page, re.MULTILINE)[1]
    assert shlex.split(command.replace("\\\n", ""))[2:] == [
        "--rows",
        "1000000",
        "--formats",
        "CSV,Parquet,Feather",
        "--cold",
    ]
    assert not re.search(r"--\w+ \\$", page, re.MULTILINE)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [(["reprot"], "'report'"), (["study", "samlpes"], "'samples'"), (["media", "shwo"], "'show'")],
)
def test_a_mistyped_command_gets_a_suggestion(typed, meant):
    done = CliRunner().invoke(format_bench, typed)
    assert done.exit_code == 2
    assert re.search(rf"Did you mean .*{meant}", done.output)
