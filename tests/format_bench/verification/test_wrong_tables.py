"""Wrong results that verifiers have to see: tables and their digests."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from format_bench.conformance.strategies import tables
from format_bench.verification import Diff
from format_bench.verification.tables import verify
from tests.factories.wrong_tables import CHANGED, WRONG, every_type

SEEDS = range(3)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_table_of_every_type_is_itself(seed):
    df = every_type(np.random.default_rng(seed))
    assert verify(df, df.copy(deep=True), kept_digits=15, kept_decimals=15) == Diff()


@pytest.mark.parametrize("mutation", WRONG)
def test_a_wrong_table_is_an_error(mutation):
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        saved = every_type(random)
        read = WRONG[mutation](saved, random)
        assert verify(saved, read).errors, seed
        if "ulp" not in mutation:
            assert verify(saved, read, kept_digits=15, kept_decimals=15).errors, seed


@pytest.mark.parametrize("mutation", CHANGED)
def test_a_changed_dtype_is_a_loss_of_its_column(mutation):
    name, change = CHANGED[mutation]
    for seed in SEEDS:
        saved = every_type(np.random.default_rng(seed))
        read = saved.copy()
        read.isetitem(saved.columns.get_loc(name), change(saved[name]))
        found = verify(saved, read)
        assert not found.errors, seed
        assert found.lost == 1, seed
        assert found.losses[0].startswith(f"column {name}: "), seed


RANDOM = settings(
    max_examples=60,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@RANDOM
@given(tables(), st.randoms(use_true_random=False))
def test_rows_of_random_tables_in_another_order_are_an_error(df, random):
    order = list(range(len(df)))
    random.shuffle(order)
    read = df.iloc[order].reset_index(drop=True)
    # The verifier's own reading of equality is not asked.
    moved = [place for place, row in enumerate(order) if _texts(df, place) != _texts(df, row)]
    found = verify(df, read)
    assert not found.losses
    assert bool(found.errors) == bool(moved)


@RANDOM
@given(tables(), st.integers(0, 3), st.integers(0, 7))
def test_a_null_for_a_random_value_is_an_error(df, place, row):
    assume(row < len(df) and place < len(df.columns))
    assume(not df.iloc[:, place].isna().iloc[row])
    column = df.iloc[:, place].astype(object)
    column.iloc[row] = None
    read = df.copy()
    read.isetitem(place, column)
    assert verify(df, read).errors


@RANDOM
@given(st.floats(allow_nan=False), st.floats(allow_nan=False), st.integers(5, 17))
def test_only_the_rounding_of_a_float_is_a_rounding(saved, read, digits):
    rounded = float(f"{saved:.{digits}g}")
    tables = [pd.DataFrame({"c": [each, 0.5]}) for each in (saved, read, rounded)]
    if not verify(tables[0], tables[1], kept_digits=digits).errors and read != saved:
        assert abs(Decimal(saved) - Decimal(read)) * 10**digits <= 10 * abs(Decimal(saved))
        assert np.signbit(saved) == np.signbit(read)
    if np.isfinite(rounded) and (rounded != 0 or saved == 0):
        assert not verify(tables[0], tables[2], kept_digits=digits).errors


def _texts(df, row):
    return [repr(df.iloc[row, place]) for place in range(len(df.columns))]
