"""Changes of saved tables: appended, updated and deleted rows, and added columns."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from adapter_core import (
    Changeable,
    InvalidSelectionError,
    TableChange,
    UnknownNameError,
    UnsupportedError,
)
from adapter_core.errors import CannotHoldError

ROWS = 60


def table(start: int = 0) -> pd.DataFrame:
    """Return rows with a key, and nulls among numbers and texts, shape (60, 4)."""
    rows = np.arange(start, start + ROWS)
    return pd.DataFrame(
        {
            "key": rows,
            "value": np.where(rows % 11 == 4, np.nan, rows / 4),
            "truth": rows % 2 == 0,
            "word": pd.Series([f"w{each % 7}" if each % 13 else None for each in rows], dtype="str"),
        }
    )


def changeable(adapter) -> Changeable:
    """Return the adapter, or skip the test."""
    if not isinstance(adapter, Changeable):
        pytest.skip(f"{adapter.label} changes no saved tables")
    return adapter


def changes(path) -> dict:
    """Return a call of each change, in an order, with the change of pandas."""
    updated = table().iloc[::5].assign(value=-1.5, word="ü").reset_index(drop=True)
    updated["word"] = updated["word"].astype("str").where(updated["key"] % 2 == 0)
    # Keys that the table lacks are ignored.
    given = pd.concat([updated, updated.head(1).assign(key=10_000)], ignore_index=True)
    gone = [3, ROWS + 3, 20_000]

    def with_updated(df):
        df = df.set_index("key")
        df.loc[updated["key"], ["value", "word"]] = updated.set_index("key")[["value", "word"]]
        return df.reset_index()

    return {
        TableChange.APPEND: (
            lambda adapter: adapter.append(path, table(ROWS)),
            lambda df: pd.concat([df, table(ROWS)], ignore_index=True),
        ),
        TableChange.UPDATE: (lambda adapter: adapter.update(path, "key", given), with_updated),
        TableChange.DELETE: (
            lambda adapter: adapter.delete(path, "key", np.array(gone)),
            lambda df: df[~df["key"].isin(gone)],
        ),
        TableChange.ADD_COLUMN: (
            lambda adapter: adapter.add_column(path, "later"),
            lambda df: df.assign(later=np.nan),
        ),
    }


def test_changes_give_the_table_that_pandas_gives(adapter, path):
    adapter = changeable(adapter)
    adapter.save(table(), path)
    expected = table()
    for change, (make, in_pandas) in changes(path).items():
        if change not in adapter.unsupported_changes:
            make(adapter)
            expected = in_pandas(expected)
    read = adapter.read(path).sort_values("key", ignore_index=True)
    if "later" in expected:
        read["later"] = read["later"].astype(float)
    pd.testing.assert_frame_equal(read, expected.reset_index(drop=True))
    assert list(path.parent.iterdir()) == [path]


def test_unsupported_changes_have_a_reason_and_leave_the_table(adapter, path):
    adapter = changeable(adapter)
    if not adapter.unsupported_changes:
        pytest.skip(f"{adapter.label} makes all changes")
    assert set(adapter.unsupported_changes) < set(TableChange)
    adapter.save(table(), path)
    for change, reason in adapter.unsupported_changes.items():
        with pytest.raises(UnsupportedError, match=f"{re.escape(adapter.label)}, {change}: ") as raised:
            changes(path)[change][0](adapter)
        assert str(raised.value).endswith(reason)
    pd.testing.assert_frame_equal(adapter.read(path), table())


def test_longer_texts_are_stored_or_refused(adapter, path):
    adapter = changeable(adapter)
    if TableChange.APPEND in adapter.unsupported_changes:
        pytest.skip(f"{adapter.label} appends no rows")
    adapter.save(table(), path)
    longer = table(ROWS).assign(word=pd.Series(["longer"] * ROWS, dtype="str"))
    expected = pd.concat([table(), longer], ignore_index=True)
    try:
        adapter.append(path, longer)
    except CannotHoldError:
        expected = table()
    read = adapter.read(path).sort_values("key", ignore_index=True)
    pd.testing.assert_frame_equal(read, expected)


def test_changes_that_do_not_fit_are_refused(adapter, path):
    adapter = changeable(adapter)
    adapter.save(table(), path)
    refused = {
        TableChange.DELETE: [
            (UnknownNameError, "there is no column 'kay'; did you mean key", ("kay", [1])),
            (InvalidSelectionError, "at least one key", ("key", [])),
        ],
        TableChange.APPEND: [
            (UnknownNameError, "there is no column 'extra'", (table().assign(extra=1),)),
        ],
        TableChange.UPDATE: [
            (InvalidSelectionError, "in its order", ("key", table()[["value", "key", "truth", "word"]])),
        ],
        TableChange.ADD_COLUMN: [
            (InvalidSelectionError, "has a column 'word' already", ("word",)),
        ],
    }
    for change, cases in refused.items():
        if change in adapter.unsupported_changes:
            continue
        method = getattr(adapter, change.replace(" ", "_"))
        for error, sentence, arguments in cases:
            with pytest.raises(error, match=sentence):
                method(path, *arguments)
    pd.testing.assert_frame_equal(adapter.read(path), table())
