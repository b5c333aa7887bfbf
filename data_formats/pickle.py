"""Pickle through pandas."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.data_format import DataFormat

if TYPE_CHECKING:
    import pandas as pd


class Adapter(DataFormat):
    """Python's pickle, protocol 5, through `DataFrame.to_pickle` and `pandas.read_pickle`.

    Loading a pickle runs code from the file: open no file from a source that you do not trust.
    """

    label = "Pickle"
    suffix = ".pkl"
    requires = ("pandas",)
    holds_duplicate_names = True

    def _save(self, df: pd.DataFrame, path: Path) -> None:
        df.to_pickle(path, compression=None, protocol=5)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pandas as pd

        return pd.read_pickle(path, compression=None)  # noqa: S301 (the risk is in the docstring)
