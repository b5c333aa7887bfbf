"""Excel workbooks through pandas and openpyxl."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core import Snippet
from adapter_core.tables.excel import OpenpyxlWorkbook
from adapter_core.values import reads_as_other_type

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_PYTHON_NUMBERS = ("integer", "mixed-integer-float")


class Adapter(OpenpyxlWorkbook):
    """One sheet of an xlsx workbook through `DataFrame.to_excel` and `pandas.read_excel`, openpyxl.

    pandas writes infinite floats as the text "inf", and reads that as a float.
    """

    label = "Excel"
    requires = ("pandas", "openpyxl", "pyarrow")
    holds_duplicate_names = True
    holds_infinity = True
    snippet = Snippet(
        imports="import pandas as pd",
        write='df.to_excel({path}, index=False, engine="openpyxl")',
        read='df = pd.read_excel({path}, engine="openpyxl", keep_default_na=False, na_values=[""])',
        changes={"int8": "int64", "float32": "float64", "category": "str", "Int64": "float64"},
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        if len(df) and bool(df.iloc[-1].isna().all()):
            raise self.refusal("its last row is all null, and empty rows at the end are not kept")
        if df.columns[-1] == "" and bool(df.iloc[:, -1].isna().all()):
            raise self.refusal("its last column has neither a name nor values, and would not be read")

    def _text_problem(self, text: pa.Array) -> str:
        problem = super()._text_problem(text)
        if not problem and reads_as_other_type(text):
            return "only text that would be read as numbers or booleans"
        return problem

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
        for position, dtype in enumerate(df.dtypes):
            # Whole floats beyond 64-bit integers are read as Python's integers.
            if dtype == object and pd.api.types.infer_dtype(df.iloc[:, position]) in _PYTHON_NUMBERS:
                df.isetitem(position, df.iloc[:, position].astype(float))
        return df

    def _column_names(self, path: Path) -> list[str]:
        import pandas as pd

        with pd.ExcelFile(path, engine="openpyxl") as workbook:
            return _header(workbook)


def _header(workbook: pd.ExcelFile) -> list[str]:
    sheet = workbook.book.worksheets[0]
    first_row = next(sheet.iter_rows(min_row=1, max_row=1, values_only=True), ())
    return ["" if name is None else str(name) for name in first_row]
