"""Excel workbooks through openpyxl alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import Snippet
from adapter_core.tables.excel import SHEET, OpenpyxlWorkbook, frame_of_cells, rows_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class Adapter(OpenpyxlWorkbook):
    """One sheet of an xlsx workbook through openpyxl's write-only and read-only workbooks.

    These keep the cells of one row in memory. Floats are written with 16 digits.
    """

    label = "Excel[openpyxl]"
    requires = ("pandas", "openpyxl", "pyarrow>=15")
    suite = "engines"
    snippet = Snippet(
        imports="import openpyxl\nimport pandas as pd",
        write="""
            workbook = openpyxl.Workbook(write_only=True)
            sheet = workbook.create_sheet("Sheet1")
            sheet.append(list(df.columns))
            for row in df.astype(object).where(df.notna(), None).itertuples(index=False):
                sheet.append(row)
            workbook.save({path})
        """,
        read="""
            workbook = openpyxl.load_workbook({path}, read_only=True)
            names, *rows = workbook.worksheets[0].iter_rows(values_only=True)
            df = pd.DataFrame(rows, columns=names)
            workbook.close()
        """,
        changes={"int8": "int64", "float32": "float64", "category": "str", "Int64": "float64"},
    )

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
    """Return the values of a column; numbers may be a mixture of int and float."""
    import numpy as np
    import pyarrow as pa

    try:
        return pa.array(cells)
    except pa.ArrowInvalid:
        # Arrow refuses integers beyond 2**53 among floats.
        return pa.array(np.array(cells, float), from_pandas=True)
