"""Traps in database engines: each is real, and the adapter avoids it."""

from __future__ import annotations

import random
import resource
import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from adbc_driver_sqlite import dbapi as adbc

import data_formats
from adapter_core import CannotHoldError
from format_bench.verification.tables import verify
from tests.factories.trap_tables import TIMEDELTAS, saved


@pytest.mark.parametrize("label", ["DuckDB", "Parquet[duckdb]"])
def test_timedeltas_are_refused_where_duckdb_would_change_them(label):
    with duckdb.cursor() as cursor:
        cursor.register("given", TIMEDELTAS)
        assert cursor.sql("FROM given").df()["d"][0] == pd.Timedelta(1_000, unit="ns")
    with pytest.raises(CannotHoldError, match="column 'd' contains timedeltas; DuckDB's interval"):
        data_formats.get(label).check(TIMEDELTAS)


def test_parquet_files_of_duckdb_contain_no_negative_intervals(tmp_path):
    with duckdb.cursor() as cursor:
        cursor.register("given", -TIMEDELTAS)
        with pytest.raises(duckdb.IOException, match="do not support negative intervals"):
            cursor.execute("COPY given TO ? (FORMAT parquet)", [str(tmp_path / "naive.parquet")])


@pytest.mark.parametrize(("label", "zone"), [("DuckDB", "UTC"), ("Parquet[duckdb]", "Europe/Paris")])
def test_the_time_zone_of_the_machine_does_not_matter_to_duckdb(label, zone, tmp_path):
    times = pd.to_datetime(["2020-07-01T00:00:00.123456789", None]).tz_localize("Europe/Paris")
    df = pd.DataFrame({"t": times.as_unit("ns")})
    duckdb.execute("SET GLOBAL TimeZone = 'Asia/Tokyo'")
    try:
        with duckdb.cursor() as cursor:
            cursor.register("given", df)
            assert cursor.sql("FROM given").to_arrow_table().schema.field("t").type.tz == "Asia/Tokyo"
        adapter, path = saved(label, df, tmp_path)
        read = adapter.read(path)
    finally:
        duckdb.execute("RESET GLOBAL TimeZone")
    assert read["t"].dtype == f"datetime64[ns, {zone}]"
    assert verify(df, read).errors == ()


@pytest.mark.parametrize("label", ["DuckDB", "Parquet[duckdb]"])
@pytest.mark.parametrize(
    ("names", "words"), [(["a", "A"], "'a' and 'A' differ in case alone"), ([""], "has no name")]
)
def test_names_that_duckdb_would_change_are_refused(label, names, words):
    df = pd.DataFrame({name: [1] for name in names})
    with duckdb.cursor() as cursor:
        cursor.register("given", pa.Table.from_pandas(df))
        assert cursor.sql("FROM given").columns != names
    with pytest.raises(CannotHoldError, match=words):
        data_formats.get(label).check(df)


def test_pandas_reads_parquet_of_duckdb_in_the_dtypes_saved(tmp_path):
    df = pd.DataFrame({"n": pd.array([1, None], "Int8"), "w": pd.array(["a", None], "string")})
    adapter, path = saved("Parquet[duckdb]", df, tmp_path)
    assert verify(df, adapter.read(path)).exact
    assert verify(df, pd.read_parquet(path)).exact


def test_a_view_in_a_duckdb_file_reads_no_other_file(tmp_path):
    adapter, path = data_formats.get("DuckDB"), tmp_path / "table.duckdb"
    secret = tmp_path / "secret.csv"
    secret.write_text("key\n42\n")
    with duckdb.connect(path) as database:
        database.execute(f"CREATE VIEW data AS FROM read_csv('{secret}')")
    with duckdb.connect(path, read_only=True) as database:
        assert database.sql("FROM data").fetchall() == [(42,)], "it would be read"
    with pytest.raises(duckdb.PermissionException):
        adapter.read(path)


def test_no_flipped_bit_in_a_duckdb_file_changes_a_value(tmp_path):
    df = pd.DataFrame({"n": range(2_000), "w": [f"w{i}" for i in range(2_000)]})
    adapter, path = saved("DuckDB", df, tmp_path)
    data, draw, noticed = path.read_bytes(), random.Random(1), 0
    for _ in range(30):
        damaged = bytearray(data)
        damaged[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        try:
            assert verify(df, adapter.read(path)).exact
        except duckdb.Error:
            noticed += 1
    assert noticed > 0


def test_rows_are_appended_to_duckdb(tmp_path):
    df = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    adapter, path = saved("DuckDB", df, tmp_path)
    with duckdb.connect(path) as database:
        database.register("more", df)
        database.execute("INSERT INTO data FROM more")
    assert verify(pd.concat([df, df], ignore_index=True), adapter.read(path)).exact


@pytest.fixture(params=["SQLite", "SQLite[adbc]"])
def sqlite_label(request):
    return request.param


def test_sqlite_keeps_booleans_as_integers_and_the_adapters_read_booleans(sqlite_label, tmp_path):
    df = pd.DataFrame({"b": [True, False], "n": pd.array([True, None], "boolean")})
    with closing(sqlite3.connect(":memory:")) as database:
        df.to_sql("naive", database)
        naive = pd.read_sql_query("SELECT b, n FROM naive", database)
    assert naive["b"].dtype == "int64"
    adapter, path = saved(sqlite_label, df, tmp_path)
    assert verify(df, adapter.read(path)).exact
    assert verify(df[["n"]], adapter.read(path, ["n"])).exact


def test_minus_zero_is_refused_by_sqlite(sqlite_label):
    df = pd.DataFrame({"z": [-0.0, 1.0, None]})
    with closing(sqlite3.connect(":memory:")) as database:
        df.to_sql("naive", database)
        (kept,) = database.execute("SELECT z FROM naive").fetchone()
    assert str(kept) == "0.0"
    with pytest.raises(CannotHoldError, match=r"column 'z' contains -0\.0, which SQLite keeps as 0\.0"):
        data_formats.get(sqlite_label).check(df)
    data_formats.get(sqlite_label).check(df.abs())


@pytest.mark.parametrize(
    ("values", "words"),
    [(np.array([2**63], "uint64"), r"beyond 2\*\*63 - 1"), (np.zeros((1, 2_001)), "2,001 columns")],
)
def test_values_that_sqlite_cannot_store_are_refused(sqlite_label, values, words):
    df = pd.DataFrame(np.atleast_2d(values)).rename(columns=str)
    with pytest.raises(CannotHoldError, match=words):
        data_formats.get(sqlite_label).check(df)


def test_nanoseconds_are_refused_where_pandas_would_leave_them_out(tmp_path):
    df = pd.DataFrame({"t": pd.to_datetime(["2020-01-01T00:00:00.000000001"]).as_unit("ns")})
    with closing(sqlite3.connect(":memory:")) as database:
        df.to_sql("naive", database)
        assert database.execute("SELECT t FROM naive").fetchone() == ("2020-01-01 00:00:00",)
    for label in ("Avro[polars]", "Delta", "Iceberg", "SQLite"):
        with pytest.raises(CannotHoldError, match="column 't' contains nanoseconds"):
            data_formats.get(label).check(df)
    adapter, path = saved("SQLite[adbc]", df, tmp_path)
    assert verify(df, adapter.read(path)).errors == ()


def test_adbc_takes_types_from_the_first_batch_and_the_adapter_from_all_rows(tmp_path):
    late = pd.DataFrame(
        {"w": [*[None] * 5_000, "x"], "n": pd.array([*[None] * 5_000, 2**60 + 1], "Int64")}
    )
    adapter, path = saved("SQLite[adbc]", late, tmp_path)
    with adbc.connect(str(path)) as database, database.cursor() as cursor:
        cursor.execute("SELECT w FROM data")
        with pytest.raises(OSError, match="expected INT64 but got STRING"):
            cursor.fetch_arrow_table()
    assert verify(late, adapter.read(path)).exact
    assert verify(late.head(0).astype({"n": "int64"}), _again(adapter, late.head(0), path)).exact


def _again(adapter, df, path):
    adapter.save(df, path)
    return adapter.read(path)


def test_rows_of_sqlite_are_counted_after_some_are_removed(tmp_path):
    adapter, path = data_formats.get("SQLite"), tmp_path / "a.db"
    adapter.save(pd.DataFrame({"k": range(1, 6)}), path)
    adapter.delete(path, "k", [1, 2])
    assert adapter.read(path, rows=slice(0, 2))["k"].tolist() == [3, 4]
    adapter.append(path, pd.DataFrame({"k": [9]}))
    assert adapter.read(path, rows=slice(2, 4))["k"].tolist() == [5, 9]


@pytest.mark.parametrize("values", [[1, 0, -1], ["z", "", "rowid"]])
def test_a_column_may_have_the_name_of_the_row_numbers_of_sqlite(sqlite_label, values, tmp_path):
    df = pd.DataFrame({"rowid": values, "b": [None, "x", "y"]})
    adapter, path = data_formats.get(sqlite_label), tmp_path / "a.db"
    adapter.save(df, path)
    found = adapter.read(path)
    assert found["rowid"].tolist() == values
    assert found["b"].isna().tolist() == [True, False, False]
    assert adapter.read(path, rows=slice(1, 3))["rowid"].tolist() == values[1:]


def test_rows_are_appended_to_sqlite(sqlite_label, tmp_path):
    df = pd.DataFrame({"a": [1, 2], "b": [True, False]})
    adapter, path = saved(sqlite_label, df, tmp_path)
    with closing(sqlite3.connect(path)) as database, database:
        df.to_sql("data", database, index=False, if_exists="append")
    assert verify(pd.concat([df, df], ignore_index=True), adapter.read(path)).exact


def test_duckdb_keeps_the_earlier_file_where_the_new_one_has_no_room(tmp_path):
    # DuckDB's close hides the error, and leaves the rows in a log that a rename would not take along.
    adapter = data_formats.get("DuckDB")
    path = tmp_path / "data.duckdb"
    small = pd.DataFrame({"a": np.arange(10)})
    adapter.save(small, path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # The log has room, its rows in the file have not.
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, limits[1]))
    try:
        with pytest.raises(duckdb.Error, match="Could not write"):
            adapter.save(pd.DataFrame({"a": np.random.default_rng(1).random(10_000)}), path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    pd.testing.assert_frame_equal(adapter.read(path), small)
    assert [each.name for each in tmp_path.iterdir()] == ["data.duckdb"]


def test_sqlite_keeps_vectors_as_the_bytes_of_their_floats(tmp_path):
    values = [[0.5, -0.0, np.nan], None, [np.inf, 1e-45, 3.0], [1.0, 2.0, 3.0]]
    array = pa.array(values, pa.list_(pa.float32(), 3))
    df = pd.DataFrame({"id": range(4), "v": pd.arrays.ArrowExtensionArray(array)})
    adapter, path = saved("SQLite", df, tmp_path)
    assert verify(df, adapter.read(path)).exact
    with closing(sqlite3.connect(path)) as database:
        held = database.execute("SELECT v, typeof(v) FROM data WHERE id = 3").fetchone()
    assert held == (np.array([1, 2, 3], "<f4").tobytes(), "blob")
    assert verify(df[1:3].reset_index(drop=True), adapter.read(path, rows=slice(1, 3))).exact
    batches = pd.concat(list(adapter.iterate(path, None, 3)), ignore_index=True)
    assert verify(df, batches).exact
    adapter.append(path, df.assign(id=range(4, 8)))
    last = df[3:].reset_index(drop=True)
    adapter.update(path, "id", last.assign(v=df["v"][2:3].array))
    read = adapter.read(path)
    assert read["v"].isna().sum() == 2
    assert [list(read["v"][row]) for row in (3, 7)] == [list(df["v"][2]), list(df["v"][3])]
    empty, nothing = saved("SQLite", df[:0], tmp_path)
    assert empty.read(nothing)["v"].dtype == df["v"].dtype


@pytest.mark.parametrize(
    ("values", "dtype", "words"),
    [
        ([[1.0, 2.0]], pa.list_(pa.float64(), 2), "of other values than 32-bit floats"),
        ([[1, 2]], pa.list_(pa.int8(), 2), "of other values than 32-bit floats"),
        ([[1.0, None]], pa.list_(pa.float32(), 2), "with nulls"),
        ([[1.0, 2.0]], pa.list_(pa.float32()), "contains lists"),
    ],
)
def test_lists_that_are_no_vectors_of_sqlite_are_refused(values, dtype, words):
    df = pd.DataFrame({"v": pd.arrays.ArrowExtensionArray(pa.array(values, dtype))})
    with pytest.raises(CannotHoldError, match=words):
        data_formats.get("SQLite").check(df)
