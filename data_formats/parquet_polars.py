"""Parquet through Polars."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import OBJECT_STORES, Given, RemoteTable, Snippet, Tunable
from adapter_core.codec_choice import Recommended
from adapter_core.file_facts import FileFacts
from adapter_core.pandas_dtypes import PANDAS
from adapter_core.snippets import keywords
from adapter_core.tables import arrow, polars
from adapter_core.values import maps_with_repeated_keys

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from adapter_core import RemoteFile


class Adapter(polars.PolarsFile, Tunable, RemoteTable):
    """Apache Parquet through `polars.DataFrame.write_parquet` and `polars.read_parquet`.

    The pandas metadata go into the file's own, as in Parquet; pandas itself does not find them, since
    pyarrow prefers the Arrow schema that Polars writes. Categories lose their order and the unused ones;
    categories that are not text come back as their values.
    """

    label = "Parquet[polars]"
    suffix = ".parquet"
    requires = ("pandas", "polars>=1.30", "pyarrow>=15")
    suite = "engines"
    refuses: ClassVar = {
        **arrow.REFUSES_WITH_METADATA,
        **arrow.NO_WIDE_DECIMALS,
        **arrow.NO_EMPTY_STRUCTS,
    }
    refuses_inside: ClassVar = arrow.MAPS_INSIDE

    remote_schemes: ClassVar = ("http", "s3")
    save_schemes: ClassVar = OBJECT_STORES
    options: Mapping[str, Any] = {"compression": "uncompressed"}
    recommended = Recommended(
        "https://pola-rs.github.io/polars/py-polars/html/reference/api/polars.DataFrame.write_parquet.html",
        None,
        words="zstd for good compression, as by default",
        seen="2026-11-25",
    )
    tuned_options: ClassVar = {
        "compression": "uncompressed",
        "row_group_size": 131_072,
        "data_page_size": 65_536,
    }
    tuned_indexes = "page index, which Polars writes unasked; it writes no bloom filters"
    file_facts = FileFacts(
        version="1.0",
        parts={"encodings": "PLAIN, RLE, RLE_DICTIONARY", "page index": "yes"},
        threads="all cores",
    )
    snippet = Snippet(
        imports="import polars as pl",
        write="df.write_parquet({path}, {options})",
        read="df = pl.read_parquet({path}, glob=False, hive_partitioning=False)",
        given=Given.POLARS,
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {"options": keywords(**self.options)}

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        name = maps_with_repeated_keys(df)
        self._refuse_column(name, "maps with a key twice, of which Polars keeps one entry")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        _write(df, path, **self.options)

    def _save_tuned(self, df: pd.DataFrame, path: Path, sort_by: list[str], lookups: list[str]) -> None:
        _write(df, path, **self.tuned_options)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import polars as pl

        # By default, file names are patterns, and folders named "key=value" become columns.
        table = pl.read_parquet(path, columns=columns, glob=False, hive_partitioning=False).to_arrow()
        return arrow.frame_of(table, pl.read_parquet_metadata(path).get(PANDAS))

    def _read_remote(self, file: RemoteFile, columns: list[str] | None) -> pd.DataFrame:
        import polars as pl

        options = file.polars_options()
        lazy = _remote_scan(file)
        table = (lazy if columns is None else lazy.select(columns)).collect().to_arrow()
        metadata = pl.read_parquet_metadata(file.url, **options)
        return arrow.frame_of(table, metadata.get(PANDAS))

    def _count_rows_remote(self, file: RemoteFile) -> int:
        import polars as pl

        return int(_remote_scan(file).select(pl.len()).collect().item())

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        _write(df, file.url, compression="uncompressed", **file.polars_options())

    def _column_names(self, path: Path) -> list[str]:
        return _scan(path).collect_schema().names()

    def _scanned(self, path: Path) -> AbstractContextManager[pl.LazyFrame]:
        return nullcontext(_scan(path))

    def _framing(self, table: pl.LazyFrame, path: Path) -> Callable[[pa.Table], pd.DataFrame]:
        import polars as pl

        return partial(arrow.frame_of_part, metadata=pl.read_parquet_metadata(path)[PANDAS])


def _write(df: pd.DataFrame, path: Path | str, **options: Any) -> None:
    import pyarrow as pa

    table, by_arrow = polars.of_pandas(df)
    schema = by_arrow.schema if by_arrow is not None else pa.Schema.from_pandas(df, preserve_index=False)
    metadata = {PANDAS: schema.metadata[PANDAS.encode()].decode()}
    table.write_parquet(path, metadata=metadata, **options)


def _scan(path: Path) -> pl.LazyFrame:
    import polars as pl

    return pl.scan_parquet(path, glob=False, hive_partitioning=False)


def _remote_scan(file: RemoteFile) -> pl.LazyFrame:
    import polars as pl

    return pl.scan_parquet(file.url, glob=False, hive_partitioning=False, **file.polars_options())
