"""Excel workbooks through pandas and openpyxl."""

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
    integers_beyond_float,
    longest_text,
    matches_text,
    reads_as_other_type,
    text_columns,
)

if TYPE_CHECKING:
    import pandas as pd

# https://support.microsoft.com/office/1672b34d-7043-467e-8e27-269d656771c3
MAX_ROWS, MAX_COLUMNS, MAX_TEXT_LENGTH = 1_048_576, 16_384, 32_767

YEARS = 1900, 9999

_AS_TEXT = "Excel would turn them into text"
_AS_NUMBER = "Excel keeps them as floats"

_INTEGERS = {Kind.INTEGER, Kind.UNSIGNED, Kind.NULLABLE_INTEGER, Kind.NULLABLE_UNSIGNED}


class Adapter(DataFormat):
    """One sheet of an xlsx workbook through `DataFrame.to_excel` and `pandas.read_excel`, openpyxl.

    Numbers are 64-bit floats, written with 16 digits; whole numbers come back as integers; an empty
    cell is a null. A workbook is a ZIP archive, which openpyxl always compresses.
    """

    label = "Excel"
    suffix = ".xlsx"
    requires = ("pandas", "openpyxl", "pyarrow")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    supports: ClassVar = frozenset({Feature.COLUMNS})
    holds_duplicate_names = True
    kept_digits = 16
    default_codec = "deflate"
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
        if rows and bool(df.iloc[-1].isna().all()):
            raise self.refusal("its last row is all null, and empty rows at the end are not kept")
        if any(name.startswith("=") for name in df.columns):
            raise self.refusal("a column name starts with '=', which would become a formula")
        name = integers_beyond_float(df, _INTEGERS)
        if name is not None:
            raise self.refusal(f"column {name!r} holds integers beyond 2**53, which floats cannot hold")
        self._check_datetimes(df)
        self._check_text(df)

    def _check_datetimes(self, df: pd.DataFrame) -> None:
        name = datetimes_beyond(df, {Kind.DATE, Kind.DATETIME}, *YEARS)
        if name is not None:
            raise self.refusal(f"column {name!r} holds dates before 1900, where Excel's begin")
        for position, kind in enumerate(kinds_of(df)):
            if kind is Kind.DATETIME:
                times = df.iloc[:, position].dropna()
                if not times.dt.floor("ms").equals(times):
                    raise self.refusal(f"column {df.columns[position]!r} holds parts of milliseconds")

    def _check_text(self, df: pd.DataFrame) -> None:
        for name, text in text_columns(df):
            problem = ""
            if longest_text(text) > MAX_TEXT_LENGTH:
                problem = f"text of more than {MAX_TEXT_LENGTH:,} characters"
            elif matches_text(text, r"^="):
                problem = "text that starts with '=', which would become a formula"
            elif matches_text(text, r"[\x00-\x08\x0b\x0c\x0e-\x1f]"):
                problem = "control characters, which a cell cannot hold"
            elif matches_text(text, "_x[0-9a-fA-F]{4}_"):
                problem = "text that Excel takes for an escaped character, as in _x000D_"
            elif holds_text(text, ""):
                problem = "empty text, which an empty cell cannot tell from a null"
            elif reads_as_other_type(text):
                problem = "only text that would be read as numbers or booleans"
            if problem:
                raise self.refusal(f"column {name!r} holds {problem}")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        df.to_excel(path, index=False, engine="openpyxl")

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pandas as pd

        with pd.ExcelFile(path, engine="openpyxl") as workbook:
            names = _header(workbook)
            wanted = [i for i, name in enumerate(names) if columns is None or name in columns]
            df = pd.read_excel(workbook, usecols=wanted, keep_default_na=False, na_values=[""])
        # pandas renames columns of equal or empty name.
        df.columns = pd.Index([names[i] for i in wanted])
        return df

    def _column_names(self, path: Path) -> list[str]:
        import pandas as pd

        with pd.ExcelFile(path, engine="openpyxl") as workbook:
            return _header(workbook)

    def _codec_used(self, path: Path) -> str | None:
        with zipfile.ZipFile(path) as archive:
            deflated = any(each.compress_type == zipfile.ZIP_DEFLATED for each in archive.infolist())
        return "deflate" if deflated else None


def _header(workbook: pd.ExcelFile) -> list[str]:
    sheet = workbook.book.worksheets[0]
    first_row = next(sheet.iter_rows(min_row=1, max_row=1, values_only=True), ())
    return ["" if name is None else str(name) for name in first_row]
