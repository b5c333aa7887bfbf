"""Tables of rows of Python values, and the note of what only pandas knows of their columns.

A format of records has types of its own, and fewer than pandas. The note stands beside the rows where
a format has a place for it, and names the dtype of each column, as pandas writes it, and the number of
rows, by which a file that was cut between two records is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from adapter_core.kinds import Kind, kinds_of
from adapter_core.tables.rows import Column, rows_at_a_time

if TYPE_CHECKING:
    import pandas as pd


Note = dict[str, Any]
"""``{"rows": 2, "columns": [{"name": "a", "dtype": "int64"}]}``; a column of dtype "category" has
also "categories", a list of text, and "ordered"."""

REFUSED = {
    Kind.COMPLEX: "the format has no type for them",
    Kind.DATE: "the format has no type for them",
    Kind.TIME: "the format has no type for them",
    Kind.DECIMAL: "the format has no type for them",
    Kind.PERIOD: "the format has no type for them",
    Kind.INTERVAL: "the format has no type for them",
    Kind.SPARSE: "records would fill them up",
    Kind.ARROW: "the file keeps no Arrow types of pandas",
    Kind.ARROW_NESTED: "the file keeps no Arrow types of pandas",
    Kind.CATEGORY_NOT_TEXT: "the file keeps categories of text alone",
    Kind.MIXED: "some would come back as other types, as tuples do",
}
"""What `row_blocks` gives no values for, and why, as most formats of records refuse it."""


def note_of(df: pd.DataFrame) -> Note:
    """Return what a table, shape (rows, columns), says of itself besides its values."""
    columns = [
        _column_note(column, kind) for (_, column), kind in zip(df.items(), kinds_of(df), strict=True)
    ]
    return {"rows": len(df), "columns": columns}


def _column_note(column: pd.Series, kind: Kind) -> Note:
    dtype = "str" if kind is Kind.TEXT and column.dtype == object else str(column.dtype)
    note = {"name": column.name, "dtype": dtype}
    if kind is Kind.CATEGORY:
        note["categories"] = column.cat.categories.tolist()
        note["ordered"] = column.cat.ordered
    return note


def table_of(note: Any, rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """Return the table of which `note_of` and `row_blocks` gave note and rows.

    Raises
    ------
    TypeError
        If there is no note, or a value is of a type that its column cannot have.
    ValueError
        If the number of rows, or of values in one, is not that of the note, or a value is not in the
        range of its column.
    """
    _check(note)
    blocks = _blocks(iter(rows), rows_at_a_time(len(note["columns"])))
    return table_of_columns(note, (zip(*block, strict=True) for block in blocks))


def table_of_columns(note: Any, blocks: Iterable[Iterable[Sequence[Any]]]) -> pd.DataFrame:
    """Return the same from blocks of columns, each the values of some rows; see `table_of`."""
    import pandas as pd

    _check(note)
    columns = [Column(each) for each in note["columns"]]
    for block in blocks:
        for column, values in zip(columns, block, strict=True):
            column.add(values)
    found, expected = sum(map(len, columns[0].chunks)), int(note["rows"])
    if found != expected:
        raise ValueError(f"the file contains {found:,} of {expected:,} rows")
    df = pd.DataFrame({i: column.array() for i, column in enumerate(columns)}, copy=False)
    df.columns = pd.Index([each["name"] for each in note["columns"]], dtype="str")
    return df


def _check(note: Any) -> None:
    if not isinstance(note, dict):
        raise TypeError(f"the file begins with {type(note).__name__}, not with a note of its columns")


def _blocks(rows: Iterator[Sequence[Any]], size: int) -> Iterator[list[Sequence[Any]]]:
    while block := list(islice(rows, size)):
        yield block
