"""Traps of HDF5's libraries that array stores avoid."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import array_stores
from adapter_core import Appendable, ArraySource, CannotHoldError

LABELS = ["HDF5", "NetCDF4", "NetCDF4[h5netcdf]"]


@pytest.fixture
def compressed(tmp_path):
    """Return a function that saves two compressed chunks of 4 MiB, larger than h5py's default cache."""
    values = np.arange(2 * 16 * 256 * 256, dtype="float32").reshape(32, 256, 256)

    def save(label: str, codec: str):
        store = array_stores.get(label)
        path = tmp_path / f"a{store.suffix}"
        store.save(ArraySource.of(values, (16, 256, 256)), path, codec=codec)
        return store, path

    return save


def seconds_of(function) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def bytes_read_by(function) -> int:
    """Return the bytes that a function has read, in the page cache or not, by proc_pid_io(5)."""
    before = _asked_bytes()
    function()
    return _asked_bytes() - before


def _asked_bytes() -> int:
    return int(Path("/proc/self/io").read_text().partition("rchar: ")[2].split()[0])


@pytest.mark.parametrize("label", LABELS)
def test_small_reads_within_a_compressed_chunk_decode_it_once(compressed, label):
    store, path = compressed(label, {"NetCDF4": "zlib"}.get(label, "gzip"))
    with store.open(path) as reader:
        first = seconds_of(lambda: reader.read((slice(0, 1),)))
        others = seconds_of(lambda: [reader.read((slice(i, i + 1),)) for i in range(1, 16)])

    assert others < 7 * first  # decoding again would cost 15 times the first


# The cache of netCDF-C grows with the chunks, up to 64 MiB.
@pytest.mark.parametrize("label", [each for each in LABELS if each != "NetCDF4"])
def test_points_of_an_uncompressed_array_read_no_whole_chunks(tmp_path, label):
    store = array_stores.get(label)
    path = tmp_path / "a"
    # Chunks of 16 MiB: the default chunk cache of a file has 8 since HDF5 2.0, and had 1 before.
    store.save(np.zeros((4, 2048, 2048), "float32"), path, chunks=(1, 2048, 2048))
    with store.open(path) as reader:
        whole = bytes_read_by(lambda: [reader.read((slice(i, i + 1),)) for i in range(4)])
        points = bytes_read_by(lambda: [reader.read((slice(i, i + 1),) * 3) for i in range(4)])

    assert whole >= 4 * 2**24
    assert points < whole / 10


@pytest.mark.parametrize("codec", ["sz", "sz3"])
def test_padding_of_incomplete_chunks_would_count_in_the_range_of_a_lossy_codec(tmp_path, codec):
    values = 101_020 + np.random.default_rng(1).normal(size=(4, 100)).astype("float32")
    store = array_stores.get("HDF5")

    with pytest.raises(CannotHoldError, match="complete chunks only"):
        store.save(ArraySource.of(values, (3, 100)), tmp_path / "a", codec=codec)

    store.save(ArraySource.of(values, (2, 100)), tmp_path / "a", codec=codec)
    assert np.abs(store.read(tmp_path / "a") - values).max() <= np.ptp(values[:2]) * 2**-9


def test_codec_is_read_from_the_filters_of_any_hdf5_file(tmp_path):
    import h5py
    import hdf5plugin

    values = np.zeros((64, 64), "float32")
    with h5py.File(tmp_path / "a", "w") as file:
        file.create_dataset("x", data=values, compression=hdf5plugin.Zfp(accuracy=0.5))
    with h5py.File(tmp_path / "b", "w") as file:
        file.create_dataset("x", data=values, compression=hdf5plugin.Zfp(reversible=True))
    store = array_stores.get("HDF5")

    assert [store.codec_used(tmp_path / name) for name in "ab"] == ["zfp+lossy", "zfp"]


def test_h5netcdf_alone_decodes_a_chunk_again_for_each_selection(compressed):
    import h5netcdf

    store, path = compressed("NetCDF4[h5netcdf]", "gzip")
    with store.open(path) as reader:
        ours = seconds_of(lambda: [reader.read((slice(i, i + 1),)) for i in range(16)])
    with h5netcdf.File(path) as file:
        variable = file.variables["values"]
        plain = seconds_of(lambda: [variable[i : i + 1] for i in range(16)])

    assert ours < plain / 2


def test_netcdf_scale_factors_and_fill_values_are_mere_attributes(tmp_path):
    values = np.array([1.0, 9.969209968386869e36, np.nan, -0.0], "float32")  # netCDF's fill value
    attributes = {"scale_factor": 0.5, "add_offset": 10.0, "missing_value": 1.0}
    for label in ("NetCDF4", "NetCDF4[h5netcdf]"):
        store = array_stores.get(label)
        store.save(ArraySource.of(values, attributes=attributes), tmp_path / "a.nc")
        with store.open(tmp_path / "a.nc") as reader:
            assert reader.read().tobytes() == values.tobytes()
            assert reader.attributes == attributes


@pytest.mark.parametrize("label", ["NetCDF4", "NetCDF4[h5netcdf]", "NetCDF4[xarray]"])
def test_scale_factors_of_coordinates_are_mere_attributes(label, tmp_path):
    store = array_stores.get(label)
    values, x = np.arange(6, dtype="float32").reshape(2, 3), np.array([10, 20, 30], "int16")
    source = ArraySource.of(
        values,
        dims=("t", "x"),
        coordinates={"t": x[:2], "x": x},
        coordinate_attributes={"x": {"scale_factor": 0.5}, "t": {"add_offset": 1.0}},
    )
    store.save(source, tmp_path / "a.nc")
    if isinstance(store, Appendable):
        store.append(source, tmp_path / "a.nc")
    with store.open(tmp_path / "a.nc") as reader:
        assert reader.coordinates["x"].tolist() == [10, 20, 30]
        assert set(reader.coordinates["t"].tolist()) == {10, 20}


@pytest.mark.parametrize("label", [*LABELS, "Zarr.kerchunk[xarray]"])
def test_lists_of_attributes_that_do_not_fit_in_an_object_header_are_kept_or_refused(label, tmp_path):
    store, path = array_stores.get(label), tmp_path / "a"
    levels = {"levels": list(range(9_000))}
    for facts in (
        {"attributes": levels},
        {"coordinates": {"x": np.arange(3)}, "coordinate_attributes": {"x": levels}},
    ):
        source = ArraySource.of(np.ones(3, "float32"), dims=("x",), **facts)
        if label.startswith("NetCDF4"):
            store.save(source, path)
            with store.open(path) as reader:
                kept = reader.attributes or reader.coordinate_attributes["x"]
                assert kept["levels"] == levels["levels"]
            continue
        with pytest.raises(CannotHoldError, match="9,000 numbers of the attribute 'levels'"):
            store.save(source, path)
        assert not path.exists()


def test_netcdf_refuses_a_chunk_that_blosc_cannot_make_smaller(tmp_path):
    values = np.random.default_rng(1).integers(0, 256, 10_000).astype("uint8")
    store = array_stores.get("NetCDF4")

    with pytest.raises(CannotHoldError, match="cannot make smaller"):
        store.save(values, tmp_path / "a.nc", codec="blosc:lz4")

    assert list(tmp_path.iterdir()) == []


def test_both_netcdf_libraries_read_each_others_files(tmp_path):
    values = np.arange(24, dtype="int16").reshape(2, 3, 4)
    coordinates = {"dim_1": np.array([0.5, 1.5, 2.5])}
    source = ArraySource.of(values, (1, 3, 4), attributes={"units": "K"}, coordinates=coordinates)
    writer, reader = map(array_stores.get, ("NetCDF4", "NetCDF4[h5netcdf]"))
    for one, other in ((writer, reader), (reader, writer)):
        one.save(source, tmp_path / "a.nc")
        with other.open(tmp_path / "a.nc") as opened:
            assert opened.read().tobytes() == values.tobytes()
            assert opened.attributes == {"units": "K"}
            assert list(opened.coordinates["dim_1"]) == [0.5, 1.5, 2.5]


def test_filters_of_netcdf4_python_do_not_replace_those_of_hdf5plugin(tmp_path):
    script = """
import netCDF4, sys, numpy, array_stores
store = array_stores.get("HDF5")
for codec in ("blosc:lz4", "zstd", "bzip2"):
    store.save(numpy.arange(9000.0).reshape(9, 1000), sys.argv[1], codec=codec)
    assert store.read(sys.argv[1])[8, 999] == 8999
import hdf5plugin
assert "unknown" not in hdf5plugin.get_config().registered_filters.values()
"""
    subprocess.run([sys.executable, "-c", script, tmp_path / "a.h5"], check=True)
