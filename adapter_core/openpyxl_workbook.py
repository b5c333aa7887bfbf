"""What workbooks written by openpyxl have in common, whoever hands it the cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from adapter_core.values import matches_text
from adapter_core.workbook import Workbook

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


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
            return "control characters, which a cell cannot hold"
        if matches_text(text, "_x[0-9a-fA-F]{4}_"):
            return "text that Excel takes for an escaped character, as in _x000D_"
        return super()._text_problem(text)
