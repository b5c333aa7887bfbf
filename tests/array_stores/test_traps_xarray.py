"""Traps of xarray and its engines."""

import subprocess
import sys

import numpy as np
import pytest

import array_stores
from adapter_core import ArrayReader, ArraySource, CannotHoldError

XARRAY = [
    label
    for label, group in array_stores.registry.groups().items()
    if group == "foxbench" and "[xarray" in label
]


def series(coordinates):
    values = np.arange(6 * 8, dtype="float32").reshape(6, 8)
    return ArraySource.of(values, (2, 8), name="t2m", dims=("time", "x"), coordinates=coordinates)


@pytest.fixture(params=XARRAY)
def store(request):
    return array_stores.get(request.param)


def test_there_are_stacks():
    assert len(XARRAY) >= 9


def test_nothing_is_cached_between_queries(store, tmp_path):
    store.save(series({"time": np.arange(6)}), tmp_path / "a")
    with store.open(tmp_path / "a") as reader:
        reader.select({})
        reader.read()
        # A variable in memory would answer the next query without the file.
        assert not reader._array.variable._in_memory


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_inexact_bounds_select_what_numpy_selects(store, dtype, tmp_path):
    coordinate = (np.arange(8) * 0.1 - 0.3).astype(dtype)
    store.save(series({"x": coordinate}), tmp_path / "a")
    with store.open(tmp_path / "a") as reader:
        for bounds in ((-0.3, 0.1), (0.1, 0.1), (float(coordinate[2]), float(coordinate[4])), (0, 9)):
            expected = ArrayReader.select(reader, {"x": bounds})
            np.testing.assert_array_equal(reader.select({"x": bounds}), expected)


def test_names_and_coordinates_that_xarray_changes_are_refused(store, tmp_path):
    values = np.ones((3, 3), "float32")
    refused = (
        ArraySource.of(values, dims=("x", "x")),
        ArraySource.of(values, name="x", dims=("y", "x")),
        ArraySource.of(values, attributes={"_FillValue": 1.0}),
        ArraySource.of(values, dims=("y", "x"), coordinates={"x": np.ones(3, "complex64")}),
    )
    for source in refused:
        with pytest.raises(CannotHoldError):
            store.save(source, tmp_path / "a")
    assert not list(tmp_path.iterdir())


@pytest.mark.costly("array_stores")
def test_engines_load_without_warnings_in_any_order(tmp_path):
    script = """if True:
        import sys
        import numpy as np
        import array_stores
        for label in sys.argv[2:]:
            store = array_stores.get(label)
            store.save(np.ones((3, 4), "float32"), sys.argv[1])
            assert store.read(sys.argv[1]).sum() == 12, label
            store.remove(sys.argv[1])
    """
    place = str(tmp_path / "a")
    for labels in (["NetCDF4[xarray]", "TileDB[xarray]"], ["TileDB[xarray]", "Zarr.dir[xarray]"]):
        command = [sys.executable, "-W", "error", "-c", script, place, *labels]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
