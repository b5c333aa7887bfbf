"""Declared sizes of own data, compared with limits before the data are read."""

from __future__ import annotations

import json
import re
import struct
import zlib

import h5py
import numpy as np
import pytest

from adapter_core.errors import InvalidDataError, UserDataError
from data_generator.confinement.limits import DataLimits
from data_generator.readers import _reader
from data_generator.user.array import load_array
from data_generator.user.image_folder import load_image_folder
from data_generator.user.load import load_data
from data_generator.user.room import check_room
from format_bench.runner.user_data import Source, prepare
from tests.factories.bad_files import refused


def zarr_array(folder, **fields):
    plain = {"zarr_format": 2, "dtype": "<f8", "compressor": None, "fill_value": 0, "order": "C"}
    path = folder / "a.zarr"
    path.mkdir()
    (path / ".zarray").write_text(json.dumps(plain | {"filters": None} | fields))
    return path


def refusal(path, folder, **options):
    with pytest.raises(InvalidDataError) as caught:
        check_room(path, load_data(path, **options), folder)
    return str(caught.value).removeprefix(f"{path}: ")


def test_arrays_larger_than_the_disk_are_refused_before_they_are_read(tmp_path):
    path = zarr_array(tmp_path, shape=[10**6, 10**6], chunks=[10**3, 10**3])
    (tmp_path / "scratch").mkdir()
    with pytest.raises(UserDataError) as caught:
        prepare(Source(str(path)), tmp_path / "scratch")
    assert re.fullmatch(
        rf"{path}: declares 8,000\.0 GB, and [\d.,]+ GB of disk are free; "
        "take the first chunks by `run --sample`, .* disk",
        str(caught.value),
    )
    assert not [each for each in (tmp_path / "scratch").rglob("*") if each.is_file()]


def test_a_sample_of_a_huge_array_is_taken(tmp_path):
    path = zarr_array(tmp_path, shape=[10**10, 10**3], chunks=[100, 10**3])
    found = load_data(path, sample=2)
    check_room(path, found, tmp_path)
    assert found.array.shape == (200, 1000)


def test_more_chunks_than_can_be_measured_are_refused(tmp_path):
    path = zarr_array(tmp_path, shape=[10**8], chunks=[1], dtype="|u1")
    assert refusal(path, tmp_path).startswith(
        "declares 100,000,000 chunks, and at most 1,000,000 can be measured; give larger ones by `run"
    )
    check_room(path, load_array(path, chunks=(1000,)), tmp_path)


def test_chunks_larger_than_the_memory_are_refused_before_one_is_read(tmp_path):
    path = zarr_array(tmp_path, shape=[10**6, 10**6], chunks=[10**6, 10**6])
    assert refused(path, chunks=(10, 10)).startswith("declares 8,000.0 GB, and ")


def test_coordinates_larger_than_the_memory_are_refused_unless_sampled(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        field = file.create_dataset("a", (10**14,), "u1", chunks=(10**6,))
        line = file.create_dataset("x", (10**14,), "f8", chunks=(10**6,))
        line.make_scale("x")
        field.dims[0].attach_scale(line)
    assert re.match(r"declares 800,000\.0 GB, .*--sample", refused(path))
    assert load_array(path, sample=1).array.coordinates["x"].shape == (10**6,)


def png(path, edge):
    """Write an image of one colour without its pixels."""
    parts = {b"IHDR": struct.pack(">IIBBBBB", edge, edge, 8, 2, 0, 0, 0), b"IDAT": b"", b"IEND": b""}
    content = b"\x89PNG\r\n\x1a\n"
    for name, data in parts.items():
        content += (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )
    path.write_bytes(content)


def test_images_larger_than_the_disk_are_refused_before_one_is_decoded(tmp_path, monkeypatch):
    for number in range(3):
        png(tmp_path / f"{number}.png", 9000)
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": 700 * 10**6}))
    expected = "declares 0.7 GB, and 0.7 GB of disk are free; take some images by `run --sample`"
    assert re.match(expected, refusal(tmp_path, tmp_path))
    check_room(tmp_path, load_image_folder(tmp_path, 2), tmp_path)


def test_images_larger_than_the_memory_are_refused(tmp_path, monkeypatch):
    png(tmp_path / "a.png", 9000)
    monkeypatch.setattr(_reader, "available_bytes", lambda: 10**8)
    assert refusal(tmp_path, tmp_path).startswith(
        "declares 0.7 GB, and 0.1 GB of memory are free; leave out"
    )


def test_arrays_that_fit_are_taken(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(10.0))
    check_room(tmp_path / "a.npy", load_data(tmp_path / "a.npy"), tmp_path)


def test_limits_of_the_process_count_as_those_of_the_machine(tmp_path):
    path = zarr_array(tmp_path, shape=[2000, 10**6], chunks=[100, 10**6])
    for limits, expected in (
        (
            DataLimits(memory_bytes=2 * 10**9),
            r"declares 2\.4 GB, and 1\.\d GB of memory are free; give sm",
        ),
        (
            DataLimits(disk_bytes=10**9),
            r"declares 16\.0 GB, and 1\.0 GB of disk are allowed; .*--data-disk",
        ),
    ):
        with pytest.raises(UserDataError) as caught:
            prepare(Source(str(path), limits=limits), tmp_path)
        assert re.match(expected, str(caught.value).removeprefix(f"{path}: "))
