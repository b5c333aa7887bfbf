"""Shapes of chunks that libraries choose themselves."""

import numpy as np
import pytest

import array_stores
from adapter_core import UnavailableError

SHAPE = (300, 200, 400)


@pytest.mark.parametrize("label", ["Blosc2", "HDF5", "NetCDF4", "Zarr.dir", "Zarr.sharded", "Zarr.v2"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_library_divides_a_large_array(label, dtype, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        store = array_stores.get(label)
    except UnavailableError as error:
        pytest.skip(str(error))
    found = store.library_chunks(SHAPE, np.dtype(dtype))
    assert all(1 <= chunk <= edge for chunk, edge in zip(found, SHAPE, strict=True))
    assert np.prod(found) < np.prod(SHAPE)
    assert list(tmp_path.iterdir()) == []


def test_a_store_without_a_choice_of_its_own_has_none():
    assert array_stores.find("TileDB").library_chunks(SHAPE, np.dtype("f4")) is None
