"""Feather through Polars."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.data_format import DataFormat, Feature
from adapter_core.tables.arrow import REFUSES_WITHOUT_NOTE, arrow_of, frame_of
from adapter_core.tables.polars import polars_of, without_zone_name
from adapter_core.traits import Trait

if TYPE_CHECKING:
    import pandas as pd


class Adapter(DataFormat):
    """Feather V2, the Arrow IPC file, through `polars.DataFrame.write_ipc` and `polars.read_ipc`.

    Text is kept as Polars holds it, as views; readers without Arrow's string views need
    ``compat_level``. Polars writes no metadata, so pandas' own dtypes come back as similar ones.
    """

    label = "Feather[polars]"
    suffix = ".feather"
    requires = ("pandas", "polars", "pyarrow>=15")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    supports: ClassVar = frozenset({Feature.COLUMNS})
    refuses: ClassVar = REFUSES_WITHOUT_NOTE

    def _check_values(self, df: pd.DataFrame) -> None:
        name = without_zone_name(df)
        if name is not None:
            raise self.refusal(f"the time zone of column {name!r} is an offset; Polars needs a name")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        polars_of(arrow_of(df)).write_ipc(path, compression="uncompressed")

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import polars as pl

        with path.open("rb") as file:
            return frame_of(pl.read_ipc(file, columns=columns).to_arrow())

    def _column_names(self, path: Path) -> list[str]:
        import polars as pl

        with path.open("rb") as file:
            return list(pl.read_ipc_schema(file))
