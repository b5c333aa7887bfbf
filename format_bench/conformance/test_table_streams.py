"""Tables from batches of rows: all or nothing of them is in the file."""

from __future__ import annotations

import datetime

import pandas as pd
import pytest

from adapter_core import CannotHoldError, Streams, UnsupportedError
from format_bench.conformance.tables import ordinary, partitions
from format_bench.verification.tables import verify


@pytest.fixture
def streaming(adapter):
    """Skip a test of formats that write no batches, which the first test shows."""
    if not isinstance(adapter, Streams):
        pytest.skip("it writes no batches")


def test_a_table_is_written_from_batches(adapter, path):
    if not isinstance(adapter, Streams):
        with pytest.raises(UnsupportedError, match="no streamed writes: it writes whole tables only"):
            adapter.save_batches(iter(partitions()), path)
        return
    frames = partitions()
    adapter.save_batches(iter(frames), path)
    whole = pd.concat(frames, ignore_index=True)
    read = adapter.read(path)
    if not adapter.keeps_order_of_batches:
        whole, read = (each.sort_values(["whole", "real"], ignore_index=True) for each in (whole, read))
    assert verify(whole, read, *adapter.kept).errors == ()
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.usefixtures("streaming")
def test_categories_of_several_batches_come_back_or_are_refused(adapter, path):
    kinds = (["a", None, "b"], ["b", "a", "a"], [None, None, "b"])
    frames = [
        pd.DataFrame({"row": [3 * n, 3 * n + 1, 3 * n + 2], "kind": each})
        for n, each in enumerate(kinds)
    ]
    frames = [each.astype({"kind": pd.CategoricalDtype(["a", "b"])}) for each in frames]
    try:
        adapter.save_batches(iter(frames), path)
    except CannotHoldError as error:
        assert "categories" in str(error)
        assert list(path.parent.iterdir()) == []
        return
    whole = pd.concat(frames, ignore_index=True)
    read = adapter.read(path).sort_values("row", ignore_index=True)
    assert verify(whole, read, *adapter.kept).errors == ()


@pytest.mark.usefixtures("streaming")
def test_a_column_without_a_type_in_the_first_batch_is_refused(adapter, path):
    day = datetime.date(2026, 2, 28)
    frames = [
        pd.DataFrame({"row": [1, 2], "day": each}, dtype="object") for each in ([None] * 2, [day] * 2)
    ]
    frames = [each.astype({"row": "int64"}) for each in frames]
    with pytest.raises(CannotHoldError):
        adapter.save_batches(iter(frames), path)
    assert list(path.parent.iterdir()) == []


@pytest.mark.usefixtures("streaming")
def test_batches_of_other_columns_leave_an_earlier_file(adapter, path):
    adapter.save(ordinary(), path)
    with pytest.raises(CannotHoldError, match="batch"):
        adapter.save_batches(iter([ordinary(), ordinary()[["word"]]]), path)
    with pytest.raises(CannotHoldError, match="batch"):
        adapter.save_batches(iter([]), path)
    assert len(adapter.read(path)) == 4
    assert list(path.parent.iterdir()) == [path]
