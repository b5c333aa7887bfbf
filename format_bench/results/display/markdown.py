"""Markdown tables with numbered notes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class TextTable:
    """A table as text, for any output."""

    title: str
    header: list[str]
    rows: list[list[str]]
    notes: list[str] = field(default_factory=list)
    """The sentences that numbers in brackets refer to, from 1 on."""


def markdown(table: TextTable) -> str:
    """Return a table in Markdown, with its title as a heading and its notes as a list.

    Its text must be escaped, except for bars.
    """
    lines = [f"## {table.title}", "", *table_lines(table.header, table.rows), ""]
    lines += [f"{number}. {note}" for number, note in enumerate(table.notes, start=1)]
    return "\n".join(lines) + "\n"


def table_lines(
    header: Sequence[str], rows: Sequence[Sequence[str]], alignment: str = ""
) -> Iterator[str]:
    """Yield the lines of a Markdown table.

    Parameters
    ----------
    header : sequence of str
        The names of the columns.
    rows : sequence of sequence of str
        The cells, as many in each row as there are columns.
    alignment : str
        "l" or "r" for each column; by default the first is aligned left and all others right.
    """
    alignment = alignment or "l" + "r" * (len(header) - 1)
    ruler = ["---" if side == "l" else "--:" for side in alignment]
    for row in (header, ruler, *rows):
        # GitHub ends a cell at any bar that is not escaped, even inside code.
        cells = (text.replace("|", "\\|") for text in row)
        yield f"| {' | '.join(cells)} |"
