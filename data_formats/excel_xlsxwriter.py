"""Excel workbooks, written by XlsxWriter."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import Kind, Snippet, kinds_of
from adapter_core.tables.excel import SHEET, TIME_FORMAT, CalamineWorkbook, rows_of

if TYPE_CHECKING:
    import pandas as pd

OPTIONS = {"constant_memory": True}
"""Write each row, with its text, as soon as the next one starts."""


class Adapter(CalamineWorkbook):
    """One sheet of an xlsx workbook written by XlsxWriter, which cannot read, and read by fastexcel.

    The method of each column's type is called once a cell, since XlsxWriter cannot write whole columns,
    and its methods for rows inspect the type of each value. Floats are written with 16 digits. A damaged
    file may come back with other values, as with Excel[calamine].
    """

    label = "Excel[xlsxwriter]"
    requires = ("pandas", "xlsxwriter", "fastexcel", "pyarrow>=15")
    suite = "engines"
    kept_digits = 16
    snippet = Snippet(
        imports="import fastexcel\nimport xlsxwriter",
        write="""
            options = {"constant_memory": True, "default_date_format": "yyyy-mm-dd hh:mm:ss.000"}
            with xlsxwriter.Workbook({path}, options) as workbook:
                sheet = workbook.add_worksheet("Sheet1")
                sheet.write_row(0, 0, df.columns)
                cells = df.astype(object).where(df.notna(), None)
                for number, row in enumerate(cells.itertuples(index=False), 1):
                    sheet.write_row(number, 0, row)
        """,
        read="df = fastexcel.read_excel({path}).load_sheet(0, schema_sample_rows=None).to_pandas()",
        changes={
            "int64": "float64",
            "int8": "float64",
            "float32": "float64",
            "datetime64[us]": "datetime64[ms]",
            "category": "str",
            "Int64": "float64",
        },
    )

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import xlsxwriter

        with xlsxwriter.Workbook(path, OPTIONS) as workbook:
            sheet = workbook.add_worksheet(SHEET)
            for column, name in enumerate(df.columns):
                sheet.write_string(0, column, name)
            time_format = workbook.add_format({"num_format": TIME_FORMAT})
            writers = [_writer(sheet, kind, time_format) for kind in kinds_of(df)]
            for row, values in enumerate(rows_of(df), 1):
                for column, (write, value) in enumerate(zip(writers, values, strict=True)):
                    if value is not None:
                        write(row, column, value)


def _writer(sheet: Any, kind: Kind, time_format: Any) -> Callable[..., Any]:
    """Return the method that writes values of a kind."""
    if kind in (Kind.TEXT, Kind.CATEGORY):
        return sheet.write_string
    if kind in (Kind.BOOLEAN, Kind.NULLABLE_BOOLEAN):
        return sheet.write_boolean
    if kind in (Kind.DATE, Kind.DATETIME):
        return partial(sheet.write_datetime, cell_format=time_format)
    return sheet.write_number
