"""Values and dtypes that pandas infers from text, as from all rows of a CSV file."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# Since this version of pandas, the default parser reads floats exactly, and the option is deprecated.
EXACT_SINCE = (3, 1)


def exact_floats(pandas_version: str) -> dict[str, str]:
    """Return the option of `pandas.read_csv` by which a version of pandas reads floats exactly."""
    # By default, older versions err by one unit in the last place.
    version = tuple(map(int, pandas_version.split(".")[:2]))
    return {"float_precision": "round_trip"} if version < EXACT_SINCE else {}


def read_csv(path: Path, **options: Any) -> pd.DataFrame:
    """Read a file as `pandas.read_csv` does, with exact floats and the dtypes that all rows have.

    By default, pandas infers dtypes chunk by chunk, which takes two thirds of the CPU time of one piece.
    If chunks disagree, the file is read again in one piece.
    """
    import pandas as pd

    options |= exact_floats(pd.__version__)
    with warnings.catch_warnings(), suppress(pd.errors.DtypeWarning):
        warnings.simplefilter("error", pd.errors.DtypeWarning)
        df = pd.read_csv(path, **options)
        if not any(_may_be_unsigned(column) for _, column in df.items()):
            return df
    return pd.read_csv(path, low_memory=False, **options)


def _may_be_unsigned(column: pd.Series) -> bool:
    # Chunks of signed and of unsigned integers become floats without a warning.
    return bool(column.dtype == float and 2**63 <= column.max() <= 2**64 and column.min() >= 0)


def common_dtypes(batches: Iterable[pd.DataFrame], dtype_of_nulls: type) -> dict[Any, type]:
    """Return the dtypes that columns of all batches together have, by column label; none without rows.

    Parameters
    ----------
    batches : iterable of pandas.DataFrame
        Batches of rows, with the dtypes that pandas inferred for each.
    dtype_of_nulls : type
        The dtype of a column of nulls.
    """
    from pandas.api.types import infer_dtype

    kinds: dict[Any, set[str]] = {}
    for df in batches:
        for name, column in df.items():
            found = kinds.setdefault(name, set())
            if column.hasnans:
                found.add("null")
            if column.notna().any():
                is_unsigned = column.dtype == "uint64"
                found.add("unsigned" if is_unsigned else infer_dtype(column, skipna=True))
    return {name: _common_dtype(found, dtype_of_nulls) for name, found in kinds.items() if found}


def _common_dtype(kinds: set[str], dtype_of_nulls: type) -> type:
    """Return the dtype for values of several kinds, in the words of `pandas.api.types.infer_dtype`."""
    import numpy as np

    values = kinds - {"null"}
    if not values:
        return dtype_of_nulls
    if "mixed" in values:
        return object
    if values == {"boolean"}:
        return object if "null" in kinds else bool
    if values <= {"integer", "unsigned"} and "null" not in kinds:
        return np.uint64 if "unsigned" in values else np.int64
    return float if values <= {"integer", "unsigned", "floating"} else str
