"""Partial reads of arrays, streaming saves, appending."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest

from adapter_core import CannotHoldError, Trait, UnsupportedError
from adapter_core.array_source import ArraySource, chunk_selections
from adapter_core.array_store import Property
from data_generator.synthetic.edge_case_arrays import values
from format_bench.conformance.arrays import a_dtype_of, difference

CHUNKS_IN_MEMORY = 16
"""Chunks that a save may keep at a time: a store may fill shards, or compress in parallel."""


def test_hyperrectangles_agree_with_numpy(store, path):
    shape, chunks = (6, 9, 16), (2, 4, 16)
    if store.error:
        pytest.skip("values change, so that parts are compared with the whole in the next test")
    saved = values(shape, a_dtype_of(store))
    store.save(saved, path, chunks)
    random = np.random.default_rng(5)
    with store.open(path) as reader:
        for _ in range(25):
            corners = (sorted(random.integers(0, edge + 1, 2).tolist()) for edge in shape)
            selection = tuple(slice(*corner) for corner in corners)
            found = reader.read(selection)
            np.testing.assert_array_equal(found, saved[selection])
            assert found.dtype == saved.dtype
        np.testing.assert_array_equal(reader.read((slice(1, 3),)), saved[1:3])
        np.testing.assert_array_equal(reader.read((slice(-2, None), slice(None, 4))), saved[-2:, :4])


def test_chunks_in_any_order_are_parts_of_the_whole(store, path):
    saved = values((5, 8, 12), a_dtype_of(store))
    store.save(saved, path, (2, 8, 12))
    whole = np.array(store.read(path))
    with store.open(path) as reader:
        for selection in reversed(list(chunk_selections(whole.shape, (2, 8, 12)))):
            np.testing.assert_array_equal(reader.read(selection), whole[selection])


def test_a_selection_has_no_steps_and_not_too_many_slices(store, path):
    store.save(values((3, 8, 12), a_dtype_of(store)), path)
    with store.open(path) as reader:
        with pytest.raises(IndexError, match="steps"):
            reader.read((slice(0, 3, 2),))
        with pytest.raises(IndexError, match="4 slices"):
            reader.read((slice(None),) * 4)


def test_values_outlive_the_reader_and_the_file(store, path):
    saved = values((3, 8, 12), a_dtype_of(store))
    store.save(saved, path, (1, 8, 12))
    whole = np.array(store.read(path))
    with store.open(path) as reader:
        found, part = reader.read(), reader.read((slice(1, 2), slice(2, 5)))
    reader.close()
    store.remove(path)
    np.testing.assert_array_equal(found, whole)
    np.testing.assert_array_equal(part, whole[1:2, 2:5])


def test_a_save_requests_each_chunk_once_in_order_and_keeps_few(store, path):
    shape, chunks = (64, 8, 12), (1, 8, 12)
    asked, alive, most = [], weakref.WeakSet(), 0

    class Values(np.ndarray):
        """Arrays do not hash, and a set of weak references needs that."""

        __hash__ = object.__hash__

    def read(selection):
        nonlocal most
        asked.append(selection)
        made = values((1, 8, 12), dtype).view(Values)
        alive.add(made)
        most = max(most, len(alive))
        return made

    dtype = a_dtype_of(store)
    gc.collect()
    store.save(ArraySource(shape, np.dtype(dtype), chunks, read), path)
    assert asked == list(chunk_selections(shape, chunks))
    assert most <= CHUNKS_IN_MEMORY
    with store.open(path) as reader:
        assert reader.shape == shape


def test_appending(store, path):
    dtype = a_dtype_of(store)
    dims = ("time", "y", "x")
    source = ArraySource.of(
        values((6, 8, 12), dtype),
        (2, 8, 12),
        dims=dims,
        attributes={"units": "K"},
        coordinates={"time": np.arange(6.0), "y": np.arange(8)},
        coordinate_attributes={"time": {"units": "days since 2000-01-01"}},
    )
    first = _part(source, 0, 4)
    store.save(first, path)
    if Trait.APPEND not in (store.traits or ()):
        with pytest.raises(UnsupportedError, match="cannot append"):
            store.append(_part(source, 4, 6), path)
        return
    before = store.codec_used(path)
    store.append(_part(source, 4, 6), path)
    with store.open(path) as reader:
        assert not difference(store, source.read(_rows(0, 6)), reader.read())
        if Property.COORDINATES in store.keeps:
            np.testing.assert_array_equal(reader.coordinates["time"], np.arange(6.0))
            np.testing.assert_array_equal(reader.coordinates["y"], np.arange(8))
        if Property.ATTRIBUTES in store.keeps:
            assert dict(reader.attributes) == {"units": "K"}
        if Property.COORDINATE_ATTRIBUTES in store.keeps:
            assert reader.coordinate_attributes["time"] == {"units": "days since 2000-01-01"}
    assert store.codec_used(path) == before
    store.append(values((1, 8, 12), dtype), path)
    with pytest.raises(CannotHoldError, match="not whole"):
        store.append(values((1, 8, 12), dtype), path)
    assert store.read(path).shape == (7, 8, 12)


def test_appending_another_shape_is_refused(store, path):
    if Trait.APPEND not in (store.traits or ()):
        pytest.skip("it cannot append, which another test shows")
    dtype = a_dtype_of(store)
    store.save(values((2, 8, 12), dtype), path)
    with pytest.raises(CannotHoldError, match="cannot follow"):
        store.append(values((2, 8, 11), dtype), path)


def _rows(start, stop):
    return slice(start, stop), slice(0, 8), slice(0, 12)


def _part(source, start, stop):
    """Return some steps of a source, with their coordinates."""
    array = source.read(_rows(start, stop))
    coordinates = {**source.coordinates, "time": source.coordinates["time"][start:stop]}
    return replace(
        ArraySource.of(array, source.chunks, dims=source.dims),
        attributes=source.attributes,
        coordinates=coordinates,
        coordinate_attributes=source.coordinate_attributes,
    )
