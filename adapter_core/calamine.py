"""What the engines that read Excel workbooks through fastexcel, over calamine, have in common."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.kinds import Kind, kinds_of
from adapter_core.sheets import frame_of_cells
from adapter_core.values import matches_text
from adapter_core.workbook import Workbook

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

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
                    f"column {name!r} holds datetimes before March 1900, read differently"
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
