"""Errors of floats that came back changed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as of_numpy

from format_bench.verification.arrays import Errors


def errors_of(*parts):
    found = Errors()
    for saved, read in parts:
        found.add(np.asarray(saved, "float64"), np.asarray(read, "float64"))
    return found


def test_errors_of_known_arrays():
    saved = np.array([[1.0, 2.0, 4.0], [0.0, -4.0, 2.0]])
    read = np.array([[1.1, 2.0, 4.0], [0.0, -4.5, 2.0]])
    found = errors_of((saved[:1], read[:1]), (saved[1:], read[1:])).by_metric()
    assert found["greatest absolute error"] == pytest.approx(0.5)
    assert found["greatest relative error"] == pytest.approx(0.125)
    assert found["error of the mean"] == pytest.approx(0.4 / 6 / 8)
    assert found["error of extremes"] == pytest.approx(0.5 / 8)
    # Differences 1, 2, -4, 6, of which three change, by -0.1, -0.5 and 0.5.
    assert found["error of gradients"] == pytest.approx(math.sqrt(0.51 / 57))
    assert found["changed special values"] == 0


def test_special_values_that_changed_are_counted_and_no_others():
    saved = [np.nan, np.inf, -np.inf, 1.0, np.nan, np.inf, 2.0]
    read = [np.nan, np.inf, np.inf, np.nan, 0.0, np.inf, 2.0]
    found = errors_of((saved, read)).by_metric()
    assert found.pop("changed special values") == 3
    assert set(found.values()) == {0.0}


def test_equal_arrays_have_no_errors_and_nothing_is_no_array():
    values = np.linspace(-3, 5, 60).reshape(3, 4, 5)
    assert set(errors_of((values, values)).by_metric().values()) == {0.0}
    assert set(errors_of(([], [])).by_metric().values()) == {0.0}


@given(of_numpy.arrays("float64", st.just((2, 6))))
@example(np.array([[2e-311] * 6, [1.0] * 6]))
@example(np.array([[3.5e-157, *[0.0] * 5], [1.0, *[0.0] * 5]]))
@example(np.array([[5e-324, *[0.0] * 5], [1.0, *[0.0] * 5]]))
def test_errors_of_any_floats_are_finite(values):
    found = errors_of((values[0], values[1])).by_metric()
    assert all(math.isfinite(each) and each >= 0 for each in found.values()), found
