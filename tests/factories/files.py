"""Files of all kinds that users may have, each with the same table."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import fastavro
import pyarrow as pa

import data_generator

if TYPE_CHECKING:
    import pandas as pd


ROWS = 200


def table() -> pd.DataFrame:
    """Return a table that all kinds of files preserve exactly, shape (200, 6)."""
    df = data_generator.table("eq", rows=ROWS).df
    return df[[name for name in df if not name.startswith("bool")]]


def _arrow_stream(df: pd.DataFrame, path: Path) -> None:
    found = pa.Table.from_pandas(df)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, found.schema) as writer:
        writer.write_table(found, max_chunksize=50)


def _avro(df: pd.DataFrame, path: Path) -> None:
    types = {"i": "long", "f": "double", "s": "string"}
    fields = [{"name": name, "type": types[name[0]]} for name in df]
    with path.open("wb") as file:
        fastavro.writer(file, {"type": "record", "name": "row", "fields": fields}, df.to_dict("records"))


def _lance(df: pd.DataFrame, path: Path) -> None:
    # Not above, since it must not be imported where processes are forked.
    import lance

    lance.write_dataset(pa.Table.from_pandas(df), path, max_rows_per_group=60)


def _sqlite(df: pd.DataFrame, path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        df.to_sql("t", database, index=False)


def _duckdb(df: pd.DataFrame, path: Path) -> None:
    with duckdb.connect(path) as database:
        database.register("df", df)
        database.execute("CREATE TABLE t AS SELECT * FROM df")


WRITERS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    "a.parquet": lambda df, path: df.to_parquet(path, row_group_size=60),
    "a.csv": lambda df, path: df.to_csv(path, index=False),
    "a.csv.gz": lambda df, path: df.to_csv(path, index=False),
    "a.csv.zst": lambda df, path: df.to_csv(path, index=False),
    "a.tsv": lambda df, path: df.to_csv(path, index=False, sep="\t"),
    "a.json": lambda df, path: df.to_json(path, orient="records", double_precision=15),
    "a.jsonl": lambda df, path: df.to_json(path, orient="records", lines=True, double_precision=15),
    "a.jsonl.xz": lambda df, path: df.to_json(path, orient="records", lines=True, double_precision=15),
    "a.feather": lambda df, path: df.to_feather(path, chunksize=50),
    "a.arrow": lambda df, path: df.to_feather(path, compression="uncompressed"),
    "a.arrows": _arrow_stream,
    "a.orc": lambda df, path: df.to_orc(path),
    "a.xlsx": lambda df, path: df.to_excel(path, index=False, engine="openpyxl"),
    "fixed.h5": lambda df, path: df.to_hdf(path, key="k", format="fixed"),
    "table.h5": lambda df, path: df.to_hdf(path, key="k", format="table"),
    "a.avro": _avro,
    "a.lance": _lance,
    "a.sqlite": _sqlite,
    "a.duckdb": _duckdb,
    "a.pkl": lambda df, path: df.to_pickle(path),
}
"""Functions that write a table to a path, by file name."""


def write(name: str, folder: Path, df: pd.DataFrame | None = None) -> Path:
    """Write a table, by default that of this module, to a file and return its path."""
    path = folder / name
    WRITERS[name](table() if df is None else df, path)
    return path
