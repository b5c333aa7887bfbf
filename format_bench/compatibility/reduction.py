"""Reduction of a table to the smallest part that still shows a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from format_bench.compatibility.subjects import Cut

Shows = Callable[[Sequence[Cut]], Sequence[bool]]
"""Whether each of some parts of a table shows the finding; they are tried together."""


def smallest(columns: int, rows: int, shows: Shows) -> Cut:
    """Return the smallest part of a table that is found to have the fault of the whole.

    Columns are left out first, then rows at either end: halves, then quarters, down to single ones. No
    smaller part of these shows it; one that leaves out rows in the middle may.

    Parameters
    ----------
    columns, rows : int
        Size of the table.
    shows : callable
        Tries parts.
    """
    found = Cut(tuple(range(columns)), 0, rows)
    for smaller in (_fewer_columns, _fewer_rows):
        while parts := list(smaller(found)):
            shown = [part for part, shows_it in zip(parts, shows(parts), strict=True) if shows_it]
            if not shown:
                break
            found = min(shown, key=lambda part: (len(part.columns), part.rows))
    return found


def _halves(number: int) -> Iterator[int]:
    """Yield half of a number, a quarter, and so on down to 1."""
    while number > 1:
        number = (number + 1) // 2
        yield number


def _fewer_columns(part: Cut) -> Iterator[Cut]:
    for size in _halves(len(part.columns)):
        for first in range(0, len(part.columns), size):
            left = part.columns[:first] + part.columns[first + size :]
            yield Cut(left, part.first, part.end)


def _fewer_rows(part: Cut) -> Iterator[Cut]:
    for size in _halves(part.rows):
        yield Cut(part.columns, part.first + size, part.end)
        yield Cut(part.columns, part.first, part.end - size)
