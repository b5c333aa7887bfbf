"""Tables written for queries: sorted, and read like any other."""

from __future__ import annotations

import pandas as pd
import pytest

from adapter_core import UnknownNameError

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


def test_columns_that_a_table_lacks_are_named(adapter, path):
    for sort_by, lookups in [(["tine"], []), ([], ["tine"])]:
        with pytest.raises(UnknownNameError, match="there is no column 'tine'; did you mean time"):
            adapter.save_tuned(table(), path, sort_by, lookups)
    assert list(path.parent.iterdir()) == []
