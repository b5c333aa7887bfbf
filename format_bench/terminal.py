"""Tables and paragraphs on a terminal; plain where the output goes to a file or another program."""

from __future__ import annotations

import textwrap

from rich import box
from rich.console import Console
from rich.table import Table

WIDTH = 80
"""Characters of a line of prose."""

FILE_WIDTH = 1_000
"""Of a table where no terminal limits it, so that nothing is cut."""


def console() -> Console:
    """Return the standard output."""
    found = Console(highlight=False, markup=False, emoji=False)
    return (
        found
        if found.is_terminal
        else Console(width=FILE_WIDTH, highlight=False, markup=False, emoji=False)
    )


def table(to: Console, title: str, header: list[str], rows: list[list[str]]) -> None:
    """Print a table, the first column aligned left and all others right; without lines in a file."""
    if title:
        to.print(title, style="bold")
    shown = Table(
        box=box.SIMPLE_HEAD if to.is_terminal else None,
        pad_edge=False,
    )
    for position, name in enumerate(header):
        shown.add_column(name, justify="right" if position else "left", no_wrap=not position)
    for row in rows:
        shown.add_row(*row)
    to.print(shown)


def prose(to: Console, text: str, indent: str = "") -> None:
    """Print a paragraph in lines of at most `WIDTH` characters, the second and later ones indented."""
    lines = textwrap.wrap(
        text, WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )
    to.print("\n".join(lines), soft_wrap=True)
