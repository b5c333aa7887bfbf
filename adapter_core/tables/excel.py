"""Excel workbooks: limits, cells, and the engines that several adapters share."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import AS_A_WHOLE, ColumnReads, Kind, Trait, kinds_of
from adapter_core.file_facts import FileFacts
from adapter_core.tables.arrow import arrow_of, frame_of
from adapter_core.tables.rows import BLOCK_ROWS
from adapter_core.values import (
    LARGEST_EXACT_FLOAT,
    NOT_XML,
    any_equals,
    any_matches,
    datetimes_beyond,
    infinite_floats,
    integers_beyond_float,
    longest_text,
    rounded_to_infinity,
    text_columns,
    with_minus_zero,
)

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


# https://support.microsoft.com/office/1672b34d-7043-467e-8e27-269d656771c3
MAX_ROWS, MAX_COLUMNS, MAX_TEXT_LENGTH = 1_048_576, 16_384, 32_767

# Day 1 of Excel's calendar is 1900-01-01; its dates end with 9999.
YEARS = 1900, 9999

SHEET = "Sheet1"
"""Name of the only sheet, the default of Excel and pandas."""

TIME_FORMAT = "yyyy-mm-dd hh:mm:ss.000"
"""Number format that marks a number as a datetime."""

_FIRST_SURE_DAY = "1900-03-01"

# Characters that XML forbids, and that the writers escape.
_ESCAPED = r"[\x{FFFE}\x{FFFF}]"

_AS_TEXT = "Excel would turn them into text"
_AS_NUMBER = "Excel keeps them as floats"
_INTEGERS = {Kind.INTEGER, Kind.UNSIGNED, Kind.NULLABLE_INTEGER, Kind.NULLABLE_UNSIGNED}


class Workbook(ColumnReads):
    """One sheet of an xlsx workbook, which is a ZIP archive that all libraries compress.

    Numbers are 64-bit floats; columns of whole numbers without nulls come back as integers, dates as
    datetimes, and categories as text. An empty cell is a null. Rows are not read alone, since
    the type of a column depends on all its cells.
    """

    local_only = AS_A_WHOLE
    suffix = ".xlsx"
    file_facts = FileFacts(threads="one")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    default_codec = "deflate"
    holds_infinity: ClassVar[bool] = False
    """True if the library represents infinite floats, which cells cannot contain, in its own way."""
    refuses: ClassVar = {
        Kind.COMPLEX: _AS_TEXT,
        Kind.BINARY: _AS_TEXT,
        Kind.TIME: _AS_TEXT,
        Kind.DECIMAL: _AS_NUMBER,
        Kind.WIDE_DECIMAL: _AS_NUMBER,
        Kind.ZONED_DATETIME: "Excel has no time zones",
        Kind.TIMEDELTA: _AS_NUMBER,
        Kind.PERIOD: _AS_TEXT,
        Kind.INTERVAL: _AS_TEXT,
        Kind.SPARSE: "Excel would fill them up",
        Kind.ARROW: "Excel keeps no Arrow types",
        Kind.NESTED: _AS_TEXT,
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
        self._refuse_column(name, "integers beyond 2**53, which floats skip")
        if not self.holds_infinity:
            self._refuse_column(infinite_floats(df), "an infinite value; cells have no infinity")
        if self.kept_digits:
            name = rounded_to_infinity(df, self.kept_digits)
            self._refuse_column(name, f"floats that {self.kept_digits} digits round to infinity")
        self._check_datetimes(df)
        for name, text in text_columns(df):
            problem = self._text_problem(text)
            if problem:
                self._refuse_column(name, problem)

    def _check_datetimes(self, df: pd.DataFrame) -> None:
        name = datetimes_beyond(df, {Kind.DATE, Kind.DATETIME}, *YEARS)
        self._refuse_column(name, "dates outside of Excel's years, 1900 to 9999")
        for position, kind in enumerate(kinds_of(df)):
            if kind is Kind.DATETIME:
                times = df.iloc[:, position].dropna()
                if not times.dt.floor("ms").equals(times):
                    self._refuse_column(df.columns[position], "parts of milliseconds")

    def _text_problem(self, text: pa.Array) -> str:
        """Return the text that does not come back, as a phrase; empty if all does."""
        if longest_text(text) > MAX_TEXT_LENGTH:
            return f"text of more than {MAX_TEXT_LENGTH:,} characters"
        if any_equals(text, ""):
            return "empty text, which in a cell is the same as a null"
        return ""

    def _codec_used(self, path: Path) -> str | None:
        with zipfile.ZipFile(path) as archive:
            deflated = any(each.compress_type == zipfile.ZIP_DEFLATED for each in archive.infolist())
        return "deflate" if deflated else None


class OpenpyxlWorkbook(Workbook):
    """A workbook that openpyxl writes, with 16 digits of each float, and reads."""

    kept_digits: ClassVar = 16

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        self._refuse_column(with_minus_zero(df), "-0.0, which comes back as 0.0")
        names = _names_as_text(df)
        if any_matches(names, "^="):
            raise self.refusal("a column name starts with '=', which would become a formula")
        if any_matches(names, NOT_XML):
            raise self.refusal("a column name contains control characters, which a cell cannot contain")

    def _text_problem(self, text: pa.Array) -> str:
        if any_matches(text, r"^="):
            return "text that starts with '=', which would become a formula"
        if any_matches(text, NOT_XML):
            return "control characters, which a cell cannot contain"
        if any_matches(text, "_x[0-9a-fA-F]{4}_"):
            return "text that Excel takes for an escaped character, e.g. _x000D_"
        return super()._text_problem(text)


class CalamineWorkbook(Workbook):
    """A workbook that fastexcel reads, over calamine; it infers types from all rows of a column."""

    holds_nul_in_names = False

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        if len(df) and bool(df.iloc[-1].isna().all()):
            raise self.refusal("its last row is all null, and empty rows at the end are not read")
        if "" in df.columns:
            raise self.refusal("a column without a name would be given one")
        if any_matches(_names_as_text(df), _ESCAPED):
            raise self.refusal("a column name contains characters that would come back escaped")

    def _check_datetimes(self, df: pd.DataFrame) -> None:
        super()._check_datetimes(df)
        # Excel has a 29 February 1900, and libraries differ in the days before it:
        # https://learn.microsoft.com/office/troubleshoot/excel/wrongly-assumes-1900-is-leap-year
        for position, kind in enumerate(kinds_of(df)):
            if kind is Kind.DATETIME and (df.iloc[:, position] < _FIRST_SURE_DAY).any():
                self._refuse_column(
                    df.columns[position], "datetimes before March 1900, read differently"
                )

    def _text_problem(self, text: pa.Array) -> str:
        if any_matches(text, _ESCAPED):
            return "characters that XML forbids, which would come back escaped"
        return super()._text_problem(text)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import fastexcel

        sheet = fastexcel.read_excel(path).load_sheet(0, schema_sample_rows=None, use_columns=columns)
        return frame_of_cells(sheet.to_arrow())

    def _column_names(self, path: Path) -> list[str]:
        import fastexcel

        sheet = fastexcel.read_excel(path).load_sheet(0, n_rows=1)
        return [column.name for column in sheet.available_columns()]


def _names_as_text(df: pd.DataFrame) -> pa.Array:
    import pyarrow as pa

    return pa.array(list(df.columns), pa.large_string())


def rows_of(df: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table, shape (rows, columns), as Python values for cells; a null is None."""
    import pyarrow as pa

    table = arrow_of(df)
    for position, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type):
            # Python's datetime has no nanoseconds, and cells contain milliseconds at most.
            times = table.column(position).cast(pa.timestamp("ms"))
            table = table.set_column(position, field.name, times)
    for batch in table.to_batches(max_chunksize=BLOCK_ROWS):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def frame_of_cells(table: pa.Table) -> pd.DataFrame:
    """Return a table read from cells, shape (rows, columns), with the dtypes that pandas would read.

    All numbers are floats in cells. Columns of whole numbers without nulls become 64-bit integers, and
    other columns of numbers 64-bit floats.
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
    whole = (values == np.trunc(values)) & (np.abs(values) <= LARGEST_EXACT_FLOAT)
    minus_zero = (values == 0) & np.signbit(values)
    return pa.int64() if len(values) and whole.all() and not minus_zero.any() else pa.float64()
