"""Parquet as a table of coordinates and values, written and read through DuckDB."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import NO_EXTENSION, ArrayReader, Codec, Trait
from adapter_core.array_description import KEY, Description
from adapter_core.arrays import coordinate_table
from adapter_core.arrays.duckdb_rows import ParquetRows, streamed
from adapter_core.arrays.long_table import codec_of
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    from adapter_core import ArraySource


class Adapter(coordinate_table.CoordinateTable):
    """A table of coordinates and values in Parquet, as DuckDB writes it, without dictionaries.

    See `adapter_core.arrays.coordinate_table.CoordinateTable`. DuckDB's dictionaries would take NaNs
    with different bits for one. The description is in the file's metadata.
    """

    label = "Parquet.coordinates[duckdb]"
    overridden_default = "codec"
    suffix = ".parquet"
    requires = ("numpy", "pyarrow", "duckdb")
    file_facts = FileFacts(
        version="1.0", parts={"encodings": "PLAIN", "page index": "no"}, threads="all cores"
    )
    local_only = NO_EXTENSION
    suite = "foxbench"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    codecs: ClassVar = (
        Codec("lz4"),
        Codec("snappy"),
        Codec("gzip"),
        Codec("zstd", range(1, 23), 3),
        Codec("brotli"),
    )

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        options = [
            "FORMAT parquet",
            f"COMPRESSION {codec or 'uncompressed'}",
            "DICTIONARY_SIZE_LIMIT 0",
            f'KV_METADATA {{"{KEY}": ?}}',
            *([] if level is None else [f"COMPRESSION_LEVEL {level}"]),
        ]
        parameters = [str(path), Description.of(source).to_json()]
        with streamed(
            coordinate_table.batches(source, path), coordinate_table.schema_of(source)
        ) as connection:
            connection.execute(f"COPY given TO ? ({', '.join(options)})", parameters)

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    def _codec_used(self, path: Path) -> str | None:
        return codec_of(path)


class _Reader(ParquetRows, coordinate_table.CoordinateTableReader):
    """Rows by coordinates."""
