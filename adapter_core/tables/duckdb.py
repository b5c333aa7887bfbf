"""Tables between Arrow and DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar

from adapter_core import DataFormat, Feature, Kind
from adapter_core.tables.sql import misnamed

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import pyarrow as pa


REFUSES = {
    Kind.HALF_FLOAT: "DuckDB has no type for them",
    Kind.TIMEDELTA: "DuckDB's interval counts months, days and microseconds",
}
"""Kinds of column that DuckDB changes, with the reasons."""


class DuckDBColumns(DataFormat):
    """A format whose columns are those of a table in DuckDB."""

    suite = "engines"
    holds_nul_in_names = False
    supports: ClassVar = frozenset({Feature.COLUMNS})

    def _check_values(self, df: pd.DataFrame) -> None:
        reason = misnamed(df.columns)
        if reason:
            raise self.refusal(reason)


@contextmanager
def registered(connection: duckdb.DuckDBPyConnection, table: pa.Table) -> Iterator[None]:
    """Register an Arrow table under the name "given"."""
    connection.register("given", table)
    try:
        yield
    finally:
        connection.unregister("given")


@contextmanager
def plain_path(path: Path) -> Iterator[Path]:
    """Provide a symbolic link, whose path has plain characters only, to a path that need not exist."""
    with TemporaryDirectory() as folder:
        link = Path(folder, "link")
        link.symlink_to(path.absolute())
        yield link
