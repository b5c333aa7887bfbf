"""Feather through Polars."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import OBJECT_STORES, Given, RemoteTable, Snippet
from adapter_core.file_facts import FileFacts
from adapter_core.tables import polars
from adapter_core.tables.arrow import NO_WIDE_DECIMALS, REFUSES_WITHOUT_METADATA, frame_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from adapter_core import RemoteFile


class Adapter(polars.PolarsFile, RemoteTable):
    """Feather V2, the Arrow IPC file, through `polars.DataFrame.write_ipc` and `polars.read_ipc`.

    Text is stored as Arrow's string views; for readers without these, Polars has ``compat_level``. It
    writes no metadata: pandas' own dtypes come back as similar ones.
    """

    label = "Feather[polars]"
    suffix = ".feather"
    requires = ("pandas", "polars", "pyarrow>=15")
    suite = "engines"
    refuses: ClassVar = REFUSES_WITHOUT_METADATA | NO_WIDE_DECIMALS
    save_schemes: ClassVar = OBJECT_STORES
    file_facts = FileFacts(version="2", threads="all cores")
    snippet = Snippet(
        imports="import polars as pl",
        write='df.write_ipc({path}, compression="uncompressed")',
        read="""
            with open({path}, "rb") as file:
                df = pl.read_ipc(file)
        """,
        given=Given.POLARS,
    )

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        polars.of_pandas(df)[0].write_ipc(path, compression="uncompressed")

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        options = file.polars_options()
        polars.of_pandas(df)[0].write_ipc(file.url, compression="uncompressed", **options)

    def _read_remote(self, file: RemoteFile, columns: list[str] | None) -> pd.DataFrame:
        import polars as pl

        lazy = pl.scan_ipc(file.url, glob=False, hive_partitioning=False, **file.polars_options())
        return frame_of(polars.projected(lazy, columns).collect().to_arrow())

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import polars as pl

        with path.open("rb") as file:
            return frame_of(pl.read_ipc(file, columns=columns).to_arrow())

    def _column_names(self, path: Path) -> list[str]:
        import polars as pl

        with path.open("rb") as file:
            return list(pl.read_ipc_schema(file))

    def _scanned(self, path: Path) -> AbstractContextManager[pl.LazyFrame]:
        return nullcontext(_scan(path))

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        table = polars.projected(_scan(path), columns)
        framed = self._framing(table, path)
        # Polars writes all rows as one record batch, which its own batches would read at once.
        for start in range(0, polars.rows_of(table), batch_rows):
            part = polars.sliced(table, start, start + batch_rows).collect()
            yield framed(part.to_arrow())


def _scan(path: Path) -> pl.LazyFrame:
    import polars as pl

    return pl.scan_ipc(path, glob=False, hive_partitioning=False)
