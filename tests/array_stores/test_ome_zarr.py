"""Levels and metadata of OME-Zarr."""

from __future__ import annotations

import numpy as np
import pytest
import zarr

import array_stores
from adapter_core import ArraySource, CannotHoldError

SPACE = ["space", "space"]


def saved(folder, values, chunks, dims=(), **facts):
    source = ArraySource.of(values, chunks, dims=dims, **facts)
    array_stores.get("OME-Zarr").save(source, folder / "a.ome.zarr", codec="zstd")
    group = zarr.open_group(folder / "a.ome.zarr", mode="r")
    metadata = group.attrs["ome"]
    assert metadata["version"] == "0.5"
    (image,) = metadata["multiscales"]
    return group, image


# Chunks of odd edges have levels whose chunks do not begin where theirs do.
@pytest.mark.parametrize("chunks", [(1, 100, 128), (2, 77, 99), (3, 301, 517)])
def test_each_level_has_every_second_row_and_column(chunks, tmp_path):
    values = np.random.default_rng(0).integers(0, 2**16, (3, 301, 517), np.uint16)
    group, image = saved(tmp_path, values, chunks)
    scales = []
    for number, level in enumerate(image["datasets"]):
        step = 2**number
        np.testing.assert_array_equal(group[level["path"]][...], values[:, ::step, ::step])
        scales += [each["scale"] for each in level["coordinateTransformations"]]
    assert scales == [[1, 1, 1], [1, 2, 2], [1, 4, 4]]


@pytest.mark.parametrize(
    ("dims", "types"),
    [
        ("yx", SPACE),
        ("zyx", ["space", *SPACE]),
        (("time", "lat", "lon"), ["time", *SPACE]),
        (("time", "variable", "lat", "lon"), ["time", None, *SPACE]),
        ("czyx", [None, "space", *SPACE]),
        ("tczyx", ["time", None, "space", *SPACE]),
    ],
)
def test_axes_are_in_the_order_of_the_format(dims, types, tmp_path):
    values = np.zeros((2,) * len(dims), np.uint8)
    _, image = saved(tmp_path, values, values.shape, tuple(dims))
    assert [each["name"] for each in image["axes"]] == list(dims)
    assert [each.get("type") for each in image["axes"]] == types
    assert len(image["datasets"]) == 1


def test_the_name_of_a_level_is_refused(tmp_path):
    with pytest.raises(CannotHoldError, match="'1' is the name of a level"):
        saved(tmp_path, np.zeros((300, 5)), (300, 5), name="1")
