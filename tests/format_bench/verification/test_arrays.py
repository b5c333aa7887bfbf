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
    assert verdict(Found()).lost_properties == 0
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
    assert found.lost_properties == 1
    assert found.losses[0].startswith("values of 5 of 5 chunks changed, by up to 0.00195")
    assert "although 2**-12 is declared" in verdict(Found(rounded), codec=LOSSY, level=12).errors[0]


def test_properties_are_lost_as_declared_and_wrong_otherwise():
    bare = {"name": "", "dims": (), "attributes": {}, "coordinates": {}, "coordinate_attributes": {}}
    declared = verdict(Found(**bare), store="NPY.memmap")
    assert declared.lost_properties == 5
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
