"""Apache Paimon Mosaic through its own Python library."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import Codec, Given, Kind, PartialReads, Snippet, Trait, Tunable
from adapter_core.column_batches import needed_columns
from adapter_core.kinds import NESTED
from adapter_core.tables import arrow
from adapter_core.tables.arrow_parts import nullable_columns, rows_where, slice_of, tables_of
from adapter_core.values import integers_beyond_int64

if TYPE_CHECKING:
    import mosaic
    import pandas as pd
    import pyarrow as pa

    from adapter_core import Batch, Predicate

_NO_TYPE = "Mosaic has no type for them"

# A row group ends between two batches only, so batches bound how far it passes its size.
_BATCH_ROWS = 65_536

# A file ends with its codec, version, two reserved bytes, and "MOSA".
_CODEC_FROM_END = 8


class Adapter(PartialReads, Tunable):
    """Apache Paimon's Mosaic through `mosaic.write_table` and `mosaic.MosaicReader`, by Arrow.

    Mosaic, published in 2026, keeps columns in buckets, each compressed as one; a projection reads the
    buckets of its columns. The writer's default is Zstandard at level 1. A file has statistics of no
    column unless the writer asks for them, and keeps no metadata of pandas.
    """

    label = "Mosaic"
    suffix = ".mosaic"
    requires = ("pandas", "paimon-mosaic", "pyarrow>=15")
    modules: ClassVar = {"paimon-mosaic": "mosaic"}
    suite = "engines"
    holds_nul_in_names = False
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    codecs: ClassVar = (Codec("zstd", range(1, 23), 1),)
    default_codec = "zstd"
    tuned_options: ClassVar = {"compression": 1, "zstd_level": 1, "row_group_max_size": 16_777_216}
    not_indexed: ClassVar = NESTED | {Kind.BINARY}
    tuned_indexes = "stats_columns: sort keys and lookup columns"
    refuses: ClassVar = arrow.REFUSES_WITHOUT_METADATA | {
        Kind.HALF_FLOAT: _NO_TYPE,
        Kind.NULL: _NO_TYPE,
        Kind.TIME: _NO_TYPE,
        Kind.TIMEDELTA: _NO_TYPE,
        Kind.WIDE_DECIMAL: _NO_TYPE,
        Kind.VECTOR: _NO_TYPE,
        Kind.STRUCT: _NO_TYPE,
        Kind.EMPTY_STRUCT: _NO_TYPE,
    }
    snippet = Snippet(
        imports="import os\n\nimport mosaic\nimport pyarrow as pa",
        write="""
            shorter = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
            fields = [each.with_type(shorter.get(each.type, each.type)) for each in table.schema]
            table = table.cast(pa.schema(fields, table.schema.metadata))
            options = mosaic.WriterOptions(compression=mosaic.WriterOptions.{compression}, {level})
            with open({path}, "wb") as file, mosaic.MosaicWriter(file, table.schema, options) as writer:
                for batch in table.to_batches(65_536):
                    writer.write(batch)
        """,
        read="""
            with open({path}, "rb") as file:

                def read_at(offset, length):
                    return os.pread(file.fileno(), length, offset)

                size = os.path.getsize({path})
                with mosaic.MosaicReader.from_input_file(read_at, size) as reader:
                    table = reader.read_all()
        """,
        given=Given.TABLE,
        lacks=("category",),
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {
            "compression": "COMPRESSION_ZSTD" if codec else "COMPRESSION_NONE",
            "level": f"zstd_level={level or 1}",
        }

    def _check_values(self, df: pd.DataFrame) -> None:
        if "" in df.columns:
            raise self.refusal("a column has no name")
        self._refuse_column(integers_beyond_int64(df), "integers beyond Mosaic's BIGINT, 2**63 - 1")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import mosaic

        options = mosaic.WriterOptions(
            compression=mosaic.WriterOptions.COMPRESSION_ZSTD
            if codec
            else mosaic.WriterOptions.COMPRESSION_NONE,
            zstd_level=level or 1,
        )
        _write(df, path, options)

    def _save_tuned(self, df: pd.DataFrame, path: Path, sort_by: list[str], lookups: list[str]) -> None:
        import mosaic

        described = [*self._indexable(df, sort_by), *lookups]
        _write(df, path, mosaic.WriterOptions(stats_columns=described, **self.tuned_options))

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        with _opened(path, columns) as reader:
            return arrow.frame_of(reader.read_all())

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        with _opened(path) as reader:
            arrow.positions(reader.schema, columns)
            reader.project(columns)
            yield from arrow.array_batches(_row_groups(reader))

    def _column_names(self, path: Path) -> list[str]:
        with _opened(path) as reader:
            return list(reader.schema.names)

    def _codec_used(self, path: Path) -> str | None:
        with path.open("rb") as file:
            file.seek(-_CODEC_FROM_END, os.SEEK_END)
            return "zstd" if file.read(1)[0] else None

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        with _opened(path, columns) as reader:
            first = before = 0
            while first < reader.num_row_groups:
                rows = reader.row_group_num_rows(first)
                if before + rows > start:
                    break
                first, before = first + 1, before + rows
            end = None if stop is None else stop - before
            part = slice_of(_row_groups(reader, first), _schema(reader, columns), start - before, end)
            return arrow.frame_of(part, nullable=_nullable_columns(path, columns))

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        with _opened(path) as reader:
            wanted = list(reader.schema.names) if columns is None else columns
            needed = needed_columns(wanted, predicate)
            schema = _schema(reader, needed)
            reader.project(needed)
            part = rows_where(_row_groups(reader), schema, wanted, predicate)
            return arrow.frame_of(part, nullable=_nullable_columns(path, columns))

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        nullable = _nullable_columns(path, columns)
        with _opened(path, columns) as reader:
            for part in tables_of(_row_groups(reader), batch_rows):
                yield arrow.frame_of(part, nullable=nullable)


def _write(df: pd.DataFrame, path: Path, options: mosaic.WriterOptions) -> None:
    import mosaic

    table = arrow.retyped(arrow.arrow_of(df), _writable)
    with path.open("wb") as file, mosaic.MosaicWriter(file, table.schema, options) as writer:
        # A row group ends between two batches only.
        for batch in table.to_batches(_BATCH_ROWS):
            writer.write(batch)


@contextmanager
def _opened(path: Path, columns: list[str] | None = None) -> Iterator[mosaic.MosaicReader]:
    import mosaic

    with path.open("rb") as file:
        number = file.fileno()

        def read_at(offset: int, length: int) -> bytes:
            return os.pread(number, length, offset)

        with mosaic.MosaicReader.from_input_file(read_at, path.stat().st_size) as reader:
            if columns is not None:
                reader.project(columns)
            yield reader


def _row_groups(reader: mosaic.MosaicReader, first: int = 0) -> Iterator[pa.RecordBatch]:
    for group in range(first, reader.num_row_groups):
        yield reader.read_row_group(group)


def _schema(reader: mosaic.MosaicReader, columns: list[str] | None) -> pa.Schema:
    import pyarrow as pa

    return reader.schema if columns is None else pa.schema(map(reader.schema.field, columns))


def _nullable_columns(path: Path, columns: list[str] | None) -> list[str]:
    def read(names: list[str]) -> Iterator[pa.RecordBatch]:
        with _opened(path, names) as reader:
            yield from _row_groups(reader)

    with _opened(path) as reader:
        return nullable_columns(reader.schema, columns, read)


def _writable(kind: pa.DataType) -> pa.DataType:
    """Return the type of Mosaic that contains all values of an Arrow type."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(kind):
        return _writable(kind.value_type)
    if types.is_large_string(kind):
        return pa.string()
    if types.is_large_binary(kind):
        return pa.binary()
    if types.is_unsigned_integer(kind):
        return pa.int32() if kind.bit_width < pa.int32().bit_width else pa.int64()
    if types.is_timestamp(kind) and kind.unit == "s":
        return pa.timestamp("ms", kind.tz)
    return pa.list_(kind.value_type) if types.is_large_list(kind) else kind
