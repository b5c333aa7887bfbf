"""Excel workbooks through openpyxl alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.sheets import frame_of_cells, rows_of
from adapter_core.values import matches_text
from adapter_core.workbook import SHEET, Workbook

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class Adapter(Workbook):
    """One sheet of an xlsx workbook through openpyxl's write-only and read-only workbooks.

    These hold the cells of no more than a row. Floats are written with 16 digits.
    """

    label = "Excel[openpyxl]"
    requires = ("pandas", "openpyxl", "pyarrow>=15")
    suite = "engines"
    kept_digits = 16

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        if any(name.startswith("=") for name in df.columns):
            raise self.refusal("a column name starts with '=', which would become a formula")

    def _text_problem(self, text: pa.Array) -> str:
        if matches_text(text, r"^="):
            return "text that starts with '=', which would become a formula"
        if matches_text(text, r"[\x00-\x08\x0b\x0c\x0e-\x1f\x{FFFE}\x{FFFF}]"):
            return "control characters, which openpyxl refuses"
        if matches_text(text, "_x[0-9a-fA-F]{4}_"):
            return "text that Excel takes for an escaped character, as in _x000D_"
        return super()._text_problem(text)

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import openpyxl

        workbook = openpyxl.Workbook(write_only=True)
        sheet = workbook.create_sheet(SHEET)
        sheet.append(list(df.columns))
        for row in rows_of(df):
            sheet.append(row)
        workbook.save(path)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pyarrow as pa

        with _sheet(path) as sheet:
            names = _names(sheet)
            wanted = [i for i, name in enumerate(names) if columns is None or name in columns]
            rows = sheet.iter_rows(min_row=2, max_col=len(names), values_only=True)
            cells = list(zip(*rows, strict=True)) or [()] * len(names)
        arrays = [_array(cells[i]) for i in wanted]
        return frame_of_cells(pa.table(arrays, [names[i] for i in wanted]))

    def _column_names(self, path: Path) -> list[str]:
        with _sheet(path) as sheet:
            return _names(sheet)


@contextmanager
def _sheet(path: Path) -> Iterator[Any]:
    import openpyxl

    workbook = openpyxl.load_workbook(path, read_only=True)
    try:
        yield workbook.worksheets[0]
    finally:
        workbook.close()


def _names(sheet: Any) -> list[str]:
    first_row = next(sheet.iter_rows(max_row=1, values_only=True), ())
    return ["" if name is None else name for name in first_row]


def _array(cells: tuple[Any, ...]) -> pa.Array:
    """Return the values of a column; those of a column of numbers may be Python's int and float."""
    import numpy as np
    import pyarrow as pa

    try:
        return pa.array(cells)
    except pa.ArrowInvalid:
        # Arrow puts no integers beyond 2**53 among floats.
        return pa.array(np.array(cells, float), from_pandas=True)
