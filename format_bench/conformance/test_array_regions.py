"""Arrays in regions: written by several processes, and never taken for whole too early."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from adapter_core import ArraySource
from adapter_core.array_description import Description
from adapter_core.errors import IncompleteError
from adapter_core.partitioned_arrays import regions_of
from data_generator.synthetic.edge_case_arrays import values
from format_bench.conformance.arrays import a_dtype_of, difference


def _source(store) -> ArraySource:
    """Return an array of seven steps of two chunks each."""
    return ArraySource.of(values((7, 8, 12), a_dtype_of(store)), (2, 4, 12))


def test_regions_written_in_any_order_are_an_array(store, path):
    source = _source(store)
    array = store.partitioned(path)
    array.create(source)
    unit = array.unit(Description.of(source))
    regions = regions_of(7, unit, 3)
    written = {}
    for number in [*reversed(range(len(regions))), 0]:  # the first again, as after the death of a worker
        worker, region = pickle.loads(pickle.dumps((array, regions[number])))
        made = np.ascontiguousarray(source.read(region.selection(source.shape)))
        written[number] = pickle.loads(pickle.dumps(worker.write(region, made)))
    with pytest.raises(IncompleteError, match="does not exist"):
        store.partitioned(path).regions(3)
    with pytest.raises(FileNotFoundError):
        store.open(path)
    array.commit([written[number] for number in range(len(regions))])
    assert list(path.parent.iterdir()) == [path]
    again = store.partitioned(path)
    read = [again.read(region) for region in again.regions(3)]
    assert [len(each) for each in read] == [region.stop - region.start for region in regions]
    saved = source.read(tuple(slice(0, edge) for edge in source.shape))
    assert not difference(store, saved, np.concatenate(read))


def test_regions_without_a_commit_are_no_array(store, path):
    source = _source(store)
    array = store.partitioned(path)
    array.create(source)
    regions = regions_of(7, array.unit(Description.of(source)), 2)
    written = array.write(regions[-1], source.read(regions[-1].selection(source.shape)))
    if len(regions) > 1:
        with pytest.raises(IncompleteError, match="the region from 0 on is missing"):
            array.commit([written])
    with pytest.raises(FileExistsError):
        store.partitioned(path).create(source)
    array.remove()
    assert list(path.parent.iterdir()) == []
