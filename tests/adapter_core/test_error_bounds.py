"""Error bounds: texts, rounding that keeps them for every float, and the information of bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as of_numpy

from adapter_core.error_bounds import (
    BoundKind,
    ErrorBound,
    bits_for,
    exceeding,
    information_of,
    rounded,
)

ABS, REL = BoundKind.ABSOLUTE, BoundKind.RELATIVE

# Signs of zero, the ends of each width, subnormals, infinities and NaN with a sign and payloads.
SPECIAL = {
    dtype: np.array(
        [
            *(0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.5, info.max, info.min),
            *(info.tiny, float(info.tiny) * 0.6, info.smallest_subnormal, -info.smallest_subnormal),
        ],
        dtype,
    )
    for dtype, info in ((each, np.finfo(each)) for each in ("float16", "float32", "float64"))
}


@st.composite
def bounded_floats(draw):
    dtype = draw(st.sampled_from(sorted(SPECIAL)))
    values = draw(of_numpy.arrays(dtype, st.integers(0, 20)))
    kind, ends = draw(st.sampled_from([(ABS, (5e-324, 1e300)), (REL, (1e-20, 1.0))]))
    return np.concatenate([values, SPECIAL[dtype]]), ErrorBound(kind, draw(st.floats(*ends)))


@given(bounded_floats())
@example((SPECIAL["float32"], ErrorBound(REL, 1.0)))
@example((SPECIAL["float64"], ErrorBound(ABS, 5e-324)))
def test_rounding_keeps_the_bound_of_every_float(made):
    values, bound = made
    found = rounded(values, bound)
    assert (found.dtype, found.shape) == (values.dtype, values.shape)
    assert not exceeding(values, found, bound).any()
    assert np.array_equal(np.isnan(found), np.isnan(values))
    assert np.array_equal(found[np.isinf(values)], values[np.isinf(values)])
    assert np.array_equal(rounded(found, bound), found, equal_nan=True)


@given(st.floats(1e-6, 0.4), st.integers(0, 2**32 - 1))
def test_rounding_leaves_zeros_at_the_end_of_mantissas(share, seed):
    values = np.random.default_rng(seed).normal(300, 10, 100).astype("float32")
    relative, absolute = ErrorBound(REL, share), ErrorBound(ABS, 300 * share)
    for bound, step in ((relative, 2.0 ** (7 - relative.bits)), (absolute, absolute.step)):
        assert np.all(np.float64(rounded(values, bound)) % step == 0)
        assert not np.all(np.float64(values) % step == 0)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (np.nan, 0.0),
        (1.0, np.nan),
        (np.inf, 3e38),
        (np.inf, -np.inf),
        (3e38, np.inf),
        (1.0, 1.0011),
        (-1.0, 1.0),
    ],
)
def test_a_value_beyond_its_bound_is_found(before, after):
    for kind in (ABS, REL):
        values = np.array([2.0, before, 2.0], "float32")
        read = np.array([2.0, after, 2.0], "float32")
        assert exceeding(values, read, ErrorBound(kind, 1e-3)).tolist() == [False, True, False]
    assert not exceeding(np.float32([1.0]), np.float32([1.0009]), ErrorBound(kind, 1e-3)).any()


def test_zeros_and_subnormals_have_relative_bounds_of_their_own():
    values = np.array([0.0, 1e-45], "float32")
    assert exceeding(values, np.array([1e-45, 0.0], "float32"), ErrorBound(REL, 0.5)).all()
    assert not exceeding(values, np.array([1e-45, 0.0], "float32"), ErrorBound(ABS, 1e-9)).any()


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("1e-3", "abs 0.001"),
        (" ABS 0.0010 ", "abs 0.001"),
        ("rel1e-2", "rel 0.01"),
        ("range .5", "range 0.5"),
        ("bits 99%", "bits 99 %"),
        ("bits 99.5", "bits 99.5 %"),
    ],
)
def test_a_bound_has_one_text(text, same):
    assert str(ErrorBound.parse(text)) == same
    assert ErrorBound.parse(same) == ErrorBound.parse(text)


@pytest.mark.parametrize(
    "text", ["", "abs", "-1", "abs 0", "rel 2", "rel 1 %", "bits 101", "nan", "1e-3 K", "sum 1", "1e999"]
)
def test_another_text_is_refused(text):
    with pytest.raises(ValueError, match=r"write e\.g\. abs 1e-3"):
        ErrorBound.parse(text)


def test_a_narrower_bound_of_the_same_kind_is_within():
    def within(one: str, other: str) -> bool:
        return ErrorBound.parse(one).is_within(ErrorBound.parse(other))

    assert within("abs 1e-4", "abs 1e-3")
    assert not within("abs 1e-2", "abs 1e-3")
    assert not within("rel 1e-9", "abs 1e-3")
    assert within("bits 99.9", "bits 99")
    assert not within("bits 90", "bits 99")


def test_bits_with_information_are_those_that_neighbours_share():
    random = np.random.default_rng(1)
    # A walk of steps of 2**-6 of a number between 1 and 2, with noise in the bits below.
    walk = 1.5 + np.cumsum(random.integers(-1, 2, 200_000)) % 16 / 64
    noisy = (walk + random.random(200_000) * 2.0**-6).astype("float32")
    found = information_of(noisy[:-1], noisy[1:])
    assert len(found) == 32
    assert (found[15:] == 0).all()
    assert 4 <= bits_for(found, 99, 23) <= 6
    assert bits_for(found, 50, 23) < bits_for(found, 100, 23) <= 6

    noise = random.random(200_000).astype("float32") + 1
    assert bits_for(information_of(noise[:-1], noise[1:]), 99, 23) is None
