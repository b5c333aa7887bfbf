"""Wrong nested values that the verifier has to see: lists, vectors, structs and maps."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from format_bench.verification.columns import differing
from format_bench.verification.tables import verify

NAN = math.nan
FLOATS = pa.list_(pa.float64())
POINT = pa.struct({"y": pa.float64(), "x": pa.int64()})
MAP = pa.map_(pa.string(), pa.float64())


def column(values, dtype):
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, dtype)))


@pytest.mark.parametrize(
    ("dtype", "saved", "read"),
    [
        (FLOATS, [], None),
        (FLOATS, [NAN], [None]),
        (FLOATS, [None], []),
        (FLOATS, [0.0], [-0.0]),
        (FLOATS, [1.0, 2.0], [2.0, 1.0]),
        (FLOATS, [1.0], [1.0, None]),
        (FLOATS, [0.1], [0.1 + 2**-56]),
        (pa.list_(pa.float32(), 2), [1.0, NAN], [1.0, None]),
        (pa.list_(pa.int64()), [2**53], [2**53 + 1]),
        (pa.list_(pa.string()), [""], [None]),
        (pa.list_(pa.list_(pa.int8())), [[1], []], [[1], None]),
        (pa.list_(pa.list_(pa.int8())), [[1], [2, 3]], [[1, 2], [3]]),
        (POINT, None, {"y": None, "x": None}),
        (POINT, {"y": NAN, "x": 1}, {"y": None, "x": 1}),
        (pa.list_(POINT), [{"y": 1.0, "x": 2}], [{"y": 1.0, "x": 3}]),
        (MAP, [("a", 1.0), ("b", 2.0)], [("b", 2.0), ("a", 1.0)]),
        (MAP, [("a", 1.0)], [("a", 1.0), ("a", 1.0)]),
        (MAP, [], None),
        (pa.list_(pa.decimal256(50, 2)), [Decimal("1.10")], [Decimal("1.11")]),
        (pa.list_(pa.time64("us")), [dt.time(1)], [dt.time(2)]),
        (pa.list_(pa.binary(2)), [b"ab"], [b"ac"]),
        (pa.list_(pa.dictionary(pa.int8(), pa.string())), ["a"], ["b"]),
    ],
)
def test_a_wrong_value_inside_is_an_error_of_its_row_alone(dtype, saved, read):
    same = saved if saved is not None else read
    before = column([None, same, saved, same], dtype)
    after = column([None, same, read, same], dtype)
    assert differing(before, after).tolist() == [False, False, True, False]
    assert differing(before, before.copy()).tolist() == [False] * 4
    assert "row 2" in verify(before.to_frame("c"), after.to_frame("c")).errors[0]


def test_names_of_structs_have_an_order():
    saved = column([{"y": 1.0, "x": 2}], POINT)
    read = column([{"x": 2, "y": 1.0}], pa.struct({"x": pa.int64(), "y": pa.float64()}))
    assert verify(saved.to_frame("c"), read.to_frame("c")).errors


def test_another_type_with_the_same_values_is_a_loss():
    values = [[1.5, None], [0.1, NAN], None]
    saved = column(values, pa.list_(pa.float32(), 2))
    read = column(pa.array(saved.array).to_pylist(), pa.large_list(pa.float64()))
    found = verify(saved.to_frame("c"), read.to_frame("c"))
    assert found.errors == ()
    assert "came back as large_list<item: double>" in found.losses[0]
    entries = pa.list_(pa.struct({"key": pa.string(), "value": pa.float64()}))
    saved = column([[("a", 1.0), ("a", NAN)], None], MAP)
    assert differing(saved, column(pa.array(saved.array).cast(entries).to_pylist(), entries)).sum() == 0


def test_objects_are_compared_with_arrow_as_pandas_has_them():
    saved = pd.DataFrame({"c": pd.Series([np.array([1.0, np.nan]), None, np.empty(0)], dtype=object)})
    read = column([[1.0, None], None, []], FLOATS).to_frame("c")
    assert verify(saved, read).errors == ()
    assert verify(saved, read).losses
    assert verify(saved, column([[1.0, None], [], []], FLOATS).to_frame("c")).errors
    assert verify(saved, saved.copy()).exact


def test_rounding_inside_is_a_loss_only_if_the_format_declares_it():
    saved = column([[1 / 3, None], [2 / 3]], FLOATS).to_frame("c")
    read = column([[0.333333333333333, None], [0.666666666666667]], FLOATS).to_frame("c")
    assert verify(saved, read).errors
    assert verify(saved, read, 15).losses == ("column c: floats inside were rounded to 15 digits",)
    wrong = column([[0.333333333333333, None], [0.6666]], FLOATS).to_frame("c")
    assert verify(saved, wrong, 15).errors


def test_a_million_vectors_take_no_step_of_python_per_row():
    flat = pa.array(np.arange(4_000_000, dtype=np.float32))
    saved = pd.Series(pd.arrays.ArrowExtensionArray(pa.FixedSizeListArray.from_arrays(flat, 4)))
    changed = flat.to_numpy().copy()
    changed[4 * 777_777 + 1] += 1
    array = pa.FixedSizeListArray.from_arrays(pa.array(changed), 4)
    read = pd.Series(pd.arrays.ArrowExtensionArray(array))
    assert np.flatnonzero(differing(saved, read)).tolist() == [777_777]
