"""A table of stated properties as a DataFrame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from data_generator.realistic.columns import column

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from data_generator.spec import TableSpec


def frame(spec: TableSpec, rows: int | None = None, seed: int | None = None) -> pd.DataFrame:
    """Return a table of the stated properties, the same for the same arguments on every machine.

    Parameters
    ----------
    spec : TableSpec
        The properties; checked, as `data_generator.spec_io.checked` does.
    rows : int, optional
        Number of rows; those of the spec if not given.
    seed : int, optional
        Decides what the spec leaves open; that of the spec if not given.
    """
    import pandas as pd

    rows = spec.rows if rows is None else rows
    seed = spec.seed if seed is None else seed
    made = [(each.name, column(each, rows, number, seed)) for number, each in enumerate(spec.columns)]
    series = [_series(array) for _, array in made]
    df = pd.DataFrame(dict(enumerate(series)), index=pd.RangeIndex(rows))
    return df.set_axis([name for name, _ in made], axis=1)


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
