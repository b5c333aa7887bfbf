"""Base class of stores that keep an array as a long table in a Parquet file."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import ArrayReader, ArraySource, Codec, RemoteFile, Selection
from adapter_core.array_description import KEY, Description
from adapter_core.array_source import chunk_selection, chunk_selections, shape_of
from adapter_core.array_store import ALL_DTYPES, COMPLEX, ArrayStore
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    import numpy as np


SPLIT = "byte_stream_split"
"""Filter of floats and integers that puts the first bytes of all values first, then the second ones."""

# Chosen, not measured.
ROW_GROUP_ROWS = 2**17
"""Least number of rows of a row group, which holds a run of chunks."""

_SPLIT_CODECS = (
    Codec("lz4"),
    Codec("snappy"),
    Codec("gzip", range(1, 10), 9),
    Codec("zstd", range(1, 23), 1),
    Codec("brotli", range(12), 8),
)
_SPLIT_DTYPES = frozenset({"float32", "float64", "int32", "int64"})
# Indexes are int32: half the bytes of int64 before encoding.
_LARGEST_EDGE = 2**31 - 1


class LongTable(ArrayStore):
    """A Parquet file with a row for each value: its index along each dimension, and the value.

    The rows of a chunk are in C order, and a row group holds a run of chunks, 131,072 or more:
    thousands of row groups take longer to open than to read. Columns have the names of the dimensions
    and of the variable. Indexes are dictionary-encoded in runs, and cost some percent of the size.
    pyarrow writes, for its control of row groups. Readers select by the indexes, whose statistics
    exclude row groups, and read no other column than the values of those that the selection spans. The
    description is in the file's metadata.

    Format: https://parquet.apache.org/docs/file-format/
    """

    suffix = ".parquet"
    dtypes: ClassVar = ALL_DTYPES - COMPLEX
    codecs: ClassVar = (
        *_SPLIT_CODECS,
        *(Codec(f"{each.name}+{SPLIT}", each.levels, each.default_level) for each in _SPLIT_CODECS),
    )
    file_facts = FileFacts(
        version="2.6",
        parts={"encodings": "PLAIN, RLE, RLE_DICTIONARY", "page index": "no"},
        threads="all cores",
    )
    snippet = (
        "it is a table with a row for each value, with a run of chunks in each row group; the table "
        "format Parquet has the code that writes a table"
    )

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        names = (*source.dims, source.name)
        if len(set(names)) < len(names):
            raise self.refusal(f"names of dimensions and values are not unique: {', '.join(names)}")
        if any(edge > _LARGEST_EDGE for edge in source.shape):
            raise self.refusal("an edge is longer than indexes of 32 bits")
        if codec is not None and codec.endswith(SPLIT) and source.dtype.name not in _SPLIT_DTYPES:
            raise self.refusal(f"DuckDB does not read split bytes of {source.dtype}")

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        self._write(source, path, codec, level)

    def _save_remote(
        self, source: ArraySource, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        with file.arrow_stream() as stream:
            self._write(source, stream, codec, level)

    @staticmethod
    def _write(source: ArraySource, sink: Any, codec: str | None, level: int | None) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        fields = [(dim, pa.int32()) for dim in source.dims]
        schema = pa.schema([*fields, (source.name, pa.from_numpy_dtype(source.dtype))])
        compression, _, is_split = (codec or "none").partition("+")
        with pq.ParquetWriter(
            sink,
            schema,
            compression=compression,
            compression_level=level,
            use_dictionary=list(source.dims),
            use_byte_stream_split=[source.name] if is_split else False,
            write_statistics=list(source.dims),
        ) as writer:
            writer.add_key_value_metadata({KEY: Description.of(source).to_json()})
            places = _Places()
            rows: list[pa.RecordBatch] = []
            for selection, values in source:
                # Chunks of the source are not kept.
                flat = values.reshape(-1) if values.size >= ROW_GROUP_ROWS else values.flatten()
                columns = [*places.columns(selection), pa.array(flat)]
                rows.append(pa.record_batch(columns, schema))
                if (count := sum(map(len, rows))) >= ROW_GROUP_ROWS:
                    writer.write_table(pa.Table.from_batches(rows), row_group_size=count)
                    rows.clear()
            if rows:
                table = pa.Table.from_batches(rows)
                writer.write_table(table, row_group_size=max(1, len(table)))

    def _codec_used(self, path: Path) -> str | None:
        return codec_of(path)

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Write each chunk by `pyarrow.parquet.ParquetWriter`, with its indexes."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema = pa.schema(
            [*((dim, pa.int32()) for dim in source.dims), ("x", pa.from_numpy_dtype(source.dtype))]
        )
        with pq.ParquetWriter(
            path, schema, compression="none", use_dictionary=list(source.dims)
        ) as writer:
            for selection, values in source:
                ranges = [np.arange(each.start, each.stop, dtype=np.int32) for each in selection]
                places = np.meshgrid(*ranges, indexing="ij")
                writer.write_table(
                    pa.table([*(each.ravel() for each in places), values.ravel()], schema)
                )


class LongTableReader(ArrayReader):
    """An open long table, whose rows a library selects.

    A subclass implements `_values`.
    """

    @abstractmethod
    def _values(self, bounds: dict[str, tuple[int, int]]) -> np.ndarray:
        """Return the values whose indexes are within bounds, in the order of the file.

        Parameters
        ----------
        bounds : dict
            First and last index by dimension; without those that the selection spans.
        """

    def _read(self, selection: Selection) -> np.ndarray:
        import numpy as np

        shape = shape_of(selection)
        if 0 in shape:
            return np.empty(shape, self.dtype)
        bounds = {
            dim: (each.start, each.stop - 1)
            for dim, each, edge in zip(self.description.dims, selection, self.shape, strict=True)
            if (each.start, each.stop) != (0, edge)
        }
        values = self._values(bounds)
        if values.dtype != self.dtype:
            values = values.astype(self.dtype)
        if len(values) != math.prod(shape):
            raise ValueError(f"the file has {len(values)} of the {math.prod(shape)} selected values")
        parts = list(_parts(selection, self.shape, self.chunks))
        if len(parts) == 1:
            return values.reshape(shape)
        found, start = np.empty(shape, self.dtype), 0
        for part in parts:
            stop = start + math.prod(shape_of(part))
            found[part] = values[start:stop].reshape(shape_of(part))
            start = stop
        return found


def codec_of(path: Path) -> str | None:
    """Return the codec of the values in a Parquet file, the last column."""
    import pyarrow.parquet as pq

    metadata = pq.read_metadata(path)
    column = metadata.row_group(0).column(metadata.num_columns - 1)
    if column.compression == "UNCOMPRESSED":
        return None
    is_split = "BYTE_STREAM_SPLIT" in column.encodings
    return str(column.compression).lower() + (f"+{SPLIT}" if is_split else "")


class _Places:
    """Columns of indexes, from those within an earlier chunk of the same shape."""

    def __init__(self) -> None:
        self._shape: tuple[int, ...] | None = None
        self._within: list[np.ndarray] = []

    def columns(self, selection: Selection) -> Iterator[Any]:
        """Yield the column of each dimension for the values of a chunk in C order."""
        import numpy as np
        import pyarrow as pa

        if (shape := shape_of(selection)) != self._shape:
            self._shape = shape
            self._within = [each.reshape(-1) for each in np.indices(shape, np.int32)]
        # As integers, which the writer encodes in less time than it takes dictionaries of Arrow.
        for within, each in zip(self._within, selection, strict=True):
            yield pa.array(within + np.int32(each.start))


def _parts(selection: Selection, shape: tuple[int, ...], chunks: tuple[int, ...]) -> Iterator[Selection]:
    """Yield the part of the selected values that each touched chunk has, in the order of chunks."""
    first = [each.start // chunk for each, chunk in zip(selection, chunks, strict=True)]
    count = [
        -(-each.stop // chunk) - start
        for each, chunk, start in zip(selection, chunks, first, strict=True)
    ]
    for index in chunk_selections(tuple(count), (1,) * len(count)):
        place = tuple(start + each.start for start, each in zip(first, index, strict=True))
        yield tuple(
            slice(max(own.start, wanted.start) - wanted.start, min(own.stop, wanted.stop) - wanted.start)
            for own, wanted in zip(chunk_selection(place, shape, chunks), selection, strict=True)
        )
