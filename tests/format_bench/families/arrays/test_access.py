"""Orders in which chunks of an array are read."""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
import pytest

import array_stores
from adapter_core.array_description import Description
from adapter_core.array_reader import ArrayReader
from adapter_core.array_source import ArraySource, chunk_selections, shape_of
from format_bench.families.arrays import access
from format_bench.families.arrays.access import (
    PARTITION_CHUNKS,
    Pattern,
    loader_seconds_per_chunk,
    read_in_order,
)

SHAPE, CHUNKS = (40, 6, 5), (1, 6, 5)


class Recorder(ArrayReader):
    """An open array that records the selections read from it."""

    def __init__(self, shape=SHAPE, chunks=CHUNKS):
        super().__init__(Description(shape, np.dtype("float32"), chunks))
        self.read_selections = []

    def _read(self, selection):
        self.read_selections.append(selection)
        return np.zeros(shape_of(selection), "float32")


def reads(shape=SHAPE, chunks=CHUNKS, *, turn=0, budget_seconds=60.0, **kind):
    reader = Recorder(shape, chunks)
    assert Pattern(**kind).seconds_per_chunk(reader, chunks, turn, budget_seconds) > 0
    return reader.read_selections


def values_read(selections, shape):
    """Count how often each value was read."""
    counts = np.zeros(shape, int)
    for selection in selections:
        counts[selection] += 1
    return counts


def test_in_order_is_c_order_of_the_grid():
    reader = Recorder((3, 4), (2, 3))
    assert read_in_order(reader, (2, 3)) == 4
    assert reader.read_selections == list(chunk_selections((3, 4), (2, 3)))


@pytest.mark.parametrize("shape", [SHAPE, (7, 6, 9)])
@pytest.mark.parametrize("partitioned", [False, True])
@pytest.mark.parametrize("shuffled", [False, True])
def test_every_pattern_reads_every_value_once(shape, partitioned, shuffled):
    found = reads(partitioned=partitioned, shuffled=shuffled, shape=shape, chunks=(1, 6, 5))
    assert (values_read(found, shape) == 1).all()


def test_random_chunks_come_in_another_order_in_each_turn():
    turns = [reads(partitioned=False, shuffled=True, turn=turn) for turn in range(3)]
    in_order = list(chunk_selections(SHAPE, CHUNKS))
    assert all(turn != in_order for turn in turns)
    assert turns[0] != turns[1] != turns[2]
    assert reads(partitioned=False, shuffled=True, turn=1) == turns[1]


def test_partitions_are_neighbouring_chunks():
    found = reads(partitioned=True, shuffled=False)
    assert [each[0].stop - each[0].start for each in found] == [PARTITION_CHUNKS, PARTITION_CHUNKS, 8]
    assert [each[0].start for each in found] == [0, 16, 32]
    at_random = reads(partitioned=True, shuffled=True, turn=2)
    assert at_random != found
    assert Counter(map(str, at_random)) == Counter(map(str, found))


def test_a_partition_has_whole_rows_of_chunks():
    found = reads(partitioned=True, shuffled=False, shape=(12, 6, 30), chunks=(1, 6, 5))
    assert {shape_of(each)[1:] for each in found} == {(6, 30)}
    assert shape_of(found[0]) == (3, 6, 30)  # 18 chunks, the first multiple of 6 from 16 on


def test_a_turn_ends_with_its_budget():
    assert len(reads(partitioned=False, shuffled=True, budget_seconds=0.0)) == 1


def test_workers_load_every_chunk(tmp_path):
    store = array_stores.get("NPY")
    path = tmp_path / "a.npys"
    array = np.arange(11 * 6 * 5, dtype="float32").reshape(11, 6, 5)
    store.save(ArraySource.of(array, (2, 6, 5)), path)
    assert 0 < loader_seconds_per_chunk("NPY", path, (2, 6, 5), 0, 60.0) < 60


def test_a_worker_without_a_chunk_may_have_ended_before_others_begin(tmp_path, monkeypatch):
    store = array_stores.get("NPY")
    path = tmp_path / "a.npys"
    store.save(ArraySource.of(np.ones((6, 6, 5), "float32"), (6, 6, 5)), path)
    begin = access._Worker.start_loading
    monkeypatch.setattr(access, "worker_count", lambda: 2)
    monkeypatch.setattr(access._Worker, "start_loading", lambda worker: (time.sleep(0.5), begin(worker)))
    assert loader_seconds_per_chunk("NPY", path, (6, 6, 5), 0, 60.0) > 0


def test_a_failing_worker_is_an_error(tmp_path):
    store = array_stores.get("NPY")
    path = tmp_path / "a.npys"
    store.save(ArraySource.of(np.ones((6, 6, 5), "float32"), (1, 6, 5)), path)
    (path / "3.0.0.npy").unlink()
    with pytest.raises(RuntimeError, match=r"a worker failed: FileNotFoundError.*3\.0\.0\.npy"):
        loader_seconds_per_chunk("NPY", path, (1, 6, 5), 0, 60.0)
