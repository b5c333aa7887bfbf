"""Changes to schemas, metadata and types of Parquet, Arrow and ORC files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tools.fuzz.canaries import MODULE, Canaries
from tools.fuzz.damage import change_bytes, changed_json

if TYPE_CHECKING:
    import pyarrow as pa


def _read(path: Path) -> pa.Table:
    import pyarrow as pa
    from pyarrow import feather, orc
    from pyarrow import parquet as pq

    match path.suffix:
        case ".parquet":
            return pq.read_table(path)
        case ".orc":
            return orc.read_table(path)
        case ".arrows":
            with pa.OSFile(str(path)) as file:
                return pa.ipc.open_stream(file).read_all()
    return feather.read_table(path, memory_map=False)


def _write(table: pa.Table, path: Path, draw: Random) -> None:
    import pyarrow as pa
    from pyarrow import feather, orc
    from pyarrow import parquet as pq

    match path.suffix:
        case ".parquet":
            options = {
                "compression": draw.choice(("none", "snappy", "gzip", "brotli", "zstd", "lz4")),
                "data_page_version": draw.choice(("1.0", "2.0")),
                "use_dictionary": draw.random() < 0.5,
                "store_schema": draw.random() < 0.8,
                "write_statistics": draw.random() < 0.5,
            }
            pq.write_table(table, path, **options)
        case ".orc":
            orc.write_table(
                table, path, compression=draw.choice(("uncompressed", "zlib", "zstd", "lz4", "snappy"))
            )
        case ".arrows":
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
                writer.write_table(table)
        case _:
            feather.write_feather(table, path, compression=draw.choice(("uncompressed", "lz4", "zstd")))


def _pandas_metadata(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change the description that pandas writes: index, columns, types."""
    table = _read(path)
    metadata = dict(table.schema.metadata or {})
    own = (
        metadata.get(b"pandas")
        or json.dumps({"index_columns": [], "column_indexes": [], "columns": []}).encode()
    )
    metadata[b"pandas"] = changed_json(own.decode(), draw, canaries).replace(b"\0", b"")
    _write(table.replace_schema_metadata(metadata), path, draw)


_LOGICAL_TYPES = (
    "object", "unicode", "datetime", "datetimetz", "categorical", "bytes", "mixed", "integer-na", "timedelta",
    "interval[int64]", "period[D]", "Sparse[float]", "string[python]", "string[pyarrow]", "int64[pyarrow]",
    "category", "O", "datetime64[ns, Mars/Base]", "V8", "<U1000000000", "M8[999999999s]", MODULE,
)  # fmt: skip


def _pandas_type(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change the type that pandas is to give to a column, or the columns that it is to take as the index."""
    table = _read(path)
    metadata = dict(table.schema.metadata or {})
    if b"pandas" not in metadata:
        return
    facts = json.loads(metadata[b"pandas"])
    entry = draw.choice(facts["columns"])
    match draw.randrange(3):
        case 0:
            entry["numpy_type"] = draw.choice(_LOGICAL_TYPES)
        case 1:
            entry["pandas_type"] = draw.choice(_LOGICAL_TYPES)
            entry["metadata"] = draw.choice(
                ({"timezone": "../../etc/passwd"}, {"num_categories": -1}, None, {"encoding": MODULE})
            )
        case _:
            stop = draw.choice((5, 10**6, 2**62))
            facts["index_columns"] = [
                {
                    "kind": "range",
                    "name": None,
                    "start": 0,
                    "stop": stop,
                    "step": draw.choice((0, 1, -1)),
                }
            ]
    metadata[b"pandas"] = json.dumps(facts).encode()
    _write(table.replace_schema_metadata(metadata), path, draw)


def _extension_type(path: Path, draw: Random, canaries: Canaries) -> None:
    """Declare a column as of an extension type, whose metadata are a pickle or anything."""
    import pyarrow as pa

    table = _read(path)
    number = draw.randrange(table.num_columns)
    field = table.schema.field(number)
    name = draw.choice(
        (b"arrow.py_extension_type", b"arrow.uuid", b"arrow.json", b"arrow.opaque", b"arrow.bool8",
         b"arrow.fixed_shape_tensor", b"pandas.period", b"pandas.interval", b"geoarrow.wkb", MODULE.encode())
    )  # fmt: skip
    facts = draw.choice(
        (
            canaries.pickle(draw),
            b"",
            b"{}",
            b'{"shape":[2,3]}',
            b'{"subtype":"int64","closed":"left"}',
            b"\xff\0",
        )
    )
    metadata = {b"ARROW:extension:name": name, b"ARROW:extension:metadata": facts}
    schema = table.schema.set(number, field.with_metadata(metadata))
    _write(pa.Table.from_arrays(table.columns, schema=schema), path, draw)


def _schema_text(path: Path, draw: Random, canaries: Canaries) -> None:
    """Rename columns, add columns, or set metadata of the schema."""
    import pyarrow as pa

    table = _read(path)
    names = table.column_names
    text = canaries.text(draw).encode("utf-8", "replace").decode().replace("\0", "")
    match draw.randrange(4):
        case 0:
            names[draw.randrange(len(names))] = text
        case 1:
            names = [names[0]] * len(names)
        case 2:
            value = draw.choice((text.encode(), canaries.pickle(draw), b"{}"))
            table = table.replace_schema_metadata(
                {**(table.schema.metadata or {}), b"ARROW:schema": value, text: value}
            )
        case _:
            # The writer of ORC keeps 0.4 MB of buffers for a column.
            count = 500 if path.suffix == ".orc" else 2000
            table = pa.table([table.column(0)] * count, names=[f"c{number}" for number in range(count)])
            names = table.column_names
    _write(table.rename_columns(names), path, draw)


def _column(path: Path, draw: Random, canaries: Canaries) -> None:
    """Replace a column by one of an unusual type or of values at its limits."""
    import pyarrow as pa

    table = _read(path)
    rows = table.num_rows
    number = draw.randrange(table.num_columns)
    nested: pa.DataType = pa.int8()
    for _ in range(60):
        nested = pa.list_(nested)
    columns: tuple[Callable[[], pa.Array], ...] = (
        lambda: pa.nulls(rows),
        lambda: pa.nulls(rows, nested),
        lambda: pa.array([2**63 - 1] * rows, pa.timestamp("s")),
        lambda: pa.array([-(2**63)] * rows, pa.timestamp("us", "Mars/Base")),
        lambda: pa.array([0] * rows, pa.timestamp("ns", "../../../../etc/passwd")),
        lambda: pa.array([2**31 - 1] * rows, pa.date32()),
        lambda: pa.array([2**63 - 1] * rows, pa.date64()),
        lambda: pa.array([2**63 - 1] * rows, pa.duration("s")),
        lambda: pa.array([86_399] * rows, pa.time32("s")),
        lambda: pa.array([2**63 - 1] * rows).view(pa.time64("ns")),
        lambda: pa.array([1] * rows, pa.decimal128(38, 38 - 37)),
        lambda: pa.array([1] * rows, pa.decimal256(76, 0)),
        lambda: pa.array([b"\xff\xfe"] * rows, pa.binary()).view(pa.string()),
        lambda: pa.array([[1] * 3] * rows, pa.list_(pa.int8(), 3)),
        lambda: pa.array([{"a": 1}] * rows, pa.struct([("a", pa.int8())])),
        lambda: pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int8()), pa.array(["a", "a"])),
        lambda: pa.DictionaryArray.from_arrays(
            pa.array([9] * rows, pa.int8()), pa.array(["a"]), safe=False
        ),
        lambda: pa.UnionArray.from_sparse(pa.array([0] * rows, pa.int8()), [pa.array([1] * rows)]),
        lambda: pa.array([None] * rows, pa.month_day_nano_interval()),
        lambda: pa.array([1.5] * rows, pa.float16()),
        lambda: pa.array(["a"] * rows, pa.string_view()),
        lambda: pa.RunEndEncodedArray.from_arrays(pa.array([rows], pa.int32()), pa.array([1])),
        lambda: pa.array([[("a", 1), ("a", 2)]] * rows, pa.map_(pa.string(), pa.int8())),
    )
    _write(table.set_column(number, table.column_names[number], draw.choice(columns)()), path, draw)


def _footer(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change bytes of the footer alone, whose length stays right."""
    data = path.read_bytes()
    match path.suffix:
        case ".parquet":
            tail, width = 8, int.from_bytes(data[-8:-4], "little")
        case ".orc":
            tail, width = 1, data[-1]
        case _:
            tail, width = 10, int.from_bytes(data[-10:-6], "little") % len(data)
    start = len(data) - tail - width
    footer = bytearray(data[start : len(data) - tail])
    if not footer:
        return
    for _ in range(draw.choice((1, 1, 2, 5))):
        at = draw.randrange(len(footer))
        match draw.randrange(3):
            case 0:
                footer[at] ^= 1 << draw.randrange(8)
            case 1:
                footer[at] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, 0x15, 0x18, 0x19, 0x1C))
            case _:
                # Thrift's numbers of any length.
                footer[at : at + 5] = draw.choice(
                    (b"\xff\xff\xff\xff\x0f", b"\x80\x80\x80\x80\x08", b"\xfe\xff\xff\xff\x0f")
                )
    path.write_bytes(data[:start] + footer[:width] + data[len(data) - tail :])


def _start(path: Path, draw: Random, canaries: Canaries) -> None:
    """Change bytes of the first kilobyte: schema of a stream, headers of pages."""
    data = bytearray(path.read_bytes())
    head = data[:1024]
    change_bytes(head, draw, canaries)
    path.write_bytes(bytes(head) + bytes(data[1024:]))


ORC = (_schema_text, _column, _footer, _start)
ARROW = (*ORC, _pandas_metadata, _pandas_type, _extension_type)
PARQUET = ARROW
