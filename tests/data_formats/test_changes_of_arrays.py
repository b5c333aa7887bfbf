"""Changes of saved tables in HDF5 and TileDB: types, indexes, refusals, added columns in parts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import data_formats
from adapter_core import CannotHoldError, Comparison, Predicate

HDF5 = data_formats.get("HDF5.table")
TILEDB = data_formats.get("TileDB")
ROWS = 10


def typed(start: int = 0) -> pd.DataFrame:
    """Return rows of all types whose description the file has, shape (10, 7)."""
    rows = np.arange(start, start + ROWS)
    days = pd.Series(pd.date_range("2024-01-01", periods=ROWS)).astype("datetime64[us]")
    return pd.DataFrame(
        {
            "key": rows,
            "small": rows.astype("int8"),
            "day": days.where(rows % 4 != 1),
            "zoned": days.dt.tz_localize("Europe/Berlin"),
            "span": pd.Series(pd.to_timedelta(rows, "s")).astype("timedelta64[us]"),
            "kind": pd.Categorical(np.array(["a", "b"])[rows % 2], categories=["b", "a", "unused"]),
            "word": pd.Series(["x", None] * (ROWS // 2), dtype="str"),
        }
    )


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table"


@pytest.mark.parametrize("tuned", [False, True], ids=["plain", "tuned"])
def test_types_and_indexes_survive_changes(path, tuned):
    if tuned:
        HDF5.save_tuned(typed(), path, sort_by=["key"], lookups=["word"])
    else:
        HDF5.save(typed(), path, codec="zlib")
    HDF5.append(path, typed(ROWS))
    replaced = typed().assign(key=np.arange(5, 15), small=np.int8(-1))
    HDF5.update(path, "key", replaced)
    HDF5.delete(path, "key", [0, 7, 19])
    expected = pd.concat([typed().head(5), replaced, typed(ROWS).tail(5)], ignore_index=True)
    expected = expected[~expected["key"].isin([0, 7, 19])].reset_index(drop=True)
    pd.testing.assert_frame_equal(HDF5.read(path), expected)
    if tuned:
        with pd.HDFStore(path, "r") as store:
            assert set(store.get_storer("table").table.colindexes) == {"key", "word"}
            assert store.select("table", "key >= 12 & word == 'x'")["key"].tolist() == [13, 16, 18]


@pytest.mark.parametrize(
    ("column", "values", "reason"),
    [
        ("day", typed()["day"].astype("datetime64[ns]"), r"datetime64\[us\] in the file"),
        ("zoned", typed()["zoned"].dt.tz_convert("UTC"), "Europe/Berlin.* in the file"),
        ("kind", pd.Categorical(["c"] * ROWS), "different categories"),
        ("small", np.full(ROWS, 0.5), "do not fit the file"),
        ("word", pd.Series(["longer"] * ROWS, dtype="str"), "a string with len"),
    ],
    ids=["unit", "time zone", "categories", "floats", "long text"],
)
def test_rows_of_another_type_are_refused(path, column, values, reason):
    HDF5.save(typed(), path)
    rows = typed(ROWS).assign(**{column: values})
    with pytest.raises(CannotHoldError, match=reason):
        HDF5.append(path, rows)
    with pytest.raises(CannotHoldError, match=reason):
        HDF5.update(path, "key", rows)
    pd.testing.assert_frame_equal(HDF5.read(path), typed())


def test_rows_are_deleted_across_batches(path):
    df = pd.DataFrame({"key": np.arange(40_000), "value": np.arange(40_000) / 8})
    HDF5.save(df, path)
    gone = [*range(100, 20_000, 7), *range(30_000, 39_999)]
    HDF5.delete(path, "key", gone)
    pd.testing.assert_frame_equal(HDF5.read(path), df.drop(gone).reset_index(drop=True))
    with pytest.raises(CannotHoldError, match="no row would be left"):
        HDF5.delete(path, "key", range(40_000))
    assert len(HDF5.read(path)) == 40_000 - len(gone)


def test_added_columns_of_an_array_are_read_in_parts(path):
    df = typed()[["key", "word"]]
    TILEDB.save(df, path)
    for name in ("later", "later still"):
        TILEDB.add_column(path, name)
    expected = df.assign(**{"later": np.nan, "later still": np.nan})
    pd.testing.assert_frame_equal(TILEDB.read(path), expected)
    part = TILEDB.read(path, ["word", "later still"], slice(2, 5))
    pd.testing.assert_frame_equal(
        part, expected.loc[2:4, ["word", "later still"]].reset_index(drop=True)
    )
    found = TILEDB.read(path, rows=Predicate([Comparison("key", ">", 7)]))
    pd.testing.assert_frame_equal(found, expected.tail(2).reset_index(drop=True))


def test_an_array_without_rows_has_added_columns(path):
    TILEDB.save(typed()[["key"]].head(0), path)
    TILEDB.add_column(path, "later")
    found = TILEDB.read(path)
    assert found.dtypes.to_dict() == {"key": np.dtype("int64"), "later": np.dtype("float64")}
    assert not len(found)
