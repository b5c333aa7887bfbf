"""Parquet through Polars."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.data_format import DataFormat, Feature
from adapter_core.tables.arrow import PANDAS, REFUSES_WITH_NOTE, arrow_of, frame_of, note_of
from adapter_core.tables.polars import polars_of, without_zone_name
from adapter_core.traits import Trait

if TYPE_CHECKING:
    import pandas as pd


class Adapter(DataFormat):
    """Apache Parquet through `polars.DataFrame.write_parquet` and `polars.read_parquet`.

    pandas' note of the dtypes goes into the file's metadata, as in Parquet; pandas itself finds none
    there, since pyarrow prefers the Arrow schema that Polars writes. Categories lose their order and the
    unused ones; those that are not text come as their values.
    """

    label = "Parquet[polars]"
    suffix = ".parquet"
    requires = ("pandas", "polars", "pyarrow>=15")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    supports: ClassVar = frozenset({Feature.COLUMNS})
    refuses: ClassVar = REFUSES_WITH_NOTE

    def _check_values(self, df: pd.DataFrame) -> None:
        name = without_zone_name(df)
        if name is not None:
            raise self.refusal(f"the time zone of column {name!r} is an offset; Polars needs a name")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        table = arrow_of(df)
        note = {PANDAS: note_of(table)}
        polars_of(table).write_parquet(path, compression="uncompressed", metadata=note)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import polars as pl

        # Names of files and folders are no patterns, and folders named "key=value" no columns.
        table = pl.read_parquet(path, columns=columns, glob=False, hive_partitioning=False).to_arrow()
        return frame_of(table, pl.read_parquet_metadata(path).get(PANDAS))

    def _column_names(self, path: Path) -> list[str]:
        import polars as pl

        return list(pl.read_parquet_schema(path))
