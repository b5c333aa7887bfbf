"""Apache Paimon through PyPaimon."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Codec, Kind, PartialReads, Streams, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.tables import arrow
from adapter_core.tables.arrow_parts import nullable_columns, slice_of, tables_of
from adapter_core.tables.parquet_files import codec_of_files
from adapter_core.values import integers_beyond_int64

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from adapter_core import Batch, Predicate

_TABLE = "data.data"

_NO_TYPE = "Paimon has no type for them"
_NULL_VECTORS = "pyarrow below 20, which it needs, writes no nulls among them as lists"


class Adapter(PartialReads, Streams):
    """An Apache Paimon table of appended rows, in a warehouse of its own, through PyPaimon.

    Its files are Parquet. Unsigned integers come back as larger signed ones, datetimes with a time zone
    in UTC, nullable dtypes as similar ones, vectors as lists, categories as their values.

    Library: https://paimon.apache.org/docs/master/pypaimon/overview/
    """

    label = "Paimon"
    suffix = ".paimon"
    requires = ("pandas", "pyarrow>=15", "pypaimon>=2")
    environment = "paimon"
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND})
    codecs: ClassVar = (Codec("snappy"), Codec("lz4"), Codec("zstd", range(1, 23), 1))
    default_codec = "zstd"
    refuses_categories: ClassVar = {Kind.UNSIGNED: _NO_TYPE}
    refuses: ClassVar = arrow.REFUSES_WITHOUT_METADATA | {
        Kind.HALF_FLOAT: _NO_TYPE,
        Kind.NULL: _NO_TYPE,
        Kind.TIME: "PyPaimon has times of milliseconds alone",
        Kind.TIMEDELTA: _NO_TYPE,
        Kind.WIDE_DECIMAL: _NO_TYPE,
        **arrow.NO_EMPTY_STRUCTS,
    }
    refuses_inside: ClassVar = {Kind.VECTOR: _NULL_VECTORS}
    file_facts = FileFacts(threads="all cores")
    snippet = (
        "a table is created in a catalog, then written and committed by builders: its file shows them"
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        self._refuse_column(integers_beyond_int64(df), "integers beyond Paimon's BIGINT, 2**63 - 1")

    def _check_inside(self, name: str, kind: Kind, array: pa.Array) -> None:
        super()._check_inside(name, kind, array)
        if kind is Kind.VECTOR and array.null_count:
            self._refuse_column(name, f"{kind}, and nulls; {_NULL_VECTORS}")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        self._write([df], path, codec, level)

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        self._write(batches, path, None, None)

    def _write(
        self, batches: Iterable[pd.DataFrame], path: Path, codec: str | None, level: int | None
    ) -> None:
        options = {"file.compression": codec or "none"}
        if level is not None:
            options["file.compression.zstd-level"] = str(level)
        tables = (arrow.retyped(arrow.arrow_of(df), _writable) for df in batches)
        first = next(tables)
        builder = _created(path, first.schema, options).new_batch_write_builder()
        writer, commit = builder.new_write(), builder.new_commit()
        try:
            writer.write_arrow(first)
            for table in tables:
                writer.write_arrow(table.cast(first.schema))
            commit.commit(writer.prepare_commit())
        finally:
            writer.close()
            commit.close()

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        return arrow.frame_of(_batches_of(_opened(path), columns).read_all())

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        yield from arrow.array_batches(_batches_of(_opened(path), columns))

    def _column_names(self, path: Path) -> list[str]:
        return list(_opened(path).field_names)

    def _codec_used(self, path: Path) -> str | None:
        return codec_of_files(path.rglob("data-*.parquet"))

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        table = _opened(path)
        batches = _batches_of(table, columns)
        part = slice_of(batches, batches.schema, start, stop)
        return arrow.frame_of(part, nullable=_nullable_columns(table, columns))

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        table = _opened(path)
        schema = _batches_of(table, None).schema
        wanted = schema.names if columns is None else columns
        # A condition is on columns that are read, too.
        needed = list(dict.fromkeys([*wanted, *predicate.columns]))
        found = _batches_of(table, needed, arrow.fitted_to_schema(predicate, schema))
        part = found.read_all().select(wanted)
        return arrow.frame_of(part, nullable=_nullable_columns(table, columns))

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        table = _opened(path)
        nullable = _nullable_columns(table, columns)
        for part in tables_of(_batches_of(table, columns), batch_rows):
            yield arrow.frame_of(part, nullable=nullable)


_COMPARISONS = {
    "==": "equal",
    "!=": "not_equal",
    "<": "less_than",
    "<=": "less_or_equal",
    ">": "greater_than",
    ">=": "greater_or_equal",
}


def _created(path: Path, schema: pa.Schema, options: dict[str, str]) -> Any:
    """Return a new table in a warehouse of its own."""
    from pypaimon import CatalogFactory, Schema

    catalog = CatalogFactory.create({"warehouse": str(path)})
    catalog.create_database(_TABLE.partition(".")[0], ignore_if_exists=False)
    schema = schema.remove_metadata()
    catalog.create_table(
        _TABLE, Schema.from_pyarrow_schema(schema, options=options), ignore_if_exists=False
    )
    return catalog.get_table(_TABLE)


def _opened(path: Path) -> Any:
    from pypaimon import CatalogFactory

    return CatalogFactory.create({"warehouse": str(path)}).get_table(_TABLE)


def _batches_of(
    table: Any, columns: list[str] | None, predicate: Predicate | None = None
) -> pa.RecordBatchReader:
    """Return batches of some columns, of the rows that pass a predicate."""
    builder = table.new_read_builder()
    if columns is not None:
        builder = builder.with_projection(columns)
    if predicate is not None:
        conditions = builder.new_predicate_builder()
        found = [
            getattr(conditions, _COMPARISONS[each.operator])(each.column, each.value)
            for each in predicate.comparisons
        ]
        builder = builder.with_filter(conditions.and_predicates(found))
    return builder.new_read().to_arrow_batch_reader(builder.new_scan().plan().splits())


def _nullable_columns(table: Any, columns: list[str] | None) -> list[str]:
    schema = _batches_of(table, columns).schema
    return nullable_columns(schema, columns, lambda names: _batches_of(table, names))


def _writable(dtype: pa.DataType) -> pa.DataType:
    """Return the type that Paimon stores values of an Arrow type as."""
    import pyarrow as pa

    if pa.types.is_dictionary(dtype):
        # Categories without a value have no type.
        return pa.string() if pa.types.is_null(dtype.value_type) else dtype.value_type
    if pa.types.is_unsigned_integer(dtype):
        return pa.int32() if dtype in (pa.uint8(), pa.uint16()) else pa.int64()
    if pa.types.is_timestamp(dtype):
        return pa.timestamp(dtype.unit, "UTC" if dtype.tz else None)
    if pa.types.is_large_list(dtype) or pa.types.is_fixed_size_list(dtype):
        return pa.list_(dtype.value_field)
    if pa.types.is_large_string(dtype) or pa.types.is_string_view(dtype):
        return pa.string()
    if pa.types.is_large_binary(dtype) or pa.types.is_fixed_size_binary(dtype):
        return pa.binary()
    return dtype
