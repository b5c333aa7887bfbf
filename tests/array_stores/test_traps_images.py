"""Traps of the libraries of TIFF, FITS, GRIB and MATLAB that array stores avoid."""

from __future__ import annotations

import numpy as np
import pytest

import array_stores
from adapter_core import ArraySource, CannotHoldError


def test_fits_values_are_big_endian_in_the_file_and_native_when_read(tmp_path):
    values = np.arange(1, 7, dtype="float32").reshape(2, 3)
    store = array_stores.get("FITS")
    store.save(values, tmp_path / "a.fits")

    assert values.astype(">f4").tobytes() in (tmp_path / "a.fits").read_bytes()
    assert store.read(tmp_path / "a.fits").dtype.isnative


@pytest.mark.parametrize("label", ["TIFF", "GeoTIFF"])
def test_a_chunk_is_one_block_of_the_file(tmp_path, label):
    import tifffile

    store = array_stores.get(label)
    path = tmp_path / f"a{store.suffix}"
    store.save(np.zeros((4, 300, 500), "float32"), path, chunks=(1, 300, 500))
    with tifffile.TiffFile(path) as file:
        blocks = sum(len(page.dataoffsets) for page in file.pages)

    assert blocks == 4


def test_geotiff_refuses_tiles_that_are_no_multiples_of_16(tmp_path):
    store = array_stores.get("GeoTIFF")
    values = np.arange(64 * 64, dtype="int16").reshape(1, 64, 64)

    with pytest.raises(CannotHoldError, match="multiples of 16"):
        store.save(ArraySource.of(values, (1, 20, 20)), tmp_path / "a.tif")

    store.save(ArraySource.of(values, (1, 32, 32)), tmp_path / "a.tif")
    assert store.read(tmp_path / "a.tif").tobytes() == values.tobytes()


@pytest.mark.parametrize("label", ["TIFF", "FITS"])
def test_a_file_that_lacks_its_last_bytes_raises(tmp_path, label):
    store = array_stores.get(label)
    path = tmp_path / "a"
    codec = "lzma" if label == "TIFF" else None
    store.save(np.arange(9000, dtype="int16"), path, chunks=(3000,), codec=codec)
    path.write_bytes(path.read_bytes()[:-1])

    with pytest.raises(ValueError, match="truncated"):
        store.read(path)


@pytest.mark.parametrize("codec", [None, "ccsds"])
def test_error_of_grib_is_within_the_declared_one(tmp_path, codec):
    random = np.random.default_rng(1)
    values = (101_020 + 1225 * random.normal(size=(3, 50, 70))).astype("float32")
    values[1] = 280.125  # a constant message
    store = array_stores.get("GRIB2")
    store.save(values, tmp_path / "a", chunks=(1, 50, 70), codec=codec)
    _, bits = store.error
    errors = np.abs(store.read(tmp_path / "a").astype("float64") - values)

    assert errors.max() > 0
    for chunk, error in zip(values, errors, strict=True):
        assert error.max() <= np.ptp(chunk) * 2.0**-bits


def test_grib_refuses_nan_which_the_library_would_change(tmp_path):
    with pytest.raises(CannotHoldError, match="NaN"):
        array_stores.get("GRIB2").save(np.array([1, np.nan], "float32"), tmp_path / "a")


def test_matlab_refuses_arrays_that_scipy_would_need_whole_in_memory(tmp_path):
    source = ArraySource((2**15, 2**15), np.dtype("float64"), (1, 2**15), read=np.zeros)

    with pytest.raises(CannotHoldError, match="in memory"):
        array_stores.get("MATLAB").save(source, tmp_path / "a.mat")
