"""Lance through its own Python library."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.data_format import DataFormat, Feature
from adapter_core.kinds import Kind

if TYPE_CHECKING:
    import pandas as pd


class Adapter(DataFormat):
    """A Lance data set (a directory) through pylance, written directly from an Arrow table.

    The often seen route through an intermediate Parquet data set also times Parquet, and its threads
    may change the order of the rows.
    """

    label = "Lance"
    suffix = ".lance"
    requires = ("pandas", "pyarrow>=15", "pylance")
    modules: ClassVar = {"pylance": "lance"}
    supports: ClassVar = frozenset({Feature.COLUMNS})
    refuses: ClassVar = {
        Kind.COMPLEX: "Arrow has no type for them",
        Kind.ARROW_NESTED: "pandas cannot read back its own note of their type",
        Kind.SPARSE: "pyarrow does not take them",
        Kind.MIXED: "a Lance column has one type",
    }

    def _check_values(self, df: pd.DataFrame) -> None:
        for name in df.columns:
            if not name or "." in name:
                raise self.refusal(f"{name!r} cannot be the name of a Lance field")

    def _save(self, df: pd.DataFrame, path: Path) -> None:
        import lance
        import pyarrow as pa

        lance.write_dataset(pa.Table.from_pandas(df, preserve_index=False), path)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import lance

        return lance.dataset(path).to_table(columns=columns).to_pandas()

    def _column_names(self, path: Path) -> list[str]:
        import lance

        return lance.dataset(path).schema.names
