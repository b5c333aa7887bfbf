"""What the engines of Excel workbooks have in common: limits, and what no cell can hold.

Tables on their way to cells, which hold floats, dates, text or booleans, and back.

What workbooks written by openpyxl have in common, whoever hands it the cells.

What the engines that read Excel workbooks through fastexcel, over calamine, have in common.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.data_format import DataFormat, Feature
from adapter_core.kinds import Kind, kinds_of
from adapter_core.tables.arrow import arrow_of, frame_of
from adapter_core.traits import Trait
from adapter_core.values import (
    datetimes_beyond,
    holds_text,
    infinite_floats,
    integers_beyond_float,
    longest_text,
    matches_text,
    text_columns,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


# https://support.microsoft.com/office/1672b34d-7043-467e-8e27-269d656771c3
MAX_ROWS, MAX_COLUMNS, MAX_TEXT_LENGTH = 1_048_576, 16_384, 32_767

YEARS = 1900, 9999

SHEET = "Sheet1"
"""Name of the one sheet, that of Excel and pandas."""

_AS_TEXT = "Excel would turn them into text"
_AS_NUMBER = "Excel keeps them as floats"

_INTEGERS = {Kind.INTEGER, Kind.UNSIGNED, Kind.NULLABLE_INTEGER, Kind.NULLABLE_UNSIGNED}


class Workbook(DataFormat):
    """One sheet of an xlsx workbook, which is a ZIP archive that all libraries compress.

    Numbers are 64-bit floats; columns of whole numbers without nulls come back as integers, dates as
    datetimes, and categories as text. An empty cell is a null.
    """

    suffix = ".xlsx"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    supports: ClassVar = frozenset({Feature.COLUMNS})
    default_codec = "deflate"
    holds_infinity: ClassVar[bool] = False
    """Whether the writer has words for infinite floats, which cells have none for."""
    refuses: ClassVar = {
        Kind.COMPLEX: _AS_TEXT,
        Kind.BINARY: _AS_TEXT,
        Kind.TIME: _AS_TEXT,
        Kind.DECIMAL: _AS_NUMBER,
        Kind.ZONED_DATETIME: "Excel has no time zones",
        Kind.TIMEDELTA: _AS_NUMBER,
        Kind.PERIOD: _AS_TEXT,
        Kind.INTERVAL: _AS_TEXT,
        Kind.SPARSE: "Excel would fill them up",
        Kind.ARROW: "Excel keeps no Arrow types",
        Kind.ARROW_NESTED: "Excel keeps no Arrow types",
        Kind.CATEGORY_NOT_TEXT: "Excel keeps no categories",
        Kind.MIXED: "Excel would change their types",
    }

    def _check_values(self, df: pd.DataFrame) -> None:
        rows, columns = df.shape
        if rows + 1 > MAX_ROWS:
            raise self.refusal(f"{rows:,} rows and a header do not fit in {MAX_ROWS:,}")
        if columns > MAX_COLUMNS:
            raise self.refusal(f"{columns:,} columns do not fit in {MAX_COLUMNS:,}")
        name = integers_beyond_float(df, _INTEGERS)
        if name is not None:
            raise self.refusal(f"column {name!r} contains integers beyond 2**53, which floats skip")
        name = None if self.holds_infinity else infinite_floats(df)
        if name is not None:
            raise self.refusal(f"column {name!r} contains an infinite value; cells have no infinity")
        self._check_datetimes(df)
        for name, text in text_columns(df):
            problem = self._text_problem(text)
            if problem:
                raise self.refusal(f"column {name!r} contains {problem}")

    def _check_datetimes(self, df: pd.DataFrame) -> None:
        name = datetimes_beyond(df, {Kind.DATE, Kind.DATETIME}, *YEARS)
        if name is not None:
            raise self.refusal(f"column {name!r} contains dates before 1900, where Excel's begin")
        for position, kind in enumerate(kinds_of(df)):
            if kind is Kind.DATETIME:
                times = df.iloc[:, position].dropna()
                if not times.dt.floor("ms").equals(times):
                    raise self.refusal(f"column {df.columns[position]!r} contains parts of milliseconds")

    def _text_problem(self, text: pa.Array) -> str:
        """Return what of a column of text does not come back, as a phrase; empty if all does."""
        if longest_text(text) > MAX_TEXT_LENGTH:
            return f"text of more than {MAX_TEXT_LENGTH:,} characters"
        if holds_text(text, ""):
            return "empty text, which an empty cell cannot tell from a null"
        return ""

    def _codec_used(self, path: Path) -> str | None:
        with zipfile.ZipFile(path) as archive:
            deflated = any(each.compress_type == zipfile.ZIP_DEFLATED for each in archive.infolist())
        return "deflate" if deflated else None


ROWS_AT_A_TIME = 500
"""Fewer than the 700 objects that wake Python's garbage collector."""

_LARGEST_EXACT_FLOAT = 2**53


def rows_of(df: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table, shape (rows, columns), as Python's values; a null is None."""
    import pyarrow as pa

    table = arrow_of(df)
    for position, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            # Cells hold no more than milliseconds, and Python no nanoseconds.
            times = table.column(position).cast(pa.timestamp("ms"))
            table = table.set_column(position, field.name, times)
    for batch in table.to_batches(max_chunksize=ROWS_AT_A_TIME):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def frame_of_cells(table: pa.Table) -> pd.DataFrame:
    """Return a table read from cells, shape (rows, columns), as pandas would read it.

    All numbers are floats there. Columns of whole numbers without nulls come as 64-bit integers, as
    pandas gives them, and other columns of numbers as 64-bit floats.
    """
    for position, column in enumerate(table.columns):
        kind = _number_type(column)
        if kind is not None and kind != column.type:
            name = table.schema.names[position]
            table = table.set_column(position, name, column.cast(kind))
    return frame_of(table.replace_schema_metadata())


def _number_type(column: pa.ChunkedArray) -> pa.DataType | None:
    """Return the type that a column of numbers should have; None for another column."""
    import numpy as np
    import pyarrow as pa

    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return None
    if column.null_count:
        return pa.float64()
    if pa.types.is_integer(column.type):
        return pa.int64()
    values = column.to_numpy()
    whole = (values == np.trunc(values)) & (np.abs(values) <= _LARGEST_EXACT_FLOAT)
    minus_zero = (values == 0) & np.signbit(values)
    return pa.int64() if len(values) and whole.all() and not minus_zero.any() else pa.float64()


class OpenpyxlWorkbook(Workbook):
    """One sheet of an xlsx workbook that openpyxl writes, with 16 digits of each float."""

    kept_digits: ClassVar = 16

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        if any(name.startswith("=") for name in df.columns):
            raise self.refusal("a column name starts with '=', which would become a formula")

    def _text_problem(self, text: pa.Array) -> str:
        if matches_text(text, r"^="):
            return "text that starts with '=', which would become a formula"
        if matches_text(text, r"[\x00-\x08\x0b\x0c\x0e-\x1f\x{FFFE}\x{FFFF}]"):
            return "control characters, which a cell cannot contain"
        if matches_text(text, "_x[0-9a-fA-F]{4}_"):
            return "text that Excel takes for an escaped character, as in _x000D_"
        return super()._text_problem(text)


TIME_FORMAT = "yyyy-mm-dd hh:mm:ss.000"
"""A number format by which readers know a number for a datetime."""

_FIRST_SURE_DAY = "1900-03-01"
"""Excel has a 29 February 1900, and libraries differ before it:
https://learn.microsoft.com/office/troubleshoot/excel/wrongly-assumes-1900-is-leap-year"""


class CalamineWorkbook(Workbook):
    """A workbook that fastexcel reads, with the type of a column guessed from all its rows."""

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        if len(df) and bool(df.iloc[-1].isna().all()):
            raise self.refusal("its last row is all null, and empty rows at the end are not read")
        if "" in df.columns:
            raise self.refusal("a column without a name would be given one")

    def _check_datetimes(self, df: pd.DataFrame) -> None:
        super()._check_datetimes(df)
        for position, kind in enumerate(kinds_of(df)):
            if kind is Kind.DATETIME and (df.iloc[:, position] < _FIRST_SURE_DAY).any():
                name = df.columns[position]
                raise self.refusal(
                    f"column {name!r} contains datetimes before March 1900, read differently"
                )

    def _text_problem(self, text: pa.Array) -> str:
        if matches_text(text, r"[\x{FFFE}\x{FFFF}]"):
            return "what are no characters in XML, and would come back escaped"
        return super()._text_problem(text)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import fastexcel

        sheet = fastexcel.read_excel(path).load_sheet(0, schema_sample_rows=None, use_columns=columns)
        return frame_of_cells(sheet.to_arrow())

    def _column_names(self, path: Path) -> list[str]:
        import fastexcel

        sheet = fastexcel.read_excel(path).load_sheet(0, n_rows=1)
        return [column.name for column in sheet.available_columns()]
