"""Commands in documents: their options exist, and printed samples have the shape of the output."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from format_bench.cli.main import format_bench
from tests.helpers import ROOT

DOCUMENTS = sorted(
    path
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    if path.name != "CHANGELOG.md"  # it names what is gone, too
)

FENCED = re.compile(r"^ *```.*?\n(.*?)^ *```", re.DOTALL | re.MULTILINE)

CALL = re.compile(r"(?:^|[\s/$])(?:format-bench|python main\.py|python -m format_bench) (.*)")

ENDS = ("|", ">", "&&", ";")


def calls(text: str) -> Iterator[str]:
    """Yield the arguments of each call of `format-bench` in a document, in blocks and in lines."""
    for block in FENCED.findall(text):
        yield from (
            found[1] for line in block.replace("\\\n", " ").splitlines() if (found := CALL.search(line))
        )
    for code in re.findall(r"`([^`]+)`", FENCED.sub("", text)):
        if found := CALL.match(" ".join(code.split())):
            yield found[1]


def options(command: click.Command) -> dict[str, click.Option]:
    """Return the options that help lists, by name."""
    listed = [
        each for each in command.get_params(click.Context(command)) if isinstance(each, click.Option)
    ]
    return {name: each for each in listed if not each.hidden for name in each.opts}


def faults(arguments: str) -> Iterator[str]:
    """Yield what click does not know: a command, an option, a value of a choice."""
    command: click.Command = format_bench
    words = shlex.split(re.sub(r"[\[\]]", "", arguments.replace("|", "'|'")), comments=True)
    for word, value in zip(words, [*words[1:], ""], strict=True):
        if word in ENDS or word == "...":
            return
        name, has_value, given = word.partition("=")
        if word.startswith("-"):
            option = options(command).get(name)
            if option is None:
                yield f"{command.name} has no option {name}"
            elif isinstance(option.type, click.Choice):
                chosen = given if has_value else value
                if chosen not in option.type.choices and not chosen.isupper():
                    yield f"{name} takes no {chosen}"
        elif isinstance(command, click.Group):
            if word.isupper():
                return
            found = command.get_command(click.Context(command), word)
            if found is None or found.hidden:
                yield f"{command.name} has no command {word}"
                return
            command = found


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_call_commands_that_exist(path: Path):
    text = path.read_text(encoding="utf-8")
    assert [(call, fault) for call in calls(text) for fault in faults(call)] == []


def test_stale_calls_are_found():
    assert [*faults("run --image --suite imagse")] == [
        "run has no option --image",
        "--suite takes no imagse",
    ]
    assert [*faults("reprot x")] == ["format-bench has no command reprot"]
    assert [*faults("media make hdd")] == ["media has no command make"]
    assert len([*calls("`format-bench run` and\n```sh\nx; format-bench list  # all\n```\n")]) == 2
