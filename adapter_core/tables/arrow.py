"""pandas' tables as Arrow tables and back, for engines that keep columns but not Arrow's metadata.

Such engines also give other types than they were given: other units of time, integers that pandas
would turn into floats. What a pandas user would lose by that is put right here, in Arrow.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adapter_core.kinds import Kind

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


PANDAS = "pandas"
"""Key of the metadata under which Arrow, and so pandas, describes a table's dtypes:
https://pandas.pydata.org/docs/development/developer.html"""

REFUSES_WITH_NOTE = {
    Kind.COMPLEX: "Arrow has no type for them",
    Kind.ARROW_NESTED: "pandas cannot read back its own note of their type",
    Kind.SPARSE: "pyarrow does not take them",
    Kind.MIXED: "an Arrow column has one type",
}
"""Kinds of column that do not come back through Arrow, and why."""

_NO_NOTE = "the file has no place for pandas' note of their type"

REFUSES_WITHOUT_NOTE = {
    **REFUSES_WITH_NOTE,
    Kind.PERIOD: _NO_NOTE,
    Kind.INTERVAL: _NO_NOTE,
    Kind.ARROW: _NO_NOTE,
    Kind.ARROW_NESTED: _NO_NOTE,
}
"""The same where what `note_of` gives is not kept."""


def arrow_of(df: pd.DataFrame) -> pa.Table:
    """Return a table as an Arrow table, shape (rows, columns), without its index."""
    import pyarrow as pa

    return pa.Table.from_pandas(df, preserve_index=False)


def note_of(table: pa.Table) -> str:
    """Return pandas' description, in JSON, of the dtypes of a table that `arrow_of` gave."""
    return table.schema.metadata[PANDAS.encode()].decode()


def retyped(table: pa.Table, new_type: Callable[[pa.DataType], pa.DataType]) -> pa.Table:
    """Return a table with the columns cast whose type `new_type` changes, shape (rows, columns).

    Raises
    ------
    pyarrow.ArrowInvalid
        If a value does not fit in the new type.
    """
    for position, field in enumerate(table.schema):
        arrow = new_type(field.type)
        if arrow != field.type:
            table = table.set_column(position, field.name, table.column(position).cast(arrow))
    return table


def frame_of(table: pa.Table, note: str | None = None) -> pd.DataFrame:
    """Return an Arrow table as pandas' table, shape (rows, columns), with the default index.

    Parameters
    ----------
    table : pyarrow.Table
        As the engine gave it.
    note : str, optional
        What `note_of` gave when it was saved. Without one, integers and booleans among nulls come as
        pandas' nullable dtypes, since floats and objects, as pyarrow makes of them, hold them less well.
    """
    if note is None:
        note = _note_of_nullables(table)
    else:
        table = _with_noted_times(table, note)
    return table.replace_schema_metadata({PANDAS: note}).to_pandas()


def _with_noted_times(table: pa.Table, note: str) -> pa.Table:
    """Return the table with its datetimes in the units and time zones in which they were saved.

    pyarrow alone would go by the note only for the zone, and by way of nanoseconds.
    """
    noted = {column["field_name"]: column for column in json.loads(note)["columns"]}
    for position, field in enumerate(table.schema):
        arrow = _noted_time(field.type, noted.get(field.name, {}))
        if arrow != field.type:
            table = table.set_column(position, field.name, table.column(position).cast(arrow))
    return table


def _noted_time(arrow: pa.DataType, noted: dict[str, Any]) -> pa.DataType:
    """Return the type of datetimes that is noted of a column, and any other type as it is."""
    import pyarrow as pa

    dtype = noted.get("numpy_type", "")
    if not (pa.types.is_timestamp(arrow) and dtype.startswith("datetime64[")):
        return arrow
    zone = (noted["metadata"] or {}).get("timezone")
    return pa.timestamp(dtype.removeprefix("datetime64[").rstrip("]"), zone)


def _note_of_nullables(table: pa.Table) -> str:
    """Return a note that names pandas' nullable dtypes for the columns that need them."""
    columns = [
        _noted(field)
        for field, column in zip(table.schema, table.columns, strict=True)
        if column.null_count and _nullable_dtype(field.type)
    ]
    return json.dumps({"index_columns": [], "column_indexes": [], "columns": columns})


def _noted(field: pa.Field) -> dict[str, Any]:
    return {
        "name": field.name,
        "field_name": field.name,
        "pandas_type": str(field.type),
        "numpy_type": _nullable_dtype(field.type),
        "metadata": None,
    }


def _nullable_dtype(arrow: pa.DataType) -> str:
    """Return the name of the nullable dtype of an Arrow type, which is empty for all but a few."""
    import pyarrow as pa

    if pa.types.is_boolean(arrow):
        return "boolean"
    if pa.types.is_integer(arrow):
        return f"{'U' if pa.types.is_unsigned_integer(arrow) else ''}Int{arrow.bit_width}"
    return ""
