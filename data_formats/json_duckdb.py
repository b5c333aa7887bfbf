"""JSON Lines through DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import PARTIAL_READS, Predicate
from adapter_core.tables.arrow import frame_of
from adapter_core.tables.arrow_text import JSONLines, plain_of
from adapter_core.tables.duckdb import (
    batches_of,
    filtered,
    nullable_columns,
    projected,
    sliced,
)

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

# Types to read for the inferred ones. All others are read as text, since that of dates and UUIDs could
# differ from the file. DuckDB infers 128 bits for integers of both signs, which none needs here.
TYPES = {"BOOLEAN": "BOOLEAN", "BIGINT": "BIGINT", "HUGEINT": "BIGINT", "DOUBLE": "DOUBLE"}


class Adapter(JSONLines):
    """One JSON object a line through DuckDB's ``COPY`` and `duckdb.read_json`.

    Types are inferred from all rows, which takes most of the time of a read: with types inferred from a
    sample, later floats are silently rounded to integers, and a column that starts with nulls stays
    null.
    """

    label = "JSON[duckdb]"
    requires = ("pandas", "duckdb>=1.2", "pyarrow>=15")
    suite = "engines"
    holds_nul_in_names = False
    supports: ClassVar = PARTIAL_READS

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        if "" in df.columns or len({name.lower() for name in df.columns}) < len(df.columns):
            raise self.refusal("DuckDB replaces names that are empty, or differ in case alone")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import duckdb

        with duckdb.cursor() as cursor:
            cursor.register("saved", plain_of(df))
            cursor.execute("COPY saved TO $path (FORMAT json)", {"path": str(path)})

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        return frame_of(projected(_typed(path), columns).to_arrow_table())

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        table = projected(_typed(path), columns)
        return frame_of(sliced(table, start, stop).to_arrow_table(), nullable=nullable_columns(table))

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        table = _typed(path)
        part = projected(filtered(table, predicate), columns)
        return frame_of(part.to_arrow_table(), nullable=nullable_columns(projected(table, columns)))

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        import duckdb

        # A connection of its own, which is in use until the last batch.
        with duckdb.cursor() as cursor:
            table = projected(_typed(path, cursor), columns)
            nullable = nullable_columns(table)
            for batch in batches_of(table, batch_rows):
                yield frame_of(batch, nullable=nullable)


def _typed(path: Path, connection: duckdb.DuckDBPyConnection | None = None) -> duckdb.DuckDBPyRelation:
    """Return a table with the types that all its rows have."""
    inferred = _open(path, connection, sample_size=-1)
    types = {
        name: TYPES.get(str(kind), "VARCHAR")
        for name, kind in zip(inferred.columns, inferred.types, strict=True)
    }
    return _open(path, connection, columns=types)


def _open(
    path: Path, connection: duckdb.DuckDBPyConnection | None = None, **options: Any
) -> duckdb.DuckDBPyRelation:
    import duckdb

    return (connection or duckdb).read_json(
        str(path),
        format="newline_delimited",
        records="true",
        # By default, columns alike in name and type become a map.
        map_inference_threshold=-1,
        hive_partitioning=False,
        **options,
    )
