"""Parquet through pandas and pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.data_format import DataFormat, Feature
from adapter_core.kinds import Kind

if TYPE_CHECKING:
    import pandas as pd


class Adapter(DataFormat):
    """Apache Parquet through `DataFrame.to_parquet` and `pandas.read_parquet`, engine pyarrow."""

    label = "Parquet"
    suffix = ".parquet"
    requires = ("pandas", "pyarrow>=15")
    supports: ClassVar = frozenset({Feature.COLUMNS})
    refuses: ClassVar = {
        Kind.COMPLEX: "Arrow has no type for them",
        Kind.ARROW_NESTED: "pandas cannot read back its own note of their type",
        Kind.SPARSE: "pyarrow does not take them",
        Kind.MIXED: "a Parquet column has one type",
    }

    def _save(self, df: pd.DataFrame, path: Path) -> None:
        df.to_parquet(path, engine="pyarrow", compression=None, index=False)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pandas as pd

        # Without partitioning=None a folder named "key=value" above the file becomes a column.
        return pd.read_parquet(path, engine="pyarrow", columns=columns, partitioning=None)

    def _column_names(self, path: Path) -> list[str]:
        import pyarrow.parquet as pq

        return pq.read_schema(path).names
