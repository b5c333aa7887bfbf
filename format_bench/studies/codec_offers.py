"""Study of the codecs that each format offers: the table in docs/compression.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import click

import data_formats
from format_bench.results.display.markdown import table_lines

if TYPE_CHECKING:
    from adapter_core import Codec


def table() -> str:
    """Return the table in Markdown, a row for each format, available or not."""
    rows = []
    for label in data_formats.names():
        adapter = data_formats.find(label)
        offered = "; ".join(_offers(adapter.codecs)) or "no choice"
        rows.append([label, adapter.default_codec or "none", offered])
    header = ["format", "own default", "codecs, their levels and in brackets the default level"]
    return "\n".join(table_lines(header, rows, "lll")) + "\n"


def _offers(codecs: Iterable[Codec]) -> Iterator[str]:
    """Yield the codecs as text, codecs with the same levels together."""
    names: dict[str, list[str]] = {}
    for codec in codecs:
        levels = ""
        if codec.levels is not None:
            levels = f" {codec.levels[0]} to {codec.levels[-1]} ({codec.default_level})"
        names.setdefault(levels, []).append(codec.name)
    for levels, same in names.items():
        yield f"{', '.join(same)}{levels}"


@click.command
def command() -> None:
    """List the codecs of each table format.

    Prints a Markdown table with levels and defaults.

    \b
    Example:
      format-bench study codec-offers
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    click.echo(table(), nl=False)
