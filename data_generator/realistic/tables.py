"""Generation of a DataFrame from the specification of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter_core.kinds import dtype_named
from adapter_core.pandas_dtypes import nullable_dtype
from data_generator.realistic.columns import column
from data_generator.spec.io import checked

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from data_generator.spec.spec import TableSpec


def realistic_table(
    spec: TableSpec, rows: int | None = None, seed: int | None = None, name: str = ""
) -> pd.DataFrame:
    """Return a table with the specified properties, the same for the same arguments on every machine.

    Parameters
    ----------
    spec : TableSpec
        Properties of the table.
    rows : int, optional
        Number of rows; the specification's if not given.
    seed : int, optional
        Seed of all random choices; the specification's if not given.
    name : str
        Second part of the seed: tables of different names have nothing in common.

    Returns
    -------
    pandas.DataFrame
        Shape (rows, columns), with the default index.

    Raises
    ------
    InvalidSpecError
        If the specification does not describe a table; one line for each mistake.
    """
    import pandas as pd

    checked(spec)
    rows = spec.rows if rows is None else rows
    seed = spec.seed if seed is None else seed
    made = [column(each, rows, name, number, seed) for number, each in enumerate(spec.columns)]
    df = pd.DataFrame(dict(enumerate(map(_series, made))), index=pd.RangeIndex(rows))
    return df.set_axis([each.name for each in spec.columns], axis=1)


def _series(array: pa.Array) -> pd.Series:
    """Return a column as pandas converts it, but nullable where pandas would convert it to floats."""
    import pandas as pd
    import pyarrow as pa

    kind = array.type
    if pa.types.is_nested(kind):
        return pd.Series(pd.arrays.ArrowExtensionArray(array))
    dtype = nullable_dtype(kind) if array.null_count else ""
    return array.to_pandas(types_mapper=(lambda _: dtype_named(dtype)) if dtype else None)
