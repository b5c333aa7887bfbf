"""Predicates, and the bounds of slices."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from adapter_core import Comparison, InvalidSelectionError, Predicate
from adapter_core.predicate import OPERATORS, bounds


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize(
    "values",
    [
        np.array([1.0, np.nan, 2.0, 3.0]),
        pd.array([1, None, 2, 3], "Int64"),
        pd.Series([1.0, None, 2.0, 3.0]),
    ],
    ids=["numpy", "nullable", "series"],
)
def test_nulls_compare_false_with_every_operator(values, operator):
    mask = Comparison("a", operator, 2).mask(values)
    compare = OPERATORS[operator]
    assert mask.dtype == bool
    assert mask.tolist() == [compare(1, 2), False, compare(2, 2), compare(3, 2)]


@pytest.mark.parametrize("dtype", ["str", "string", object, "category"])
def test_text_compares_by_code_points(dtype):
    values = pd.Series(["a", None, "Z", "é"], dtype=dtype)
    assert Comparison("a", "<", "b").mask(values).tolist() == [True, False, True, False]
    assert Comparison("a", "!=", "a").mask(values).tolist() == [False, False, True, True]


def test_constants_are_rounded_for_32_bit_floats():
    values = np.array([0.1, 0.5], "float32")
    assert Comparison("a", "==", 0.1).mask(values).tolist() == [True, False]
    assert Comparison("a", "==", 0.1).fitted("numbers", is_single=True).value == values[0]


def test_all_comparisons_of_a_predicate_are_met():
    predicate = Predicate([Comparison("a", ">", 1), Comparison("b", "==", "x"), Comparison("a", "<", 4)])
    assert predicate.columns == ["a", "b"]
    columns = {"a": np.arange(6), "b": np.array(list("xxyxxx"), object), "c": np.zeros(6)}
    assert predicate.mask(columns).tolist() == [False, False, False, True, False, False]
    assert predicate.mask(pd.DataFrame(columns)).tolist() == predicate.mask(columns).tolist()


@pytest.mark.parametrize(
    ("operator", "value", "words"),
    [
        ("=", 1, "'=' is not an operator"),
        ("==", None, "None"),
        ("==", float("nan"), "nan"),
        ("==", b"x", "b'x'"),
        ("<", True, "no order"),
        ("==", 2**63, "64 bits"),
    ],
)
def test_invalid_comparisons_are_refused(operator, value, words):
    with pytest.raises(InvalidSelectionError, match=words):
        Comparison("a", operator, value)


def test_scalars_of_numpy_are_constants():
    assert Comparison("a", "==", np.int32(3)) == Comparison("a", "==", 3)


@pytest.mark.parametrize(
    ("values", "value"),
    [
        (np.array([1, 2]), "1"),
        (np.array([True, False]), 1),
        (pd.Series(["a", "b"]), 1),
        (pd.Series(pd.to_datetime(["2024-01-01"])), "2024-01-01"),
    ],
)
def test_values_of_another_type_than_the_constant_are_refused(values, value):
    with pytest.raises(InvalidSelectionError, match="column 'a' contains"):
        Comparison("a", "==", value).mask(values)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_times_of_a_unit_compare_as_with_the_given_constant(operator, unit):
    column = pd.DatetimeIndex(["1969-12-31 23:59:59", "2000-01-01", "2000-01-01 00:00:01"]).as_unit(unit)
    low, high = (
        datetime.datetime.combine(datetime.date(*day), datetime.time())
        for day in ((1678, 1, 1), (2262, 1, 1))
    )
    for text in (
        "2000-01-01",
        "2000-01-01 00:00:00.000001",
        "2000-01-01 00:00:00.999",
        "1969-12-31",
        "0001-01-01",
        "9999-12-31 23:59:59.999999",
    ):
        given = Comparison("at", operator, datetime.datetime.fromisoformat(text))
        found = given.among_times(unit, low, high)
        assert low <= found.value <= high
        assert pd.Timestamp(found.value).as_unit(unit) == found.value
        assert found.mask(column).tolist() == given.mask(column).tolist()
    with pytest.raises(TypeError, match="is not a time"):
        Comparison("at", operator, 1).among_times(unit, low, high)


DECIMALS = [Decimal("-9.99"), Decimal("-0.10"), Decimal("0.20"), Decimal("9.99")]


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize(
    "value", [0, 0.2, 0.1999, -0.1, 1e300, -10, Decimal("0.2000"), Decimal("9.991"), Decimal("1e-40")]
)
def test_decimals_compare_with_the_decimal_that_is_written(operator, value):
    found = Comparison("a", operator, value).among_decimals(3, 2)
    assert found.value.as_tuple().exponent == -2
    assert abs(found.value) <= Decimal("9.99")
    # Floats are written with the digits that their decimals have.
    wanted = [OPERATORS[operator](each, Decimal(str(value))) for each in DECIMALS]
    assert found.mask(pd.Series(DECIMALS)).tolist() == wanted


@pytest.mark.parametrize("digits", [38, 60])
def test_long_decimals_are_not_rounded(digits):
    found = Comparison("a", "==", Decimal(10**digits - 1)).among_decimals(digits, 0)
    assert found.value == Decimal(10**digits - 1)
    with pytest.raises(TypeError, match="is not a number"):
        Comparison("a", "==", "1").among_decimals(digits, 0)


@pytest.mark.parametrize("text", ["NaN", "Infinity"])
def test_constants_are_finite_decimals(text):
    with pytest.raises(InvalidSelectionError, match="column 'a' is compared with Decimal"):
        Comparison("a", "==", Decimal(text))


def test_a_predicate_without_comparisons_is_refused():
    with pytest.raises(InvalidSelectionError, match="at least one"):
        Predicate([])


def test_bounds_of_slices():
    assert bounds(slice(None)) == (0, None)
    assert bounds(slice(2, 5, 1)) == (2, 5)
    assert bounds(slice(np.int64(7), 3)) == (7, 7)
    for rows in (slice(None, None, -1), slice(-1, None), slice(0, 2.5), slice("a", "b"), [1, 2]):
        with pytest.raises(InvalidSelectionError):
            bounds(rows)
