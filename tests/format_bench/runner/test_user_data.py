"""User tables and images: every kind of file is read unchanged, and no file is left behind."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from adapter_core.errors import InvalidDataError
from data_generator import DEFAULT_SEED
from data_generator.sampling import sampled_rows
from data_generator.user.load import fingerprint, load_data
from data_generator.user.table import load_table
from format_bench.runner.confined import _fingerprint
from tests.factories.files import ROWS, WRITERS, table, write

if TYPE_CHECKING:
    from data_generator.dataset import UserData


DIGITS = {"a.json", "a.jsonl", "a.jsonl.xz", "a.xlsx"}
"""Kinds whose writers in pandas keep fewer than 17 digits of a float."""


def contents(folder: Path) -> dict[str, tuple[str, int]]:
    """Return the hash and modification time of each file below a folder."""
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
            path.stat().st_mtime_ns,
        )
        for path in folder.rglob("*")
    }


def pieces(column: pd.Series) -> int:
    """Return the number of chunks of text in memory."""
    return column.array.__arrow_array__().num_chunks


@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file_is_read_unchanged(name, tmp_path):
    path = write(name, tmp_path)
    before = contents(tmp_path)
    found = load_table(path, trust_pickle=True)
    pd.testing.assert_frame_equal(
        found.df, table(), check_exact=name not in DIGITS, check_index_type="exact"
    )
    assert found.name == path.name.partition(".")[0]
    assert found.remarks == ()
    assert contents(tmp_path) == before
    assert {pieces(found.df[name]) for name in found.df if name.startswith("str")} == {1}


@pytest.mark.parametrize("name", WRITERS)
def test_a_sample_is_the_same_from_every_kind_of_file(name, tmp_path):
    path = write(name, tmp_path)
    found = load_table(path, sample_rows=50, seed=5, trust_pickle=True).df
    expected = table().iloc[sampled_rows(ROWS, 50, 5)].reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected, check_exact=name not in DIGITS)
    assert {pieces(found[name]) for name in found if name.startswith("str")} == {1}


def test_a_sample_depends_on_the_seed_and_takes_each_row_equally_often():
    assert np.array_equal(sampled_rows(1000, 10, 1), sampled_rows(1000, 10, 1))
    assert not np.array_equal(sampled_rows(1000, 10, 1), sampled_rows(1000, 10, 2))
    taken = np.concatenate([sampled_rows(20, 5, seed) for seed in range(2_000)])
    counts = np.bincount(taken, minlength=20)
    # Each row is in a sample with probability 1/4: 500 times, standard deviation 19.4.
    assert (np.abs(counts - 500) < 5 * 19.4).all()


def test_a_sample_has_no_row_twice_and_keeps_the_order():
    rows = sampled_rows(1000, 999, 7)
    assert (np.diff(rows) > 0).all()
    assert sampled_rows(10, 10, 7) is None
    assert sampled_rows(10, 11, 7) is None


def test_a_sample_of_a_large_parquet_file_takes_little_memory(tmp_path):
    rows = 1_000_000
    pd.DataFrame({"a": np.arange(rows), "b": np.random.default_rng(1).random(rows)}).to_parquet(
        tmp_path / "a.parquet", row_group_size=rows // 20
    )
    before = pa.default_memory_pool()
    pool = pa.proxy_memory_pool(before)
    pa.set_memory_pool(pool)
    try:
        assert len(load_table(tmp_path / "a.parquet", sample_rows=100).df) == 100
    finally:
        pa.set_memory_pool(before)
    # Not less: a row group that is decoded ahead of the reader is in memory too.
    assert 0 < pool.max_memory() < 16 * rows / 2


@pytest.mark.parametrize("wanted", [0, -1])
def test_a_sample_without_rows_is_an_error_of_the_caller(wanted, tmp_path):
    with pytest.raises(ValueError, match="a sample cannot have"):
        load_data(write("a.csv", tmp_path), sample=wanted)


def stored(df: pd.DataFrame | pd.Series, folder: Path) -> UserData:
    df.to_pickle(folder / "a.pkl")
    return load_table(folder / "a.pkl", trust_pickle=True)


def test_an_index_with_a_name_becomes_a_column(tmp_path):
    dates = pd.date_range("2020", periods=3, name="day")
    pd.DataFrame({"a": [1, 2, 3]}, index=dates).to_parquet(tmp_path / "a.parquet")
    found = load_table(tmp_path / "a.parquet")
    assert list(found.df) == ["day", "a"]
    assert found.df["day"].tolist() == dates.tolist()
    assert found.remarks == ("the index becomes a column: day",)


def test_an_index_without_a_name_is_data_unless_it_counts(tmp_path):
    words = stored(pd.DataFrame({"a": [1, 2]}, index=["x", "y"]), tmp_path)
    assert words.df.to_dict("list") == {"index": ["x", "y"], "a": [1, 2]}
    filtered = stored(pd.DataFrame({"a": [1, 2]}, index=[5, 9]), tmp_path)
    assert filtered.df.to_dict("list") == {"a": [1, 2]}
    assert filtered.remarks == ("the index, numbers without a name, is dropped",)
    assert isinstance(filtered.df.index, pd.RangeIndex)


def test_names_and_levels_are_made_text(tmp_path):
    rows = pd.MultiIndex.from_tuples([("x", 1), ("y", 2)], names=["k", None])
    columns = pd.MultiIndex.from_tuples([("a", "min"), ("a", "max"), ("b", "")])
    df = pd.DataFrame([[1, 2, 3], [4, 5, 6]], index=rows, columns=columns)
    found = stored(df, tmp_path)
    assert list(found.df) == ["k", "level_1", "a_min", "a_max", "b"]
    numbers = stored(pd.DataFrame({2020: [1], 2021: [2]}), tmp_path)
    assert list(numbers.df) == ["2020", "2021"]
    assert numbers.remarks == ("column names are made text",)


def test_names_that_become_equal_are_refused(tmp_path):
    with pytest.raises(
        InvalidDataError, match="several columns of the same name: '1'; give each its own name"
    ):
        stored(pd.DataFrame([[1, 2]], columns=[1, "1"]), tmp_path)
    with pytest.raises(InvalidDataError, match="same name: 'a'"):
        stored(pd.DataFrame({"a": [1]}, index=pd.Index([2.5], name="a")), tmp_path)


def test_nested_values_and_mixed_types_are_kept(tmp_path):
    found = stored(pd.DataFrame({"a": [1, "x"], "b": [[1], []], "c": [{"k": 1}, None]}), tmp_path).df
    table = pa.Table.from_pandas(found[["b", "c"]])
    assert found["a"].tolist() == [1, "x"]
    assert table.to_pydict() == {"b": [[1], []], "c": [{"k": 1}, None]}


def test_a_series_is_a_table_of_one_column(tmp_path):
    series = pd.Series(["x", "y"], name="a")
    assert stored(series, tmp_path).df.to_dict("list") == {"a": ["x", "y"]}
    series.to_hdf(tmp_path / "a.h5", key="k")
    assert load_table(tmp_path / "a.h5").df.to_dict("list") == {"a": ["x", "y"]}


def two_tables(name: str, folder: Path) -> Path:
    path, a, b = folder / name, pd.DataFrame({"x": [1]}), pd.DataFrame({"y": [2]})
    if name.endswith("xlsx"):
        with pd.ExcelWriter(path, engine="openpyxl") as writer:
            a.to_excel(writer, sheet_name="a", index=False)
            b.to_excel(writer, sheet_name="b", index=False)
            pd.DataFrame().to_excel(writer, sheet_name="empty")
    elif name.endswith("h5"):
        a.to_hdf(path, key="a")
        b.to_hdf(path, key="b")
    elif name.endswith("duckdb"):
        with duckdb.connect(path) as database:
            database.execute("CREATE TABLE a AS SELECT 1 AS x; CREATE TABLE b AS SELECT 2 AS y")
    else:
        with closing(sqlite3.connect(path)) as database:
            a.to_sql("a", database, index=False)
            b.to_sql("b", database, index=False)
    return path


@pytest.mark.parametrize("name", ["two.xlsx", "two.h5", "two.duckdb", "two.db"])
def test_one_of_several_tables_is_named(name, tmp_path):
    path = two_tables(name, tmp_path)
    with pytest.raises(
        InvalidDataError, match=rf"contains 2 (table|sheet)s: a, b; name one .* {name}::a"
    ):
        load_table(path)
    found = load_table(f"{path}::b")
    assert found.df.to_dict("list") == {"y": [2]}
    assert found.name == "two_b"
    with pytest.raises(InvalidDataError, match=r"contains no (table|sheet) 'c'; it contains a, b"):
        load_table(f"{path}::c")


def test_a_table_of_a_schema_of_its_own_is_named_with_it(tmp_path):
    with duckdb.connect(tmp_path / "a.duckdb") as database:
        database.execute('CREATE SCHEMA s; CREATE TABLE s."the ""x""" AS SELECT 1 AS x')
    assert len(load_table(f'{tmp_path / "a.duckdb"}::s.the "x"').df) == 1


def test_a_path_that_contains_the_separator_is_a_path(tmp_path):
    pd.DataFrame({"x": [1]}).to_csv(tmp_path / "a::b.csv", index=False)
    assert load_table(tmp_path / "a::b.csv").df.to_dict("list") == {"x": [1]}


def test_a_write_ahead_log_is_read_and_not_created(tmp_path):
    path = tmp_path / "a.db"
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("CREATE TABLE t (a)")
    writer.execute("INSERT INTO t VALUES (1)")
    writer.commit()
    with pytest.raises(
        InvalidDataError, match=r"has changes that are in a.db-wal alone; end the program"
    ):
        load_table(path)
    writer.close()
    assert load_table(path).df.to_dict("list") == {"a": [1]}
    assert [each.name for each in tmp_path.iterdir()] == ["a.db"]


def test_categories_in_hdf5_are_not_a_table_of_their_own(tmp_path):
    df = pd.DataFrame({"a": pd.Categorical(["x", "y", "x"])})
    df.to_hdf(tmp_path / "a.h5", key="k", format="table")
    pd.testing.assert_frame_equal(load_table(tmp_path / "a.h5").df, df)


def test_csv_may_have_other_delimiters_byte_order_marks_and_nulls(tmp_path):
    (tmp_path / "a.csv").write_bytes("\ufeffa;b, c;d\r\n1;;NA\r\n2;x;3.5\r\n".encode())
    found = load_table(tmp_path / "a.csv").df
    assert list(found) == ["a", "b, c", "d"]
    assert found["b, c"].isna().tolist() == [True, False]
    assert found["d"].isna().tolist() == [True, False]


def test_text_in_json_stays_text(tmp_path):
    lines = '{"id": "007", "date": "2020-01-01"}\n\n{"id": "8", "extra": [1, 2]}\n'
    (tmp_path / "a.json").write_text(lines)
    found = load_table(tmp_path / "a.json").df
    assert found["id"].tolist() == ["007", "8"]
    assert found["date"].tolist()[0] == "2020-01-01"
    assert found["extra"].tolist()[1] == [1, 2]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("my data (1).v2.csv.gz", "my_data_1_v2"),
        ("eq.csv", "own_eq"),
        ("größe.csv", "größe"),
        ("-.csv", "data"),
    ],
)
def test_the_name_of_user_data_suits_file_names_and_is_not_that_of_a_generated_table(
    name, expected, tmp_path
):
    pd.DataFrame({"x": [1]}).to_csv(tmp_path / name, index=False)
    assert load_table(tmp_path / name).name == expected


def test_a_fingerprint_depends_only_on_the_content(tmp_path):
    path = write("a.csv", tmp_path)
    first = fingerprint(path)
    moved = shutil.move(path, tmp_path / "b.csv")
    assert fingerprint(moved) == first == fingerprint(f"{moved}::t")
    moved.write_bytes(moved.read_bytes() + b"\n")
    assert fingerprint(moved) != first


@pytest.mark.parametrize("name", ["a.csv", "a.npy"])
def test_data_are_others_once_readers_make_others_of_a_file(name, tmp_path, monkeypatch):
    path = tmp_path / name
    if name == "a.npy":
        np.save(path, np.arange(3))
    else:
        write(name, tmp_path)
    first = _fingerprint(str(path), load_data(path), None)
    assert first == _fingerprint(str(path), load_data(path), None)
    monkeypatch.setattr("format_bench.runner.confined._READ_SINCE", "2026-12-01")
    assert first != _fingerprint(str(path), load_data(path), None)


def test_the_fingerprint_of_a_folder_depends_on_names_and_contents(tmp_path):
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "x").write_text("1")
    (folder / "y").write_text("2")
    first = fingerprint(folder)
    assert fingerprint(shutil.copytree(folder, tmp_path / "b")) == first
    (folder / "x").rename(folder / "z")
    assert fingerprint(folder) != first


def test_the_seed_is_the_one_of_the_generated_tables(tmp_path):
    path = write("a.csv", tmp_path)
    expected = load_table(path, sample_rows=5, seed=DEFAULT_SEED).df
    pd.testing.assert_frame_equal(load_data(path, sample=5).df, expected)
