"""Parquet through pandas and pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Codec, DataFormat, Feature, Kind, Trait
from adapter_core.tables.arrow import REFUSES_WITH_METADATA

if TYPE_CHECKING:
    import pandas as pd


class Adapter(DataFormat):
    """Apache Parquet through `DataFrame.to_parquet` and `pandas.read_parquet`, engine pyarrow."""

    label = "Parquet"
    suffix = ".parquet"
    requires = ("pandas", "pyarrow>=15")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    supports: ClassVar = frozenset({Feature.COLUMNS})
    codecs: ClassVar = (
        Codec("snappy"),
        Codec("gzip", range(1, 10), 9),
        Codec("brotli", range(12), 8),
        Codec("lz4", range(1, 13), 1),
        Codec("zstd", range(1, 23), 1),
    )
    default_codec = "snappy"
    refuses: ClassVar = REFUSES_WITH_METADATA | {Kind.MIXED: "a Parquet column has one type"}
    checksums = "CRC-32 of each page: write_page_checksum, and page_checksum_verification when reading"

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        checks = {"write_page_checksum": True} if self.uses_checksums else {}
        df.to_parquet(
            path, engine="pyarrow", compression=codec, compression_level=level, index=False, **checks
        )

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pandas as pd

        # Without partitioning=None, a folder named "key=value" above the file becomes a column.
        checks: Any = {"page_checksum_verification": True} if self.uses_checksums else {}
        return pd.read_parquet(path, engine="pyarrow", columns=columns, partitioning=None, **checks)

    def _column_names(self, path: Path) -> list[str]:
        import pyarrow.parquet as pq

        return pq.read_schema(path).names

    def _codec_used(self, path: Path) -> str | None:
        import pyarrow.parquet as pq

        metadata = pq.read_metadata(path)
        for group in map(metadata.row_group, range(metadata.num_row_groups)):
            for column in map(group.column, range(group.num_columns)):
                if column.compression != "UNCOMPRESSED":
                    return column.compression.lower()
        return None

    @staticmethod
    def plain_save(df: pd.DataFrame, path: Path) -> None:
        df.to_parquet(path, compression=None, index=False)

    @staticmethod
    def plain_read(path: Path) -> pd.DataFrame:
        import pandas as pd

        return pd.read_parquet(path)
