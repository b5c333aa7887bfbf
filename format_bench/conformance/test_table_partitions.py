"""Tables in partitions: written piece by piece, and never taken for whole before the commit."""

from __future__ import annotations

import pytest

from adapter_core import ColumnReads, UnknownNameError, UnsupportedError
from adapter_core.errors import IncompleteError
from format_bench.conformance.tables import ordinary, partitions
from format_bench.verification.tables import verify


def test_partitions_written_in_any_order_come_back_in_theirs(adapter, path):
    frames = partitions()
    table = adapter.partitioned(path)
    table.create()
    written = {number: table.write(number, frames[number]) for number in (2, 0, 1)}
    # As after the death of a worker: a file written again may be a byte longer, by the time in it.
    written[1] = table.write(1, frames[1])
    table.commit([written[number] for number in range(3)])
    pieces = adapter.partitioned(path).pieces()
    assert [piece.rows for piece in pieces] == [4, 4, 4]
    for frame, piece in zip(frames, pieces, strict=True):
        assert verify(frame, table.read(piece), *adapter.kept).errors == ()
        assert table.count(piece) == 4
    if isinstance(adapter, ColumnReads):
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
    with pytest.raises(IncompleteError):
        table.pieces()
    with pytest.raises(FileExistsError):
        adapter.partitioned(path).create()
    table.remove()
    assert list(path.parent.iterdir()) == []


def test_rows_are_counted(adapter, path):
    adapter.save(ordinary(), path)
    assert adapter.count_rows(path) == 4
    with pytest.raises(FileNotFoundError):
        adapter.count_rows(path.with_name("none"))
