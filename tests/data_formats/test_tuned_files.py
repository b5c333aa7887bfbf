"""Files written for queries: what each library put into them."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pandas as pd
import pyarrow.parquet as pq
import pytest

import data_formats
from data_formats.iceberg import opened_table

ROWS = 40_000


@pytest.fixture(scope="module")
def table():
    """Return a sort key and two lookup columns in no order, shape (40000, 3)."""
    rows = pd.Series(range(ROWS))
    word = pd.Series([f"w{each % 9_973}" for each in rows], dtype="str")
    return pd.DataFrame({"word": word, "time": rows[::-1].to_numpy(), "key": rows * 91 % ROWS})


@pytest.mark.parametrize(
    ("label", "groups", "with_ranges"),
    [
        ("Parquet[duckdb]", 2, {"time", "key", "word"}),
        ("Parquet[fastparquet]", 2, {"time", "key"}),
        ("Parquet[polars]", 1, {"time", "key", "word"}),
    ],
)
def test_groups_of_parquet_have_the_ranges_of_keys(label, groups, with_ranges, table, tmp_path):
    adapter = data_formats.get(label)
    adapter.save_tuned(table, tmp_path / "file.parquet", ["time"], ["key", "word"])
    metadata = pq.read_metadata(tmp_path / "file.parquet")
    assert metadata.num_row_groups == groups
    first = metadata.row_group(0)
    columns = {each.path_in_schema: each.statistics for each in map(first.column, range(3))}
    assert {name for name, each in columns.items() if each.has_min_max} == with_ranges
    assert (columns["time"].min, columns["time"].max) == (0, first.num_rows - 1)


def test_the_metadata_of_iceberg_name_the_sort_key(table, tmp_path):
    path = tmp_path / "table.iceberg"
    data_formats.get("Iceberg").save_tuned(table, path, ["time"], ["key"])
    order = opened_table(path).sort_order()
    assert [str(each.transform) for each in order.fields] == ["identity"]
    schema = opened_table(path).schema()
    assert [schema.find_field(each.source_id).name for each in order.fields] == ["time"]


@pytest.mark.parametrize("label", ["SQLite", "SQLite[adbc]"])
def test_sqlite_has_an_index_of_each_key(label, table, tmp_path):
    path = tmp_path / "file.sqlite"
    data_formats.get(label).save_tuned(table.head(500), path, ["time"], ["key"])
    with closing(sqlite3.connect(path)) as database:
        plan = database.execute("EXPLAIN QUERY PLAN SELECT * FROM data WHERE key = 7").fetchone()[3]
    assert "USING INDEX" in plan


def test_a_tuned_feather_file_is_not_compressed(table, tmp_path):
    path = tmp_path / "file.feather"
    adapter = data_formats.get("Feather")
    adapter.save_tuned(table, path, ["time"])
    assert adapter.codec_used(path) is None
