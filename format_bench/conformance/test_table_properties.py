"""Random tables, short and long: each comes back right, or is refused before anything is written."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("hypothesis")

from hypothesis import note
from hypothesis import strategies as st

from adapter_core import CannotHoldError
from adapter_core.kinds import Kind
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
