"""Parquet through DuckDB."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Given, RemoteTable, Snippet, Trait, Tunable
from adapter_core.codec_choice import Recommended
from adapter_core.file_facts import FileFacts
from adapter_core.tables import arrow
from adapter_core.tables.duckdb import (
    REFUSES,
    DuckDBColumns,
    DuckDBScan,
    arrays_of_relation,
    registered,
    sums_of_relation,
)
from adapter_core.tables.sql import query

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from adapter_core import ColumnSums, Predicate, RemoteFile

_SAVE = "COPY given TO ? (FORMAT parquet{options}, KV_METADATA {{pandas: ?}})"
_FILE = "read_parquet(?, hive_partitioning = false)"
_METADATA = "SELECT value FROM parquet_kv_metadata(?) WHERE key = 'pandas'"


class Adapter(DuckDBScan, DuckDBColumns, Tunable, RemoteTable):
    """Apache Parquet through DuckDB's ``COPY`` and ``read_parquet``.

    Tables go to DuckDB and come back as Arrow, which is faster than as DataFrames. The file contains
    the pandas metadata, which restore the dtypes in pandas, too. There is one database for the process,
    in memory: starting another one would take longer than reading a small table. Intervals of DuckDB's
    files are never negative and lack nanoseconds. Categories come back as their values.
    """

    label = "Parquet[duckdb]"
    suffix = ".parquet"
    requires = ("pandas", "duckdb", "pyarrow>=15")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    refuses_categories: ClassVar = arrow.NO_CATEGORIES_OF_EXTENSIONS
    refuses: ClassVar = arrow.REFUSES_WITH_METADATA | arrow.NO_EMPTY_STRUCTS | REFUSES
    remote_schemes: ClassVar = ("http",)
    remote_requires: ClassVar = ("fsspec", "aiohttp")
    options: Mapping[str, Any] = {"COMPRESSION": "uncompressed"}
    recommended = Recommended(
        "https://duckdb.org/docs/stable/guides/performance/file_formats",
        None,
        words="row groups of 100,000 to 1,000,000 rows, as by default",
        seen="2026-11-25",
    )
    # Larger dictionaries give each column a bloom filter, and the file a third more bytes. Encodings of
    # version 2 are smaller, but DataFusion 55 fails to skip rows in them ("cannot skip miniblock").
    tuned_options: ClassVar = {"COMPRESSION": "uncompressed", "ROW_GROUP_SIZE": 30_720}
    tuned_indexes = "bloom filters of columns with few values, as DuckDB writes them unasked"
    file_facts = FileFacts(
        version="1.0",
        parts={"row group": 122_880, "encodings": "PLAIN, PLAIN_DICTIONARY", "page index": "no"},
        threads="all cores",
    )
    snippet = Snippet(
        imports="import duckdb",
        write="""
            with duckdb.cursor() as cursor:
                cursor.register("given", table)
                cursor.execute("COPY given TO ? (FORMAT parquet{options})", [{path}])
        """,
        read="""
            query = "SELECT * FROM read_parquet(?, hive_partitioning = false)"
            with duckdb.cursor() as cursor:
                table = cursor.sql(query, params=[{path}]).to_arrow_table()
        """,
        given=Given.TABLE,
        changes={"category": "str"},
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the statement."""
        return {"options": _listed(self.options)}

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        _copy(df, path, self.options)

    def _save_tuned(self, df: pd.DataFrame, path: Path, sort_by: list[str], lookups: list[str]) -> None:
        _copy(df, path, self.tuned_options)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import duckdb

        # DuckDB takes stars and brackets of a path for patterns.
        location = [glob.escape(str(path))]
        with duckdb.cursor() as cursor:
            cursor.execute("SET TimeZone = 'UTC'")
            table = cursor.sql(query(columns, _FILE), params=location).to_arrow_table()
            metadata = cursor.execute(_METADATA, location).fetchone()
        return arrow.frame_of(table, metadata[0].decode() if metadata else None)

    def _read_arrays(
        self, path: Path, columns: list[str], where: Predicate | None
    ) -> dict[str, np.ndarray]:
        with _relation(path) as relation:
            return arrays_of_relation(relation, columns, where)

    def _sum_columns(self, path: Path, columns: list[str], where: Predicate | None) -> ColumnSums:
        with _relation(path) as relation:
            return sums_of_relation(relation, columns, where)

    def _read_remote(self, file: RemoteFile, columns: list[str] | None) -> pd.DataFrame:
        import duckdb

        with duckdb.connect() as connection:
            connection.register_filesystem(_http_file_system())
            connection.execute("SET TimeZone = 'UTC'")
            table = connection.sql(query(columns, _FILE), params=[file.url]).to_arrow_table()
            metadata = connection.execute(_METADATA, [file.url]).fetchone()
        return arrow.frame_of(table, metadata[0].decode() if metadata else None)

    def _column_names(self, path: Path) -> list[str]:
        import duckdb

        with duckdb.cursor() as cursor:
            rows = cursor.execute(f"DESCRIBE FROM {_FILE}", [glob.escape(str(path))]).fetchall()
        return [row[0] for row in rows]

    @contextmanager
    def _scanned(self, path: Path) -> Iterator[duckdb.DuckDBPyRelation]:
        import duckdb

        with duckdb.cursor() as cursor:
            cursor.execute("SET TimeZone = 'UTC'")
            yield cursor.sql(query(None, _FILE), params=[glob.escape(str(path))])

    def _framing(self, table: duckdb.DuckDBPyRelation, path: Path) -> Callable[[pa.Table], pd.DataFrame]:
        import duckdb

        with duckdb.cursor() as cursor:
            ((metadata,),) = cursor.execute(_METADATA, [glob.escape(str(path))]).fetchall()
        return partial(arrow.frame_of_part, metadata=metadata.decode())


def _listed(options: Mapping[str, Any]) -> str:
    """Return options as the end of a list in SQL."""
    return "".join(f", {name} {value}" for name, value in options.items())


def _copy(df: pd.DataFrame, path: Path, options: Mapping[str, Any]) -> None:
    import duckdb

    table = arrow.arrow_of(df)
    with duckdb.cursor() as cursor, registered(cursor, table):
        cursor.execute(_SAVE.format(options=_listed(options)), [str(path), arrow.pandas_metadata(table)])


@contextmanager
def _relation(path: Path) -> Iterator[duckdb.DuckDBPyRelation]:
    import duckdb

    with duckdb.cursor() as cursor:
        yield cursor.read_parquet(glob.escape(str(path)), hive_partitioning=False)


def _http_file_system() -> Any:
    """Return a file system for DuckDB, whose own for HTTP is an extension that wheels lack."""
    from datetime import UTC, datetime

    from fsspec.implementations.http import HTTPFileSystem

    class DatedFileSystem(HTTPFileSystem):  # type: ignore[misc]
        """A file system with the time that DuckDB asks for and HTTP servers may omit."""

        def modified(self, path: str) -> datetime:
            """Return a time before which the file was changed."""
            return datetime.fromtimestamp(0, UTC)

    return DatedFileSystem(skip_instance_cache=True, cache_type="blockcache", block_size=1 << 20)
