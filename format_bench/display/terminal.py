"""Tables and paragraphs on a terminal; plain where the output goes to a file or another program."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table

WIDTH = 80
"""Characters of a line of prose."""

FILE_WIDTH = 1_000
"""Of a table where no terminal limits it, so that all its columns stay together."""

HEADER_WIDTH = 12
"""Of a line in the header of a column, on a terminal; longer words stay whole."""


def console() -> Console:
    """Return the standard output."""
    found = Console(highlight=False, markup=False, emoji=False)
    if not found.is_terminal:
        found.width = FILE_WIDTH
    return found


def table(to: Console, title: str, header: list[str], rows: list[list[str]]) -> None:
    """Print a table, the first column aligned left and all others right; without lines in a file.

    One that is too wide is printed in parts, each with the first column: nothing is cut off.
    """
    if title:
        to.print(title, style="bold")
    for columns in _parts(to, header, rows):
        to.print(_table(to, columns, header, rows))


def prose(to: Console, text: str, indent: str = "") -> None:
    """Print a paragraph in lines of at most `WIDTH` characters, the second and later ones indented."""
    lines = textwrap.wrap(
        text, WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )
    to.print("\n".join(lines), soft_wrap=True)


def ratio(value: float) -> str:
    """Return a ratio with three digits that say something, and at least all before the point."""
    decimals = next((number for bound, number in _DECIMALS if value >= bound), None)
    return f"{value:.3g}" if decimals is None else f"{value:,.{decimals}f}"


_DECIMALS = ((100, 0), (10, 1), (0.1, 2))


def _parts(to: Console, header: list[str], rows: list[list[str]]) -> Iterator[list[int]]:
    """Yield the positions of the columns of each part."""
    part = [0]
    for position in range(1, len(header)):
        wider = [*part, position]
        if len(part) > 1 and _width(to, _table(to, wider, header, rows)) > to.width:
            yield part
            wider = [0, position]
        part = wider
    yield part


def _width(to: Console, shown: Table) -> int:
    return to.measure(shown, options=to.options.update(width=FILE_WIDTH)).maximum


def _table(to: Console, columns: list[int], header: list[str], rows: list[list[str]]) -> Table:
    found = Table(box=box.SIMPLE_HEAD if to.is_terminal else None, pad_edge=False)
    for position in columns:
        # rich would rather cut cells off than break the header.
        title = textwrap.fill(header[position], HEADER_WIDTH) if to.is_terminal else header[position]
        found.add_column(title, justify="right" if position else "left", no_wrap=True)
    for row in rows:
        found.add_row(*(row[position] for position in columns))
    return found
