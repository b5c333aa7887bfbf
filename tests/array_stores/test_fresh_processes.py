"""Files with filters of HDF5, opened in a process that has saved none and so registered no filter."""

from __future__ import annotations

import multiprocessing

import numpy as np
import pytest

import array_stores
from adapter_core.array_source import ArraySource
from tests.helpers import chosen

CASES = [
    (label, codec)
    for label in chosen(array_stores, __name__)
    for codec in (None, *(each.name for each in array_stores.find(label).codecs))
    if codec in (None, "zstd", "blosc:lz4", "lz4+bitshuffle")
    and {"h5py", "netCDF4"} & set(array_stores.find(label).requires)
]


def read_all(arguments):
    label, path = arguments
    with array_stores.get(label).open(path) as reader:
        return reader.read().astype("float64").sum()


@pytest.mark.parametrize("label", sorted({label for label, _ in CASES}))
def test_another_process_reads_it(label, tmp_path):
    store = array_stores.find(label)
    if not store.availability():
        pytest.skip(store.availability().reason)
    values = np.arange(4 * 16 * 16, dtype="float32").reshape(4, 16, 16)
    places = []
    for number, codec in enumerate(codec for own, codec in CASES if own == label):
        path = tmp_path / f"{number}{store.suffix}"
        store.save(ArraySource.of(values, (1, 16, 16)), path, codec=codec)
        places.append((label, path))
    # One process for each file: opening the first one may change how the next is opened.
    with multiprocessing.get_context("spawn").Pool(2, maxtasksperchild=1) as pool:
        sums = pool.map(read_all, places, chunksize=1)
    expected = values.astype("float64").sum()
    assert all(abs(each - expected) <= (1.0 if store.error else 0.0) * values.size for each in sums)
