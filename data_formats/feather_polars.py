"""Feather through Polars."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.tables.arrow import REFUSES_WITHOUT_METADATA, arrow_of, frame_of
from adapter_core.tables.polars import PolarsColumns, polars_of

if TYPE_CHECKING:
    import pandas as pd


class Adapter(PolarsColumns):
    """Feather V2, the Arrow IPC file, through `polars.DataFrame.write_ipc` and `polars.read_ipc`.

    Text is stored as Arrow's string views; for readers without these, Polars has ``compat_level``. It
    writes no metadata: pandas' own dtypes come back as similar ones.
    """

    label = "Feather[polars]"
    suffix = ".feather"
    requires = ("pandas", "polars", "pyarrow>=15")
    suite = "engines"
    refuses: ClassVar = REFUSES_WITHOUT_METADATA

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
