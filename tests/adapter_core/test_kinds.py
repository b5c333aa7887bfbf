"""Kinds of columns: nested ones of Arrow and among objects, and what a refusal of them covers."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from adapter_core import CannotHoldError
from adapter_core.data_format import DataFormat
from adapter_core.kinds import NESTED, Kind, kind_of, kinds_inside


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([[1, 2], [], None], Kind.LIST),
        ([np.array([1.5, np.nan]), None, np.empty(0)], Kind.LIST),
        ([[[1], None], None], Kind.LIST),
        ([{"b": 1, "a": "x"}, None, {"b": None, "a": None}], Kind.STRUCT),
        ([{"a": 1}, {"b": 1}], Kind.MIXED),
        ([{"a": 1, "b": 2}, {"b": 2, "a": 1}], Kind.MIXED),
        ([[{"a": 1}], [{"b": 1}]], Kind.MIXED),
        ([[1, "a"]], Kind.MIXED),
        ([[1], "a"], Kind.MIXED),
        ([np.zeros((2, 2))], Kind.MIXED),
        ([(1, 2)], Kind.MIXED),
    ],
)
def test_nested_values_among_objects_have_a_kind_if_a_type_has_them_all(values, kind):
    column = pd.Series(values, dtype=object)
    assert kind_of(column.dtype, column) is kind


@pytest.mark.parametrize(
    ("dtype", "kind", "inside"),
    [
        (pa.list_(pa.float32()), Kind.LIST, {Kind.FLOAT}),
        (pa.large_list(pa.string()), Kind.LIST, {Kind.TEXT}),
        (pa.list_(pa.float16(), 8), Kind.VECTOR, {Kind.HALF_FLOAT}),
        (pa.struct({"a": pa.list_(pa.uint8())}), Kind.STRUCT, {Kind.LIST, Kind.UNSIGNED}),
        (pa.struct([]), Kind.EMPTY_STRUCT, set()),
        (pa.map_(pa.string(), pa.timestamp("s")), Kind.MAP, {Kind.TEXT, Kind.DATETIME}),
        (pa.list_view(pa.bool_()), Kind.OTHER_NESTED, {Kind.BOOLEAN}),
        (pa.decimal256(50, 2), Kind.ARROW, set()),
    ],
)
def test_nested_types_of_arrow_have_a_kind_and_kinds_inside(dtype, kind, inside):
    column = pd.Series([None], dtype=pd.ArrowDtype(dtype))
    assert kind_of(column.dtype, column) is kind
    assert kinds_inside(dtype) == inside


class _Refusing(DataFormat):
    label = "Refusing"
    refuses: ClassVar = {Kind.ARROW_NESTED: "of Arrow"}
    _save = _read = None


class _Flat(DataFormat):
    label = "Flat"
    refuses: ClassVar = {Kind.HALF_FLOAT: "no halves"}
    refuses_inside: ClassVar = {Kind.MAP: "no maps inside"}
    tells_nan_from_null = False
    _save = _read = None


def test_the_old_name_of_nested_values_refuses_all_kinds_of_them():
    assert set(_Refusing.refuses) >= NESTED
    df = pd.DataFrame({"c": [[1], [2]]})
    with pytest.raises(CannotHoldError, match="column 'c' contains lists; of Arrow"):
        _Refusing.check(_Refusing.__new__(_Refusing), df)


@pytest.mark.parametrize(
    ("dtype", "value", "words"),
    [
        (pa.list_(pa.float16(), 1), [1.0], "lists of one length with 16-bit floats; no halves"),
        (pa.list_(pa.map_(pa.string(), pa.int8())), [[("a", 1)]], "lists with maps; no maps inside"),
        (pa.list_(pa.float32()), [float("nan")], "lists with NaN, which would be null"),
    ],
)
def test_values_inside_are_refused_like_columns(dtype, value, words):
    array = pd.arrays.ArrowExtensionArray(pa.array([value], dtype))
    with pytest.raises(CannotHoldError, match=words):
        _Flat.check(_Flat.__new__(_Flat), pd.DataFrame({"c": array}))
    _Flat.check(_Flat.__new__(_Flat), pd.DataFrame({"c": array[:0]})) if "NaN" in words else None
