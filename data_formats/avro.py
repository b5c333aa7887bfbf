"""Avro through fastavro."""

from __future__ import annotations

import base64
import json
import mmap
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from adapter_core import OBJECT_STORES, Codec, Kind, PartialReads, Snippet, Streams, Trait, whole_file
from adapter_core.file_facts import FileFacts
from adapter_core.kinds import types_in, without_maps
from adapter_core.pandas_dtypes import PANDAS
from adapter_core.snippets import keywords
from adapter_core.tables.arrow import frame_of, frame_of_part, pandas_metadata, reader_of
from adapter_core.tables.fetched import FetchedFormat
from adapter_core.values import datetimes_beyond_python, integers_beyond_int64

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from adapter_core import RemoteFile


COLUMN = "column"
"""Attribute of a field with the column's name, for names that Avro does not allow."""

# https://avro.apache.org/docs/1.12.0/specification/#names, except for the names that stand in for
# others.
_AVRO_NAME = r"(?!column_\d+\Z)[A-Za-z_][A-Za-z0-9_]*"

_UNITS = {"s": "millis", "ms": "millis", "us": "micros", "ns": "nanos"}

# Rows that are Python objects at a time, which take several times the memory of their values.
_BLOCK_ROWS = 10_000

ARROW = "ARROW:schema"
"""Key of the types of nested columns, as Parquet has it, which Avro's own would widen."""

# Name of the number of rows in the pandas metadata: the end of the default index.
_STOP = "stop"

# Number of rows in the header until the last of a stream has been written.
_LATER = 10**18

WHOLE_FILE = "file:"
"""Start of the names of codecs around the whole file, which are not the format's own."""


class Adapter(FetchedFormat, PartialReads, Streams):
    """Avro object container files through fastavro, whose interface is one dictionary a row.

    Columns cross the border between Python and Arrow in bulk. The pandas metadata go into the file's
    own, as in Parquet.

    The codecs of the format compress block by block. fastavro ignores the level of bzip2 and xz. Codecs
    "file:..." compress the whole file, which other readers must decompress first.
    """

    label = "Avro"
    suffix = ".avro"
    kept_names: ClassVar = _AVRO_NAME
    requires = ("pandas", "pyarrow>=15", "fastavro", "cramjam", "backports.zstd", "lz4", "zstandard")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    remote_schemes: ClassVar = ("http",)
    save_schemes: ClassVar = OBJECT_STORES
    codecs: ClassVar = (
        Codec("deflate", range(1, 10), 6),
        Codec("snappy", requires="cramjam"),
        Codec("bzip2"),
        Codec("zstandard", range(1, 23), 3, requires="backports.zstd"),
        Codec("lz4", requires="lz4"),
        Codec("xz"),
        *(replace(codec, name=WHOLE_FILE + codec.name) for codec in whole_file.CODECS),
    )
    refuses: ClassVar = {
        Kind.HALF_FLOAT: "Avro has no type for them",
        Kind.COMPLEX: "Avro has no type for them",
        Kind.TIMEDELTA: "Avro's duration counts months, days and milliseconds",
        Kind.PERIOD: "Avro has no type for them",
        Kind.INTERVAL: "Avro has no type for them",
        Kind.SPARSE: "pyarrow does not take them",
        Kind.ARROW: "the file keeps no Arrow types of pandas",
        Kind.WIDE_DECIMAL: "fastavro has no type for them",
        Kind.EMPTY_STRUCT: "a record of Avro without fields takes no bytes",
        Kind.OTHER_NESTED: "Avro has no type for them",
        Kind.MIXED: "a field of the schema has one type",
    }
    file_facts = FileFacts(version="1")
    snippet = Snippet(
        imports="""
            import fastavro
            import pandas as pd
            {module}
        """,
        write="""
            types = {"int64": "long", "float64": "double", "float32": "float", "bool": "boolean"}
            types |= {"int8": "int", "int16": "int", "int32": "int", "Int64": "long"}
            time = {"type": "long", "logicalType": "local-timestamp-micros"}
            types |= {"datetime64[us]": time}
            fields = [
                {"name": name, "type": ["null", types.get(str(dtype), "string")]}
                for name, dtype in df.dtypes.items()
            ]
            schema = fastavro.parse_schema({"type": "record", "name": "row", "fields": fields})
            rows = df.astype(object).where(df.notna(), None).to_dict("records")
            with {writer} as file:
                fastavro.writer(file, schema, rows, {codec}, {level})
        """,
        read="""
            with {reader} as file:
                df = pd.DataFrame(fastavro.reader(file))
        """,
        changes={"int8": "int64", "float32": "float64", "category": "str", "Int64": "float64"},
        differs="FormatBench's own files also contain the dtypes of pandas and the number of rows",
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the codec of Avro's blocks, or the calls that compress the whole file."""
        around = codec.removeprefix(WHOLE_FILE) if codec and codec.startswith(WHOLE_FILE) else None
        options = {} if around or codec is None else {"codec": codec, "codec_compression_level": level}
        return {
            **whole_file.code_to_open("{path}", around, level),
            "codec": keywords(**options),
            "level": "",
        }

    refuses_inside: ClassVar = dict.fromkeys(
        (Kind.DATETIME, Kind.ZONED_DATETIME), "they would be objects of Python, without nanoseconds"
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        self._refuse_column(integers_beyond_int64(df), "integers beyond Avro's long, 2**63 - 1")
        self._refuse_column(datetimes_beyond_python(df), "datetimes beyond the years 1 to 9999")

    def _check_inside(self, name: str, kind: Kind, array: pa.Array) -> None:
        import pyarrow as pa

        super()._check_inside(name, kind, array)
        for struct in filter(pa.types.is_struct, types_in(array.type)):
            for field in struct:
                if not re.fullmatch(_AVRO_NAME, field.name):
                    self._refuse_column(name, f"the field {field.name!r}, which is no name in Avro")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        with path.open("wb") as file:
            self._write(df, file, codec, level)

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        with file.arrow_stream() as stream:
            self._write(df, stream, codec, level)

    @staticmethod
    def _write(df: pd.DataFrame, target: BinaryIO, codec: str | None, level: int | None) -> None:
        import fastavro
        import pyarrow as pa

        # None puts the default index into the metadata only, and with it the number of rows.
        table = pa.Table.from_pandas(df, preserve_index=None)
        fields = [field_of(i, table.field(i), table.column(i)) for i in range(table.num_columns)]
        schema = {"type": "record", "name": "row", "fields": fields}
        names = [field["name"] for field in fields]
        columns = [python_values(table.column(i)) for i in range(table.num_columns)]
        metadata = _metadata(table.schema)
        around = codec.removeprefix(WHOLE_FILE) if codec and codec.startswith(WHOLE_FILE) else None
        with whole_file.writing_to(target, around, level) as file:
            rows = (dict(zip(names, row)) for row in zip(*columns))  # noqa: B905 (once a row)
            fastavro.writer(
                file,
                fastavro.parse_schema(schema),
                rows,
                codec="null" if around or codec is None else codec,
                codec_compression_level=None if around else level,
                metadata=metadata,
            )

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        import fastavro
        import pyarrow as pa

        reader = reader_of(batches)
        empty = reader.schema.empty_table()
        # Later batches may have nulls.
        fields = [
            _nullable(field_of(i, empty.field(i), empty.column(i))) for i in range(len(empty.schema))
        ]
        names = [field["name"] for field in fields]
        found = 0

        def rows() -> Iterator[dict[str, Any]]:
            nonlocal found
            for batch in reader:
                found += batch.num_rows
                table = pa.Table.from_batches([batch])
                columns = [python_values(column) for column in table.columns]
                yield from (dict(zip(names, row)) for row in zip(*columns))  # noqa: B905 (once a row)

        schema = fastavro.parse_schema({"type": "record", "name": "row", "fields": fields})
        described = json.loads(pandas_metadata(empty))
        described["index_columns"] = [
            {"kind": "range", "name": None, "start": 0, _STOP: _LATER, "step": 1}
        ]
        metadata = {**_metadata(empty.schema), PANDAS: json.dumps(described)}
        with path.open("w+b") as file:
            fastavro.writer(file, schema, rows(), metadata=metadata)
            _set_rows(file, found)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import fastavro
        import pyarrow as pa

        with whole_file.reading(path) as file:
            reader = fastavro.reader(file)
            fields = _fields(reader, columns)
            schema = _schema(reader, fields)
            chunks: list[list[pa.Array]] = [[] for _ in fields]
            for rows in _batches(reader, _BLOCK_ROWS):
                for values, arrays in zip(_arrays(rows, fields, schema), chunks, strict=True):
                    arrays.append(values)
        arrays = [pa.chunked_array(c, f.type) for c, f in zip(chunks, schema, strict=True)]
        table = pa.Table.from_arrays(arrays, schema=schema)
        _check_rows(path, table.num_rows, schema)
        return frame_of(table, pandas_metadata(table))

    def _column_names(self, path: Path) -> list[str]:
        import fastavro

        with whole_file.reading(path) as file:
            return [column_name(field) for field in fastavro.reader(file).writer_schema["fields"]]

    def _codec_used(self, path: Path) -> str | None:
        import fastavro

        around = whole_file.codec_of(path)
        if around is not None:
            return WHOLE_FILE + around
        with path.open("rb") as file:
            codec = fastavro.reader(file).codec
        return None if codec == "null" else codec

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        import fastavro
        import pyarrow as pa

        found = 0
        with whole_file.reading(path) as file:
            reader = fastavro.reader(file)
            fields = _fields(reader, columns)
            schema = _schema(reader, fields)
            for rows in _batches(reader, min(batch_rows, _BLOCK_ROWS)):
                found += len(rows)
                table = pa.Table.from_arrays(list(_arrays(rows, fields, schema)), schema=schema)
                yield frame_of_part(table, pandas_metadata(table))
        _check_rows(path, found, schema)


def column_name(field: dict[str, Any]) -> str:
    """Return the name of a field's column."""
    return field.get(COLUMN, field["name"])


def field_of(position: int, field: pa.Field, column: pa.ChunkedArray) -> dict[str, Any]:
    """Return the Avro field of a column."""
    avro = _avro_type(field.type, f"of_{position}")
    # A union costs a byte a value, so columns without nulls have none.
    if column.null_count and avro != "null":
        avro = ["null", avro]
    if re.fullmatch(_AVRO_NAME, field.name):
        return {"name": field.name, "type": avro}
    return {"name": f"column_{position}", "type": avro, COLUMN: field.name}


def _nullable(field: dict[str, Any]) -> dict[str, Any]:
    return field if field["type"] == "null" else {**field, "type": ["null", field["type"]]}


def _set_rows(file: BinaryIO, rows: int) -> None:
    """Replace `_LATER` in the header of a file by the number of rows, and spaces."""
    file.flush()
    with mmap.mmap(file.fileno(), 0) as mapped:
        before = f'"{_STOP}": '.encode()
        place = mapped.find(before + str(_LATER).encode()) + len(before)
        width = len(str(_LATER))
        mapped[place : place + width] = str(rows).ljust(width).encode()


def _avro_type(arrow: pa.DataType, name: str = "") -> Any:
    """Return the Avro type of an Arrow type; categories have the type of their values.

    Maps are lists of records, since keys of Avro's own are text, and without order. `name` begins the
    names of records, which are unique in a schema.
    """
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(arrow):
        return _avro_type(arrow.value_type)
    if types.is_map(arrow):
        return _avro_type(without_maps(arrow), name)
    if types.is_struct(arrow):
        inner = [
            _nullable({"name": each.name, "type": _avro_type(each.type, f"{name}_{i}")})
            for i, each in enumerate(arrow)
        ]
        return {"type": "record", "name": name, "fields": inner}
    if types.is_nested(arrow):
        item = _nullable({"type": _avro_type(arrow.value_type, f"{name}_0")})
        return {"type": "array", "items": item["type"]}
    if types.is_timestamp(arrow):
        zone = "" if arrow.tz else "local-"
        return {"type": "long", "logicalType": f"{zone}timestamp-{_UNITS[arrow.unit]}"}
    if types.is_decimal(arrow):
        size = {"precision": arrow.precision, "scale": arrow.scale}
        return {"type": "bytes", "logicalType": "decimal", **size}
    if types.is_integer(arrow):
        fits = arrow.bit_width <= pa.int32().bit_width and arrow != pa.uint32()
        return "int" if fits else "long"
    if types.is_date(arrow):
        return {"type": "int", "logicalType": "date"}
    if types.is_time(arrow):
        return {"type": "long", "logicalType": "time-micros"}
    names = {
        pa.null(): "null",
        pa.bool_(): "boolean",
        pa.float32(): "float",
        pa.float64(): "double",
        pa.string(): "string",
        pa.large_string(): "string",
        pa.binary(): "bytes",
    }
    return names[arrow]


def arrow_type(avro: Any) -> pa.DataType:
    """Return the Arrow type of an Avro type of `field_of`, or of its union with null."""
    import pyarrow as pa

    if isinstance(avro, list):
        avro = avro[1]
    if not isinstance(avro, dict):
        names = {
            "null": pa.null(),
            "boolean": pa.bool_(),
            "int": pa.int32(),
            "long": pa.int64(),
            "float": pa.float32(),
            "double": pa.float64(),
            "string": pa.large_string(),
            "bytes": pa.binary(),
        }
        return names[avro]
    logical = avro["logicalType"]
    if logical == "decimal":
        return pa.decimal128(avro["precision"], avro["scale"])
    if logical == "date":
        return pa.date32()
    if logical == "time-micros":
        return pa.time64("us")
    unit = {name: unit for unit, name in _UNITS.items()}[logical.rpartition("-")[2]]
    return pa.timestamp(unit, None if logical.startswith("local-") else "UTC")


def python_values(column: pa.ChunkedArray) -> list[Any]:
    """Return a column as a list of values for fastavro, without a Python step per value."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_timestamp(column.type):
        # fastavro writes integers as they are, and would need a datetime object per value.
        unit = "ms" if column.type.unit == "s" else column.type.unit
        column = column.cast(pa.timestamp(unit, column.type.tz)).cast(pa.int64())
    if types.is_nested(column.type):
        return column.cast(without_maps(column.type)).to_pylist()
    is_text = types.is_large_string(column.type) or types.is_string(column.type)
    if is_text or (column.null_count == 0 and types.is_primitive(column.type)):
        return column.to_numpy(zero_copy_only=False).tolist()
    return column.to_pylist()


def _fields(reader: Any, columns: list[str] | None) -> list[dict[str, Any]]:
    """Return the fields of some columns, or of all if None."""
    fields = reader.writer_schema["fields"]
    return [each for each in fields if columns is None or column_name(each) in columns]


def _schema(reader: Any, fields: list[dict[str, Any]]) -> pa.Schema:
    """Return the Arrow schema of some fields, with the pandas metadata of the file."""
    import pyarrow as pa

    nested = {}
    if ARROW in reader.metadata:
        saved = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(reader.metadata[ARROW])))
        nested = {each.name: each.type for each in saved}
    names = [column_name(each) for each in fields]
    columns = [
        (name, nested[name] if name in nested else arrow_type(each["type"]))
        for name, each in zip(names, fields, strict=True)
    ]
    return pa.schema(columns, {PANDAS: reader.metadata[PANDAS]})


def _metadata(schema: pa.Schema) -> dict[str, str]:
    """Return the metadata of a file: pandas' own, and the types of nested columns."""
    import pyarrow as pa

    found = {PANDAS: schema.metadata[PANDAS.encode()].decode()}
    nested = pa.schema([field for field in schema if field.type.num_fields])
    if len(nested):
        found[ARROW] = base64.b64encode(nested.serialize()).decode()
    return found


def _batches(rows: Iterator[dict[str, Any]], size: int) -> Iterator[list[dict[str, Any]]]:
    while batch := list(islice(rows, size)):
        yield batch


def _arrays(
    rows: list[dict[str, Any]], fields: list[dict[str, Any]], schema: pa.Schema
) -> Iterator[pa.Array]:
    import pyarrow as pa

    for field, dtype in zip(fields, schema.types, strict=True):
        yield pa.array(map(itemgetter(field["name"]), rows), dtype)


def _check_rows(path: Path, found: int, schema: pa.Schema) -> None:
    """Raise ValueError if rows are missing: a file that is cut between two blocks looks whole."""
    expected = _rows(schema.metadata[PANDAS.encode()].decode())
    if found != expected:
        raise ValueError(f"{path.name} contains {found:,} of {expected:,} rows")


def _rows(metadata: str) -> int:
    """Return the number of rows in the pandas metadata: the end of the default index."""
    (index,) = json.loads(metadata)["index_columns"]
    return int(index[_STOP])
