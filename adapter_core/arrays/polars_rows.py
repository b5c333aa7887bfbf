"""Rows of a table by bounds on columns, through Polars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import polars as pl


def values_of(table: pl.LazyFrame, column: str, bounds: dict[str, tuple[Any, Any]]) -> np.ndarray:
    """Return a column of the rows within bounds, both inclusive, in the order of the table."""
    import polars as pl

    # Polars takes text for the name of a column, if it is not a literal.
    conditions = [pl.col(name).is_between(pl.lit(a), pl.lit(b)) for name, (a, b) in bounds.items()]
    table = table.filter(*conditions) if conditions else table
    return table.select(column).collect().to_series().to_numpy()
