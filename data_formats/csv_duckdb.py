"""CSV through DuckDB."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.tables.arrow import frame_of
from adapter_core.tables.arrow_text import DECIMAL, ArrowCSV, plain_of
from adapter_core.values import holds_text, text_columns

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

NULL = r"\N"
"""Stands for a null, so that empty text stays empty text: DuckDB reads both alike otherwise."""

LONGEST_ROW_BYTES = 2**27
"""DuckDB reads no longer rows than of 2 MB unless told to."""

TYPES = ["BOOLEAN", "BIGINT", "DOUBLE", "VARCHAR"]
"""What is guessed. Without dates and times, whose text could be another than that in the file."""


class Adapter(ArrowCSV):
    """Comma-separated values through DuckDB's relations `write_csv` and `duckdb.read_csv`.

    Nothing of the dialect is left to DuckDB's sniffer, which may take other characters for separators.
    Types are guessed from all rows, though that doubles the time of a read: where they are guessed from
    a sample, later floats are rounded to integers without a word.
    """

    label = "CSV[duckdb]"
    requires = ("pandas", "duckdb", "pyarrow>=15")
    suite = "engines"
    numbers: ClassVar = rf"{DECIMAL}|0[xX][0-9a-fA-F]+|0[bB][01]+"
    booleans: ClassVar = "(?i:true|false|t|f|yes|no)"

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        names = [name.strip().lower() for name in df.columns]
        if "" in names or len(set(names)) < len(names):
            raise self.refusal(
                "DuckDB takes names without letters, or different in case alone, for others"
            )
        if any(name != name.strip() for name in df.columns):
            raise self.refusal("DuckDB takes blanks off the ends of column names")
        for name, text in text_columns(df):
            if holds_text(text, NULL):
                raise self.refusal(f"column {name!r} contains the text {NULL}, which stands for a null")
            if len(names) == 1 and holds_text(text, ""):
                raise self.refusal("empty text in the only column is an empty line, which DuckDB skips")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import duckdb

        duckdb.from_arrow(plain_of(df)).write_csv(str(path), header=True, na_rep=NULL)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import duckdb

        table = _open(path, sample_size=-1, auto_type_candidates=TYPES)
        if columns is not None:
            table = table.select(*map(duckdb.ColumnExpression, columns))
        return frame_of(table.to_arrow_table())

    def _column_names(self, path: Path) -> list[str]:
        return _open(path, all_varchar=True).columns


def _open(path: Path, **options: Any) -> duckdb.DuckDBPyRelation:
    import duckdb

    return duckdb.read_csv(
        str(path),
        header=True,
        delimiter=",",
        quotechar='"',
        escapechar='"',
        comment="",
        max_line_size=LONGEST_ROW_BYTES,
        hive_partitioning=False,
        na_values=NULL,
        **options,
    )
