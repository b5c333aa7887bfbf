"""Writers of tables with columns of records, by the shortest call of each format's library.

Adapters check and restore pandas' types; queries read the plain columns of Arrow.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.kinds import NESTED, Kind, kinds_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


def has_records(df: pd.DataFrame) -> bool:
    """Return True if a column contains records or lists, vectors of one length apart."""
    return not (NESTED - {Kind.VECTOR}).isdisjoint(kinds_of(df))


def write(format_label: str, df: pd.DataFrame, path: Path) -> None:
    """Write a table with records; the format is one of `WRITERS`."""
    import pyarrow as pa

    # pandas cannot read back its own metadata of records.
    table = pa.Table.from_pandas(df, preserve_index=False).replace_schema_metadata(None)
    WRITERS[format_label](table, path)


def _duckdb(table: pa.Table, path: Path) -> None:
    import duckdb

    with duckdb.connect(path) as database:
        database.register("given", table)
        database.execute("CREATE TABLE data AS FROM given")


def _feather(table: pa.Table, path: Path) -> None:
    from pyarrow import feather

    feather.write_feather(table, path)


def _json(table: pa.Table, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(row)}\n" for row in table.to_pylist())


def _lance(table: pa.Table, path: Path) -> None:
    import lance

    lance.write_dataset(table, path)


def _orc(table: pa.Table, path: Path) -> None:
    from pyarrow import orc

    orc.write_table(table, path)


def _parquet(table: pa.Table, path: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table, path)


def _vortex(table: pa.Table, path: Path) -> None:
    import vortex

    vortex.io.write(table, str(path))


WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    "DuckDB": _duckdb,
    "Feather": _feather,
    "JSON": _json,
    "Lance": _lance,
    "ORC": _orc,
    "Parquet": _parquet,
    "Vortex": _vortex,
}
"""Writers by the labels of formats."""
