"""Parquet through pyarrow, column by column to objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Codec, FieldKind, Given, RecordStore, Snippet, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.record_type import object_value, plain_value
from adapter_core.records.documents import converter
from adapter_core.snippets import keywords

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from adapter_core import Field, RecordType

# pyarrow's default; a batch is turned into objects at once.
_BATCH_ROWS = 65_536


class Adapter(RecordStore):
    """A column for each field; the codecs are the format's own.

    Columns of texts stay encoded by their dictionaries while they are read: each distinct text of a
    row group becomes one object that its records share. The memory of the objects falls by nearly half.
    """

    label = "Parquet"
    suffix = ".parquet"
    requires = ("pyarrow>=15",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    refuses: ClassVar = {FieldKind.UNION: "Parquet has no unions"}
    shares_texts = True
    detects_truncation = True
    seeks = "a page is the least that can be read, and pyarrow reads row groups"
    codecs: ClassVar = (Codec("gzip", range(1, 10), 6), Codec("zstd", range(1, 23), 3))
    overridden_default = "codec"
    file_facts = FileFacts(
        version="2.6",
        parts={"row group": 1_048_576, "encodings": "PLAIN, RLE, RLE_DICTIONARY", "page index": "no"},
        threads="all cores",
    )
    snippet = Snippet(
        imports="import pyarrow as pa\nimport pyarrow.parquet as pq",
        write="""
            types = {int: pa.int32(), str: pa.string()}
            schema = pa.schema([(name, types[type(each)]) for name, each in records[0].items()])
            table = pa.Table.from_pylist(records, schema)
            pq.write_table(table, {path}, {options})
        """,
        read="records = pq.read_table({path}).to_pylist()",
        given=Given.RECORDS,
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {"options": keywords(compression=codec or "none", compression_level=level)}

    def _save(
        self,
        objects: Sequence[Any],
        of: RecordType,
        path: Path,
        codec: str | None = None,
        level: int | None = None,
    ) -> None:
        import pyarrow.parquet as pq

        pq.write_table(_table(objects, of), path, compression=codec or "none", compression_level=level)

    def _read(self, path: Path, of: RecordType) -> list[Any]:
        return list(chain.from_iterable(self._blocks(path, of, 2**31 - 1)))

    def _iterate(self, path: Path, of: RecordType) -> Iterator[Any]:
        return chain.from_iterable(self._blocks(path, of, _BATCH_ROWS))

    @staticmethod
    def _blocks(path: Path, of: RecordType, batch_rows: int) -> Iterator[list[Any]]:
        import pyarrow.parquet as pq

        texts = [each.name for each in of.fields if each.kind is FieldKind.TEXT]
        with pq.ParquetFile(path, read_dictionary=texts) as file:
            for batch in file.iter_batches(batch_rows):
                yield _objects(batch, of)

    def _codec_used(self, path: Path) -> str | None:
        import pyarrow.parquet as pq

        metadata = pq.read_metadata(path)
        if not metadata.num_row_groups:
            return None
        name = metadata.row_group(0).column(0).compression.lower()
        return None if name == "uncompressed" else name


def _table(objects: Sequence[Any], of: RecordType) -> pa.Table:
    import pyarrow as pa

    schema = pa.schema([_arrow_field(each) for each in of.fields])
    columns = []
    for field, arrow in zip(of.fields, schema, strict=True):
        values = [getattr(each, field.name) for each in objects]
        # Arrow takes enums for the numbers that they are.
        convert = None if field.enum is not None else converter(field, _PAIRS)
        if convert is not None:
            values = list(map(convert, values))
        columns.append(pa.array(values, arrow.type))
    return pa.Table.from_arrays(columns, schema=schema)


_PAIRS = {FieldKind.MAP: lambda value: list(value.items())}


def _arrow_field(of: Field) -> pa.Field:
    import pyarrow as pa

    if of.record is not None:
        arrow = pa.struct([_arrow_field(each) for each in of.record.fields])
    elif of.element is not None:
        element = _arrow_field(replace(of.element, name="element"))
        arrow = pa.map_(pa.string(), element) if of.kind is FieldKind.MAP else pa.list_(element)
    else:
        arrow = {
            FieldKind.BOOL: pa.bool_(),
            FieldKind.INT64: pa.int64(),
            FieldKind.FLOAT: pa.float32(),
            FieldKind.DOUBLE: pa.float64(),
            FieldKind.TEXT: pa.string(),
            FieldKind.BYTES: pa.binary(),
            FieldKind.TIMESTAMP: pa.timestamp("us", "UTC"),
            FieldKind.DECIMAL: pa.decimal128(of.precision or 1, of.scale),
        }.get(of.kind, pa.int32())
    return pa.field(of.name, arrow, nullable=of.optional)


def _objects(batch: pa.RecordBatch, of: RecordType) -> list[Any]:
    columns = [_values(batch, each) for each in of.fields]
    return list(map(of.object_class, *columns))


def _values(batch: pa.RecordBatch, of: Field) -> list[Any]:
    import pyarrow as pa

    if of.name not in batch.schema.names and of.default is not None:
        return [of.default] * batch.num_rows
    column = batch.column(of.name)
    if isinstance(column, pa.DictionaryArray):
        texts = [*column.dictionary.to_pylist(), None]
        places = column.indices.fill_null(len(texts) - 1).to_numpy().tolist()
        return list(map(texts.__getitem__, places))
    if of.kind in _NUMBERS and not column.null_count:
        return column.to_numpy().tolist()
    values = column.to_pylist(maps_as_pydicts="strict")
    if of.inner.record is None and of.inner.enum is None:
        return values
    make = object_value(of) or (lambda value: value)
    plain = None if of.enum is not None else plain_value(of, itemgetter)
    return list(map(make, values if plain is None else map(plain, values)))


_NUMBERS = {FieldKind.INT32, FieldKind.INT64, FieldKind.FLOAT, FieldKind.DOUBLE}
