"""Tables between Arrow and Polars, and parts of Polars' lazy tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import (
    ColumnSums,
    Comparison,
    InvalidSelectionError,
    Kind,
    PartialReads,
    Predicate,
    Trait,
    UnknownNameError,
)
from adapter_core.kinds import kinds_of
from adapter_core.predicate import BOOLEANS, NUMBERS, OPERATORS, TEXT
from adapter_core.tables.arrow import arrow_of, frame_of

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class PolarsColumns(PartialReads):
    """A format that Polars writes and reads with Arrow's types, column by column."""

    suite = "engines"
    holds_nul_in_names = False
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})

    def _check_values(self, df: pd.DataFrame) -> None:
        name = without_zone_name(df)
        if name is not None:
            raise self.refusal(f"the time zone of column {name!r} is an offset; Polars needs a name")


class PolarsScan(PartialReads):
    """A format read in parts as a lazy table, with the types that all its rows have."""

    @abstractmethod
    def _scanned(self, path: Path) -> AbstractContextManager[pl.LazyFrame]:
        """Open the whole table."""

    def _framing(self, table: pl.LazyFrame, path: Path) -> Callable[[pa.Table], pd.DataFrame]:
        """Return a function that makes the DataFrame of some rows of a table in a file."""
        return partial(frame_of, nullable=nullable_columns(table))

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        with self._scanned(path) as scanned:
            table = projected(scanned, columns)
            return self._framing(table, path)(sliced(table, start, stop).collect().to_arrow())

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        with self._scanned(path) as table:
            part = projected(filtered(table, predicate), columns).collect()
            return self._framing(projected(table, columns), path)(part.to_arrow())

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        with self._scanned(path) as scanned:
            table = projected(scanned, columns)
            yield from map(self._framing(table, path), batches_of(table, batch_rows))


class PolarsFile(PolarsScan, PolarsColumns):
    """A format of columns that gives arrays and sums from its lazy table, too."""

    def _read_arrays(
        self, path: Path, columns: list[str], where: Predicate | None
    ) -> dict[str, np.ndarray]:
        with self._scanned(path) as scan:
            return arrays_of_scan(scan, columns, where)

    def _sum_columns(self, path: Path, columns: list[str], where: Predicate | None) -> ColumnSums:
        with self._scanned(path) as scan:
            return sums_of_scan(scan, columns, where)


def polars_of(table: pa.Table) -> pl.DataFrame:
    """Return an Arrow table as a Polars table, shape (rows, columns)."""
    import polars as pl

    frame = pl.DataFrame(table)
    # Polars replaces an empty column name.
    frame.columns = table.column_names
    return frame


def of_pandas(df: pd.DataFrame) -> tuple[pl.DataFrame, pa.Table | None]:
    """Return a table as a Polars table, and the Arrow table on the way, if there was one."""
    import numpy as np
    import polars as pl

    # Polars takes NumPy's numbers as they are, in half the time of the way through Arrow. It would take
    # 16-bit floats for others.
    plain = {np.dtype(each) for each in (*np.typecodes["AllInteger"], "f4", "f8", "?")}
    if all(isinstance(each, np.dtype) and each in plain for each in df.dtypes):
        return pl.from_pandas(df), None
    table = arrow_of(df)
    return polars_of(table), table


def sums_of_scan(scan: pl.LazyFrame, columns: list[str], where: Predicate | None) -> ColumnSums:
    """Return the sums of some columns over the rows that pass a predicate, by Polars' own plan.

    Raises
    ------
    InvalidSelectionError
        If a column does not consist of numbers.
    """
    import polars as pl

    _check_numbers(scan, columns)
    # Polars adds up 32-bit integers in 32 bits.
    totals = (pl.col(name).cast(pl.Float64).sum() for name in columns)
    rows, *sums = filtered(scan, where).select(pl.len().alias(""), *totals).collect().row(0)
    return ColumnSums(rows, dict(zip(columns, sums, strict=True)))


def arrays_of_scan(
    scan: pl.LazyFrame, columns: list[str], where: Predicate | None
) -> dict[str, np.ndarray]:
    """Return some columns of the rows that pass a predicate, each of shape (rows,)."""
    _check_numbers(scan, columns)
    frame = filtered(scan, where).select(columns).collect()
    for column in frame:
        if column.null_count():
            raise InvalidSelectionError(f"column {column.name!r} contains nulls")
    return {column.name: column.to_numpy() for column in frame}


def _check_numbers(scan: pl.LazyFrame, columns: list[str]) -> None:
    import polars as pl

    schema = scan.collect_schema()
    for name in columns:
        if name not in schema:
            raise UnknownNameError("column", name, schema)
        if not (schema[name].is_numeric() or schema[name] == pl.Boolean):
            raise InvalidSelectionError(f"column {name!r} contains {schema[name]}, not numbers")


def projected(table: pl.LazyFrame, columns: Sequence[str] | None) -> pl.LazyFrame:
    """Return some columns of a table, or all if None."""
    return table if columns is None else table.select(columns)


def filtered(table: pl.LazyFrame, where: Predicate | None) -> pl.LazyFrame:
    """Return the rows of a table that pass a predicate, or all if None.

    Raises
    ------
    UnknownNameError
        If a compared column does not exist.
    InvalidSelectionError
        If a column cannot be compared with its constant.
    """
    if where is None:
        return table
    schema = table.collect_schema()
    return table.filter(*(_expression(schema, each) for each in where.comparisons))


def _expression(schema: pl.Schema, each: Comparison) -> pl.Expr:
    import polars as pl

    if each.column not in schema:
        raise UnknownNameError("column", each.column, schema)
    dtype = schema[each.column]
    value = each.fitted(_contents(dtype), is_single=dtype == pl.Float32).value
    column = pl.col(each.column)
    if each.type == TEXT and dtype != pl.String:
        column = column.cast(pl.String)  # categories would compare by their position
    is_true: pl.Expr = OPERATORS[each.operator](column, pl.lit(value))
    # NaN is the largest number of Polars.
    may_pass_nan = dtype.is_float() and each.operator in ("!=", ">", ">=")
    return is_true & column.is_not_nan() if may_pass_nan else is_true


def _contents(dtype: pl.DataType) -> str:
    import polars as pl

    if dtype.is_integer() or dtype.is_float():
        return NUMBERS
    if dtype == pl.Boolean:
        return BOOLEANS
    return TEXT if dtype in (pl.String, pl.Categorical, pl.Enum) else str(dtype)


def sliced(table: pl.LazyFrame, start: int, stop: int | None) -> pl.LazyFrame:
    """Return the rows of a table from `start` to before `stop`, or to the end if None."""
    return table.slice(start, None if stop is None else stop - start)


def rows_of(table: pl.LazyFrame) -> int:
    """Return the number of rows of a table."""
    import polars as pl

    return int(table.select(pl.len()).collect().item())


def nullable_columns(table: pl.LazyFrame) -> list[str]:
    """Return the columns of integers or booleans that contain nulls."""
    import polars as pl

    schema = table.collect_schema()
    names = [name for name, dtype in schema.items() if dtype.is_integer() or dtype == pl.Boolean]
    if not names:
        return []
    counts = table.select(pl.col(names).null_count()).collect()
    return [name for name in names if counts[name][0]]


def batches_of(table: pl.LazyFrame, batch_rows: int) -> Iterator[pa.Table]:
    """Yield the rows of a table, computed meanwhile, in batches of at most that many rows."""
    for batch in table.collect_batches(chunk_size=batch_rows, lazy=True):
        for start in range(0, batch.height, batch_rows):
            yield batch.slice(start, batch_rows).to_arrow()


def without_zone_name(df: pd.DataFrame) -> str | None:
    """Return the first column of datetimes whose time zone is an offset, which Polars does not know."""
    import pyarrow as pa

    for name, dtype, kind in zip(df.columns, df.dtypes, kinds_of(df), strict=True):
        if kind is Kind.ZONED_DATETIME and ":" in pa.lib.tzinfo_to_string(dtype.tz):
            return str(name)
    return None
