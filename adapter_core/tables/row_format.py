"""Tables as rows of Python values, with a description of the columns.

A format of records has fewer types than pandas. The description, which is stored beside the rows,
contains the dtype of each column in pandas' words, and the number of rows, which reveals a file
that was truncated between two records.
"""

from __future__ import annotations

from abc import abstractmethod
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import (
    AS_BYTES,
    BatchedReads,
    FilteredReads,
    InvalidSelectionError,
    Kind,
    RowReads,
    UnknownNameError,
    kinds_of,
)
from adapter_core.file_facts import FileFacts
from adapter_core.kinds import NESTED, dtype_named, nested_array
from adapter_core.tables.rows import ColumnBuilder, block_rows, pieces

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


Description = dict[str, Any]
"""``{"rows": 2, "columns": [{"name": "a", "dtype": "int64"}]}``; a column of dtype "category" has
also "categories", a list of text, and "ordered"; a nested one "arrow", its type in an Arrow schema."""

REFUSES = {
    Kind.COMPLEX: "the format has no type for them",
    Kind.DATE: "the format has no type for them",
    Kind.TIME: "the format has no type for them",
    Kind.DECIMAL: "the format has no type for them",
    Kind.WIDE_DECIMAL: "the format has no type for them",
    Kind.PERIOD: "the format has no type for them",
    Kind.INTERVAL: "the format has no type for them",
    Kind.SPARSE: "records would fill them up",
    Kind.ARROW: "the file keeps no Arrow types of pandas",
    Kind.OTHER_NESTED: "the format has no type for them",
    Kind.CATEGORY_NOT_TEXT: "the file keeps categories of text alone",
    Kind.MIXED: "some would come back as other types, as tuples do",
}
"""Kinds of column that most formats of records cannot store, with the reasons."""

REFUSES_INSIDE = dict.fromkeys(
    (Kind.DATETIME, Kind.ZONED_DATETIME, Kind.TIMEDELTA), "only columns of them become numbers"
)
"""Kinds of column that become integers, and inside nested values would be objects of Python."""


class RowFile(RowReads, FilteredReads, BatchedReads):
    """A format whose file is a description of the columns, and the rows after it."""

    local_only = AS_BYTES
    refuses: ClassVar = REFUSES
    refuses_inside: ClassVar = REFUSES_INSIDE
    file_facts = FileFacts(silent="it is a stream of values without a header")

    @abstractmethod
    def _opened(self, path: Path) -> AbstractContextManager[tuple[Any, Iterable[Sequence[Any]]]]:
        """Open a file; return its description, and its rows, which are read as they are used."""

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        with self._opened(path) as (description, rows):
            return table_of(description, rows)

    def _column_names(self, path: Path) -> list[str]:
        with self._opened(path) as (description, _):
            return names_of(description)

    def _batches(
        self,
        path: Path,
        columns: list[str] | None,
        batch_rows: int,
    ) -> Iterator[pd.DataFrame]:
        with self._opened(path) as (description, rows):
            yield from batches_of(description, rows, batch_rows)


def describe(df: pd.DataFrame) -> Description:
    """Return the description of a table, shape (rows, columns)."""
    columns = [
        _describe_column(column, kind)
        for (_, column), kind in zip(df.items(), kinds_of(df), strict=True)
    ]
    return {"rows": len(df), "columns": columns}


def _describe_column(column: pd.Series, kind: Kind) -> Description:
    import pyarrow as pa

    if kind in NESTED:
        dtype = pa.schema([("", nested_array(column).type)]).serialize()
        return {"name": column.name, "dtype": "object", "arrow": b64encode(dtype).decode()}
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
    _check(description)
    columns = _builders(description)
    for block in blocks:
        for column, values in zip(columns, block, strict=True):
            column.add(values)
    check_rows(description, _rows(columns))
    return _built(description, columns)


def batches_of(
    description: Any, rows: Iterable[Sequence[Any]], batch_rows: int
) -> Iterator[pd.DataFrame]:
    """Yield the table of `table_of` in batches of at most that many rows."""
    _check(description)
    size = min(batch_rows, block_rows(len(description["columns"])))
    columns = (zip(*block, strict=True) for block in _blocks(iter(rows), size))
    return batches_of_columns(description, columns, batch_rows)


def batches_of_columns(
    description: Any, blocks: Iterable[Iterable[Sequence[Any]]], batch_rows: int
) -> Iterator[pd.DataFrame]:
    """Yield the table of `table_of_columns` in batches of at most that many rows."""
    _check(description)
    columns = _builders(description)
    total = 0
    for block in blocks:
        parts = list(block)
        if _rows(columns) + len(parts[0]) > batch_rows and _rows(columns):
            yield from pieces(_built(description, columns), batch_rows)
            columns = _builders(description)
        for column, values in zip(columns, parts, strict=True):
            column.add(values)
        total += len(parts[0])
    if _rows(columns):
        yield from pieces(_built(description, columns), batch_rows)
    check_rows(description, total)


def names_of(description: Any) -> list[str]:
    """Return the names of the columns in a result of `describe`."""
    _check(description)
    return [each["name"] for each in description["columns"]]


def dtypes_of_numbers(description: Any, columns: Sequence[str]) -> dict[str, np.dtype[Any]]:
    """Return NumPy's dtype of each column.

    Raises
    ------
    UnknownNameError
        If a named column is missing.
    InvalidSelectionError
        If a column contains anything but numbers.
    """
    import pandas as pd

    _check(description)
    by_name = {each["name"]: each["dtype"] for each in description["columns"]}
    found: dict[str, np.dtype[Any]] = {}
    for name in columns:
        if name not in by_name:
            raise UnknownNameError("column", name, by_name)
        dtype: Any = dtype_named(by_name[name])
        if not pd.api.types.is_numeric_dtype(dtype):
            raise InvalidSelectionError(f"column {name!r} contains {dtype}, not numbers")
        found[name] = getattr(dtype, "numpy_dtype", dtype)
    return found


def _builders(description: Any) -> list[ColumnBuilder]:
    return [ColumnBuilder(each) for each in description["columns"]]


def _rows(columns: list[ColumnBuilder]) -> int:
    return sum(map(len, columns[0].chunks))


def _built(description: Any, columns: list[ColumnBuilder]) -> pd.DataFrame:
    import pandas as pd

    df = pd.DataFrame({i: column.array() for i, column in enumerate(columns)}, copy=False)
    df.columns = pd.Index(names_of(description), dtype="str")
    return df


def check_rows(description: Any, found: int) -> None:
    """Raise ValueError if the number of rows differs from the description's."""
    expected = int(description["rows"])
    if found != expected:
        raise ValueError(f"the file contains {found:,} of {expected:,} rows")


def _check(description: Any) -> None:
    if not isinstance(description, dict):
        found = type(description).__name__
        raise TypeError(f"the file starts with {found}, not with a description of its columns")


def _blocks(rows: Iterator[Sequence[Any]], size: int) -> Iterator[list[Sequence[Any]]]:
    while block := list(islice(rows, size)):
        yield block
