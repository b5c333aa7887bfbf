"""Apache Iceberg through PyIceberg, without a catalog.

Iceberg's metadata name every file by its whole address. The addresses of a table that is written under a
temporary name, or was moved, name another location than its files have. Hence files are looked up in
the folder at hand, under the rest of their address.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import (
    Changeable,
    IncompleteError,
    Kind,
    PartialReads,
    PartitionedTable,
    Partitions,
    Piece,
    RemoteTable,
    Streams,
    TableLayout,
    Trait,
    Tunable,
)
from adapter_core.file_facts import FileFacts
from adapter_core.kinds import deeper, kind_of_arrow, types_in
from adapter_core.tables import arrow
from adapter_core.tables.arrow_parts import nullable_columns, slice_of, tables_of
from adapter_core.tables.parquet_files import ParquetFiles
from adapter_core.values import datetimes_beyond_python, integers_beyond_int64, with_nanoseconds

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyarrow.fs import FileSystem
    from pyiceberg.catalog import Catalog
    from pyiceberg.expressions import BooleanExpression
    from pyiceberg.io import FileIO
    from pyiceberg.table import Table

    from adapter_core import Batch, Comparison, Predicate, RemoteFile
    from adapter_core.predicate import Value

HINT = "version-hint.text"
"""File with the number of the last version."""

FIELD_ID = "PARQUET:field_id"
"""Key of the number of a column in an Arrow field's metadata, for PyIceberg and Parquet."""

_DEFAULT_OPTIONS = {"write.parquet.compression-codec": "uncompressed"}

_NO_TYPE = "Iceberg has no type for them"


class Adapter(PartialReads, Streams, Tunable, Partitions, RemoteTable, Changeable):
    """An Apache Iceberg table (a directory) through PyIceberg, without a catalog.

    Its files are uncompressed Parquet. The metadata name them by whole addresses: a table that was moved
    is read here, where files are looked up in the folder at hand, but not by other libraries.

    Unsigned integers come back as larger signed ones, datetimes in microseconds and those with a time
    zone in UTC, nullable dtypes as similar ones, categories as their values.
    """

    label = "Iceberg"
    suffix = ".iceberg"
    requires = ("pandas", "pyiceberg", "pyarrow>=15")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND})
    save_schemes: ClassVar = ("s3", "gs")
    options: Mapping[str, Any] = _DEFAULT_OPTIONS
    tuned_options: ClassVar = {
        "write.parquet.compression-codec": "zstd",
        "write.parquet.row-group-limit": "131072",
    }
    tuned_indexes = "sort order in the metadata, for later writers; PyIceberg writes no bloom filters"
    layout_names: ClassVar = {
        "codec": "write.parquet.compression-codec",
        "level": "write.parquet.compression-level",
        "group_rows": "write.parquet.row-group-limit",
    }
    layout_codecs: ClassVar = ("none", "snappy", "zstd:1", "zstd:6")
    keeps_order_of_batches = False
    refuses: ClassVar = arrow.REFUSES_WITHOUT_METADATA | {
        Kind.HALF_FLOAT: _NO_TYPE,
        Kind.NULL: "Iceberg has no type for them before version 3",
        Kind.TIMEDELTA: _NO_TYPE,
        Kind.WIDE_DECIMAL: _NO_TYPE,
        **arrow.NO_EMPTY_STRUCTS,
    }
    file_facts = FileFacts(
        version="2",
        parts={
            "files": "2.6",
            "row group": 1_048_576,
            "encodings": "PLAIN, RLE, RLE_DICTIONARY",
            "page index": "no",
        },
        threads="all cores",
    )
    snippet = (
        "tables are written through a catalog, a user's own REST, SQL or Glue service; the adapter "
        "has one of plain files, which pyiceberg lacks"
    )

    def __init__(self) -> None:
        self._final_paths: dict[Path, Path] = {}

    @contextmanager
    def replacing(self, path: str | os.PathLike[str]) -> Iterator[Path]:
        """Provide a temporary path, and remember the final location for the metadata."""
        with super().replacing(path) as temporary:
            self._final_paths[temporary] = Path(path)
            try:
                yield temporary
            finally:
                del self._final_paths[temporary]

    def _check_values(self, df: pd.DataFrame) -> None:
        if "" in df.columns:
            raise self.refusal("a column has no name")
        self._refuse_column(with_nanoseconds(df), "nanoseconds; PyIceberg writes none")
        self._refuse_column(integers_beyond_int64(df), "integers beyond Iceberg's long, 2**63 - 1")
        self._refuse_column(datetimes_beyond_python(df), "datetimes beyond the years 1 to 9999")

    def _check_inside(self, name: str, kind: Kind, array: pa.Array) -> None:
        super()._check_inside(name, kind, array)
        if _has_many_structs(array.type):
            self._refuse_column(name, f"{kind} of structs; PyIceberg reads null as an empty one")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        self._write(df, path, dict(self.options))

    def layout_options(self, layout: TableLayout) -> dict[str, Any]:
        options = {name: str(value) for name, value in super().layout_options(layout).items()}
        plain = {self.layout_names["codec"]: "uncompressed"} if layout.codec == "none" else {}
        return {**options, **plain}

    def _save_tuned(
        self,
        df: pd.DataFrame,
        path: Path,
        sort_by: list[str],
        lookups: list[str],
    ) -> None:
        self._write(df, path, self.tuned_options, sort_by)

    def _write(
        self, df: pd.DataFrame, path: Path, options: dict[str, Any], sort_by: Sequence[str] = ()
    ) -> None:
        table = arrow.retyped(arrow.arrow_of(df), _writable)
        location = self._final_paths.get(path, path).absolute().as_uri()
        path.mkdir()
        files = files_in(path, location)
        _new_table(table.schema, location, files, options, sort_by).append(table)

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        location = self._final_paths.get(path, path).absolute().as_uri()
        path.mkdir()
        files, target = files_in(path, location), None
        # One append of a whole stream would keep all of it in memory.
        for df in batches:
            table = arrow.retyped(arrow.arrow_of(df), _writable)
            target = target or _new_table(table.schema, location, files, _DEFAULT_OPTIONS)
            target.append(table)

    def partitioned(self, path: str | os.PathLike[str]) -> PartitionedTable:
        return _AddedFiles(Path(path), self, _writable, "data")

    def _partitioned_remote(self, file: RemoteFile) -> PartitionedTable:
        return _AddedFiles(file, self, _writable, "data")

    def _count_rows(self, path: Path) -> int:
        return opened_table(path).scan().count()

    def _append(self, path: Path, df: pd.DataFrame) -> None:
        opened_table(path).append(arrow.retyped(arrow.arrow_of(df), _writable))

    def _update(self, path: Path, key: str, df: pd.DataFrame) -> None:
        rows = arrow.retyped(arrow.arrow_of(df), _writable)
        opened_table(path).upsert(rows, [key], when_not_matched_insert_all=False)

    def _delete(self, path: Path, key: str, values: list[int]) -> None:
        from pyiceberg import expressions

        gone: Any = expressions.In
        opened_table(path).delete(gone(key, values))

    def _add_column(self, path: Path, name: str) -> None:
        from pyiceberg.types import DoubleType

        with opened_table(path).update_schema() as schema:
            schema.add_column(name, DoubleType())

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        return _frame_of(opened_table(path).scan(selected_fields=_selected(columns)).to_arrow())

    def _read_remote(self, file: RemoteFile, columns: list[str] | None) -> pd.DataFrame:
        table = _opened_at(file.url, _files_at(file))
        return _frame_of(table.scan(selected_fields=_selected(columns)).to_arrow())

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        table = arrow.retyped(arrow.arrow_of(df), _writable)
        _new_table(table.schema, file.url, _files_at(file), _DEFAULT_OPTIONS).append(table)

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        scan = opened_table(path).scan(selected_fields=tuple(columns))
        yield from arrow.array_batches(scan.to_arrow_batch_reader())

    def _column_names(self, path: Path) -> list[str]:
        # Names of all fields would be those inside of nested columns, too.
        return [field.name for field in opened_table(path).schema().fields]

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        table = opened_table(path)
        batches = _batches_of(table, columns)
        part = slice_of(batches, batches.schema, start, stop)
        return _frame_of(part, _nullable_columns(table, columns))

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        table = opened_table(path)
        where = _expression(predicate, _batches_of(table, None).schema)
        part = table.scan(row_filter=where, selected_fields=_selected(columns)).to_arrow()
        return _frame_of(part, _nullable_columns(table, columns))

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        table = opened_table(path)
        nullable = _nullable_columns(table, columns)
        for part in tables_of(_batches_of(table, columns), batch_rows):
            yield _frame_of(part, nullable)


class _AddedFiles(ParquetFiles):
    """An Iceberg table whose Parquet files are written first, and then added in one snapshot.

    https://py.iceberg.apache.org/api/#add-files
    """

    def commit(self, pieces: Sequence[Piece]) -> None:
        remote, path = self.folder.remote, Path(self.folder.address)
        location = remote.url if remote else path.as_uri()
        files = _files_at(remote) if remote else files_in(path, location)
        table = _new_table(pieces[0].facts["schema"], location, files, _DEFAULT_OPTIONS)
        table.add_files([f"{location}/{piece.name}" for piece in pieces])

    def pieces(self) -> list[Piece]:
        if not self.folder.size_bytes(f"metadata/{HINT}"):
            raise IncompleteError(f"{self.folder} is not complete: it has no version")
        remote = self.folder.remote
        table = (
            _opened_at(remote.url, _files_at(remote))
            if remote
            else opened_table(Path(self.folder.address))
        )
        start = f"{table.metadata.location}/"
        added = sorted(
            (each.file for each in table.scan().plan_files()), key=lambda file: str(file.file_path)
        )
        return [
            Piece(number, file.file_path.removeprefix(start), file.record_count, file.file_size_in_bytes)
            for number, file in enumerate(added)
        ]


def _frame_of(table: pa.Table, nullable: Collection[str] = ()) -> pd.DataFrame:
    """Return rows of a scan; by its way, offsets in nested columns have 32 or 64 bits."""
    import pyarrow as pa

    def small(dtype: pa.DataType) -> pa.DataType:
        return _with_small_offsets(dtype) if pa.types.is_nested(dtype) else dtype

    return arrow.frame_of(arrow.retyped(table, small), nullable=nullable)


def _with_small_offsets(dtype: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    if pa.types.is_large_list(dtype):
        dtype = pa.list_(dtype.value_field)
    if pa.types.is_nested(dtype):
        return deeper(dtype, _with_small_offsets)
    return {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}.get(dtype, dtype)


def _selected(columns: list[str] | None) -> tuple[str, ...]:
    return ("*",) if columns is None else tuple(columns)


def _batches_of(table: Table, columns: list[str] | None) -> pa.RecordBatchReader:
    return table.scan(selected_fields=_selected(columns)).to_arrow_batch_reader()


def _nullable_columns(table: Table, columns: list[str] | None) -> list[str]:
    schema = _batches_of(table, columns).schema
    return nullable_columns(schema, columns, lambda names: _batches_of(table, names))


def _expression(predicate: Predicate, schema: pa.Schema) -> BooleanExpression:
    """Return a predicate as an expression of PyIceberg, which rounds floats among integers."""
    from pyiceberg import expressions

    # Nulls differ from any constant in PyIceberg.
    comparisons = arrow.fitted_to_schema(predicate, schema).comparisons
    return reduce(
        expressions.And,
        [
            expressions.NotNull(term=expressions.Reference(each.column))
            for each in comparisons
            if each.operator == "!="
        ]
        + [comparison_of(each) for each in comparisons],
    )


def comparison_of(found: Comparison) -> BooleanExpression:
    """Return a comparison as an expression of PyIceberg."""
    from pyiceberg import expressions

    classes = {
        "==": expressions.EqualTo,
        "!=": expressions.NotEqualTo,
        "<": expressions.LessThan,
        "<=": expressions.LessThanOrEqual,
        ">": expressions.GreaterThan,
        ">=": expressions.GreaterThanOrEqual,
    }
    return classes[found.operator](found.column, literal_of(found.value))


def literal_of(value: Value) -> Any:
    """Return a constant as PyIceberg takes it, which looks for infinities beyond floats of 32 bits."""
    from pyiceberg.expressions.literals import FloatLiteral

    return FloatLiteral(value) if isinstance(value, float) and math.isinf(value) else value


def _new_table(
    schema: pa.Schema,
    location: str,
    files: FileIO,
    options: dict[str, Any],
    sort_by: Sequence[str] = (),
) -> Table:
    import pyarrow as pa
    from pyiceberg.io.pyarrow import pyarrow_to_schema
    from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
    from pyiceberg.table import Table
    from pyiceberg.table.metadata import new_table_metadata
    from pyiceberg.table.sorting import UNSORTED_SORT_ORDER, NullOrder, SortField, SortOrder
    from pyiceberg.transforms import IdentityTransform

    # Columns have the first numbers, and fields inside them those that follow.
    inner = count(len(schema) + 1)
    numbered = pa.schema([_numbered(field, number, inner) for number, field in enumerate(schema, 1)])
    order = [
        SortField(schema.names.index(name) + 1, IdentityTransform(), null_order=NullOrder.NULLS_LAST)
        for name in sort_by
    ]
    metadata = new_table_metadata(
        pyarrow_to_schema(numbered),
        UNPARTITIONED_PARTITION_SPEC,
        SortOrder(*order) if order else UNSORTED_SORT_ORDER,
        location,
        options,
    )
    before = f"{location}/metadata/v0.metadata.json"
    return Table(("data",), metadata, before, files, folder_catalog())


def _has_many_structs(dtype: pa.DataType) -> bool:
    """Return True if lists or maps of structs are anywhere in a type."""
    from pyarrow import types

    return any(
        types.is_struct(each.item_type if types.is_map(each) else each.value_type)
        for each in types_in(dtype)
        if kind_of_arrow(each) in {Kind.LIST, Kind.VECTOR, Kind.MAP}
    )


def _numbered(field: pa.Field, number: int, inner: Iterator[int]) -> pa.Field:
    """Return a field with its number, and the numbers of all fields inside it."""
    import pyarrow as pa
    from pyarrow import types

    def within(part: pa.Field) -> pa.Field:
        return _numbered(part, next(inner), inner)

    dtype = field.type
    if types.is_struct(dtype):
        dtype = pa.struct([within(each) for each in dtype])
    elif types.is_map(dtype):
        dtype = pa.map_(within(dtype.key_field), within(dtype.item_field))
    elif types.is_list(dtype) or types.is_large_list(dtype):
        dtype = pa.list_(within(dtype.value_field))
    return field.with_type(dtype).with_metadata({FIELD_ID: str(number)})


def _files_at(file: RemoteFile) -> FileIO:
    """Return access to the files of a table in an object store."""
    from pyiceberg.io.pyarrow import PyArrowFileIO

    system = file.arrow_file_system()

    class FilesAtStore(PyArrowFileIO):
        """Files through one file system of pyarrow, which has the credentials."""

        def _initialize_fs(self, scheme: str, netloc: str | None = None) -> FileSystem:
            del scheme, netloc
            return system

    return FilesAtStore()


def _opened_at(location: str, files: FileIO) -> Table:
    """Return the last version of a table in an object store."""
    from pyiceberg.serializers import FromInputFile
    from pyiceberg.table import Table

    with files.new_input(f"{location}/metadata/{HINT}").open() as hint:
        address = f"{location}/metadata/v{int(hint.read())}.metadata.json"
    metadata = FromInputFile.table_metadata(files.new_input(address))
    return Table(("data",), metadata, address, files, folder_catalog())


def opened_table(path: Path) -> Table:
    """Return the last version of a table."""
    from pyiceberg.serializers import FromByteStream
    from pyiceberg.table import Table

    folder = path / "metadata"
    name = f"v{int((folder / HINT).read_text())}.metadata.json"
    with (folder / name).open("rb") as file:
        metadata = FromByteStream.table_metadata(file)
    location = metadata.location
    address = f"{location}/metadata/{name}"
    return Table(("data",), metadata, address, files_in(path, location), folder_catalog())


def _writable(kind: pa.DataType) -> pa.DataType:
    """Return the type of Iceberg that contains all values of an Arrow type."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(kind):
        return _writable(kind.value_type)
    if types.is_unsigned_integer(kind):
        return pa.int32() if kind.bit_width < pa.int32().bit_width else pa.int64()
    if types.is_timestamp(kind):
        return pa.timestamp("us", "UTC" if kind.tz else None)
    return pa.list_(kind.value_type) if types.is_fixed_size_list(kind) else kind


def files_in(folder: Path, location: str) -> FileIO:
    """Return access to the files of a table in `folder` whose metadata name `location`."""
    from pyarrow.fs import LocalFileSystem
    from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO

    local = LocalFileSystem()

    def at_hand(address: str) -> Path:
        if not address.startswith(f"{location}/"):
            raise FileNotFoundError(f"{address} is not in the table, which should be at {location}")
        return folder / address.removeprefix(f"{location}/")

    class FilesInFolder(PyArrowFileIO):
        """Local files, whose addresses start with that location."""

        def new_input(self, location: str) -> PyArrowFile:
            return PyArrowFile(location, str(at_hand(location)), local)

        def new_output(self, location: str) -> PyArrowFile:
            at_hand(location).parent.mkdir(exist_ok=True)
            return self.new_input(location)

    return FilesInFolder()


def folder_catalog() -> Catalog:
    """Return a catalog whose versions are numbered files in the table's own folder.

    A hint names the last version, a convention that other libraries know:
    https://iceberg.apache.org/spec/#file-system-tables
    """
    from pyiceberg.catalog.noop import NoopCatalog
    from pyiceberg.serializers import ToOutputFile
    from pyiceberg.table import CommitTableResponse
    from pyiceberg.table.update import TableRequirement, TableUpdate, update_table_metadata

    class FolderCatalog(NoopCatalog):
        """Writes the metadata of a new version."""

        def commit_table(
            self,
            table: Table,
            requirements: tuple[TableRequirement, ...],
            updates: tuple[TableUpdate, ...],
        ) -> CommitTableResponse:
            for requirement in requirements:
                requirement.validate(table.metadata)
            metadata = update_table_metadata(table.metadata, updates)
            version = 1 + int(table.metadata_location.rpartition("/v")[2].split(".")[0])
            address = f"{metadata.location}/metadata/v{version}.metadata.json"
            ToOutputFile.table_metadata(metadata, table.io.new_output(address))
            hint = table.io.new_output(f"{metadata.location}/metadata/{HINT}")
            with hint.create(overwrite=True) as file:
                file.write(str(version).encode())
            return CommitTableResponse.model_validate(
                {"metadata": metadata, "metadata-location": address}
            )

    return FolderCatalog("folder")
