"""Tables in partitions and from batches: written piece by piece, and never taken for whole too early."""

from __future__ import annotations

import pandas as pd
import pytest

from adapter_core import CannotHoldError, Feature, UnknownNameError, UnsupportedError
from adapter_core.errors import IncompleteTableError
from format_bench.conformance.tables import ordinary
from format_bench.verification.tables import verify


def _partitions() -> list[pd.DataFrame]:
    """Return three tables of the same columns, shape (4, 4) each."""
    return [ordinary().assign(whole=[number, 2, 3, 4]) for number in range(3)]


def test_partitions_written_in_any_order_come_back_in_theirs(adapter, path):
    frames = _partitions()
    table = adapter.partitioned(path)
    table.create()
    written = {number: table.write(number, frames[number]) for number in (2, 0, 1)}
    table.write(1, frames[1])  # as after the death of a worker
    table.commit([written[number] for number in range(3)])
    pieces = adapter.partitioned(path).pieces()
    assert [piece.rows for piece in pieces] == [4, 4, 4]
    for frame, piece in zip(frames, pieces, strict=True):
        assert verify(frame, table.read(piece), *adapter.kept).errors == ()
        assert table.count(piece) == 4
    if Feature.COLUMNS in adapter.supports:
        assert list(table.read(pieces[2], ["real", "whole"])) == ["real", "whole"]
        with pytest.raises(UnknownNameError):
            table.read(pieces[0], ["none"])
    else:
        with pytest.raises(UnsupportedError):
            table.read(pieces[0], ["real"])


def test_partitions_without_a_commit_are_no_table(adapter, path):
    table = adapter.partitioned(path)
    table.create()
    table.write(0, ordinary())
    with pytest.raises(IncompleteTableError):
        table.pieces()
    with pytest.raises(FileExistsError):
        adapter.partitioned(path).create()
    table.remove()
    assert list(path.parent.iterdir()) == []


def test_a_table_is_written_from_batches(adapter, path):
    if Feature.STREAMS not in adapter.supports:
        with pytest.raises(UnsupportedError):
            adapter.save_batches(iter(_partitions()), path)
        return
    frames = _partitions()
    adapter.save_batches(iter(frames), path)
    whole = pd.concat(frames, ignore_index=True)
    read = adapter.read(path)
    if not adapter.keeps_order_of_batches:
        whole, read = (each.sort_values(["whole", "real"], ignore_index=True) for each in (whole, read))
    assert verify(whole, read, *adapter.kept).errors == ()
    assert list(path.parent.iterdir()) == [path]


def test_batches_of_other_columns_leave_an_earlier_file(adapter, path):
    if Feature.STREAMS not in adapter.supports:
        pytest.skip(f"{adapter.label} has no {Feature.STREAMS}")
    adapter.save(ordinary(), path)
    with pytest.raises(CannotHoldError, match="batch"):
        adapter.save_batches(iter([ordinary(), ordinary()[["word"]]]), path)
    with pytest.raises(CannotHoldError, match="batch"):
        adapter.save_batches(iter([]), path)
    assert len(adapter.read(path)) == 4
    assert list(path.parent.iterdir()) == [path]


def test_rows_are_counted(adapter, path):
    adapter.save(ordinary(), path)
    assert adapter.count_rows(path) == 4
    with pytest.raises(FileNotFoundError):
        adapter.count_rows(path.with_name("none"))
