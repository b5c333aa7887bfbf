"""Parquet through Polars."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import RemoteTable, Tunable
from adapter_core.remote import OBJECT_STORES
from adapter_core.tables.arrow import (
    PANDAS,
    REFUSES_WITH_METADATA,
    arrow_of,
    frame_of,
    frame_of_part,
    pandas_metadata,
)
from adapter_core.tables.polars import (
    PolarsColumns,
    arrays_of_scan,
    batches_of,
    filtered,
    polars_of,
    projected,
    sliced,
    sums_of_scan,
)

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import polars as pl

    from adapter_core import Predicate, RemoteFile
    from adapter_core.column_batches import ColumnSums


class Adapter(PolarsColumns, Tunable, RemoteTable):
    """Apache Parquet through `polars.DataFrame.write_parquet` and `polars.read_parquet`.

    The pandas metadata go into the file's own, as in Parquet; pandas itself does not find them, since
    pyarrow prefers the Arrow schema that Polars writes. Categories lose their order and the unused ones;
    categories that are not text come back as their values.
    """

    label = "Parquet[polars]"
    suffix = ".parquet"
    requires = ("pandas", "polars", "pyarrow>=15")
    suite = "engines"
    refuses: ClassVar = REFUSES_WITH_METADATA
    remote_schemes: ClassVar = ("http", "s3")
    save_schemes: ClassVar = OBJECT_STORES
    tuned_options: ClassVar = {
        "compression": "uncompressed",
        "row_group_size": 131_072,
        "data_page_size": 65_536,
    }
    tuned_indexes = "page index, which Polars writes unasked; it writes no bloom filters"

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        _write(df, path, compression="uncompressed")

    def _save_tuned(self, df: pd.DataFrame, path: Path, sort_by: list[str], lookups: list[str]) -> None:
        _write(df, path, **self.tuned_options)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import polars as pl

        # By default, file names are patterns, and folders named "key=value" become columns.
        table = pl.read_parquet(path, columns=columns, glob=False, hive_partitioning=False).to_arrow()
        return frame_of(table, pl.read_parquet_metadata(path).get(PANDAS))

    def _read_remote(self, file: RemoteFile, columns: list[str] | None) -> pd.DataFrame:
        import polars as pl

        options = file.polars_options()
        lazy = _remote_scan(file)
        table = (lazy if columns is None else lazy.select(columns)).collect().to_arrow()
        metadata = pl.read_parquet_metadata(file.url, **options)
        return frame_of(table, metadata.get(PANDAS))

    def _count_rows_remote(self, file: RemoteFile) -> int:
        import polars as pl

        return int(_remote_scan(file).select(pl.len()).collect().item())

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        _write(df, file.url, compression="uncompressed", **file.polars_options())

    def _read_arrays(
        self, path: Path, columns: list[str], where: Predicate | None
    ) -> dict[str, np.ndarray]:
        return arrays_of_scan(_scan(path), columns, where)

    def _sum_columns(self, path: Path, columns: list[str], where: Predicate | None) -> ColumnSums:
        return sums_of_scan(_scan(path), columns, where)

    def _column_names(self, path: Path) -> list[str]:
        return _scan(path).collect_schema().names()

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        part = sliced(projected(_scan(path), columns), start, stop)
        return frame_of_part(part.collect().to_arrow(), _metadata(path))

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        part = projected(filtered(_scan(path), predicate), columns)
        return frame_of_part(part.collect().to_arrow(), _metadata(path))

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        metadata = _metadata(path)
        for batch in batches_of(projected(_scan(path), columns), batch_rows):
            yield frame_of_part(batch, metadata)


def _write(df: pd.DataFrame, path: Path | str, **options: Any) -> None:
    table = arrow_of(df)
    polars_of(table).write_parquet(path, metadata={PANDAS: pandas_metadata(table)}, **options)


def _scan(path: Path) -> pl.LazyFrame:
    import polars as pl

    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


def _remote_scan(file: RemoteFile) -> pl.LazyFrame:
    import polars as pl

    return pl.scan_parquet(file.url, glob=False, hive_partitioning=False, **file.polars_options())


def _metadata(path: Path) -> str:
    import polars as pl

    return pl.read_parquet_metadata(path)[PANDAS]
