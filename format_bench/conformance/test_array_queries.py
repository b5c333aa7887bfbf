"""Selections of arrays by coordinates, and answers that are written back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from adapter_core import CannotHoldError
from adapter_core.array_source import ArraySource
from adapter_core.array_store import Property
from data_generator.synthetic.edge_case_arrays import values
from format_bench.conformance.arrays import a_dtype_of, difference

TIMES = np.arange(6, dtype="int64") + 438_288
LATITUDES = 53.0 - np.arange(8) * 0.25
LONGITUDES = np.arange(12) * 0.25 - 1.5

BOUNDS = {
    "a point": {"time": (438_290, 438_290), "latitude": (52.5, 52.5), "longitude": (-0.25, -0.25)},
    "a series": {"latitude": (53.0, 53.0), "longitude": (1.25, 1.25)},
    "a box": {"time": (438_289, 438_291), "latitude": (51.4, 52.25), "longitude": (-1.3, 0.6)},
    "a map": {"time": (438_293, 438_293)},
    "more than there is": {"latitude": (-90, 90), "longitude": (-180, 180)},
    "nothing": {"time": (0, 1)},
    "all": {},
}


def field(dtype: str) -> ArraySource:
    return ArraySource.of(
        values((6, 8, 12), dtype),
        (1, 8, 12),
        name="t2m",
        dims=("time", "latitude", "longitude"),
        attributes={"units": "K"},
        coordinates={"time": TIMES, "latitude": LATITUDES, "longitude": LONGITUDES},
        coordinate_attributes={"time": {"units": "hours since 1900-01-01"}},
    )


@pytest.mark.parametrize("name", BOUNDS)
def test_selections_by_coordinates_agree_with_numpy(store, name, path):
    source = field(a_dtype_of(store))
    store.save(source, path)
    with store.open(path) as reader:
        if Property.COORDINATES not in store.keeps and BOUNDS[name]:
            with pytest.raises(KeyError, match="no coordinates"):
                reader.select(BOUNDS[name])
            return
        expected = [np.ones(6, bool), np.ones(8, bool), np.ones(12, bool)]
        for axis, dim in enumerate(source.dims):
            if dim in BOUNDS[name]:
                least, largest = BOUNDS[name][dim]
                coordinate = source.coordinates[dim]
                expected[axis] = (coordinate >= least) & (coordinate <= largest)
        saved = reader.read()[np.ix_(*expected)]
        found = reader.select(BOUNDS[name])
        assert found.dtype == saved.dtype
        np.testing.assert_array_equal(found, saved)


def test_a_selection_by_an_unknown_dimension_is_refused(store, path):
    store.save(field(a_dtype_of(store)), path)
    with store.open(path) as reader, pytest.raises(KeyError, match="depth"):
        reader.select({"depth": (0, 1)})


def test_dimensions_without_coordinates_are_not_selected(store, path):
    source = field(a_dtype_of(store))
    store.save(replace(source, coordinates={}, coordinate_attributes={}), path)
    with store.open(path) as reader, pytest.raises(KeyError, match="time"):
        reader.select({"time": (0, 1)})


def test_an_answer_is_written_and_read(store, path):
    source = field(a_dtype_of(store))
    saved = source.read((slice(1, 4), slice(2, 3), slice(0, 12)))
    coordinates = {"time": TIMES[1:4], "latitude": LATITUDES[2:3], "longitude": LONGITUDES}
    answer = ArraySource.of(
        saved,
        name="t2m",
        dims=source.dims,
        attributes={"units": "K"},
        coordinates=coordinates,
        coordinate_attributes=source.coordinate_attributes,
    )
    try:
        store.write_answer(answer, path)
    except CannotHoldError:
        pytest.skip(f"{store.label} cannot store arrays of one row")
    assert store.codec_used(path) is None
    with store.open(path) as reader:
        assert not difference(store, saved, reader.read())
        if Property.COORDINATES in store.keeps:
            for dim, expected in coordinates.items():
                np.testing.assert_array_equal(reader.coordinates[dim], expected)
        if Property.ATTRIBUTES in store.keeps:
            assert dict(reader.attributes) == {"units": "K"}
        if Property.COORDINATE_ATTRIBUTES in store.keeps:
            assert reader.coordinate_attributes["time"] == {"units": "hours since 1900-01-01"}
