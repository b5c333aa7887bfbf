"""Random tables: each comes back right, or is refused before anything is written."""

from __future__ import annotations

import pytest

pytest.importorskip("hypothesis")

from hypothesis import HealthCheck, given, note, settings

from adapter_core import CannotHoldError
from adapter_core.kinds import Kind
from format_bench.conformance.strategies import tables
from format_bench.verification.tables import verify


def test_a_random_table_comes_back_right_or_is_refused(adapter, path, request, share_of):
    accepted = frozenset(Kind) - set(adapter.refuses)
    number = request.config.getoption("--random-tables")

    @settings(
        max_examples=number or len(share_of(range(10))),
        derandomize=number is None,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(tables(accepted))
    def comes_back_right_or_is_refused(df):
        note(f"columns {dict(zip(df.columns, df.dtypes, strict=True))}")
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

    comes_back_right_or_is_refused()
