"""A table of stated properties as a DataFrame."""

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
    """Return a table of the stated properties, the same for the same arguments on every machine.

    Parameters
    ----------
    spec : TableSpec
        The properties.
    rows : int, optional
        Number of rows; those of the spec if not given.
    seed : int, optional
        Decides what the spec leaves open; that of the spec if not given.
    name : str
        Decides it too, so that tables of one seed have nothing in common.

    Raises
    ------
    InvalidSpecError
        If the spec describes no table; one line for each mistake.
    """
    import pandas as pd

    checked(spec)
    rows = spec.rows if rows is None else rows
    seed = spec.seed if seed is None else seed
    made = [column(each, rows, name, number, seed) for number, each in enumerate(spec.columns)]
    df = pd.DataFrame(dict(enumerate(map(_series, made))), index=pd.RangeIndex(rows))
    return df.set_axis([each.name for each in spec.columns], axis=1)


def _series(array: pa.Array) -> pd.Series:
    """Return what pandas makes of a column, but nullable dtypes for what it would turn into floats."""
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
