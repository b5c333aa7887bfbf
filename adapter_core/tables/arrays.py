"""Columns of a table as NumPy arrays and back, for formats that store arrays rather than tables.

A description of each column, which formats store as JSON, contains everything that other readers need:

- ``name``: the column's name
- ``dtype``: its dtype in pandas
- ``values``: the name of the array of its values: numbers; datetimes (``datetime64``, in UTC if there
  is a zone); codes of categories, with -1 for null; bytes of text in UTF-8, see
  `adapter_core.tables.text_arrays`; numbers of vectors, with two dimensions
- ``offsets``: the name of the array with the start and end of each text in those bytes
- ``valid``: the name of the array that is true for values that are not null, unless NaN or NaT shows it
- ``objects``: the type of the Python objects of an object column
- ``vector``: the type of vectors, see `adapter_core.tables.vectors`
- ``categories``, ``categories_dtype``, ``ordered``: the categories of the codes
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from adapter_core import InvalidSelectionError, Kind, UnknownNameError
from adapter_core.kinds import NESTED, dtype_named, kind_of, nested_array
from adapter_core.tables import text_arrays, vectors
from adapter_core.values import in_utc

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa


OFFSETS = "__offsets"
"""Ending of the name of the offsets that belong to an array of values."""

VALID = "__valid"
"""Ending of the name of the array of validity that belongs to an array of values."""

REFUSES = {
    Kind.TIME: "NumPy has no type for them",
    Kind.DECIMAL: "NumPy has no type for them",
    Kind.WIDE_DECIMAL: "NumPy has no type for them",
    Kind.PERIOD: "NumPy has no type for them",
    Kind.INTERVAL: "NumPy has no type for them",
    Kind.SPARSE: "arrays would fill them up",
    Kind.ARROW: "arrays keep no Arrow types",
    **dict.fromkeys(NESTED - {Kind.VECTOR}, "NumPy has no type for them"),
    Kind.MIXED: "an array has one type",
}
"""Kinds of column without arrays, with the reasons; for `DataFormat.refuses`."""

NO_VECTORS = {Kind.VECTOR: "columns are arrays of one dimension"}

_OBJECTS = {
    Kind.TEXT: "text",
    Kind.NULL: "text",
    Kind.BINARY: "bytes",
    Kind.NULLABLE_BOOLEAN: "booleans",
    Kind.DATE: "dates",
}

_MASKED = {
    Kind.NULLABLE_BOOLEAN,
    Kind.NULLABLE_INTEGER,
    Kind.NULLABLE_UNSIGNED,
    Kind.NULLABLE_FLOAT,
}


def unsupported_reason(df: pd.DataFrame) -> str | None:
    """Return the reason why a dtype cannot be described, for kinds that are not refused; else None."""
    import pandas as pd

    for name, dtype in df.dtypes.items():
        if isinstance(dtype, pd.DatetimeTZDtype) and not _has_name(dtype):
            return f"the time zone of column {name!r} has no name: {dtype.tz!r}"
        if isinstance(dtype, pd.CategoricalDtype) and not _is_json(dtype.categories):
            return f"column {name!r} contains categories of {dtype.categories.dtype}, which JSON lacks"
    return None


def column_to_arrays(
    column: pd.Series, name: str, put: Callable[[str, np.ndarray], None]
) -> dict[str, Any]:
    """Pass the arrays of a column to `put`, and return the column's description.

    Parameters
    ----------
    column : pandas.Series
        Shape (rows,), of a kind that is not in `REFUSES`.
    name : str
        The name of the array of values; the names of the others start with it.
    put : callable
        Takes the name and the values of each array. Bytes of text have dtype uint8 and shape (rows,
        length) or (bytes,); numbers of vectors shape (rows, length) and never dtype uint8; other arrays
        shape (rows,), or (rows + 1,) for offsets.
    """
    import numpy as np

    kind = kind_of(column.dtype, column)
    description: dict[str, Any] = {"name": str(column.name), "dtype": str(column.dtype), "values": name}
    if column.dtype == object:
        description["objects"] = _OBJECTS[kind]
    if kind is Kind.VECTOR:
        array = nested_array(column)
        numbers = vectors.numbers_of(array)
        # Arrays of uint8 with two dimensions are text.
        put(name, numbers.view("int8") if numbers.dtype == "uint8" else numbers)
        return description | {"vector": vectors.described(array.type)} | _put_valid(column, name, put)
    if kind in (Kind.TEXT, Kind.NULL, Kind.BINARY):
        return description | _text_to_arrays(column, kind, name, put)
    if kind in (Kind.CATEGORY, Kind.CATEGORY_NOT_TEXT):
        categories = column.cat.categories
        description |= {
            "categories": categories.tolist(),
            "categories_dtype": str(categories.dtype),
            "ordered": column.cat.ordered,
        }
        values = column.cat.codes.to_numpy()
    elif kind is Kind.ZONED_DATETIME:
        values = in_utc(column).to_numpy()
    elif kind is Kind.DATE:
        values = np.array(column.where(column.notna(), None), "datetime64[D]")
    elif kind in _MASKED:
        column = column.astype("boolean") if column.dtype == object else column
        dtype: Any = column.dtype
        values = column.to_numpy(dtype.numpy_dtype, na_value=0)
        description |= _put_valid(column, name, put)
    else:
        values = column.to_numpy()
    put(name, values)
    return description


def _text_to_arrays(
    column: pd.Series, kind: Kind, name: str, put: Callable[[str, np.ndarray], None]
) -> dict[str, Any]:
    import pyarrow as pa

    arrow = pa.large_binary() if kind is Kind.BINARY else pa.large_string()
    text = pa.array(column.array, arrow, from_pandas=True)
    if isinstance(text, pa.ChunkedArray):
        text = text.combine_chunks()
    description = _put_valid(column, name, put)
    values, offsets = text_arrays.text_to_arrays(text)
    put(name, values)
    if offsets is not None:
        description["offsets"] = name + OFFSETS
        put(description["offsets"], offsets)
    return description


def _put_valid(column: pd.Series, name: str, put: Callable[[str, np.ndarray], None]) -> dict[str, Any]:
    valid = column.notna().to_numpy()
    if valid.all():
        return {}
    put(name + VALID, valid)
    return {"valid": name + VALID}


def _has_name(dtype: pd.DatetimeTZDtype) -> bool:
    import pandas as pd

    try:
        return bool(pd.api.types.pandas_dtype(str(dtype)) == dtype)
    except (TypeError, ValueError):
        return False


def _is_json(categories: pd.Index) -> bool:
    kind = kind_of(categories.dtype, categories.to_series())
    return kind in (Kind.TEXT, Kind.NULL, Kind.BOOLEAN, Kind.INTEGER, Kind.UNSIGNED, Kind.FLOAT)


def array_names(description: dict[str, Any]) -> list[str]:
    """Return the names of a column's arrays."""
    return [description[key] for key in ("values", "valid", "offsets") if key in description]


def array_names_of_numbers(
    descriptions: Iterable[dict[str, Any]], columns: Iterable[str]
) -> dict[str, str]:
    """Return the name of the array of each column, by the column's name.

    Raises
    ------
    UnknownNameError
        If a named column is missing.
    InvalidSelectionError
        If a column contains nulls, or anything but numbers.
    """
    import pandas as pd

    by_name = {each["name"]: each for each in descriptions}
    for name in columns:
        if name not in by_name:
            raise UnknownNameError("column", name, by_name)
        dtype = by_name[name]["dtype"]
        is_numeric = "vector" not in by_name[name] and pd.api.types.is_numeric_dtype(
            pd.api.types.pandas_dtype(dtype)
        )
        if "valid" in by_name[name] or not is_numeric:
            raise InvalidSelectionError(f"column {name!r} of {dtype} contains more than numbers")
    return {name: by_name[name]["values"] for name in columns}


def column_from_arrays(description: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> Any:
    """Return the values of a column for pandas, shape (rows,).

    Parameters
    ----------
    description : dict
        Result of `column_to_arrays`.
    arrays : mapping
        The arrays by name; datetimes and timedeltas may be integers.
    """
    import pandas as pd

    values = arrays[description["values"]]
    valid = arrays[description["valid"]] if "valid" in description else None
    if "vector" in description:
        kind = vectors.type_of(description["vector"])
        numbers = values.view("uint8") if kind.value_type == "uint8" else values
        return pd.arrays.ArrowExtensionArray(vectors.vectors_of(numbers, kind, valid))
    objects = description.get("objects")
    dtype = dtype_named(description["dtype"])
    if objects in ("text", "bytes") or isinstance(dtype, pd.StringDtype):
        offsets = arrays[description["offsets"]] if "offsets" in description else None
        return _text(values, offsets, valid, dtype, is_bytes=objects == "bytes")
    if "categories" in description:
        categories = pd.Index(description["categories"], dtype=description["categories_dtype"])
        return pd.Categorical.from_codes(values, categories, description["ordered"])
    if objects == "dates":
        return values.view("datetime64[D]").astype(object)
    if isinstance(dtype, pd.DatetimeTZDtype):
        times = pd.DatetimeIndex(values.view(f"datetime64[{dtype.unit}]"))
        return times.tz_localize("UTC").tz_convert(dtype.tz)
    if objects == "booleans":
        return _objects(values, valid)
    if isinstance(dtype, pd.api.extensions.ExtensionDtype):
        return _masked(values, valid, dtype)
    return values.view(dtype) if dtype.kind in "mM" else values


def _text(
    values: np.ndarray,
    offsets: np.ndarray | None,
    valid: np.ndarray | None,
    dtype: Any,
    *,
    is_bytes: bool,
) -> Any:
    import pandas as pd
    import pyarrow as pa

    arrow = pa.large_binary() if is_bytes else pa.large_string()
    text: pa.Array = text_arrays.text_from_arrays(values, offsets, valid, arrow)
    if dtype == object:
        # pandas would turn a bare array of text into its own dtype.
        return pd.Series(text.to_numpy(zero_copy_only=False), dtype=object)
    return dtype.__from_arrow__(text)


def _objects(values: np.ndarray, valid: np.ndarray | None) -> np.ndarray:
    objects = values.astype(object)
    if valid is not None:
        objects[~valid] = None
    return objects


def _masked(values: np.ndarray, valid: np.ndarray | None, dtype: Any) -> Any:
    import numpy as np

    mask = np.zeros(len(values), bool) if valid is None else ~valid
    return dtype.construct_array_type()(values, mask)
