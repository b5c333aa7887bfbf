"""Polars' tables, made of Arrow tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


def polars_of(table: pa.Table) -> pl.DataFrame:
    """Return an Arrow table as Polars' table, shape (rows, columns), with its names."""
    import polars as pl

    frame = pl.DataFrame(table)
    # Polars gives a column without a name one of its own.
    frame.columns = table.column_names
    return frame
