"""Conversion between pandas and Arrow, for engines that store columns but not Arrow's metadata.

Such engines also change types: other units of time, nullable integers that pandas would turn into
floats. These are restored here, in Arrow, before pandas sees them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC
from decimal import Decimal
from functools import reduce
from itertools import chain
from operator import and_
from typing import TYPE_CHECKING, Any

from adapter_core import Batch, Comparison, InvalidSelectionError, Kind, Predicate, UnknownNameError
from adapter_core.kinds import deeper, without_views
from adapter_core.pandas_dtypes import (
    PANDAS,
    column_metadata,
    fitting_metadata,
    nullable_dtype,
    types_mapper,
)
from adapter_core.predicate import BOOLEANS, NUMBERS, OPERATORS, TEXT

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.compute as pc


REFUSES_WITH_METADATA = {
    Kind.COMPLEX: "Arrow has no type for them",
    Kind.OTHER_NESTED: "most libraries of Arrow lack functions for them",
    Kind.CALENDAR_INTERVAL: "pandas does not know their type by its name",
    Kind.SPARSE: "pyarrow does not take them",
    Kind.MIXED: "an Arrow column has one type",
}
"""Kinds of column that do not come back through Arrow, with the reasons."""

NO_CATEGORIES_OF_EXTENSIONS = dict.fromkeys(
    (Kind.PERIOD, Kind.INTERVAL), "pyarrow's dictionaries of its extension types do not come back"
)

_NO_METADATA = "the file keeps no pandas metadata"

NO_EMPTY_STRUCTS = {Kind.EMPTY_STRUCT: "the library writes none"}
MAPS_INSIDE = {Kind.MAP: "a key twice would be lost, and is looked for in columns of maps alone"}
NO_WIDE_DECIMALS = {Kind.WIDE_DECIMAL: "the library has no type for them"}

REFUSES_WITHOUT_METADATA = {
    **REFUSES_WITH_METADATA,
    Kind.PERIOD: _NO_METADATA,
    Kind.INTERVAL: _NO_METADATA,
    Kind.ARROW: _NO_METADATA,
}
"""The same for files without pandas metadata."""


def arrow_of(df: pd.DataFrame) -> pa.Table:
    """Return a table as an Arrow table, shape (rows, columns), without its index."""
    import pyarrow as pa

    return pa.Table.from_pandas(unsliced(df), preserve_index=False)


def unsliced(df: pd.DataFrame) -> pd.DataFrame:
    """Return a table, shape (rows, columns), without nested columns that are slices of others.

    Of slices, pyarrow's ORC writer writes the values of other rows, and Polars takes no vectors (pyarrow
    26.0.1, Polars 2.1.0).
    """
    import pandas as pd
    import pyarrow as pa

    for position, dtype in enumerate(df.dtypes):
        if isinstance(dtype, pd.ArrowDtype) and pa.types.is_nested(dtype.pyarrow_dtype):
            column: Any = df.iloc[:, position].array.__arrow_array__()
            if any(chunk.offset for chunk in column.chunks):
                whole = pd.arrays.ArrowExtensionArray(column.take(pa.array(range(len(df)))))
                df = df.copy(deep=False)
                df.isetitem(position, whole)
    return df


def pandas_of(table: pa.Table) -> pd.DataFrame:
    """Return an Arrow table as a DataFrame, whose nested columns keep their types of Arrow."""
    import pyarrow as pa

    types = table.schema.types
    table = with_types(
        table, [without_views(each) if pa.types.is_nested(each) else each for each in types]
    )
    schema = fitting_metadata(table.schema)
    table = table.replace_schema_metadata(schema.metadata)
    # As objects, lists would lose the type of their elements, and nulls among numbers.
    return table.to_pandas(types_mapper=types_mapper(schema))


def reader_of(
    batches: Iterable[pd.DataFrame], converted: Callable[[pa.Table], pa.Table] | None = None
) -> pa.RecordBatchReader:
    """Return batches of a table as a stream of Arrow, with the schema and the metadata of the first.

    Parameters
    ----------
    batches : iterable of pandas.DataFrame
        At least one, of equal columns and dtypes.
    converted : callable, optional
        Conversion of each batch, e.g. to the types of a format.
    """
    import pyarrow as pa

    tables = (arrow_of(df) for df in batches)
    if converted is not None:
        tables = (converted(table) for table in tables)
    first = next(tables)
    # The type of a column of nulls alone differs from the type of its values in later batches.
    parts = (table.cast(first.schema) for table in tables)
    stream = (batch for table in chain([first], parts) for batch in table.to_batches())
    return pa.RecordBatchReader.from_batches(first.schema, stream)


def pandas_metadata(table: pa.Table) -> str:
    """Return the pandas metadata, in JSON, of a result of `arrow_of`."""
    return table.schema.metadata[PANDAS.encode()].decode()


def retyped(table: pa.Table, new_type: Callable[[pa.DataType], pa.DataType]) -> pa.Table:
    """Return a table, shape (rows, columns), with each type replaced by `new_type` of it.

    So are the types inside nested ones.

    Raises
    ------
    pyarrow.ArrowInvalid
        If a value does not fit in the new type.
    """

    def changed(dtype: pa.DataType) -> pa.DataType:
        return new_type(deeper(dtype, changed))

    return with_types(table, map(changed, table.schema.types))


def with_types(table: pa.Table, types: Iterable[pa.DataType]) -> pa.Table:
    """Return a table, shape (rows, columns), with a type for each column, in their order.

    Columns that have theirs stay: Arrow fails at lists of nulls alone, cast to their own type (26.0.1).

    Raises
    ------
    pyarrow.ArrowInvalid
        If a value does not fit in the new type.
    """
    for position, (field, arrow) in enumerate(zip(table.schema, types, strict=True)):
        if arrow != field.type:
            table = table.set_column(position, field.name, table.column(position).cast(arrow))
    return table


def frame_of(
    table: pa.Table, metadata: str | None = None, nullable: Collection[str] = ()
) -> pd.DataFrame:
    """Return an Arrow table as a DataFrame, shape (rows, columns), with the default index.

    Parameters
    ----------
    table : pyarrow.Table
        The table as the engine read it.
    metadata : str, optional
        The pandas metadata of the saved table. Without them, integers and booleans among nulls become
        nullable dtypes of pandas instead of pyarrow's floats and objects, which lose digits and type.
    nullable : collection of str, optional
        Columns with nulls in other rows of a file without metadata, see `may_be_nullable`.
    """
    if metadata is None:
        metadata = _nullable_metadata(table, nullable)
    else:
        table = _with_saved_times(table, metadata)
    return pandas_of(table.replace_schema_metadata({PANDAS: metadata}))


def frame_of_part(table: pa.Table, metadata: str | None = None) -> pd.DataFrame:
    """Return some rows of a table with its pandas metadata, with the dtypes of the whole table.

    Parameters
    ----------
    table : pyarrow.Table
        Shape (rows, columns).
    metadata : str, optional
        The pandas metadata of the saved table; by default those in the schema of the part.
    """
    df = pandas_of(table) if metadata is None else frame_of(table, metadata)
    saved = json.loads(metadata or pandas_metadata(table))["columns"]
    # Booleans become objects only among nulls, which another part of the table may contain.
    objects = {each["field_name"] for each in saved if each["numpy_type"] == "object"}
    for position, dtype in enumerate(df.dtypes):
        if dtype == bool and df.columns[position] in objects:
            df.isetitem(position, df.iloc[:, position].astype(object))
    return df


def may_be_nullable(schema: pa.Schema) -> list[str]:
    """Return the columns whose dtype in pandas depends on nulls, unless it is in the metadata."""
    return [field.name for field in schema if nullable_dtype(field.type)]


def contents_of_type(arrow: pa.DataType) -> str:
    """Return the contents of a column for `Comparison.fitted`, by its Arrow type."""
    from pyarrow import types

    if types.is_dictionary(arrow):
        return contents_of_type(arrow.value_type)
    if types.is_boolean(arrow):
        return BOOLEANS
    if types.is_integer(arrow) or types.is_floating(arrow):
        return NUMBERS
    is_text = types.is_string(arrow) or types.is_large_string(arrow) or types.is_string_view(arrow)
    return TEXT if is_text else str(arrow)


def fitted_to_schema(predicate: Predicate, schema: pa.Schema) -> Predicate:
    """Return a predicate with constants of the types of its columns, in an Arrow schema.

    Engines convert constants to other types, or columns, or none.

    Parameters
    ----------
    predicate : Predicate
        Its columns exist.
    schema : pyarrow.Schema
        Schema of the table.

    Raises
    ------
    InvalidSelectionError
        If a column cannot be compared with its constant.
    """

    def fitted(comparison: Comparison) -> Comparison:
        import numpy as np
        import pyarrow as pa

        arrow = schema.field(comparison.column).type
        if pa.types.is_dictionary(arrow):
            arrow = arrow.value_type
        fits = comparison.fitted(contents_of_type(arrow), is_single=arrow == pa.float32())
        if fits.type != NUMBERS:
            return fits
        if pa.types.is_floating(arrow):
            with np.errstate(over="ignore"):
                value = float(np.float16(fits.number)) if arrow == pa.float16() else fits.number
            return Comparison(fits.column, fits.operator, value)
        sign_bits = 0 if pa.types.is_unsigned_integer(arrow) else 1
        highest = 2 ** (arrow.bit_width - sign_bits) - 1
        return fits.among_integers(-highest - 1 if sign_bits else 0, highest)

    return predicate.fitted(fitted)


def arrow_filter(predicate: Predicate, schema: pa.Schema) -> pc.Expression:
    """Return a predicate as an expression of Arrow for a table of that schema.

    Raises
    ------
    InvalidSelectionError
        If a column cannot be compared with its constant.
    """
    # Of a column of integers, Arrow would make floats beside one, or fail.
    fitted = fitted_to_schema(predicate, schema).comparisons
    return reduce(and_, (comparison(each, schema) for each in fitted))


def comparison(found: Comparison, schema: pa.Schema | None) -> pc.Expression:
    """Return a comparison as an expression of Arrow, for a table of that schema if it is known."""
    import pyarrow as pa
    import pyarrow.compute as pc

    value: Any = found.value
    arrow = schema.field(found.column).type if schema is not None else None
    if arrow == pa.uint64() and isinstance(value, int):
        # Arrow would convert the column to signed integers.
        value = pa.scalar(value, pa.uint64()) if value >= 0 else float(value)
    elif zone := getattr(arrow, "tz", None):
        value = zoned_times([found.value], zone)[0]
    elif isinstance(value, Decimal):
        # Of another type, its column would be converted, and no statistics found.
        value = pa.scalar(value, arrow)
    column = pc.field(found.column)
    if arrow == pa.float16():
        # Arrow compares none of 16 bits.
        column = column.cast(pa.float32())
    compared: pc.Expression = OPERATORS[found.operator](column, value)
    return compared


def zoned_times(values: Sequence[Any], zone: str) -> pa.Array:
    """Return constants in the time zone of a column: Arrow compares times of one zone alone."""
    import pyarrow as pa

    in_utc = pa.array([each.astimezone(UTC) for each in values], pa.timestamp("us", "UTC"))
    return in_utc.cast(pa.timestamp("us", zone))


def _with_saved_times(table: pa.Table, metadata: str) -> pa.Table:
    """Return the table with its datetimes in the units and time zones of the saved table."""
    # pyarrow itself restores the zone only, and by way of nanoseconds.
    saved = {column["field_name"]: column for column in json.loads(metadata)["columns"]}
    return with_types(
        table, [_saved_time(field.type, saved.get(field.name, {})) for field in table.schema]
    )


def _saved_time(arrow: pa.DataType, saved: dict[str, Any]) -> pa.DataType:
    """Return the type of datetimes in the metadata of a column, and any other type as it is."""
    import pyarrow as pa

    dtype = saved.get("numpy_type", "")
    if not (pa.types.is_timestamp(arrow) and dtype.startswith("datetime64[")):
        return arrow
    zone = (saved["metadata"] or {}).get("timezone")
    return pa.timestamp(dtype.removeprefix("datetime64[").rstrip("]"), zone)


def _nullable_metadata(table: pa.Table, nullable: Collection[str]) -> str:
    """Return pandas metadata with nullable dtypes for the columns that need them."""
    columns = [
        column_metadata(field, nullable_dtype(field.type))
        for field, column in zip(table.schema, table.columns, strict=True)
        if (column.null_count or field.name in nullable) and nullable_dtype(field.type)
    ]
    return json.dumps({"index_columns": [], "column_indexes": [], "columns": columns})


def array_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[Batch]:
    """Yield batches of Arrow as NumPy arrays, over the same memory if their types allow it.

    Raises
    ------
    InvalidSelectionError
        If a column contains nulls.
    """
    for batch in batches:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        for name, column in columns.items():
            if column.null_count:
                raise InvalidSelectionError(f"column {name!r} contains nulls")
        yield {name: column.to_numpy(zero_copy_only=False) for name, column in columns.items()}


def positions(schema: pa.Schema, columns: Iterable[str]) -> list[int]:
    """Return the positions of columns, in increasing order.

    Raises
    ------
    UnknownNameError
        If a named column is missing.
    """
    names = schema.names
    for name in columns:
        if name not in names:
            raise UnknownNameError("column", name, names)
    return sorted(map(names.index, columns))
