"""Changes of saved tables: appended, updated and deleted rows, and added columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from adapter_core import InvalidSelectionError, UnknownNameError
from adapter_core.changeable import ChangeableFormat

ROWS = 60


def table(start: int = 0) -> pd.DataFrame:
    """Return rows with a key, shape (60, 4)."""
    rows = np.arange(start, start + ROWS)
    return pd.DataFrame(
        {
            "key": rows,
            "value": rows / 4,
            "truth": rows % 2 == 0,
            "word": pd.Series([f"w{each % 7}" for each in rows], dtype="str"),
        }
    )


def test_changes_give_the_table_that_pandas_gives(adapter, path):
    if not isinstance(adapter, ChangeableFormat):
        pytest.skip(f"{adapter.label} changes no saved tables")
    adapter.save(table(), path)
    adapter.append(path, table(ROWS))
    updated = table().iloc[::5].assign(value=-1.5, word="new").reset_index(drop=True)
    updated["word"] = updated["word"].astype("str")
    # Keys that the table lacks are ignored.
    absent = updated.head(1).assign(key=10_000)
    adapter.update(path, "key", pd.concat([updated, absent], ignore_index=True))
    adapter.delete(path, "key", np.array([3, ROWS + 3, 20_000]))
    adapter.add_column(path, "later")
    expected = pd.concat([table(), table(ROWS)], ignore_index=True).set_index("key")
    expected.loc[updated["key"], ["value", "word"]] = updated.set_index("key")[["value", "word"]]
    expected = expected.drop([3, ROWS + 3]).reset_index()
    read = adapter.read(path).sort_values("key", ignore_index=True)
    assert read.iloc[:, -1].isna().all()
    assert read.shape[1] == expected.shape[1] + 1
    pd.testing.assert_frame_equal(read.iloc[:, :-1], expected)
    assert list(path.parent.iterdir()) == [path]


def test_changes_that_do_not_fit_are_refused(adapter, path):
    if not isinstance(adapter, ChangeableFormat):
        pytest.skip(f"{adapter.label} changes no saved tables")
    adapter.save(table(), path)
    with pytest.raises(UnknownNameError, match="there is no column 'kay'; did you mean key"):
        adapter.delete(path, "kay", [1])
    with pytest.raises(UnknownNameError, match="there is no column 'extra'"):
        adapter.append(path, table().assign(extra=1))
    with pytest.raises(InvalidSelectionError, match="in its order"):
        adapter.update(path, "key", table()[["value", "key", "truth", "word"]])
    with pytest.raises(InvalidSelectionError, match="at least one key"):
        adapter.delete(path, "key", [])
    with pytest.raises(InvalidSelectionError, match="has a column 'word' already"):
        adapter.add_column(path, "word")
    pd.testing.assert_frame_equal(adapter.read(path), table())
