"""Traps of HDF5's libraries that array stores avoid."""

from __future__ import annotations

import time

import numpy as np
import pytest

import array_stores
from adapter_core import ArraySource, CannotHoldError

LABELS = ["HDF5"]


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


@pytest.mark.parametrize("label", LABELS)
def test_small_reads_within_a_compressed_chunk_decode_it_once(compressed, label):
    store, path = compressed(label, {"NetCDF4": "zlib"}.get(label, "gzip"))
    with store.open(path) as reader:
        first = seconds_of(lambda: reader.read((slice(0, 1),)))
        others = seconds_of(lambda: [reader.read((slice(i, i + 1),)) for i in range(1, 16)])

    assert others < 7 * first  # decoding again would cost 15 times the first


@pytest.mark.parametrize("label", LABELS)
def test_points_of_an_uncompressed_array_read_no_whole_chunks(tmp_path, label):
    store = array_stores.get(label)
    path = tmp_path / "a"
    store.save(np.zeros((4, 1024, 1024), "float32"), path, chunks=(1, 1024, 1024))
    with store.open(path) as reader:
        whole = seconds_of(lambda: [reader.read((slice(i, i + 1),)) for i in range(4)])
        points = seconds_of(lambda: [reader.read((slice(i, i + 1),) * 3) for i in range(4)])

    assert points < whole


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
