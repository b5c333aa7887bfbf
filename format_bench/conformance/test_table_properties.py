"""Random tables, short and long: each comes back right, or is refused before anything is written.

Random parts of them are parts of the table that is read as a whole.
"""

from __future__ import annotations

import math
import random

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("hypothesis")

from hypothesis import note
from hypothesis import strategies as st

from adapter_core import CannotHoldError, Comparison, Feature, Predicate
from adapter_core.kinds import Kind
from adapter_core.predicate import BOOLEANS, NUMBERS, OPERATORS, TEXT, contents_of
from format_bench.conformance.strategies import tables, try_values
from format_bench.verification.tables import verify

# More than a page of TsFile, a batch and a row group of most formats, and the sample of most readers.
LONG = [2_049, 10_001, 66_000]


def _comes_back_right_or_is_refused(df, adapter, path):
    note(f"{len(df)} rows, columns {dict(zip(df.columns, df.dtypes, strict=True))}")
    untouched = df.copy(deep=True)
    try:
        adapter.save(df, path)
    except CannotHoldError:
        assert list(path.parent.iterdir()) == []
        return
    read = adapter.read(path)
    adapter.remove(path)
    assert verify(df, read, *adapter.kept).errors == ()
    assert verify(untouched, df).exact


def test_a_random_table_comes_back_right_or_is_refused(adapter, path, request, share_of):
    drawn = tables(frozenset(Kind) - set(adapter.refuses))
    examples = len(share_of(range(10)))
    try_values(examples, drawn, lambda df: _comes_back_right_or_is_refused(df, adapter, path), request)


@st.composite
def long_tables(draw, kinds):
    """Draw a table of few different rows: in blocks, in turns, or all but one of them at the end."""
    df = draw(tables(kinds).filter(len))
    few, rows = len(df), draw(st.sampled_from(LONG))
    places = draw(
        st.sampled_from(
            [
                np.arange(rows) * few // rows,
                np.arange(rows) % few,
                np.maximum(np.arange(rows) - rows + few, 0),
            ]
        )
    )
    return df.iloc[places].reset_index(drop=True)


@pytest.mark.nightly
def test_a_long_random_table_comes_back_right_or_is_refused(adapter, path, request):
    drawn = long_tables(frozenset(Kind) - set(adapter.refuses))
    try_values(8, drawn, lambda df: _comes_back_right_or_is_refused(df, adapter, path), request)


PARTS = {Feature.COLUMNS, Feature.ROWS, Feature.FILTER, Feature.BATCHES}

CONSTANTS = {
    NUMBERS: [0, -0.0, 0.1, 0.5, 300, 2**53 + 1, -(2**63), 1e300, math.inf, -math.inf],
    TEXT: ["", "a", "\U0010ffff", "'", "007"],
    BOOLEANS: [True, False],
}


def _comparison(column, rng):
    """Return a comparison of a column with one of its values, or with another constant."""
    contents = contents_of(column)
    values = [each for each in column.dropna() if each == each]  # noqa: PLR0124 (NaN)
    value = rng.choice(values if values and rng.random() < 0.7 else CONSTANTS[contents])
    if contents == NUMBERS and value >= 2**63:
        value = float(value)
    operators = ["==", "!="] if contents == BOOLEANS else list(OPERATORS)
    return Comparison(column.name, rng.choice(operators), value)


def _assert_equal(found, expected):
    # The categories of a part may be fewer.
    expected = expected.reset_index(drop=True)
    pd.testing.assert_frame_equal(found, expected, check_categorical=False)


def _check_a_part(adapter, path, whole, rng):
    columns, expected, rows = None, whole, len(whole)
    if Feature.COLUMNS in adapter.supports and rng.random() < 0.5:
        columns = rng.sample(list(whole.columns), rng.randint(1, len(whole.columns)))
        expected = whole[columns]
    match rng.choice(sorted(PARTS & adapter.supports)):
        case Feature.COLUMNS:
            _assert_equal(adapter.read(path, columns), expected)
        case Feature.ROWS:
            start = rng.randint(0, rows + 1)
            stop = rng.choice([None, rng.randint(start, rows + 2)])
            note(f"rows {start} to {stop} of {columns}")
            _assert_equal(adapter.read(path, columns, slice(start, stop)), expected.iloc[start:stop])
        case Feature.FILTER:
            # Columns without a value have other types in files.
            filled = [name for name in whole.columns if whole[name].notna().any()]
            if usable := [name for name in filled if contents_of(whole[name]) in CONSTANTS]:
                chosen = rng.choices(usable, k=rng.randint(1, 2))
                where = Predicate([_comparison(whole[name], rng) for name in chosen])
                note(f"{where} of {columns}")
                _assert_equal(adapter.read(path, columns, where), expected[where.mask(whole)])
        case Feature.BATCHES:
            size, start = rng.randint(1, rows + 1), 0
            note(f"batches of {size} rows of {columns}")
            for batch in adapter.iterate(path, columns, size):
                _assert_equal(batch, expected.iloc[start : start + len(batch)])
                start += len(batch)
            assert start == rows


def test_random_parts_are_those_of_the_whole_table(adapter, path, request, share_of):
    if not PARTS & adapter.supports:
        pytest.skip(f"{adapter.label} reads whole tables")

    def check(drawn):
        df, seed = drawn
        try:
            adapter.save(df, path)
        except CannotHoldError:
            return
        whole, rng = adapter.read(path), random.Random(seed)
        for _ in range(4):
            _check_a_part(adapter, path, whole, rng)
        adapter.remove(path)

    drawn = st.tuples(tables(frozenset(Kind) - set(adapter.refuses)), st.integers(0))
    try_values(len(share_of(range(10))), drawn, check, request)
