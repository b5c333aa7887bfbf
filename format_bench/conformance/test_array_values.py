"""Values and properties of arrays come back as they were saved, or are declared lost."""

from __future__ import annotations

import numpy as np
import pytest

from adapter_core import CannotHoldError
from adapter_core.array_source import ArraySource
from adapter_core.array_store import Property
from data_generator.synthetic.edge_case_arrays import DTYPES, SHAPES, described, values
from format_bench.conformance.arrays import a_dtype_of, difference, smooth


def test_every_declared_dtype_is_kept_and_no_other_is_taken(store, path):
    for dtype in DTYPES:
        saved = values((3, 8, 12), dtype)
        if dtype not in store.dtypes:
            with pytest.raises(CannotHoldError, match=dtype):
                store.save(saved, path, (1, 8, 12))
            continue
        store.save(saved, path, (1, 8, 12))
        assert not difference(store, saved, store.read(path))


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_and_ragged_chunks(store, name, path):
    shape, chunks = SHAPES[name]
    saved = values(shape, a_dtype_of(store))
    if len(shape) not in store.dims_range:
        with pytest.raises(CannotHoldError, match="dimensions"):
            store.save(saved, path, chunks)
        return
    try:
        store.save(saved, path, chunks)
    except CannotHoldError:
        return
    with store.open(path) as reader:
        assert reader.shape == shape
        assert reader.dtype == saved.dtype
        assert not difference(store, saved, reader.read())
        if Property.CHUNKS in store.keeps and name != "chunk larger than the array":
            assert reader.chunks == chunks


def test_an_array_without_values_is_kept_or_refused(store, path):
    dtype = a_dtype_of(store)
    for shape in ((0, 8, 12), (3, 0, 12)):
        if not store.holds_empty:
            with pytest.raises(CannotHoldError, match="no values"):
                store.save(np.empty(shape, dtype), path, (1, 8, 12))
            continue
        store.save(np.empty(shape, dtype), path, (1, 8, 12))
        assert store.read(path).shape == shape
        assert store.read(path).dtype == dtype


def test_order_in_memory_does_not_matter(store, path):
    saved = values((4, 8, 12), a_dtype_of(store))
    twice = np.repeat(saved, 2, axis=2)
    for array in (np.asfortranarray(saved), saved[::-1], twice[:, :, ::2], saved.transpose(0, 2, 1)):
        store.save(array, path, (1, *array.shape[1:]))
        assert not difference(store, array, store.read(path))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats_come_back_bit_for_bit(store, dtype, path):
    if dtype not in store.dtypes or store.error:
        pytest.skip(f"{store.label} does not keep {dtype} exactly, as it declares")
    special = np.array([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf, 1e-45, 1.5], dtype)
    bits = np.concatenate([special] * 12).view(f"u{np.dtype(dtype).itemsize}").reshape(1, 8, 12)
    bits[0, 3, :3] = np.array([np.nan], dtype).view(bits.dtype) + np.array([1, 77, 12345], bits.dtype)
    saved = bits.view(dtype)
    store.save(saved, path, (1, 8, 12))
    found = store.read(path)
    if not store.keeps_nan_bits:
        assert np.array_equal(np.isnan(found), np.isnan(saved))
        found = np.where(np.isnan(saved), saved, found)
    assert np.array_equal(found.view(bits.dtype), bits)


def test_a_constant_array_is_written(store, path):
    saved = np.zeros((4, 24, 32), a_dtype_of(store))
    store.save(saved, path, (1, 24, 32))
    assert not difference(store, saved, store.read(path))
    assert store.size_bytes(path) >= (0.4 if store.error else 0.9) * saved.nbytes


def test_properties_come_back_unless_declared_lost(store, path):
    assert store.keeps.isdisjoint(store.loses)
    assert store.keeps | store.loses.keys() == set(Property)
    facts = described()
    saved = smooth(a_dtype_of(store)).read((slice(0, 4), slice(0, 24), slice(0, 32)))
    store.save(ArraySource.of(saved, (1, 24, 32), **facts), path)
    with store.open(path) as reader:
        found = reader.description
        if Property.NAME in store.keeps:
            assert found.name == facts["name"]
        if Property.DIMS in store.keeps:
            assert found.dims == facts["dims"]
        if Property.ATTRIBUTES in store.keeps:
            assert dict(reader.attributes) == facts["attributes"]
            assert {name: type(each) for name, each in reader.attributes.items()} == {
                name: type(each) for name, each in facts["attributes"].items()
            }
        if Property.COORDINATES in store.keeps:
            assert reader.coordinates.keys() == facts["coordinates"].keys()
            for name, expected in facts["coordinates"].items():
                assert reader.coordinates[name].dtype == expected.dtype
                np.testing.assert_array_equal(reader.coordinates[name], expected)
        if Property.COORDINATE_ATTRIBUTES in store.keeps:
            of_coordinates = {name: dict(each) for name, each in reader.coordinate_attributes.items()}
            expected = facts["coordinate_attributes"]
            assert {name: each for name, each in of_coordinates.items() if each} == expected


def test_coordinates_of_every_dtype_come_back_or_are_refused(store, path):
    saved = values((3, 8, 12), a_dtype_of(store))
    for dtype in DTYPES:
        line = values((3,), dtype)
        if line.dtype.kind == "c":
            line = line * (1 - 2j)
        coordinates = {"time": line}
        dims = ("time", "latitude", "longitude")
        try:
            store.save(ArraySource.of(saved, (1, 8, 12), dims=dims, coordinates=coordinates), path)
        except CannotHoldError:
            continue
        if Property.COORDINATES in store.keeps:
            with store.open(path) as reader:
                found = reader.coordinates["time"]
                assert (found.dtype, found.tobytes()) == (line.dtype, line.tobytes())


def test_other_values_are_refused_before_anything_is_written(store, path):
    for array in (
        np.array(["a"]),
        np.array([None]),
        np.array(["2024-01-01"], "M8[s]"),
        np.array([1.0], ">f4" if np.little_endian else "<f4"),
        np.array([(1, 2.0)], "i4,f8"),
    ):
        with pytest.raises(CannotHoldError, match=store.label.partition("[")[0]):
            store.save(array, path)
    assert not list(path.parent.iterdir())
