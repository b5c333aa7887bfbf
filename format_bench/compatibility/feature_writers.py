"""Functions that write a feature of a format, where that takes more than one call of a library.

Declarations of features name them; each takes a table of Arrow and the path.
"""

from __future__ import annotations

import ast
import pkgutil
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from format_bench.verification.canonical import CanonicalTable

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

# Times that the rows of an edge-case table are repeated: codecs leave out a few values.
_REPEATS = 64


def write(
    df: pd.DataFrame, types: dict[str, str], function: str, options: dict[str, Any], path: str
) -> CanonicalTable:
    """Write a file by a function; return its expected content.

    Parameters
    ----------
    df : pandas.DataFrame
        An edge-case table.
    types : dict of str to str
        Types of Arrow, by column, that it is cast to.
    function, options
        As declarations have them. A function that writes another table than the given one returns it.
    path : str
        The file.
    """
    import pyarrow as pa

    table = pa.Table.from_pandas(df, preserve_index=False).replace_schema_metadata()
    for position, field in enumerate(table.schema):
        # Text of pandas has offsets of 64 bits, which is a feature of its own.
        usual = pa.string() if pa.types.is_large_string(field.type) else field.type
        kind = arrow_type(types[field.name]) if field.name in types else usual
        table = table.set_column(position, field.name, _cast(table.column(position), kind))
    table = pa.concat_tables([table] * _REPEATS).combine_chunks()
    saved = pkgutil.resolve_name(function)(table, path, **options)
    return CanonicalTable.of_arrow(saved if isinstance(saved, pa.Table) else table)


def arrow_type(text: str) -> pa.DataType:
    """Return a type of Arrow by the call that makes it, e.g. ``large_list(int64())``.

    Raises
    ------
    AttributeError, SyntaxError, TypeError, ValueError
        If the text is no such call.
    """
    import pyarrow as pa

    def made(node: ast.expr) -> Any:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return getattr(pa, node.func.id)(*map(made, node.args))
        return ast.literal_eval(node)

    found = made(ast.parse(text, mode="eval").body)
    if not isinstance(found, pa.DataType):
        raise TypeError(f"{text!r} is no type of Arrow")
    return found


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Return a column in another type; where Arrow has no cast, made of its values."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_run_end_encoded(kind):
        values = column.cast(kind.value_type).combine_chunks()
        return pa.chunked_array([pc.run_end_encode(values, kind.run_end_type)])
    if isinstance(kind, pa.BaseExtensionType):
        storage = _cast(column, kind.storage_type).combine_chunks()
        return pa.chunked_array([pa.ExtensionArray.from_storage(kind, storage)])
    try:
        return column.cast(kind)
    except pa.ArrowNotImplementedError:
        return pa.chunked_array([pa.array(column.to_pylist(), kind)])


def duckdb(table: pa.Table, path: str, select: str = "FROM given", options: str = "") -> pa.Table:
    """Write the result of a query of a table to Parquet, by DuckDB; return it."""
    import duckdb

    with duckdb.connect() as connection:
        connection.register("given", table)
        connection.execute(f"COPY ({select}) TO '{path}' (FORMAT parquet{options})")
        return connection.sql(select).to_arrow_table()


def duckdb_encrypted(table: pa.Table, path: str) -> None:
    """Write Parquet, encrypted by DuckDB."""
    import duckdb

    with duckdb.connect() as connection:
        connection.register("given", table)
        connection.execute("PRAGMA add_parquet_key('key', '0123456789012345')")
        how = "FORMAT parquet, ENCRYPTION_CONFIG {footer_key: 'key'}"
        connection.execute(f"COPY (FROM given) TO '{path}' ({how})")


def polars(table: pa.Table, path: str, method: str, **options: Any) -> None:
    """Write a file by a method of a DataFrame of Polars."""
    import polars as pl

    getattr(pl.DataFrame(table), method)(path, **options)


def fastparquet(table: pa.Table, path: str, **options: Any) -> None:
    """Write Parquet by fastparquet."""
    import fastparquet

    fastparquet.write(path, table.to_pandas(), **options)


def arrow_file(table: pa.Table, path: str, **options: Any) -> None:
    """Write an Arrow IPC file with options of `IpcWriteOptions`."""
    import pyarrow as pa

    with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as file:
        file.write_table(table)


def arrow_deltas(table: pa.Table, path: str) -> pa.Table:
    """Write an Arrow IPC file of two batches, the second of which has a longer dictionary.

    Rows are sorted for it; returns them.
    """
    import pyarrow as pa

    table = table.sort_by("row")

    def encoded(end: int) -> pa.Table:
        codes = table.column("c").combine_chunks()[:end].dictionary_encode()
        return pa.table({"c": codes, "row": table.column("row")[:end]})

    middle = table.num_rows // 2
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    whole = encoded(table.num_rows)
    with pa.ipc.new_file(path, whole.schema, options=options) as file:
        file.write_table(encoded(middle))
        file.write_table(whole[middle:])
    return table


def avro(
    table: pa.Table,
    path: str,
    type: Any,  # noqa: A002 (Avro's word)
    codec: str = "null",
) -> None:
    """Write Avro by fastavro, with a type for the column `c`."""
    import fastavro

    fields = [{"name": "c", "type": ["null", type]}, {"name": "row", "type": "long"}]
    schema = fastavro.parse_schema({"type": "record", "name": "table", "fields": fields})
    with Path(path).open("wb") as file:
        fastavro.writer(file, schema, table.to_pylist(), codec=codec)


def delta(  # noqa: PLR0913, PLR0917 (independent features)
    table: pa.Table,
    path: str,
    compression: Any = "UNCOMPRESSED",
    configuration: dict[str, str] | None = None,
    partition_by: str | None = None,
    delete: str = "",
    checkpoint: bool = False,  # noqa: FBT001, FBT002 (of a declaration)
) -> pa.Table:
    """Write a table of Delta Lake, and delete rows or make a checkpoint; return the remaining rows."""
    import deltalake

    properties = deltalake.WriterProperties(compression=compression)
    deltalake.write_deltalake(
        path,
        table,
        partition_by=partition_by,
        configuration=configuration,
        writer_properties=properties,
    )
    written = deltalake.DeltaTable(path)
    if delete:
        written.delete(delete)
        table = table.filter(_is_kept(delete, table))
    if checkpoint:
        written.create_checkpoint()
    return table


def _is_kept(delete: str, table: pa.Table) -> Any:
    """Return which rows a condition such as "row = 1" does not delete."""
    import pyarrow.compute as pc

    name, _, value = delete.partition(" = ")
    return pc.not_equal(table.column(name), int(value))


def iceberg(
    table: pa.Table,
    path: str,
    properties: dict[str, str],
    delete: str = "",
    rename: str = "",
) -> pa.Table:
    """Write an Iceberg table, and delete rows or rename the column `c`; return the resulting table."""
    import data_formats
    from data_formats.iceberg import opened_table

    adapter = data_formats.get("Iceberg")
    adapter.options = {**adapter.options, **properties}
    adapter.save(table.to_pandas(), Path(path))
    if delete:
        with warnings.catch_warnings(action="error"):  # that it deletes in another way
            opened_table(Path(path)).delete(delete)
        table = table.filter(_is_kept(delete, table))
    if rename:
        with opened_table(Path(path)).update_schema() as schema:
            schema.rename_column("c", rename)
        table = table.rename_columns([rename, "row"])
    return table


def hdf5(table: pa.Table, path: str, libver: str | None = None, text: str = "", **options: Any) -> None:
    """Write HDF5 by h5py: a dataset for each column; `text` is a type of text of h5py."""
    import h5py

    if isinstance(options.get("compression"), int):
        import hdf5plugin  # noqa: F401 (it registers filters by their numbers)
    with h5py.File(path, "w", libver=libver) as file:
        for name, column in _arrays(table).items():
            kind = h5py.string_dtype(*_text_type(text)) if column.dtype.kind == "O" else column.dtype
            file.create_dataset(name, data=column.astype(kind), **options)


def _text_type(text: str) -> tuple[str, int | None]:
    """Return the encoding, and the length if it is fixed, of a text such as "utf-8 8"."""
    encoding, _, length = text.partition(" ")
    return encoding or "utf-8", int(length) if length else None


def zarr(
    table: pa.Table, path: str, zarr_format: Any, codec: str = "", shards: int | None = None
) -> None:
    """Write a Zarr group: an array for each column; `codec` is the class of a compressor."""
    import numpy as np
    import zarr

    library = "zarr.codecs" if zarr_format > 2 else "numcodecs"  # noqa: PLR2004 (format 3 came with its own)
    compressors = [pkgutil.resolve_name(f"{library}:{codec}")()] if codec else None
    group = zarr.create_group(path, zarr_format=zarr_format)
    for name, column in _arrays(table).items():
        data = column.astype(np.dtypes.StringDType()) if column.dtype.kind == "O" else column
        group.create_array(
            name,
            data=data,
            chunks=(64,),
            shards=(shards,) if shards else None,
            compressors=compressors,
        )


def _arrays(table: pa.Table) -> dict[str, Any]:
    columns = zip(table.column_names, table.columns, strict=True)
    return {name: column.to_numpy() for name, column in columns}


def csv(table: pa.Table, path: str, **options: Any) -> None:
    """Write CSV by pandas."""
    table.to_pandas().to_csv(path, index=False, **options)


def json_lines(table: pa.Table, path: str) -> None:
    """Write JSON lines by Polars."""
    import polars as pl

    pl.DataFrame(table).write_ndjson(path)
