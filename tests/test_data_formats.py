"""The contract of table formats, for every file in data_formats/."""

from __future__ import annotations

import pandas as pd
import pytest

import data_formats
from adapter_core import CannotHold, Feature, UnknownName, Unsupported
from format_bench.verify import verify
from tests.tables import every_table, ordinary

TABLES = every_table()


@pytest.fixture(params=data_formats.names())
def adapter(request):
    found = data_formats.find(request.param)
    answer = found.availability()
    if not answer:
        pytest.skip(f"{request.param}: {answer.reason}")
    return found


@pytest.mark.parametrize("table", TABLES)
def test_a_table_comes_back_right_or_is_refused(adapter, table, tmp_path):
    df, path = TABLES[table], tmp_path / f"t{adapter.suffix}"
    untouched = df.copy(deep=True)
    try:
        adapter.save(df, path)
    except CannotHold as refusal:
        assert str(refusal).startswith(f"{adapter.label} cannot hold this table: ")
        assert list(tmp_path.iterdir()) == []
        return
    verdict = verify(df, adapter.read(path), adapter.kept_digits)
    assert verdict.errors == ()
    pd.testing.assert_frame_equal(df, untouched)
