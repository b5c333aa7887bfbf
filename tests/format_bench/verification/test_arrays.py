"""Verdicts on arrays that came back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import array_stores
from adapter_core import Codec
from adapter_core.array_description import Description
from adapter_core.array_reader import ArrayReader
from adapter_core.array_source import ArraySource
from adapter_core.codecs import ErrorScale
from format_bench.verification.arrays import verify_array

VALUES = np.linspace(100.0, 200.0, 60, dtype="float32").reshape(5, 3, 4)
SAVED = ArraySource.of(
    VALUES,
    (1, 3, 4),
    name="t2m",
    dims=("time", "y", "x"),
    attributes={"units": "K"},
    coordinates={"y": np.arange(3.0)},
    coordinate_attributes={"y": {"units": "degrees_north"}},
)
LOSSY = Codec("rounded", range(1, 24), 8, error=ErrorScale.VALUE)


class Found(ArrayReader):
    """An array read back, with other values or properties."""

    def __init__(self, values=VALUES, **changed):
        super().__init__(
            replace(Description.of(SAVED), shape=values.shape, dtype=values.dtype, **changed)
        )
        self._values = values

    def _read(self, selection):
        return self._values[selection]


def verdict(found, store="NPY", codec=None, level=None):
    return verify_array(array_stores.find(store), codec, level, SAVED, found)


def test_the_same_array_has_no_loss():
    assert verdict(Found()) == verdict(Found(VALUES.copy()))
    assert verdict(Found()).lost == 0
    assert not verdict(Found()).errors


def test_a_changed_value_is_an_error_with_its_place():
    changed = VALUES.copy()
    changed[3, 1, 1] = 0
    assert verdict(Found(changed)).errors == ("values of the chunk at [3, 0, 0] differ",)


def test_a_changed_sign_of_zero_or_payload_of_nan_is_an_error():
    saved = replace(SAVED, read=lambda _: np.zeros((1, 3, 4), "float32"))
    found = Found(np.full_like(VALUES, -0.0))
    assert verify_array(array_stores.find("NPY"), None, None, saved, found).errors


@pytest.mark.parametrize("values", [VALUES[:4], VALUES.astype("float64")])
def test_another_shape_or_dtype_is_an_error(values):
    (error,) = verdict(Found(values)).errors
    assert "came back as" in error


def test_an_error_within_the_bound_is_a_loss_with_its_size():
    rounded = VALUES * np.float32(1 + 2.0**-9)
    found = verdict(Found(rounded), codec=LOSSY, level=8)
    assert not found.errors
    assert found.lost == 1
    assert found.losses[0].startswith("values of 5 of 5 chunks changed, by up to 0.00195")
    assert "although 2**-12 is declared" in verdict(Found(rounded), codec=LOSSY, level=12).errors[0]


def test_properties_are_lost_as_declared_and_wrong_otherwise():
    bare = {"name": "", "dims": (), "attributes": {}, "coordinates": {}, "coordinate_attributes": {}}
    declared = verdict(Found(**bare), store="NPY.memmap")
    assert declared.lost == 5
    assert not declared.errors
    assert "attributes lost: the file has shape and dtype alone" in declared.losses
    assert len(verdict(Found(**bare)).errors) == 5
    (error,) = verdict(Found(attributes={"units": "C"})).errors
    assert "attributes came back as {'units': 'C'}" in error
    (error,) = verdict(Found(coordinate_attributes={"y": {}})).errors
    assert "attributes of coordinates came back as {}, not {'y': {'units': 'degrees_north'}}" in error


def test_a_description_without_attributes_of_coordinates_is_that_of_earlier_files():
    described = Description.of(SAVED)
    assert (
        Description.from_json(described.to_json()).coordinate_attributes == SAVED.coordinate_attributes
    )
    earlier = replace(described, coordinate_attributes={}).to_dict()
    assert "coordinate_attributes" not in earlier
    assert Description.from_dict(earlier).coordinate_attributes == {}


def test_attributes_of_missing_coordinates_are_refused():
    with pytest.raises(ValueError, match="attributes, but no coordinates of y"):
        replace(SAVED, coordinates={})


def _changed(**fields):
    return lambda: Found(**fields)


def _values(change):
    return lambda: Found(np.ascontiguousarray(change(VALUES.copy())))


def _one(value):
    def change(values):
        values[4, 2, 3] = value
        return values

    return _values(change)


Y = SAVED.coordinates["y"]
WRONG = {
    "a value by an ulp": _one(np.nextafter(VALUES[4, 2, 3], np.float32(9))),
    "the sign of a value": _one(-VALUES[4, 2, 3]),
    "an infinite value": _one(np.inf),
    "a NaN": _one(np.nan),
    "a fill value": _one(9.96921e36),
    "zeros": _values(np.zeros_like),
    "rows swapped": _values(lambda values: values[[1, 0, 2, 3, 4]]),
    "rows reversed": _values(lambda values: values[::-1]),
    "columns reversed": _values(lambda values: values[..., ::-1]),
    "two values swapped": _values(lambda values: np.roll(values, 1, axis=2)),
    "transposed": _values(lambda values: values.transpose(0, 2, 1)),
    "of another shape and the same size": _values(lambda values: values.reshape(5, 4, 3)),
    "flat": _values(np.ravel),
    "a row lost": _values(lambda values: values[1:]),
    "of more bits": _values(lambda values: values.astype("float64")),
    "of integers": _values(lambda values: values.view("int32")),
    "of complex numbers": _values(lambda values: values.astype("complex64")),
    "of another byte order": _values(lambda values: values.astype(">f4")),
    "the bytes in another order": _values(lambda values: values.byteswap()),
    "an attribute lost": _changed(attributes={}),
    "an attribute more": _changed(attributes={**SAVED.attributes, "_FillValue": 0}),
    "an attribute of other case": _changed(attributes={"Units": "K"}),
    "an attribute in bytes": _changed(attributes={"units": b"K"}),
    "an attribute in a list": _changed(attributes={"units": ["K"]}),
    "another name": _changed(name="T2M"),
    "no name": _changed(name=""),
    "dimensions renamed": _changed(dims=("time", "lat", "lon")),
    "dimensions swapped": _changed(dims=("time", "x", "y")),
    "coordinates lost": _changed(coordinates={}, coordinate_attributes={}),
    "coordinates renamed": _changed(coordinates={"x": Y}, coordinate_attributes={}),
    "coordinates reversed": _changed(coordinates={"y": Y[::-1]}),
    "a coordinate by an ulp": _changed(coordinates={"y": np.nextafter(Y, 9)}),
    "the sign of a zero coordinate": _changed(coordinates={"y": np.array([-0.0, 1.0, 2.0])}),
    "coordinates of integers": _changed(coordinates={"y": Y.astype(int)}),
    "coordinates of fewer bits": _changed(coordinates={"y": Y.astype("float32")}),
    "a coordinate lost": _changed(coordinates={"y": Y[:2]}),
    "other chunks": _changed(chunks=(5, 3, 4)),
}


@pytest.mark.parametrize("mutation", WRONG)
def test_a_wrong_array_is_an_error(mutation):
    found = verdict(WRONG[mutation]())
    assert found.errors
    assert not found.losses


@pytest.mark.parametrize(
    "mutation", [name for name in WRONG if name.split()[0] in {"a", "an", "the", "of"}]
)
def test_values_beyond_the_bound_of_a_codec_are_an_error(mutation):
    if mutation != "a value by an ulp":
        assert verdict(WRONG[mutation](), codec=LOSSY, level=8).errors


@pytest.mark.parametrize(("saved", "read"), [(1, True), (1, 1.0), (0.0, -0.0), ("1", 1), (None, "null")])
def test_attributes_of_another_type_are_an_error(saved, read):
    of = replace(SAVED, attributes={"a": [saved]})
    store = array_stores.find("NPY")
    assert verify_array(store, None, None, of, Found(attributes={"a": [read]})).errors
    assert verify_array(store, None, None, of, Found(attributes={"a": [saved]})).errors == ()


def test_nan_among_attributes_and_coordinates_equals_itself():
    kept = {"attributes": {"missing": float("nan")}, "coordinates": {"y": np.array([0.0, np.nan, 2.0])}}
    copied = {
        "attributes": {"missing": np.float64("nan")},
        "coordinates": {"y": np.array([0.0, np.nan, 2.0])},
    }
    saved = replace(SAVED, **kept)
    assert verify_array(array_stores.find("NPY"), None, None, saved, Found(**copied)).errors == ()
