"""Excel workbooks through calamine, and a writer in Rust."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Kind, Snippet, kinds_of
from adapter_core.tables.excel import SHEET, TIME_FORMAT, CalamineWorkbook

if TYPE_CHECKING:
    import pandas as pd

DAY_ZERO = "1899-12-30"
"""Day 0 of Excel's datetimes, from March 1900 on."""


class Adapter(CalamineWorkbook):
    """One sheet of an xlsx workbook, written by rustpy-xlsxwriter and read by fastexcel, over calamine.

    Floats keep all their digits, and types are inferred from all rows. calamine does not compare the
    checksums of the ZIP archive: a damaged file may come back with other values.
    """

    label = "Excel[calamine]"
    requires = ("pandas", "rustpy-xlsxwriter", "fastexcel", "pyarrow>=15")
    modules: ClassVar = {"rustpy-xlsxwriter": "rustpy_xlsxwriter"}
    suite = "engines"
    snippet = Snippet(
        imports="import fastexcel\nfrom rustpy_xlsxwriter import FastExcel",
        write='FastExcel({path}).sheet("Sheet1", df).save()',
        read="df = fastexcel.read_excel({path}).load_sheet(0, schema_sample_rows=None).to_pandas()",
        changes={"int64": "float64", "int8": "float64", "float32": "float64", "Int64": "float64"},
        lacks=("datetime64[us]", "category"),
    )

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        from rustpy_xlsxwriter import FastExcel

        cells, formats = _prepared(df)
        FastExcel(str(path)).sheet(SHEET, cells, column_formats=formats).save()


def _prepared(df: pd.DataFrame) -> tuple[pd.DataFrame, list[Any]]:
    """Return the table in types that the writer stores rightly, and the number format of each column."""
    import pandas as pd
    from rustpy_xlsxwriter import Format

    # The writer leaves categories empty, drops parts of seconds, and mirrors times of day before 1970.
    df = df.copy(deep=False)
    formats: list[Any] = [None] * len(df.columns)
    for position, kind in enumerate(kinds_of(df)):
        column = df.iloc[:, position]
        if kind is Kind.CATEGORY:
            df.isetitem(position, column.astype(column.dtype.categories.dtype))
        elif kind is Kind.DATETIME:
            days = (column.dt.as_unit("ms") - pd.Timestamp(DAY_ZERO)) / pd.Timedelta(days=1)
            df.isetitem(position, days)
            formats[position] = Format().set_num_format(TIME_FORMAT)
    return df, formats
