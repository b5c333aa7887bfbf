"""JSON Lines through Polars."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import Given, Snippet
from adapter_core.file_facts import FileFacts
from adapter_core.remote import OBJECT_STORES
from adapter_core.tables.arrow import frame_of
from adapter_core.tables.arrow_text import JSONLines, plain_of
from adapter_core.tables.fetched import FetchedFormat
from adapter_core.tables.polars import PolarsScan, polars_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from adapter_core import RemoteFile

# Ten times Polars' default, 100: a type that fits all rows saves reading the file again.
_SAMPLE_ROWS = 1_000


class Adapter(PolarsScan, JSONLines, FetchedFormat):
    """One JSON object a line through `polars.DataFrame.write_ndjson` and `polars.scan_ndjson`.

    Floats are written with all their digits. Polars infers types from the first rows, which is several
    times faster than from all. If later rows do not fit, the file is read again with types inferred from
    all rows.
    """

    label = "JSON[polars]"
    requires = ("pandas", "polars", "pyarrow>=15")
    suite = "engines"
    holds_nul_in_names = False
    save_schemes: ClassVar = OBJECT_STORES
    file_facts = FileFacts(silent="text names no settings of its writer", threads="all cores")
    snippet = Snippet(
        imports="import polars as pl",
        write="df.write_ndjson({path})",
        read="df = pl.scan_ndjson({path}, infer_schema_length=1_000).collect()",
        given=Given.POLARS,
        changes={"int8": "int64", "float32": "float64", "datetime64[us]": "str", "category": "str"},
        notes=("infer_schema_length=None if later rows have other types than the first",),
    )

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        polars_of(plain_of(df)).write_ndjson(path)

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        polars_of(plain_of(df)).lazy().sink_ndjson(file.url, **file.polars_options())

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import polars as pl

        # Polars changes the order of many columns, and not always in the same way.
        names = columns or self._column_names(path)
        try:
            table = _table(path, names, _SAMPLE_ROWS)
        except pl.exceptions.ComputeError:
            table = _table(path, names, None)
        return frame_of(table.to_arrow())

    @contextmanager
    def _scanned(self, path: Path) -> Iterator[pl.LazyFrame]:
        import polars as pl

        with path.open("rb") as file:
            yield pl.scan_ndjson(file, infer_schema_length=None).select(self._column_names(path))


def _table(path: Path, names: list[str], sample_rows: int | None) -> pl.DataFrame:
    import polars as pl

    # An open file, since Polars takes a path with brackets or stars for a pattern.
    with path.open("rb") as file:
        return pl.scan_ndjson(file, infer_schema_length=sample_rows).select(names).collect()
