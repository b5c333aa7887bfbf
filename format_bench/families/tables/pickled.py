"""Pickled tables that processes with another version of pandas load."""

from __future__ import annotations

import pickle
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def dump_table(df: pd.DataFrame, file: IO[bytes]) -> None:
    """Write a table, its blocks as they are.

    Times, periods, categories, text and Arrow's types are written as values and dtypes: pandas 2 does
    not load their states as pandas 3 writes them.

    Parameters
    ----------
    df : pandas.DataFrame
        Shape (rows, columns).
    file : binary file
        Open for writing.
    """
    _Pickler(file, protocol=5).dump(df)


def load_table(file: IO[bytes]) -> pd.DataFrame:
    """Return the table that `dump_table` wrote at the file's position.

    Text has the dtype that this pandas gives it, which is object in pandas 2.
    """
    import pandas as pd

    df: pd.DataFrame = pd.read_pickle(file)  # noqa: S301 (written by `dump_table`)
    if pd.Series(["text"]).dtype == object:
        _make_objects(df)
    return df


def _make_objects(df: pd.DataFrame) -> None:
    """Make objects of texts whose nulls are NaN, the dtype that pandas 3 gives to text."""
    import pandas as pd

    for place, dtype in enumerate(df.dtypes):
        if dtype == "str":
            df.isetitem(place, df.iloc[:, place].astype(object))
        elif isinstance(dtype, pd.CategoricalDtype) and dtype.categories.dtype == "str":
            texts = dtype.categories.astype(object)
            df.isetitem(place, df.iloc[:, place].cat.rename_categories(texts))
    df.columns = df.columns.astype(object)


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        import pandas as pd
        from pandas._libs.arrays import NDArrayBacked

        if isinstance(value, NDArrayBacked):
            return _backed, (type(value), value._ndarray, value.dtype)  # noqa: SLF001 (may have two dimensions)
        if isinstance(value, pd.arrays.ArrowStringArray):
            return _text, (value.dtype, value.__arrow_array__())
        if isinstance(value, pd.ArrowDtype):
            return pd.ArrowDtype, (value.pyarrow_dtype,)
        return NotImplemented


def _backed(kind: Any, values: Any, dtype: Any) -> Any:
    # Public constructors take one dimension alone, and a block of times has two.
    return kind._simple_new(values, dtype=dtype)  # noqa: SLF001


def _text(dtype: Any, values: Any) -> Any:
    # In pandas 2, the class of text whose nulls are NaN is another one.
    return dtype.construct_array_type()._from_sequence(values, dtype=dtype)  # noqa: SLF001 (pandas' contract)
