"""Delta Lake through deltalake."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import (
    Changeable,
    Given,
    Kind,
    PartialReads,
    PartitionedTable,
    Partitions,
    Piece,
    RemoteTable,
    Snippet,
    Streams,
    TableLayout,
    Trait,
    Tunable,
)
from adapter_core.errors import IncompleteError, UnsupportedError
from adapter_core.file_facts import FileFacts
from adapter_core.remote import OBJECT_STORES
from adapter_core.snippets import keywords
from adapter_core.tables import arrow
from adapter_core.tables.arrow_parts import nullable_columns, slice_of, tables_of
from adapter_core.tables.parquet_files import ParquetFiles
from adapter_core.tables.sql import misnamed
from adapter_core.values import integers_beyond_int64, with_nanoseconds

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.dataset as ds

    from adapter_core import Batch, Predicate, RemoteFile

# deltalake turns a path into the domain of an address, which forbids other characters.
_NOT_IN_DOMAIN = re.compile(r"[^\w /.=+-]")

# The defaults, 100 MiB and 1,048,576 rows, need up to 900 MiB of memory while a stream is written.
_STREAM_FILE_BYTES = 2**25
_STREAM_GROUP_ROWS = 2**16

# Rows of a batch of a stream: Arrow keeps what it has decoded of a row group until all are used.
_STREAM_BATCH_ROWS = 2**14

_NO_TYPE = "Delta Lake has no type for them"


class Adapter(PartialReads, Streams, Tunable, Partitions, RemoteTable, Changeable):
    """A Delta Lake table (a directory) through `deltalake.write_deltalake` and `deltalake.DeltaTable`.

    Its files are uncompressed Parquet, listed in a log by paths relative to the table, which may be
    moved. If deltalake refuses a path, the table is written, or read, by way of a copy elsewhere.
    Unsigned integers come back as larger signed ones, datetimes in microseconds and those with a time
    zone in UTC, nullable dtypes as similar ones, categories as their values.
    """

    label = "Delta"
    suffix = ".delta"
    requires = ("pandas", "deltalake", "pyarrow>=15")
    suite = "engines"
    holds_nul_in_names = False
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND})
    save_schemes: ClassVar = OBJECT_STORES
    options: Mapping[str, Any] = {"compression": "UNCOMPRESSED"}
    tuned_options: ClassVar = {"compression": "ZSTD", "max_row_group_size": 131_072}
    tuned_indexes = (
        "bloom filters of lookup columns (ndv=131072, fpp=0.01); no z-order, which mixes the "
        "sort key with the lookup columns"
    )
    layout_names: ClassVar = {
        "codec": "compression",
        "level": "compression_level",
        "group_rows": "max_row_group_size",
        "page_rows": "data_page_row_count_limit",
        "partition_by": "partition_by",
        "lookups": "",
    }
    layout_codecs: ClassVar = ("none", "snappy", "lz4_raw", "zstd:1", "zstd:6")
    keeps_order_of_batches = False
    refuses_categories: ClassVar = {Kind.ZONED_DATETIME: "the library stores their moments in UTC alone"}
    refuses: ClassVar = arrow.REFUSES_WITHOUT_METADATA | {
        Kind.HALF_FLOAT: _NO_TYPE,
        Kind.TIME: _NO_TYPE,
        Kind.TIMEDELTA: _NO_TYPE,
        Kind.WIDE_DECIMAL: _NO_TYPE,
        **arrow.NO_EMPTY_STRUCTS,
    }
    file_facts = FileFacts(
        version="reader 1, writer 2",
        parts={
            "files": "1.0",
            "row group": 1_048_576,
            "encodings": "PLAIN, RLE, RLE_DICTIONARY",
            "page index": "yes",
        },
        threads="all cores",
    )
    snippet = Snippet(
        imports="import deltalake",
        write="""
            properties = deltalake.WriterProperties({options})
            deltalake.write_deltalake({path}, table, writer_properties=properties)
        """,
        read="table = deltalake.DeltaTable({path}).to_pyarrow_table()",
        given=Given.TABLE,
        changes={"category": "str"},
        notes=("cast unsigned integers to wider signed ones before: Delta Lake has none",),
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {"options": keywords(**self.options)}

    def _check_values(self, df: pd.DataFrame) -> None:
        reason = misnamed(df.columns)
        if reason:
            raise self.refusal(reason)
        self._refuse_column(with_nanoseconds(df), "nanoseconds; Delta Lake stores microseconds")
        self._refuse_column(integers_beyond_int64(df), "integers beyond Delta's long, 2**63 - 1")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import deltalake

        _write(df, path, deltalake.WriterProperties(**self.options) if self.options else None)

    def layout_options(self, layout: TableLayout) -> dict[str, Any]:
        options = super().layout_options(layout)
        if codec := layout.codec_and_level[0]:
            options["compression"] = "UNCOMPRESSED" if codec == "none" else codec.upper()
        if layout.partition_by:
            options["partition_by"] = list(layout.partition_by)
        return options

    def layout_code(self, layout: TableLayout, names: Sequence[str]) -> str:
        options = self.layout_options(layout)
        folders = options.pop("partition_by", None)
        arguments = [f"{name}={value!r}" for name, value in options.items()]
        if layout.filtered:
            arguments.append(f"column_properties=dict.fromkeys({layout.filtered!r}, filtered)")
        filters = (
            "bloom = deltalake.BloomFilterProperties("
            "set_bloom_filter_enabled=True, fpp=0.01, ndv=131_072)\n"
            "filtered = deltalake.ColumnProperties(bloom_filter_properties=bloom)\n"
        )
        return (
            f"import deltalake\n\n{filters if layout.filtered else ''}"
            f"options = deltalake.WriterProperties({', '.join(arguments)})\n"
            "deltalake.write_deltalake(\n"
            f"    target, df, partition_by={folders!r}, writer_properties=options\n)\n"
        )

    def _save_tuned(
        self,
        df: pd.DataFrame,
        path: Path,
        sort_by: list[str],
        lookups: list[str],
    ) -> None:
        import deltalake

        bloom = deltalake.BloomFilterProperties(set_bloom_filter_enabled=True, fpp=0.01, ndv=131_072)
        filtered = deltalake.ColumnProperties(bloom_filter_properties=bloom)
        chosen = dict(self.tuned_options)
        folders = chosen.pop("partition_by", None)
        options = deltalake.WriterProperties(
            column_properties=dict.fromkeys(lookups, filtered), **chosen
        )
        _write(df, path, options, folders)

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        import deltalake

        _require_address(path)
        deltalake.write_deltalake(
            path,
            arrow.reader_of(batches, lambda table: arrow.retyped(table, _signed)),
            target_file_size=_STREAM_FILE_BYTES,
            writer_properties=deltalake.WriterProperties(
                compression="UNCOMPRESSED", max_row_group_size=_STREAM_GROUP_ROWS
            ),
        )

    def partitioned(self, path: str | os.PathLike[str]) -> PartitionedTable:
        return _AddedFiles(Path(path), self, _signed)

    def _partitioned_remote(self, file: RemoteFile) -> PartitionedTable:
        return _AddedFiles(file, self, _signed)

    def _count_rows(self, path: Path) -> int:
        import deltalake

        with _addressable(path) as location:
            return deltalake.DeltaTable(location).to_pyarrow_dataset().count_rows()

    def _append(self, path: Path, df: pd.DataFrame) -> None:
        import deltalake

        _require_address(path)
        deltalake.write_deltalake(path, _table(df), mode="append")

    def _update(self, path: Path, key: str, df: pd.DataFrame) -> None:
        import deltalake

        _require_address(path)
        same = f'saved."{key}" = given."{key}"'
        merged = deltalake.DeltaTable(path).merge(
            _table(df), same, source_alias="given", target_alias="saved"
        )
        merged.when_matched_update_all().execute()

    def _delete(self, path: Path, key: str, values: list[int]) -> None:
        import deltalake

        _require_address(path)
        deltalake.DeltaTable(path).delete(f'"{key}" IN ({", ".join(map(str, values))})')

    def _add_column(self, path: Path, name: str) -> None:
        import deltalake

        _require_address(path)
        column = deltalake.Field(name, deltalake.schema.PrimitiveType("double"), nullable=True)
        deltalake.DeltaTable(path).alter.add_columns(column)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import deltalake

        with _addressable(path) as location:
            return arrow.frame_of(deltalake.DeltaTable(location).to_pyarrow_table(columns=columns))

    def _read_remote(self, file: RemoteFile, columns: list[str] | None) -> pd.DataFrame:
        import deltalake

        table = deltalake.DeltaTable(file.url, storage_options=_storage_options(file))
        return arrow.frame_of(table.to_pyarrow_table(columns=columns))

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        import deltalake

        deltalake.write_deltalake(
            file.url,
            _table(df),
            writer_properties=deltalake.WriterProperties(compression="UNCOMPRESSED"),
            storage_options=_storage_options(file),
        )

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        import deltalake

        with _addressable(path) as location:
            files = deltalake.DeltaTable(location).to_pyarrow_dataset()
            yield from arrow.array_batches(files.to_batches(columns=columns))

    def _column_names(self, path: Path) -> list[str]:
        import deltalake

        with _addressable(path) as location:
            return [field.name for field in deltalake.DeltaTable(location).schema().fields]

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        with _dataset(path) as data:
            schema = data.scanner(columns=columns).projected_schema
            part = slice_of(data.to_batches(columns), schema, start, stop)
            return arrow.frame_of(part, nullable=nullable_columns(schema, columns, data.to_batches))

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        with _dataset(path) as data:
            if _leaves_rows_out(data, predicate.columns):
                return super()._read_where(path, columns, predicate)
            part = data.to_table(columns, arrow.arrow_filter(predicate, data.schema))
            return arrow.frame_of(part, nullable=nullable_columns(data.schema, columns, data.to_batches))

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        with _dataset(path) as data:
            nullable = nullable_columns(data.schema, columns, partial(_stream, data))
            for part in tables_of(_stream(data, columns, batch_rows), batch_rows):
                yield arrow.frame_of(part, nullable=nullable)


def _table(df: pd.DataFrame) -> pa.Table:
    """Return a table as deltalake takes it, in one batch: it writes several in any order."""
    return arrow.retyped(arrow.arrow_of(df), _signed).combine_chunks()


def _write(df: pd.DataFrame, path: Path, options: Any, folders: list[str] | None = None) -> None:
    import deltalake

    chosen: dict[str, Any] = {"writer_properties": options, "partition_by": folders}

    table = _table(df)
    if not _NOT_IN_DOMAIN.search(str(path.absolute())):
        deltalake.write_deltalake(path, table, **chosen)
        return
    with TemporaryDirectory() as folder:
        elsewhere = Path(folder, "table")
        deltalake.write_deltalake(elsewhere, table, **chosen)
        shutil.move(elsewhere, path)


def _storage_options(file: RemoteFile) -> dict[str, str]:
    return file.object_store_options() | {"max_retries": str(file.attempts - 1)}


class _AddedFiles(ParquetFiles):
    """A Delta Lake table whose Parquet files are written first, and then added to its log at once.

    https://github.com/delta-io/delta/blob/master/PROTOCOL.md#add-file-and-remove-file
    """

    @property
    def _options(self) -> dict[str, str] | None:
        """Options of the object store; with credentials, so they are found where they are used."""
        return _storage_options(self.folder.remote) if self.folder.remote else None

    def create(self) -> None:
        if not self.folder.remote:
            _require_address(Path(self.folder.address))
        super().create()

    def commit(self, pieces: Sequence[Piece]) -> None:
        import deltalake
        from deltalake.transaction import AddAction, create_table_with_add_actions

        added = [
            AddAction(
                path=piece.name,
                size=piece.size_bytes,
                partition_values={},
                modification_time=piece.facts["written"],
                data_change=True,
                stats=json.dumps({"numRecords": piece.rows}),
            )
            for piece in pieces
        ]
        schema = deltalake.Schema.from_arrow(pieces[0].facts["schema"])
        create_table_with_add_actions(self.folder.address, schema, added, storage_options=self._options)

    def pieces(self) -> list[Piece]:
        import deltalake

        if not any(name.startswith("_delta_log/") for name in self.folder.sizes()):
            raise IncompleteError(f"{self.folder} is not complete: it has no log")
        opened = deltalake.DeltaTable(self.folder.address, storage_options=self._options)
        actions: Any = opened.get_add_actions().to_struct_array()
        # The log does not keep the order of the files.
        added = sorted(actions.to_pylist(), key=itemgetter("path"))
        return [
            Piece(number, each["path"], each["num_records"], each["size_bytes"])
            for number, each in enumerate(added)
        ]


def _require_address(path: Path) -> None:
    if _NOT_IN_DOMAIN.search(str(path.absolute())):
        raise UnsupportedError(f"Delta: deltalake refuses the path {path.absolute()}")


@contextmanager
def _dataset(path: Path) -> Iterator[ds.Dataset]:
    import deltalake

    with _addressable(path) as location:
        yield deltalake.DeltaTable(location).to_pyarrow_dataset()


def _leaves_rows_out(data: ds.Dataset, columns: list[str]) -> bool:
    """Return whether conditions on columns leave out files with infinite numbers.

    The log has null for an infinite bound. deltalake makes a comparison with null of it, which no row
    passes.
    """
    bounds = [str(each.partition_expression) for each in data.get_fragments()]
    nulls = [f"({name} {operator} null[" for name in columns for operator in (">=", "<=")]
    return any(each in bound for bound in bounds for each in nulls)


def _stream(
    data: ds.Dataset, columns: list[str] | None, batch_rows: int = _STREAM_BATCH_ROWS
) -> Iterator[pa.RecordBatch]:
    """Return batches that are read one after the other, in memory for one row group."""
    import pyarrow.dataset as ds

    found: Iterator[pa.RecordBatch] = data.to_batches(
        columns,
        batch_size=min(batch_rows, _STREAM_BATCH_ROWS),
        batch_readahead=0,
        fragment_readahead=1,
        # Threads would decode several row groups at a time.
        use_threads=False,
        fragment_scan_options=ds.ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False),
    )
    return found


@contextmanager
def _addressable(path: Path) -> Iterator[Path]:
    """Provide a path that deltalake can read."""
    if not _NOT_IN_DOMAIN.search(str(path.absolute())):
        yield path
        return
    with TemporaryDirectory() as folder:
        yield shutil.copytree(path, Path(folder, "table"))


def _signed(kind: pa.DataType) -> pa.DataType:
    """Return the signed type for an unsigned one, with all its values, and any other type as it is."""
    import pyarrow as pa

    if not pa.types.is_unsigned_integer(kind):
        return kind
    # deltalake itself chooses the type of the same width, and refuses large values.
    wider = {8: pa.int16(), 16: pa.int32()}
    return wider.get(kind.bit_width, pa.int64())
