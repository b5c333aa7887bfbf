"""Tables as rows of Python values, with a description of the columns.

A format of records has fewer types than pandas. The description, which is stored beside the rows,
contains the dtype of each column in pandas' words, and the number of rows, which reveals a file
that was truncated between two records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from adapter_core import Kind
from adapter_core.kinds import kinds_of
from adapter_core.tables.rows import ColumnBuilder, block_rows

if TYPE_CHECKING:
    import pandas as pd


Description = dict[str, Any]
"""``{"rows": 2, "columns": [{"name": "a", "dtype": "int64"}]}``; a column of dtype "category" has
also "categories", a list of text, and "ordered"."""

REFUSES = {
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
"""Kinds of column that most formats of records cannot store, with the reasons."""


def describe(df: pd.DataFrame) -> Description:
    """Return the description of a table, shape (rows, columns)."""
    columns = [
        _describe_column(column, kind)
        for (_, column), kind in zip(df.items(), kinds_of(df), strict=True)
    ]
    return {"rows": len(df), "columns": columns}


def _describe_column(column: pd.Series, kind: Kind) -> Description:
    dtype = "str" if kind is Kind.TEXT and column.dtype == object else str(column.dtype)
    description = {"name": column.name, "dtype": dtype}
    if kind is Kind.CATEGORY:
        description["categories"] = column.cat.categories.tolist()
        description["ordered"] = column.cat.ordered
    return description


def table_of(description: Any, rows: Iterable[Sequence[Any]]) -> pd.DataFrame:
    """Return a table from the results of `describe` and `row_blocks`.

    Raises
    ------
    TypeError
        If the description is not one, or a value has a type that its column cannot have.
    ValueError
        If the number of rows, or of values in a row, differs from the description, or a value is outside
        the range of its column.
    """
    _check(description)
    blocks = _blocks(iter(rows), block_rows(len(description["columns"])))
    return table_of_columns(description, (zip(*block, strict=True) for block in blocks))


def table_of_columns(description: Any, blocks: Iterable[Iterable[Sequence[Any]]]) -> pd.DataFrame:
    """Return a table from blocks of columns, each with the values of some rows; see `table_of`."""
    import pandas as pd

    _check(description)
    columns = [ColumnBuilder(each) for each in description["columns"]]
    for block in blocks:
        for column, values in zip(columns, block, strict=True):
            column.add(values)
    found, expected = sum(map(len, columns[0].chunks)), int(description["rows"])
    if found != expected:
        raise ValueError(f"the file contains {found:,} of {expected:,} rows")
    df = pd.DataFrame({i: column.array() for i, column in enumerate(columns)}, copy=False)
    df.columns = pd.Index([each["name"] for each in description["columns"]], dtype="str")
    return df


def _check(description: Any) -> None:
    if not isinstance(description, dict):
        found = type(description).__name__
        raise TypeError(f"the file starts with {found}, not with a description of its columns")


def _blocks(rows: Iterator[Sequence[Any]], size: int) -> Iterator[list[Sequence[Any]]]:
    while block := list(islice(rows, size)):
        yield block
