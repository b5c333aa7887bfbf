"""Tables written for queries: sorted, and read like any other."""

from __future__ import annotations

import datetime

import pandas as pd
import pytest

from adapter_core import CannotHoldError, UnknownNameError

# Without a common divisor with the factors below, 37 and 91: no value of a column is left out.
ROWS = 400


def table() -> pd.DataFrame:
    """Return columns to sort by and to look values up in, shape (400, 4)."""
    rows = pd.Series(range(ROWS))
    return pd.DataFrame(
        {
            "time": rows * 37 % ROWS // 2,
            "key": rows * 91 % ROWS,
            "word": pd.Series([f"w{i % 50}" for i in rows], dtype="str"),
            "value": rows / 8,
        }
    )


def test_a_tuned_table_is_sorted_and_complete(adapter, path):
    df = table()
    adapter.save_tuned(df, path, ["time"], ["key", "word", "time"])
    assert list(path.parent.iterdir()) == [path]
    expected = df.sort_values("time", kind="stable", ignore_index=True)
    adapter.save(expected, path.with_name(f"plain{adapter.suffix}"))
    plain = adapter.read(path.with_name(f"plain{adapter.suffix}"))
    pd.testing.assert_frame_equal(adapter.read(path), plain)
    read = adapter.read_arrays(path, ["key", "value"])
    assert read["key"].tolist() == expected["key"].tolist()
    assert read["value"].tolist() == expected["value"].tolist()


COLUMNS = {
    "uint64": pd.Series([2**64 - 1, 0, 7], dtype="uint64"),
    "Int64": pd.Series([-(2**63), None, 3], dtype="Int64"),
    "float32": pd.Series([0.5, None, -0.5], dtype="float32"),
    "boolean": pd.Series([True, None, False], dtype="boolean"),
    "category": pd.Series(["b", None, "a"], dtype="category"),
    "date": pd.Series([datetime.date(2026, 2, 28), None, datetime.date(1970, 1, 1)], dtype="object"),
    "datetime": pd.Series(["2026-02-28 12:00", None, "1970-01-01 00:00"], dtype="datetime64[us]"),
    "bytes": pd.Series([b"b", None, b"a"], dtype="object"),
    "nulls alone": pd.Series([None, None, None], dtype="float64"),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_of_any_kind_may_be_looked_up_or_sorted_by(adapter, path, kind):
    df = pd.DataFrame({"row": [1, 2, 3], "column": COLUMNS[kind]})
    try:
        adapter.check(df)
    except CannotHoldError as error:
        pytest.skip(str(error))
    adapter.save_tuned(df, path, ["row"], ["column"])
    adapter.save(df, path.with_name(f"plain{adapter.suffix}"))
    plain = adapter.read(path.with_name(f"plain{adapter.suffix}"))
    pd.testing.assert_frame_equal(adapter.read(path), plain)
    adapter.save_tuned(df, path, ["column"])
    in_order = df.sort_values("column", kind="stable")["row"].tolist()
    assert adapter.read(path)["row"].tolist() == in_order


def test_columns_that_a_table_lacks_are_named(adapter, path):
    for sort_by, lookups in [(["tine"], []), ([], ["tine"])]:
        with pytest.raises(UnknownNameError, match="there is no column 'tine'; did you mean time"):
            adapter.save_tuned(table(), path, sort_by, lookups)
    assert list(path.parent.iterdir()) == []
