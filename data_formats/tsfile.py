"""Apache TsFile through its own Python library."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import Kind, PartialReads, Snippet, Streams, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.kinds import kind_of_arrow
from adapter_core.tables import arrow
from adapter_core.tables.arrow_parts import tables_of
from adapter_core.values import integers_beyond_int64, longest_bytes

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import tsfile

    from adapter_core.column_batches import Batch

_TABLE = "data"

_TIME = "time"

# Property of a file with the Arrow schema of its table, named as in Parquet.
_SCHEMA = "ARROW:schema"

# TsFile makes all names lower case.
_PLAIN_NAME = re.compile(r"(?!time$)[a-z][a-z0-9_]*", re.ASCII)

# As in `adapter_core.partial_reads`.
_BATCH_ROWS = 65_536

# A page begins with statistics, among them four of its texts, and the reader takes 4 KiB for these.
# Reading 200 texts of 10,000 bytes corrupts its memory (tsfile 2.5.0).
_LONGEST_BYTES = 1_000

_NO_TYPE = "TsFile has no type for them"


class Adapter(PartialReads, Streams):
    """Apache TsFile, the file of the time-series database IoTDB, by batches of Arrow.

    A TsFile is a table ordered by time, with the encoding of each column chosen by its type; the time is
    the number of the row here, and values are not compressed besides. The Arrow schema is a property of
    the file: it restores types that TsFile lacks, and names, which TsFile makes lower case. Categories
    come back as their values. Values have no checksums: 19 of 20 flipped bits were not noticed.

    https://tsfile.apache.org/
    """

    label = "TsFile"
    overridden_default = "codec"
    suffix = ".tsfile"
    requires = ("pandas", "tsfile", "pyarrow>=16")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    tuned_indexes = "nothing else: the reader selects rows by their time alone, which is their number"
    refuses: ClassVar = arrow.REFUSES_WITH_METADATA | {
        Kind.DECIMAL: _NO_TYPE,
        Kind.WIDE_DECIMAL: _NO_TYPE,
        Kind.NESTED: _NO_TYPE,
        Kind.INTERVAL: _NO_TYPE,
        Kind.PERIOD: _NO_TYPE,
    }
    file_facts = FileFacts(version="4")
    snippet = Snippet(
        imports="import tsfile",
        write="""
            tsfile.set_tsfile_config({"default_compression_type_": tsfile.Compressor.UNCOMPRESSED})
            timed = df.assign(time=range(len(df)))
            tsfile.dataframe_to_tsfile(timed, {path}, table_name="data", time_column="time")
        """,
        read="""
            df = tsfile.to_dataframe({path}, table_name="data").drop(columns="time")
        """,
        changes={
            "int64": "Int64",
            "float64": "Float64",
            "bool": "boolean",
            "str": "object",
            "float32": "Float32",
            "category": "object",
        },
        lacks=("int8", "datetime64[us]"),
        differs="FormatBench's own files also contain the Arrow schema of the table",
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        import pandas as pd

        for name, dtype in zip(df.columns, df.dtypes, strict=True):
            if isinstance(dtype, pd.ArrowDtype):
                kind = kind_of_arrow(dtype.pyarrow_dtype)
                if kind in self.refuses:
                    self._refuse_column(name, f"{kind}; {self.refuses[kind]}")
        self._refuse_column(integers_beyond_int64(df), "integers beyond TsFile's INT64, 2**63 - 1")
        long = f"values of more than {_LONGEST_BYTES:,} bytes; TsFile's reader fails at some of them"
        self._refuse_column(_column_of_long_values(df), long)

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        table = arrow.arrow_of(df)
        _write(path, table.schema, [table])

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        import pyarrow as pa

        reader = arrow.reader_of(batches)
        _write(path, reader.schema, (pa.Table.from_batches([each]) for each in reader))

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        return self._read_slice(path, columns, 0, None)

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        import pyarrow as pa

        with _opened(path) as reader:
            schema = _schema(reader)
            empty = start == stop
            parts = [] if empty else list(_tables(reader, schema, columns, start, stop))
        wanted = schema if columns is None else pa.schema(map(schema.field, columns))
        table = pa.concat_tables([wanted.remove_metadata().empty_table(), *parts])
        return arrow.frame_of_part(table, arrow.pandas_metadata(schema.empty_table()))

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        with _opened(path) as reader:
            schema = _schema(reader)
            arrow.positions(schema, columns)
            for table in _tables(reader, schema, columns):
                yield from arrow.array_batches(table.to_batches())

    def _column_names(self, path: Path) -> list[str]:
        with _opened(path) as reader:
            return list(_schema(reader).names)

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        with _opened(path) as reader:
            schema = _schema(reader)
            metadata = arrow.pandas_metadata(schema.empty_table())
            for table in _tables(reader, schema, columns):
                for part in tables_of(table.to_batches(), batch_rows):
                    yield arrow.frame_of_part(part, metadata)


def _column_of_long_values(df: pd.DataFrame) -> str | None:
    """Return the first column with text or bytes that are too long, in UTF-8."""
    import pyarrow as pa

    table = arrow.retyped(arrow.arrow_of(df), _stored)
    for field, column in zip(table.schema, table.columns, strict=True):
        if field.type in {pa.string(), pa.binary()} and longest_bytes(column) > _LONGEST_BYTES:
            return field.name
    return None


def _write(path: Path, schema: pa.Schema, tables: Iterable[pa.Table]) -> None:
    import numpy as np
    import pyarrow as pa
    import tsfile

    names = _names(schema)
    fields = [
        tsfile.ColumnSchema(name, _type_of(_stored(field.type)), tsfile.ColumnCategory.FIELD)
        for name, field in zip(names, schema, strict=True)
    ]
    rows = 0
    # A setting of the process, by default LZ4.
    tsfile.set_tsfile_config({"default_compression_type_": tsfile.Compressor.UNCOMPRESSED})
    with tsfile.TsFileTableWriter(str(path), tsfile.TableSchema(_TABLE, fields)) as writer:
        writer.add_tsfile_property(_SCHEMA, schema.serialize().to_pybytes())
        for table in tables:
            stored = arrow.retyped(table, _stored).rename_columns(names)
            times = pa.array(np.arange(rows, rows + len(table)))
            rows += len(table)
            for batch in stored.add_column(0, _TIME, times).combine_chunks().to_batches(_BATCH_ROWS):
                writer.write_arrow_batch(batch)


@contextmanager
def _opened(path: Path) -> Iterator[tsfile.TsFileReader]:
    import tsfile

    with closing(tsfile.TsFileReader(str(path))) as reader:
        yield reader


def _schema(reader: tsfile.TsFileReader) -> pa.Schema:
    """Return the schema of the saved table, with values in place of categories."""
    import pyarrow as pa

    found = reader.get_tsfile_properties().get(_SCHEMA)
    if found is None:
        raise ValueError(f"the file has no property {_SCHEMA}")
    schema = pa.ipc.read_schema(pa.py_buffer(found))
    return pa.schema([each.with_type(_restored(each.type)) for each in schema], schema.metadata)


def _names(schema: pa.Schema) -> list[str]:
    """Return the names of columns in the file: their own, or their position if TsFile changed that."""
    return [
        name if _PLAIN_NAME.fullmatch(name) else f"_{position}"
        for position, name in enumerate(schema.names)
    ]


def _tables(
    reader: tsfile.TsFileReader,
    schema: pa.Schema,
    columns: list[str] | None,
    start: int = 0,
    stop: int | None = None,
) -> Iterator[pa.Table]:
    """Yield the rows of a range, not empty, with the types that were saved."""
    import pyarrow as pa

    stored = dict(zip(schema.names, _names(schema), strict=True))
    wanted = list(schema.names) if columns is None else columns
    end = 2**63 - 1 if stop is None else stop - 1
    found = reader.query_table(
        _TABLE, [stored[name] for name in wanted], start, end, batch_size=_BATCH_ROWS
    )
    types = pa.schema([schema.field(name) for name in wanted])
    with closing(found):
        while (table := found.read_arrow_batch()) is not None:
            yield table.drop_columns([_TIME]).rename_columns(wanted).cast(types)


def _stored(kind: pa.DataType) -> pa.DataType:
    """Return the type of TsFile that contains all values of an Arrow type."""
    import pyarrow as pa
    from pyarrow import types

    kind = _restored(kind)
    if types.is_large_string(kind) or types.is_string_view(kind):
        return pa.string()
    if types.is_large_binary(kind) or types.is_binary_view(kind):
        return pa.binary()
    if types.is_float16(kind):
        return pa.float32()
    if types.is_integer(kind):
        is_small = kind in {pa.int8(), pa.int16(), pa.int32(), pa.uint8(), pa.uint16()}
        return pa.int32() if is_small else pa.int64()
    if types.is_date32(kind) or types.is_time32(kind):
        return pa.int32()
    if types.is_temporal(kind):
        return pa.int64()
    return kind


def _restored(kind: pa.DataType) -> pa.DataType:
    """Return the type that a column has after reading."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(kind):
        return _restored(kind.value_type)
    return pa.string() if types.is_null(kind) else kind


def _type_of(stored: pa.DataType) -> tsfile.TSDataType:
    import tsfile

    names = {
        "bool": "BOOLEAN",
        "int32": "INT32",
        "int64": "INT64",
        "float": "FLOAT",
        "double": "DOUBLE",
        "string": "STRING",
        "binary": "BLOB",
    }
    return tsfile.TSDataType[names[str(stored)]]
