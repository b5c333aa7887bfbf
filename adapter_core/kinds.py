"""Kinds of columns, as far as formats differ in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import cache
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class Kind(StrEnum):
    """Kind of a column; the value is the phrase in messages."""

    BOOLEAN = "booleans"
    INTEGER = "integers"
    UNSIGNED = "unsigned integers"
    HALF_FLOAT = "16-bit floats"
    FLOAT = "floats"
    COMPLEX = "complex numbers"
    TEXT = "text"
    NULL = "nothing but nulls"
    BINARY = "bytes"
    DATE = "calendar dates"
    TIME = "times of day"
    DECIMAL = "decimals"
    WIDE_DECIMAL = "decimals of more than 38 digits"
    NULLABLE_BOOLEAN = "booleans with nulls"
    NULLABLE_INTEGER = "integers with nulls"
    NULLABLE_UNSIGNED = "unsigned integers with nulls"
    NULLABLE_FLOAT = "nullable floats"
    DATETIME = "datetimes"
    ZONED_DATETIME = "datetimes with a time zone"
    TIMEDELTA = "timedeltas"
    CATEGORY = "categories"
    CATEGORY_NOT_TEXT = "categories that are not text"
    PERIOD = "periods"
    INTERVAL = "intervals"
    SPARSE = "sparse values"
    ARROW = "Arrow-typed values"
    CALENDAR_INTERVAL = "calendar intervals"
    """Months, days and nanoseconds. A format that refuses Arrow-typed values refuses them."""
    LIST = "lists"
    VECTOR = "lists of one length"
    STRUCT = "structs"
    EMPTY_STRUCT = "structs without fields"
    MAP = "maps"
    OTHER_NESTED = "unions, or views of lists"
    NESTED = "nested values"
    """Any of the six above. No column has this kind; a format that refuses it refuses all six."""
    ARROW_NESTED = NESTED  # its name until version 0.1
    MIXED = "Python objects of mixed or unknown type"


NESTED = frozenset({Kind.LIST, Kind.VECTOR, Kind.STRUCT, Kind.EMPTY_STRUCT, Kind.MAP, Kind.OTHER_NESTED})
"""Kinds of column whose values contain further values."""

NUMBERS = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.UNSIGNED, Kind.HALF_FLOAT, Kind.FLOAT})
"""Kinds of column with numbers without nulls, NaN among them; booleans are 0 and 1."""

_BY_NUMPY_KIND = {
    "b": Kind.BOOLEAN,
    "i": Kind.INTEGER,
    "u": Kind.UNSIGNED,
    "f": Kind.FLOAT,
    "c": Kind.COMPLEX,
    "M": Kind.DATETIME,
    "m": Kind.TIMEDELTA,
}

_BY_MASKED_KIND = {
    "b": Kind.NULLABLE_BOOLEAN,
    "i": Kind.NULLABLE_INTEGER,
    "u": Kind.NULLABLE_UNSIGNED,
    "f": Kind.NULLABLE_FLOAT,
}

# Results of pandas.api.types.infer_dtype for object columns of one type.
_BY_INFERRED_TYPE = {
    "string": Kind.TEXT,
    "empty": Kind.NULL,
    "bytes": Kind.BINARY,
    "boolean": Kind.NULLABLE_BOOLEAN,
    "date": Kind.DATE,
    "time": Kind.TIME,
    "decimal": Kind.DECIMAL,
}


# By the names of pyarrow's tests of types, ``is_...``, the first that is true.
_BY_ARROW_TYPE = {
    "boolean": Kind.BOOLEAN,
    "unsigned_integer": Kind.UNSIGNED,
    "integer": Kind.INTEGER,
    "float16": Kind.HALF_FLOAT,
    "floating": Kind.FLOAT,
    "string": Kind.TEXT,
    "large_string": Kind.TEXT,
    "string_view": Kind.TEXT,
    "binary": Kind.BINARY,
    "large_binary": Kind.BINARY,
    "binary_view": Kind.BINARY,
    "fixed_size_binary": Kind.BINARY,
    "null": Kind.NULL,
    "date": Kind.DATE,
    "time": Kind.TIME,
    "decimal256": Kind.WIDE_DECIMAL,
    "decimal": Kind.DECIMAL,
    "duration": Kind.TIMEDELTA,
    "interval": Kind.CALENDAR_INTERVAL,
    "list": Kind.LIST,
    "large_list": Kind.LIST,
    "fixed_size_list": Kind.VECTOR,
    "struct": Kind.STRUCT,
    "map": Kind.MAP,
}


def kind_of(dtype: Any, column: pd.Series) -> Kind:
    """Return the kind of a column.

    Parameters
    ----------
    dtype : numpy or pandas dtype
        The column's dtype.
    column : pandas.Series
        The column, shape (rows,); only object columns are inspected value by value.
    """
    import numpy as np
    import pandas as pd

    if isinstance(dtype, np.dtype):
        if dtype == np.float16:
            return Kind.HALF_FLOAT
        if dtype.kind in _BY_NUMPY_KIND:
            return _BY_NUMPY_KIND[dtype.kind]
        inferred = pd.api.types.infer_dtype(column, skipna=True)
        if inferred == "decimal" and _is_wide(column):
            return Kind.WIDE_DECIMAL
        if inferred == "mixed" and (array := nested_array(column)) is not None:
            return kind_of_arrow(array.type)
        return _BY_INFERRED_TYPE.get(inferred, Kind.MIXED)
    if isinstance(dtype, pd.CategoricalDtype):
        values = dtype.categories
        is_text = kind_of(values.dtype, values.to_series()) in (Kind.TEXT, Kind.NULL)
        return Kind.CATEGORY if is_text else Kind.CATEGORY_NOT_TEXT
    by_type = {
        pd.StringDtype: Kind.TEXT,
        pd.DatetimeTZDtype: Kind.ZONED_DATETIME,
        pd.PeriodDtype: Kind.PERIOD,
        pd.IntervalDtype: Kind.INTERVAL,
        pd.SparseDtype: Kind.SPARSE,
    }
    if isinstance(dtype, pd.ArrowDtype):
        kind = kind_of_arrow(dtype.pyarrow_dtype)
        return kind if kind in {*NESTED, Kind.CALENDAR_INTERVAL} else Kind.ARROW
    if type(dtype) in by_type:
        return by_type[type(dtype)]
    # Masked extension dtypes have NumPy's kind; any other extension dtype is unknown here.
    return _BY_MASKED_KIND.get(getattr(dtype, "kind", ""), Kind.MIXED)


def _is_wide(decimals: pd.Series) -> bool:
    import pyarrow as pa

    try:
        return pa.types.is_decimal256(pa.array(decimals.array, from_pandas=True).type)
    except pa.ArrowException:
        return False


def kind_of_arrow(dtype: pa.DataType) -> Kind:
    """Return the kind of an Arrow type, as of a column without nulls."""
    from pyarrow import types

    if types.is_struct(dtype) and not dtype.num_fields:
        return Kind.EMPTY_STRUCT
    for is_of, kind in _BY_ARROW_TYPE.items():
        is_it = getattr(types, f"is_{is_of}", None)  # Arrow 15 has no views
        if is_it and is_it(dtype):
            return kind
    if types.is_timestamp(dtype):
        return Kind.ZONED_DATETIME if dtype.tz else Kind.DATETIME
    if types.is_dictionary(dtype):
        return Kind.CATEGORY if kind_of_arrow(dtype.value_type) is Kind.TEXT else Kind.CATEGORY_NOT_TEXT
    return Kind.OTHER_NESTED if types.is_nested(dtype) else Kind.ARROW


def types_in(dtype: pa.DataType) -> Iterator[pa.DataType]:
    """Yield a type of Arrow and all types inside it."""
    import pyarrow as pa

    yield dtype
    if pa.types.is_map(dtype):
        inside = [dtype.key_type, dtype.item_type]
    else:
        inside = [dtype.field(number).type for number in range(dtype.num_fields)]
    for each in inside:
        yield from types_in(each)


def kinds_inside(dtype: pa.DataType) -> set[Kind]:
    """Return the kinds of all values inside an Arrow type, nested ones among them; empty for others."""
    return set(map(kind_of_arrow, islice(types_in(dtype), 1, None)))


def without_views(dtype: pa.DataType) -> pa.DataType:
    """Return a type with plain text and bytes in place of views, which Arrow's functions lack."""
    import pyarrow as pa

    if pa.types.is_nested(dtype):
        return deeper(dtype, without_views)
    # By name, as Arrow 15 has neither.
    return {"string_view": pa.string(), "binary_view": pa.binary()}.get(str(dtype), dtype)


def without_maps(dtype: pa.DataType) -> pa.DataType:
    """Return a type with lists of structs of key and value in place of maps.

    As Python objects, entries are dictionaries then, from which pyarrow makes maps again.
    """
    import pyarrow as pa

    if pa.types.is_map(dtype):
        entry = {"key": without_maps(dtype.key_type), "value": without_maps(dtype.item_type)}
        return pa.list_(pa.struct(entry))
    return deeper(dtype, without_maps)


def deeper(dtype: pa.DataType, change: Callable[[pa.DataType], pa.DataType]) -> pa.DataType:
    """Return a nested type of Arrow with the types directly inside it changed."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_struct(dtype):
        return pa.struct([each.with_type(change(each.type)) for each in dtype])
    if types.is_map(dtype):
        return pa.map_(change(dtype.key_type), change(dtype.item_type))
    if types.is_fixed_size_list(dtype):
        return pa.list_(dtype.value_field.with_type(change(dtype.value_type)), dtype.list_size)
    if types.is_list(dtype) or types.is_large_list(dtype):
        of = pa.list_ if types.is_list(dtype) else pa.large_list
        return of(dtype.value_field.with_type(change(dtype.value_type)))
    return dtype


@cache
def dtype_named(name: str) -> Any:
    """Return the dtype that pandas knows by a name."""
    import pandas as pd

    # Cached, since pandas tries one class of dtypes after the other.
    return pd.api.types.pandas_dtype(name)


def nested_array(column: pd.Series) -> Any:
    """Return a column of nested values, shape (rows,), as one array of Arrow; None for other columns.

    Lists, NumPy's arrays and dictionaries among objects are nested if one type of Arrow has all of them:
    dictionaries of the same keys in the same order are structs, all others are not.
    """
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    if isinstance(column.dtype, pd.ArrowDtype):
        array = column.array.__arrow_array__()
        if not pa.types.is_nested(array.type):
            return None
        whole = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        plain = without_views(whole.type)
        return whole if plain == whole.type else whole.cast(plain)
    if column.dtype != object:
        return None
    values = column.dropna()
    if not len(values) or not isinstance(values.iloc[0], list | dict | np.ndarray):
        return None
    try:
        array = pa.array(column.array, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None
    return array if pa.types.is_nested(array.type) and _keeps_keys(values, array.type) else None


def leaves_of(array: pa.Array) -> Iterator[pa.Array]:
    """Yield the values inside a nested array that are not nested themselves, each of any length."""
    import pyarrow as pa

    kind = kind_of_arrow(array.type)
    if kind is Kind.MAP:
        parts = [array.keys, array.items]
    elif kind in (Kind.STRUCT, Kind.LIST, Kind.VECTOR):
        flat = array.flatten()
        parts = flat if isinstance(flat, list) else [flat]
    elif pa.types.is_union(array.type):
        parts = [array.field(number) for number in range(array.type.num_fields)]
    else:
        yield array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
        return
    for part in parts:
        yield from leaves_of(part)


def _keeps_keys(values: Iterable[Any], dtype: pa.DataType) -> bool:
    """Return True if all dictionaries have the keys of their struct, in its order."""
    from pyarrow import types

    if types.is_struct(dtype):
        names = [dtype.field(number).name for number in range(dtype.num_fields)]
        found = [each for each in values if isinstance(each, dict)]
        return all(list(each) == names for each in found) and all(
            _keeps_keys((each[name] for each in found), dtype.field(name).type) for name in names
        )
    if types.is_list(dtype) and Kind.STRUCT in kinds_inside(dtype):
        lists = (each for each in values if each is not None)
        return _keeps_keys(chain.from_iterable(lists), dtype.value_type)
    return True


def kinds_of(df: pd.DataFrame) -> list[Kind]:
    """Return the kind of each column, in column order."""
    known: dict[Any, Kind] = {}  # wide tables have many columns of few dtypes
    kinds = []
    for position, dtype in enumerate(df.dtypes):
        if dtype == object:
            kinds.append(kind_of(dtype, df.iloc[:, position]))
            continue
        if dtype not in known:
            known[dtype] = kind_of(dtype, df.iloc[:, position])
        kinds.append(known[dtype])
    return kinds
