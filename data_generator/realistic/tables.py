"""Generation of a DataFrame from the specification of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    nullable = array.null_count and (pa.types.is_integer(kind) or pa.types.is_boolean(kind))
    return array.to_pandas(types_mapper=_nullable if nullable else None)


def _nullable(kind: pa.DataType) -> object:
    import pandas as pd
    import pyarrow as pa

    if pa.types.is_boolean(kind):
        return pd.BooleanDtype()
    name = str(kind)
    return getattr(pd, f"{name.replace('uint', 'UInt').replace('int', 'Int')}Dtype")()
