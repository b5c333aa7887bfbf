"""CSV through Polars."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import OBJECT_STORES, Given, InvalidSelectionError, RemoteTable, Snippet
from adapter_core.file_facts import FileFacts
from adapter_core.tables.arrow import frame_of
from adapter_core.tables.arrow_text import InferredCSV, plain_of
from adapter_core.tables.polars import PolarsScan, polars_of, sums_of_scan

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from adapter_core import ColumnSums, Predicate, RemoteFile

# Ten times Polars' default, 100: a type that fits all rows saves reading the file again.
_SAMPLE_ROWS = 1_000


class Adapter(PolarsScan, InferredCSV, RemoteTable):
    """Comma-separated values through `polars.DataFrame.write_csv` and `polars.read_csv`.

    Empty text is quoted, and nulls are empty. Polars infers types from the first rows, which is several
    times faster than from all. If later rows do not fit, or a column starts with nulls only, the file is
    read again with types inferred from all rows.
    """

    label = "CSV[polars]"
    requires = ("pandas", "polars", "pyarrow>=15")
    suite = "engines"
    holds_nul_in_names = False
    save_schemes: ClassVar = OBJECT_STORES
    booleans: ClassVar = "(?i:true|false)"
    file_facts = FileFacts(silent="text names no settings of its writer", threads="all cores")
    snippet = Snippet(
        imports="import polars as pl",
        write="df.write_csv({path})",
        read="df = pl.read_csv({path}, infer_schema_length=1_000, glob=False)",
        given=Given.POLARS,
        changes={"int8": "int64", "float32": "float64", "datetime64[us]": "str", "category": "str"},
        notes=("infer_schema_length=None if later rows have other types than the first",),
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        if any('"' in name for name in df.columns):
            raise self.refusal("a column name contains a quotation mark, which Polars reads back as two")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        polars_of(plain_of(df)).write_csv(path)

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        polars_of(plain_of(df)).write_csv(file.url, **file.polars_options())

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        return _read(path, columns)

    def _read_remote(self, file: RemoteFile, columns: list[str] | None) -> pd.DataFrame:
        return _read(file.url, columns, **file.polars_options())

    def _sum_columns(self, path: Path, columns: list[str], where: Predicate | None) -> ColumnSums:
        import polars as pl

        try:
            scan = pl.scan_csv(path, infer_schema_length=_SAMPLE_ROWS, glob=False)
            return sums_of_scan(scan, columns, where)
        except (pl.exceptions.ComputeError, InvalidSelectionError):  # types of the first rows only
            return super()._sum_columns(path, columns, where)

    def _column_names(self, path: Path) -> list[str]:
        import polars as pl

        return pl.read_csv(path, n_rows=0, glob=False).columns

    def _scanned(self, path: Path) -> AbstractContextManager[pl.LazyFrame]:
        import polars as pl

        return nullcontext(pl.scan_csv(path, infer_schema_length=None, glob=False))


def _read(source: Path | str, columns: list[str] | None, **options: Any) -> pd.DataFrame:
    import polars as pl

    def table(sample_rows: int | None) -> pl.DataFrame:
        return pl.read_csv(
            source, columns=columns, infer_schema_length=sample_rows, glob=False, **options
        )

    try:
        found = table(_SAMPLE_ROWS)
        if _starts_with_nulls(found):
            found = table(None)
    except pl.exceptions.ComputeError:
        found = table(None)
    return frame_of(found.to_arrow())


def _starts_with_nulls(table: pl.DataFrame) -> bool:
    """Return True if a column is text only since the sample contained no value of it."""
    import polars as pl

    texts = [column for column in table if column.dtype == pl.String]
    return any(text.head(_SAMPLE_ROWS).is_null().all() for text in texts)
