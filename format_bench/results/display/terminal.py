"""Tables and paragraphs on a terminal; plain where the output goes to a file or another program."""

from __future__ import annotations

import errno
import os
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from adapter_core.text import visible
from format_bench.results.display.markdown import TextTable

# Characters of a line of prose.
WIDTH = 80

# Characters of a line of a table where no terminal limits it: all its columns stay together.
FILE_WIDTH = 1_000

# Characters of a line in the header of a column, on a terminal; longer words stay whole.
HEADER_WIDTH = 12

Row = Sequence["str | Text"]


class Output(Console):
    """A console that shows text of users and libraries, and never obeys it.

    Parameters
    ----------
    stderr : bool
        Print to the standard error output.
    quiet : bool
        Print nothing.
    """

    def __init__(self, *, stderr: bool = False, quiet: bool = False) -> None:
        # As markup, "CSV[polars]" would be "CSV" in a style that does not exist.
        super().__init__(stderr=stderr, quiet=quiet, highlight=False, markup=False, emoji=False)

    def print(self, *objects: Any, **options: Any) -> None:
        """Print objects; characters of texts that a terminal would obey become U+FFFD."""
        super().print(*map(_shown, objects), **options)

    def on_broken_pipe(self) -> None:
        """Leave the end of the program to the command; rich would end it with status 1."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def _shown(each: Any) -> Any:
    if isinstance(each, str):
        return visible(each)
    if isinstance(each, Text):
        copy = each.copy()
        copy.plain = visible(each.plain)
        return copy
    return each


def console() -> Console:
    """Return the standard output."""
    found = Output()
    if not found.is_terminal:
        # rich assumes 80 columns, and would cut what a file or a pipe can take whole.
        found.width = FILE_WIDTH
    return found


def table(to: Console, title: str, header: Sequence[str], rows: Sequence[Row]) -> None:
    """Print a table, the first column aligned left and all others right; without lines in a file.

    A table that is too wide is printed in parts, each with the first column: nothing is cut off.
    """
    if title:
        to.print(title, style="bold")
    for columns in _parts(to, header, rows):
        to.print(_part(to, columns, header, rows))


def text_table(to: Console, shown: TextTable, style: Callable[[str], str]) -> None:
    """Print a table with its notes; `style` returns the style of a cell from its text."""
    rows: list[Row] = [
        [first, *(Text(text, style(text)) for text in others)] for first, *others in shown.rows
    ]
    table(to, shown.title, shown.header, rows)
    for number, sentence in enumerate(shown.notes, start=1):
        to.print(f"[{number}] {sentence}", soft_wrap=True)


def prose(to: Console, text: str, indent: str = "") -> None:
    """Print a paragraph in lines of at most `WIDTH` characters, the second and later ones indented."""
    # rich breaks words that are longer than a line, e.g. paths that are to be copied.
    lines = textwrap.wrap(
        text, WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )
    to.print("\n".join(lines), soft_wrap=True)


def rich_table(header: Iterable[str], rows: Iterable[Row], *, lines: bool = False) -> Table:
    """Return a table for rich, the first column aligned left and all others right.

    Parameters
    ----------
    header : iterable of str
        The names of the columns.
    rows : iterable of sequence of str or rich.text.Text
        The cells, as many in each row as there are columns.
    lines : bool
        Draw a line below the header.
    """
    found = Table(box=box.SIMPLE_HEAD if lines else None, pad_edge=False)
    for position, name in enumerate(header):
        found.add_column(visible(name), justify="right" if position else "left", no_wrap=True)
    for row in rows:
        found.add_row(*map(_shown, row))
    return found


def _parts(to: Console, header: Sequence[str], rows: Sequence[Row]) -> Iterator[list[int]]:
    """Yield the positions of the columns of each part."""
    part = [0]
    for position in range(1, len(header)):
        wider = [*part, position]
        if len(part) > 1 and _width(to, _part(to, wider, header, rows)) > to.width:
            yield part
            wider = [0, position]
        part = wider
    yield part


def _width(to: Console, shown: Table) -> int:
    # Within the console's own width the measure would never be too wide.
    return to.measure(shown, options=to.options.update(width=FILE_WIDTH)).maximum


def _part(to: Console, columns: list[int], header: Sequence[str], rows: Sequence[Row]) -> Table:
    names: Iterable[str] = (header[position] for position in columns)
    if to.is_terminal:
        # rich would rather cut cells off than break the header.
        names = map(textwrap.fill, names, repeat(HEADER_WIDTH))
    cells = ([row[position] for position in columns] for row in rows)
    return rich_table(names, cells, lines=to.is_terminal)
