"""Polars' tables, made of Arrow tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter_core.kinds import Kind, kinds_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


def polars_of(table: pa.Table) -> pl.DataFrame:
    """Return an Arrow table as Polars' table, shape (rows, columns), with its names."""
    import polars as pl

    frame = pl.DataFrame(table)
    # Polars gives a column without a name one of its own.
    frame.columns = table.column_names
    return frame


def without_zone_name(df: pd.DataFrame) -> str | None:
    """Return the first column of datetimes whose zone is a mere offset, of which Polars knows none."""
    import pyarrow as pa

    for name, dtype, kind in zip(df.columns, df.dtypes, kinds_of(df), strict=True):
        if kind is Kind.ZONED_DATETIME and ":" in pa.lib.tzinfo_to_string(dtype.tz):
            return str(name)
    return None
