"""What the engines of Excel workbooks have in common: limits, and what no cell can hold."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.data_format import DataFormat, Feature
from adapter_core.kinds import Kind, kinds_of
from adapter_core.traits import Trait
from adapter_core.values import (
    datetimes_beyond,
    holds_text,
    infinite_floats,
    integers_beyond_float,
    longest_text,
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
            raise self.refusal(f"column {name!r} holds integers beyond 2**53, which floats cannot hold")
        name = None if self.holds_infinity else infinite_floats(df)
        if name is not None:
            raise self.refusal(f"column {name!r} holds an infinite value, and cells hold none")
        self._check_datetimes(df)
        for name, text in text_columns(df):
            problem = self._text_problem(text)
            if problem:
                raise self.refusal(f"column {name!r} holds {problem}")

    def _check_datetimes(self, df: pd.DataFrame) -> None:
        name = datetimes_beyond(df, {Kind.DATE, Kind.DATETIME}, *YEARS)
        if name is not None:
            raise self.refusal(f"column {name!r} holds dates before 1900, where Excel's begin")
        for position, kind in enumerate(kinds_of(df)):
            if kind is Kind.DATETIME:
                times = df.iloc[:, position].dropna()
                if not times.dt.floor("ms").equals(times):
                    raise self.refusal(f"column {df.columns[position]!r} holds parts of milliseconds")

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
