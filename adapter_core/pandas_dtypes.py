"""Dtypes of pandas for types of Arrow, as pandas' metadata in a schema of Arrow name them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

PANDAS = "pandas"
"""Key of the pandas metadata, which describe the dtypes of a table, in an Arrow schema:
https://pandas.pydata.org/docs/development/developer.html"""


def nested_dtype(dtype: pa.DataType) -> pd.ArrowDtype | None:
    """Return pandas' dtype of a nested type of Arrow; None for others, as pyarrow's `types_mapper`."""
    import pandas as pd
    import pyarrow as pa

    return pd.ArrowDtype(dtype) if pa.types.is_nested(dtype) else None


def types_mapper(schema: pa.Schema) -> Callable[[pa.DataType], pd.ArrowDtype | None]:
    """Return pyarrow's `types_mapper` of a schema: `nested_dtype`, but for intervals of pandas.

    Their own type of Arrow is a struct where pandas has not registered it, or an engine drops it.
    """
    import pyarrow as pa

    structs = {field.name: field.type for field in schema if pa.types.is_struct(field.type)}
    if not structs or PANDAS.encode() not in (schema.metadata or {}):
        return nested_dtype
    columns = json.loads(schema.metadata[PANDAS.encode()])["columns"]
    names = (each["field_name"] for each in columns if each["numpy_type"].startswith("interval["))
    intervals = [structs[name] for name in names if name in structs]
    return lambda dtype: None if dtype in intervals else nested_dtype(dtype)


def fitting_metadata(schema: pa.Schema) -> pa.Schema:
    """Return a schema of Arrow with pandas metadata that fit its columns, for `to_pandas`.

    It may have fewer columns than the saved table, and integers where that had categories of them.
    """
    metadata = (schema.metadata or {}).get(PANDAS.encode(), b"")
    # Most tables have neither dtypes that pandas does not know by their names, nor categories.
    if b"[pyarrow]" not in metadata and b'"categorical"' not in metadata:
        return schema
    described = json.loads(metadata)
    fields = {field.name: field for field in schema}
    described["columns"] = [
        _without_categories(each, fields[each["field_name"]])
        for each in described["columns"]
        if each["field_name"] in fields
    ]
    return schema.with_metadata({**schema.metadata, PANDAS.encode(): json.dumps(described)})


def _without_categories(column: dict[str, Any], field: pa.Field) -> dict[str, Any]:
    """Return the metadata of a column, which are a nullable dtype's if it had categories.

    Among nulls, integers would become floats, which change large ones.
    """
    dtype = nullable_dtype(field.type) if column["pandas_type"] == "categorical" else ""
    return column_metadata(field, dtype) if dtype else column


def nullable_dtype(dtype: pa.DataType) -> str:
    """Return the name of pandas' nullable dtype for a type of Arrow; empty for most.

    Else pandas has integers with nulls as floats, which change large ones, and booleans as objects.
    """
    import pyarrow as pa

    if pa.types.is_boolean(dtype):
        return "boolean"
    if pa.types.is_integer(dtype):
        return f"{'U' if pa.types.is_unsigned_integer(dtype) else ''}Int{dtype.bit_width}"
    return ""


def column_metadata(field: pa.Field, dtype: str) -> dict[str, Any]:
    """Return the pandas metadata of a column of Arrow, by the name of its dtype."""
    return {
        "name": field.name,
        "field_name": field.name,
        "pandas_type": str(field.type),
        "numpy_type": dtype,
        "metadata": None,
    }
