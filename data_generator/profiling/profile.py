"""Profile of a table: a `TableSpec` for the generation of a synthetic twin.

A twin can be shared when the table cannot: the specification contains statistics of single columns, and
no value, category or text of the table.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidDataError
from adapter_core.kinds import Kind, kind_of, kind_of_arrow, types_in
from data_generator.profiling.column_profile import UNREPRESENTED, profile_column
from data_generator.profiling.fit import fit, parquet_bytes
from data_generator.spec.spec import DEFAULT_SEED, ColumnSpec, TableSpec

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


NOTE = (
    "Statistics of a table, column by column: how often values occur, in which order they come and how "
    "wide they are. No value, category or text of the table is in this file."
)

# Difference of a column's size that is negligible, relative to the size of the table.
SLACK = 0.001


def profile(df: pd.DataFrame, *, keep_names: bool = False, seed: int = DEFAULT_SEED) -> TableSpec:
    """Return the properties of a table.

    Parameters
    ----------
    df : pandas.DataFrame
        Shape (rows, columns), with unique column names.
    keep_names : bool
        Keep the names of columns and of the fields of records; otherwise they are ``c0``, ``c1``, ...
    seed : int
        Seed of the twin.

    Raises
    ------
    InvalidDataError
        If a specification cannot represent the type of a column.
    """
    columns = {str(name): as_arrow(str(name), df[name]) for name in df.columns}
    found = {name: profile_column(name, column) for name, column in columns.items()}
    sizes = {name: parquet_bytes(column) for name, column in columns.items()}
    slack_bytes = SLACK * sum(sizes.values())
    specs = [fit(found[name], column, slack_bytes, sizes[name]) for name, column in columns.items()]
    if not keep_names:
        specs = [_renamed(spec, f"c{number}") for number, spec in enumerate(specs)]
    return TableSpec(tuple(specs), len(df), seed, NOTE)


def as_arrow(name: str, column: pd.Series) -> pa.Array:
    """Return a column as an Arrow array, with NaN converted to nulls.

    Raises
    ------
    InvalidDataError
        If its values are not of one type.
    """
    import pyarrow as pa

    try:
        found = pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        kind, reason = kind_of(column.dtype, column), str(error).splitlines()[0]
        known = kind in {Kind.COMPLEX, Kind.SPARSE}
        problem = f"has {kind}, {UNREPRESENTED}" if known else f"is not of one type: {reason}"
        raise InvalidDataError(f"column {name!r}", problem, "leave it out") from error
    if Kind.EMPTY_STRUCT in map(kind_of_arrow, types_in(found.type)):
        problem = f"has {Kind.EMPTY_STRUCT}, {UNREPRESENTED}"
        raise InvalidDataError(f"column {name!r}", problem, "leave it out")
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _renamed(spec: ColumnSpec, name: str) -> ColumnSpec:
    fields = tuple(_renamed(field, f"c{number}") for number, field in enumerate(spec.fields))
    items = spec.items and _renamed(spec.items, spec.items.name)
    return replace(spec, name=name, fields=fields, items=items)
