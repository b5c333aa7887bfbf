"""Study of file sizes: tables in several formats, with each format's rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

import data_formats
import data_generator
from adapter_core import FormatBenchError
from format_bench.results.candidates import Configuration
from format_bench.results.display.markdown import table_lines

if TYPE_CHECKING:
    import pandas as pd


CONFIGURATIONS = (
    Configuration("CSV"),
    Configuration("Feather"),
    Configuration("Lance"),
    Configuration("ORC"),
    Configuration("Parquet"),
    Configuration("Parquet", "snappy"),
    Configuration("Parquet", "zstd"),
    Configuration("Vortex"),
)


def size_bytes(df: pd.DataFrame, configuration: Configuration) -> int | str:
    """Return the size of a table in a format in bytes, or the reason if there is not one."""
    try:
        adapter = data_formats.get(configuration.format)
        with TemporaryDirectory() as folder:
            path = Path(folder, f"table{adapter.suffix}")
            adapter.save(df, path, codec=configuration.codec)
            return adapter.size_bytes(path)
    except FormatBenchError as error:
        return str(error)


def sizes(
    df: pd.DataFrame, configurations: Sequence[Configuration] = CONFIGURATIONS
) -> dict[Configuration, int | str]:
    """Return the size of a table in each configuration; see `size_bytes`."""
    return {each: size_bytes(df, each) for each in configurations}


def places(found: dict[Configuration, int | str]) -> dict[Configuration, int]:
    """Return the rank of each configuration with a size; the smallest has rank 1."""
    known = {each: size for each, size in found.items() if isinstance(size, int)}
    ordered = sorted(known, key=lambda each: (known[each], each.sort_key))
    return {each: place for place, each in enumerate(ordered, 1)}


def page(names: Sequence[str], rows: int | None = None) -> Iterator[str]:
    """Yield the lines of a Markdown table: megabytes of each table in each format, and the rank."""
    found = {name: sizes(data_generator.table(name, rows).df) for name in names}
    order = {name: places(each) for name, each in found.items()}
    lines = []
    for configuration in CONFIGURATIONS:
        row = [str(configuration)]
        for name in names:
            size = found[name][configuration]
            megabytes = f"{size / 1e6:.1f}" if isinstance(size, int) else size
            row += [megabytes, str(order[name].get(configuration, ""))]
        lines.append(row)
    header = ["format", *(title for name in names for title in (f"{name}, MB", "place"))]
    yield from table_lines(header, lines)


@click.command
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@click.option(
    "--rows",
    type=click.IntRange(min=1),
    help="Rows of each table; by default 1,000,000, or all rows of a real table.",
)
def command(tables: tuple[str, ...], rows: int | None) -> None:
    """Compare file sizes on named tables.

    Prints a Markdown table.

    \b
    Example:
      format-bench study sizes eq core
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    click.echo("\n".join(page(tables, rows)))
