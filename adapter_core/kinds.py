"""Kinds of columns, as far as formats differ in them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


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
    ARROW_NESTED = "nested Arrow values"
    MIXED = "Python objects of mixed or unknown type"


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
        return Kind.ARROW_NESTED if dtype.pyarrow_dtype.num_fields else Kind.ARROW
    if type(dtype) in by_type:
        return by_type[type(dtype)]
    # Masked extension dtypes have NumPy's kind; any other extension dtype is unknown here.
    return _BY_MASKED_KIND.get(getattr(dtype, "kind", ""), Kind.MIXED)


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
