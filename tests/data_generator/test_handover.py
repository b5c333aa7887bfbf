"""Tables are handed over unchanged, and a file that pretends to be one does nothing."""

from __future__ import annotations

import datetime
import decimal
import os
import pickle
import struct
import uuid

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import data_generator
from adapter_core.errors import UserDataError
from data_generator.user import handover

HOUR = datetime.timezone(datetime.timedelta(hours=1))
TIMES = pd.to_datetime(["2020", None])
COLUMNS = {
    "complex": [1j, 2],
    "float32": np.float32([1, np.nan]),
    "truth": [True, False],
    "time": TIMES,
    "zone": TIMES.tz_localize("Europe/Paris"),
    "fixed zone": TIMES.tz_localize(HOUR),
    "duration": pd.to_timedelta([1, None]),
    "str": ["x", None],
    "string": pd.array(["x", None], dtype="string"),
    "string of Python": pd.array(["x", None], dtype="string[python]"),
    "Int8": pd.array([1, None], dtype="Int8"),
    "boolean": pd.array([True, None], dtype="boolean"),
    "categories": pd.Categorical(["x", "y"], ordered=True),
    "categories of times": pd.Categorical(TIMES),
    "categories of numbers": pd.Categorical([5, None]),
    "period": pd.period_range("2020", periods=2, freq="M"),
    "interval": pd.interval_range(0, 2, closed="left"),
    "interval of times": pd.interval_range(pd.Timestamp("2020", tz="UTC"), periods=2),
    "sparse": pd.arrays.SparseArray([0, 1]),
    "Arrow list": pd.array([[1], None], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
    "mixed": pd.Series([1, "x"], dtype=object),
    "nested": pd.Series([[1], {"a": [None]}], dtype=object),
    "decimal": pd.Series([decimal.Decimal("1.50"), None], dtype=object),
    "date": pd.Series([datetime.date(2020, 1, 1), datetime.time(1)], dtype=object),
    "uuid": pd.Series([uuid.UUID(int=7), b"x"], dtype=object),
    "array": pd.Series([np.arange(3), np.array(["x"])], dtype=object),
    "Timestamp": pd.Series([pd.Timestamp("2020", tz="Europe/Paris"), pd.NaT], dtype=object),
    "missing": pd.Series([pd.NA, None], dtype=object),
}


def test_tables_come_back_unchanged(tmp_path):
    generated = [data_generator.table(name, 10).df for name in data_generator.names()]
    numbers = pd.DataFrame(np.arange(12.0).reshape(3, 4), columns=list("abcd"))
    mixed = pd.DataFrame({"a": [1], "b": [2], "c": ["x"], "d": [[1]], "e": [None], "f": [3]})
    for df in (pd.DataFrame(COLUMNS), numbers, mixed, *generated):
        handover.store(df, tmp_path / "t")
        found = handover.load(tmp_path / "t", trusted=False)
        pd.testing.assert_frame_equal(found, df, check_exact=True)


def test_a_million_columns_are_written_in_batches(tmp_path):
    df = pd.DataFrame(np.ones((4, 1_000_000), np.float32))
    df.columns = [f"c{place}" for place in range(1_000_000)]
    handover.store(df, tmp_path / "t")
    found = handover.load(tmp_path / "t", trusted=False)
    assert np.array_equal(found.to_numpy(), df.to_numpy())
    assert (found.columns == df.columns).all()
    assert len(list(handover._batches(df))) == 1


class _Call:
    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return os.mkdir, (str(self.mark),)


def _file(*values: object) -> bytes:
    parts = [pickle.dumps(value, 5) for value in values]
    return b"".join(struct.pack("<Q", len(part)) + part for part in parts)


def test_a_file_that_pretends_to_be_a_table_runs_nothing(tmp_path):
    path, mark = tmp_path / "t", tmp_path / "mark"
    path.write_bytes(_file([["a"], 1], {"values": _Call(mark)}))
    with pytest.raises(UserDataError, match=r"other .* than data: posix\.mkdir; .* --trust-pickle$"):
        handover.load(path, trusted=False)
    assert not mark.exists()
    with pytest.raises(UserDataError, match="a column is no array"):
        handover.load(path, trusted=True)
    assert mark.exists(), "it would have run"


def _outside() -> bytes:
    """Return a stream of text whose second offset is outside of the text."""
    offsets = np.array([0, 1, 2], np.int32).tobytes()
    stream = handover._stream(pa.array(["a", "b"]))
    assert offsets in stream
    return stream.replace(offsets, np.array([0, 2**30, 2], np.int32).tobytes())


@pytest.mark.parametrize(
    "values",
    [
        ([["a"], 2], {"values": np.zeros((2, 2))}),
        ([["a"], 2], {"values": np.zeros((2, 1, 1))}),
        ([["a"], 3], {"values": np.zeros(2)}),
        ([["a", "b"], 2], {"values": np.zeros(2)}),
        ([["a"], 2], {"codes": np.array([0, 9]), "of": {"values": np.zeros(2)}, "ordered": False}),
        ([["a"], 2], {"arrow": _outside(), "text": ["pyarrow", "nan"]}),
        ([["a"], 2], {"arrow": b"no stream", "text": ["pyarrow", "nan"]}),
        ([["a"], 2], None),
        (),
    ],
)
def test_columns_that_do_not_fit_are_refused(values, tmp_path):
    (tmp_path / "t").write_bytes(_file(*values))
    with pytest.raises(UserDataError):
        handover.load(tmp_path / "t", trusted=False)
