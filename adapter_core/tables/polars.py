"""Tables between Arrow and Polars."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from adapter_core import DataFormat, Feature, Kind, Trait
from adapter_core.kinds import kinds_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class PolarsColumns(DataFormat):
    """A format that Polars writes and reads with Arrow's types, column by column."""

    suite = "engines"
    holds_nul_in_names = False
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    supports: ClassVar = frozenset({Feature.COLUMNS})

    def _check_values(self, df: pd.DataFrame) -> None:
        name = without_zone_name(df)
        if name is not None:
            raise self.refusal(f"the time zone of column {name!r} is an offset; Polars needs a name")


def polars_of(table: pa.Table) -> pl.DataFrame:
    """Return an Arrow table as a Polars table, shape (rows, columns)."""
    import polars as pl

    frame = pl.DataFrame(table)
    # Polars replaces an empty column name.
    frame.columns = table.column_names
    return frame


def without_zone_name(df: pd.DataFrame) -> str | None:
    """Return the first column of datetimes whose time zone is an offset, which Polars does not know."""
    import pyarrow as pa

    for name, dtype, kind in zip(df.columns, df.dtypes, kinds_of(df), strict=True):
        if kind is Kind.ZONED_DATETIME and ":" in pa.lib.tzinfo_to_string(dtype.tz):
            return str(name)
    return None
