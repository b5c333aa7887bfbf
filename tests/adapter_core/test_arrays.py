"""Columns as arrays and back, and refusals."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from adapter_core.tables import arrays as column_arrays
from adapter_core.tables import text_arrays
from adapter_core.tables.arrays import column_from_arrays

TEXTS = {
    "one length": ["abc", "dé", "f\0\0"],
    "one length and nulls": ["abc", None, "def"],
    "lengths differ": ["a", "", "b\0", "größe"],
    "lengths differ and nulls": [None, "a", "bcd", None],
    "only nulls": [None, None],
    "only empty": ["", ""],
    "none": [],
}


def apart(values, dtype=None):
    arrays = {}
    note = column_arrays.column_to_arrays(
        pd.Series(values, dtype=dtype, name="n"), "x", arrays.__setitem__
    )
    return arrays, json.loads(json.dumps(note))


def back(values, dtype=None):
    arrays, note = apart(values, dtype)
    return pd.Series(column_from_arrays(note, arrays), name="n")


@pytest.mark.parametrize("begin", [0, 1])
@pytest.mark.parametrize("values", TEXTS.values(), ids=TEXTS)
def test_text_comes_back_also_from_a_part_of_an_array(values, begin):
    text = pa.array(values, pa.large_string())[begin:]
    valid = np.array(text.is_valid()) if text.null_count else None
    data, offsets = text_arrays.text_to_arrays(text)
    for form in (data, text_arrays.as_fixed_width(data)):
        read = text_arrays.text_from_arrays(form, offsets, valid, pa.large_string())
        assert read.to_pylist() == values[begin:]


def test_one_long_text_does_not_make_the_others_long():
    data, offsets = text_arrays.text_to_arrays(pa.array(["a"] * 999 + ["x" * 9_001], pa.large_string()))
    assert (data.shape, offsets.shape, offsets.dtype) == ((10_000,), (1_001,), np.int32)


def test_text_of_one_length_has_no_offsets():
    data, offsets = text_arrays.text_to_arrays(pa.array(["ab", None, "cd"], pa.large_string()))
    assert (data.shape, offsets) == ((3, 2), None)


@pytest.mark.parametrize("offsets", [[0, 9, 3], [0, 2, 900], [-5, 1, 3], [0, 2, 1]])
def test_damaged_offsets_are_noticed(offsets):
    data = np.frombuffer(b"abc", np.uint8)
    with pytest.raises(pa.ArrowInvalid):
        text_arrays.text_from_arrays(data, np.array(offsets), None, pa.large_string())


def test_damaged_text_is_noticed():
    with pytest.raises(pa.ArrowInvalid, match="UTF8"):
        text_arrays.text_from_arrays(np.array([b"\xff\xff"]), None, None, pa.large_string())


@pytest.mark.parametrize(
    ("values", "dtype", "names"),
    [
        ([1, 2], "int8", ["x"]),
        ([1.5, None], "float32", ["x"]),
        ([1, 2], "Int64", ["x"]),
        ([1, None], "Int64", ["x__valid", "x"]),
        ([True, None], "boolean", ["x__valid", "x"]),
        (["a", "b"], "str", ["x"]),
        (["a", None], "str", ["x__valid", "x"]),
        (["a", "bc"], "str", ["x", "x__offsets"]),
        (["a", None], "category", ["x"]),
        (["2020-01-01", None], "datetime64[ms]", ["x"]),
    ],
)
def test_there_is_no_array_that_is_not_needed(values, dtype, names):
    arrays, note = apart(values, dtype)
    assert list(arrays) == names
    assert {note[each] for each in ("values", "valid", "offsets") if each in note} == set(names)
    assert arrays["x"].dtype != object


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1, None, 2**62 + 1], "Int64"),
        ([1, 2], "UInt8"),
        ([1.5, None], "Float32"),
        ([True, None], "boolean"),
        ([True, None, False], object),
        (["a", None], object),
        ([b"a\0", None, b"\xff"], object),
        ([b"ab", None], object),
        ([None, None], object),
        ([dt.date(1, 1, 1), None, dt.date(9999, 12, 31)], object),
        (["a", None], "string"),
        (["b", None, "a"], pd.CategoricalDtype(["b", "c", "a"], ordered=True)),
        ([3, 1], "category"),
        ([0.1, 1e300 / 7], "category"),
        (["2020-01-01 12:00", None], "datetime64[ns, Europe/Paris]"),
        (["2020-01-01 12:00", None], "datetime64[s]"),
        ([5, None], "timedelta64[us]"),
    ],
)
def test_a_column_comes_back_exact(values, dtype):
    pd.testing.assert_series_equal(back(values, dtype), pd.Series(values, dtype=dtype, name="n"))


def test_the_values_under_nulls_are_not_kept():
    secret = pd.Series(pd.arrays.IntegerArray(np.array([1, 42]), np.array([False, True])))
    assert apart(secret)[0]["x"].tolist() == [1, 0]


def test_a_time_zone_without_a_name_is_refused():
    dateutil = pytest.importorskip("dateutil.tz")
    times = pd.DataFrame({"t": pd.to_datetime(["2020"]).tz_localize(dateutil.gettz("Europe/Paris"))})
    assert "the time zone of column 't' has no name" in column_arrays.unsupported_reason(times)


def test_categories_that_json_has_not_are_refused():
    days = pd.DataFrame({"c": pd.Series(pd.to_datetime(["2020"])).astype("category")})
    assert "column 'c' contains categories of datetime64" in column_arrays.unsupported_reason(days)
