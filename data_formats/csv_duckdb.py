"""CSV through DuckDB."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Given, InvalidSelectionError, Snippet
from adapter_core.column_batches import needed_columns
from adapter_core.file_facts import FileFacts
from adapter_core.tables.arrow_text import DECIMAL, InferredCSV, plain_of
from adapter_core.tables.duckdb import DuckDBText, sums_of_relation
from adapter_core.values import any_equals, text_columns

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from adapter_core import ColumnSums, Predicate

# Without a null marker, DuckDB reads empty text and nulls alike.
NULL = r"\N"

# By default, DuckDB refuses rows beyond 2 MB.
LONGEST_ROW_BYTES = 2**27

# Types to infer, without dates and times, whose text could differ from that in the file.
TYPES = ["BOOLEAN", "BIGINT", "DOUBLE", "VARCHAR"]


class Adapter(DuckDBText, InferredCSV):
    """Comma-separated values through DuckDB's relations `write_csv` and `duckdb.read_csv`.

    The dialect is given in full, since DuckDB's sniffer may choose other separators. Types are inferred
    from all rows, although that doubles the time of a read: with types inferred from a sample, later
    floats are silently rounded to integers.
    """

    label = "CSV[duckdb]"
    requires = ("pandas", "duckdb", "pyarrow>=15")
    suite = "engines"
    holds_nul_in_names = False
    numbers: ClassVar = rf"{DECIMAL}|0[xX][0-9a-fA-F]+|0[bB][01]+"
    booleans: ClassVar = "(?i:true|false|t|f|yes|no)"
    file_facts = FileFacts(silent="text names no settings of its writer", threads="all cores")
    snippet = Snippet(
        imports="import duckdb",
        write=r'duckdb.from_arrow(table).write_csv({path}, header=True, na_rep=r"\N")',
        read=r"""
            table = duckdb.read_csv(
                {path},
                header=True,
                delimiter=",",
                quotechar='"',
                escapechar='"',
                comment="",
                max_line_size=2**27,
                hive_partitioning=False,
                na_values=r"\N",
                sample_size=-1,
                auto_type_candidates=["BOOLEAN", "BIGINT", "DOUBLE", "VARCHAR"],
            ).to_arrow_table()
        """,
        given=Given.TABLE,
        changes={"int8": "int64", "float32": "float64", "datetime64[us]": "str", "category": "str"},
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        names = [name.strip().lower() for name in df.columns]
        if "" in names or len(set(names)) < len(names):
            raise self.refusal("DuckDB replaces names that are empty, blank, or differ in case alone")
        if any(name != name.strip() for name in df.columns):
            raise self.refusal("DuckDB strips blanks from the ends of column names")
        for name, text in text_columns(df):
            if any_equals(text, NULL):
                self._refuse_column(name, f"the text {NULL}, the marker of nulls")
            if len(names) == 1 and any_equals(text, ""):
                raise self.refusal("empty text in the only column is an empty line, which DuckDB skips")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import duckdb

        duckdb.from_arrow(plain_of(df)).write_csv(str(path), header=True, na_rep=NULL)

    def _sum_columns(self, path: Path, columns: list[str], where: Predicate | None) -> ColumnSums:
        import duckdb

        # With types given, the file is parsed once.
        types = dict.fromkeys(needed_columns(columns, where), "DOUBLE")
        try:
            return sums_of_relation(_open(path, all_varchar=True, dtype=types), columns, where)
        except (duckdb.ConversionException, InvalidSelectionError):  # booleans, or no numbers
            return super()._sum_columns(path, columns, where)

    def _column_names(self, path: Path) -> list[str]:
        return _open(path, all_varchar=True).columns

    def _relation(
        self, path: Path, connection: duckdb.DuckDBPyConnection | None = None
    ) -> duckdb.DuckDBPyRelation:
        return _open(path, connection, sample_size=-1, auto_type_candidates=TYPES)


def _open(
    path: Path, connection: duckdb.DuckDBPyConnection | None = None, **options: Any
) -> duckdb.DuckDBPyRelation:
    import duckdb

    return (connection or duckdb).read_csv(
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
