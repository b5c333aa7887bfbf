"""Parquet as a table of coordinates and values, written and read through Polars."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import ArrayReader, Codec, Trait
from adapter_core.array_description import KEY, Description
from adapter_core.arrays import coordinate_table
from adapter_core.arrays.long_table import codec_of
from adapter_core.arrays.polars_rows import values_of
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import ArraySource


class Adapter(coordinate_table.CoordinateTable):
    """A table of coordinates and values in Parquet, as Polars writes it by default.

    See `adapter_core.arrays.coordinate_table.CoordinateTable`. Encodings and row groups are as in
    `polars.LazyFrame.sink_parquet`. The description is in the file's metadata.
    """

    label = "Parquet.coordinates[polars]"
    overridden_default = "codec"
    suffix = ".parquet"
    requires = ("numpy", "pyarrow", "polars")
    file_facts = FileFacts(
        version="1.0",
        parts={"encodings": "PLAIN, RLE, RLE_DICTIONARY", "page index": "yes"},
        threads="all cores",
    )
    suite = "foxbench"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    codecs: ClassVar = (
        Codec("lz4"),
        Codec("snappy"),
        Codec("gzip", range(1, 10), 6),
        Codec("zstd", range(1, 23), 3),
        Codec("brotli", range(12), 1),
    )

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import polars as pl
        from polars.io.plugins import register_io_source

        schema: Any = pl.DataFrame(coordinate_table.schema_of(source).empty_table()).schema
        compression: Any = codec or "uncompressed"
        rows: Any = register_io_source(
            lambda *_: map(pl.DataFrame, coordinate_table.batches(source, path)), schema=schema
        )
        # Of a path, Polars makes the file in the background, perhaps after it has raised an error.
        with path.open("wb") as file:
            rows.sink_parquet(
                file,
                compression=compression,
                compression_level=level,
                metadata={KEY: Description.of(source).to_json()},
            )

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    def _codec_used(self, path: Path) -> str | None:
        return codec_of(path)


class _Reader(coordinate_table.CoordinateTableReader):
    def __init__(self, path: Path) -> None:
        import polars as pl

        super().__init__(Description.from_json(pl.read_parquet_metadata(path)[KEY]))
        self._table = pl.scan_parquet(path, glob=False, hive_partitioning=False)

    def _values(self, bounds: dict[str, tuple[Any, Any]]) -> np.ndarray:
        return values_of(self._table, self.description.name, bounds)
