"""DuckLake through DuckDB's extension."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import Codec, Kind, Streams, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.files import plain_path
from adapter_core.tables import arrow
from adapter_core.tables.duckdb import REFUSES, DuckDBTable, create_table, extension_file
from adapter_core.tables.parquet_files import codec_of_files
from adapter_core.tables.sql import query
from adapter_core.values import zeros_of_both_signs

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import pyarrow as pa

_CATALOG, _FILES = "catalog.duckdb", "files"

_TABLE = "lake.data"


class Adapter(DuckDBTable, Streams):
    """A DuckLake table in a folder: a DuckDB database as its catalog, and files of Parquet beside it.

    The package of the extension is for an earlier DuckDB than the library set has, hence an environment.
    Tables of up to ten rows, which are in the catalog by default, have a file here, too. Datetimes with
    a time zone come back in UTC, vectors as lists, categories as their values.

    https://ducklake.select/docs/stable/
    """

    label = "DuckLake"
    suffix = ".ducklake"
    requires = ("pandas", "duckdb", "duckdb-extension-ducklake", "pyarrow>=15")
    modules: ClassVar = {"duckdb-extension-ducklake": "duckdb_extension_ducklake"}
    environment = "ducklake"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND})
    codecs: ClassVar = (Codec("snappy"), Codec("gzip"), Codec("lz4"), Codec("zstd", range(1, 23), 3))
    default_codec = "snappy"
    refuses: ClassVar = (
        arrow.REFUSES_WITHOUT_METADATA
        | REFUSES
        | {
            Kind.NULL: "DuckLake has no type for them",
            **arrow.NO_EMPTY_STRUCTS,
        }
    )
    file_facts = FileFacts(threads="all cores")
    snippet = "a catalog is attached to a connection that has loaded the extension: its file shows it"

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        # Its statistics say that the least equals the greatest, and readers take that for all values.
        self._refuse_column(zeros_of_both_signs(df), "zeros alone, of both signs")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        self._write([df], path, codec, level)

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        self._write(batches, path, None, None)

    def _write(
        self, batches: Iterable[pd.DataFrame], path: Path, codec: str | None, level: int | None
    ) -> None:
        (path / _FILES).mkdir(parents=True)
        with _attached(path) as database:
            # Parquet's own "lz4" has a framing that few readers know.
            name = f"{codec}_raw" if codec == "lz4" else codec or "uncompressed"
            options = {"parquet_compression": name}
            if level is not None:
                options["parquet_compression_level"] = str(level)
            for option, value in options.items():
                database.execute(f"CALL lake.set_option('{option}', '{value}')")
            database.execute("BEGIN")
            # In one batch each: DuckLake writes the rows of several in any order.
            tables = (arrow.retyped(arrow.arrow_of(df), _writable).combine_chunks() for df in batches)
            create_table(database, _TABLE, tables)
            database.execute("COMMIT")

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        with _attached(path, read_only=True) as database:
            return arrow.frame_of(database.sql(query(columns, _TABLE)).to_arrow_table())

    def _column_names(self, path: Path) -> list[str]:
        with _attached(path, read_only=True) as database:
            return [row[0] for row in database.execute(f"DESCRIBE {_TABLE}").fetchall()]

    def _codec_used(self, path: Path) -> str | None:
        return codec_of_files(path.rglob("*.parquet"))

    @contextmanager
    def _scanned(self, path: Path) -> Iterator[duckdb.DuckDBPyRelation]:
        with _attached(path, read_only=True) as database:
            yield database.sql(f"FROM {_TABLE}")


@contextmanager
def _attached(folder: Path, *, read_only: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a catalog, and make a new one if none is there; a folder may have been moved."""
    import duckdb
    import duckdb_extension_ducklake

    with (
        plain_path(folder / _CATALOG) as catalog,
        plain_path(folder / _FILES) as files,
        duckdb.connect() as database,
    ):
        options = f"DATA_PATH '{files}/', OVERRIDE_DATA_PATH true, DATA_INLINING_ROW_LIMIT 0"
        mode = ", READ_ONLY" if read_only else ""
        database.load_extension(extension_file(duckdb_extension_ducklake))
        database.execute("SET TimeZone = 'UTC'")
        database.execute(f"ATTACH 'ducklake:{catalog}' AS lake ({options}{mode})")
        yield database
        database.execute("DETACH lake")


def _writable(dtype: pa.DataType) -> pa.DataType:
    """Return the type that DuckLake stores values of an Arrow type as."""
    import pyarrow as pa

    return pa.list_(dtype.value_field) if pa.types.is_fixed_size_list(dtype) else dtype
