"""N-d arrays: reproducible, made chunk by chunk, with the moments and ratios of their models."""

from __future__ import annotations

import ast
import hashlib
import pickle
import tracemalloc
import zlib

import numpy as np
import pytest

import data_generator
from adapter_core import UnavailableError, UnknownNameError
from adapter_core.array_source import chunk_selection, shape_of
from data_generator import datasets
from data_generator.datasets import bundled_arrays
from data_generator.synthetic.weather import pack
from tests.helpers import output_of

NAMES = data_generator.array_names()
SYNTHETIC = [each.name for each in datasets.definitions("arrays") if not each.is_real]
WEATHER = ["era5-like", "era5-small"]
MOMENTS = [(101_020, 1_225), (23.0, 5.7), (0.14, 5.66)]

# Of the chunks 0 and 2 with the default seed. A change of these numbers is a change of the data, after
# which old and new measurements cannot be compared.
DIGESTS = {
    "cells": "96fc583f88e06b16",
    "cell-labels": "c455a5e87912f9aa",
    "era5-like": "b523c66cd852abe5",
    "era5-small": "d425dfc7e78075b4",
    "era5-hourly": "66c7e42f5b80f440",
    "era5-hourly-soil": "f6f3281f6bd89ecd",
    "era5-hourly-1deg": "ee86fbfe1c0e0abf",
    "era5-hourly-soil-1deg": "a3de86d648a5f7d2",
    "noise": "02efb26a47c29291",
    "constant": "0c7f35688e2ddaef",
    "plume": "a041ec58d4e40f7c",
    "image-batch": "32a4a93a1900fee5",
    "digits-float": "c9964ccb3d3a5655",
    "faces": "f590166e83fdfcae",
    "elevation": "aab7d40a3d96e416",
}


def chunk(source, number: int):
    return source.read(
        chunk_selection((number, *[0] * (len(source.shape) - 1)), source.shape, source.chunks)
    )


def digest(source, *numbers: int) -> str:
    sha = hashlib.sha256()
    for number in numbers:
        values = chunk(source, number)
        sha.update(repr((values.shape, values.dtype.str)).encode() + values.tobytes())
    return sha.hexdigest()[:16]


def shuffled(values) -> bytes:
    """Return the bytes as the shuffle filter orders them: first bytes of all values, second ones, ..."""
    return values.reshape(-1, 1).view(np.uint8).T.tobytes()


@pytest.fixture(scope="module")
def weather():
    """Return a few steps of ``era5-like``, months apart; shape (6, 3, 560, 1440)."""
    source = data_generator.array("era5-like").array
    return np.concatenate([chunk(source, number) for number in range(0, 896, 150)])


@pytest.mark.parametrize("name", NAMES)
def test_arrays_are_the_same_as_ever(name):
    assert digest(data_generator.array(name, 3).array, 0, 2) == DIGESTS[name]


@pytest.mark.parametrize("name", NAMES)
def test_a_chunk_depends_neither_on_the_count_nor_on_the_order(name):
    few, all_of_them = data_generator.array(name, 3).array, data_generator.array(name).array
    assert few.shape[0] <= 3 * few.chunks[0] <= all_of_them.shape[0]
    assert digest(few, 2, 0) == digest(all_of_them, 2, 0)


def digests_of_late_chunks():
    return {name: digest(data_generator.array(name, 80).array, 77, 2) for name in sorted(SYNTHETIC)}


def test_arrays_are_the_same_in_another_process():
    code = "from tests.data_generator import test_arrays_data as d; print(d.digests_of_late_chunks())"
    text = output_of(code, PYTHONHASHSEED="123", OMP_NUM_THREADS="1", NPY_DISABLE_CPU_FEATURES="AVX2")
    assert ast.literal_eval(text) == digests_of_late_chunks()


@pytest.mark.parametrize("name", set(SYNTHETIC) - {"constant"})
def test_the_seed_decides(name):
    one, other = (data_generator.array(name, 2, seed=seed).array for seed in (1, 2))
    assert digest(one, 1) != digest(other, 1) == digest(data_generator.array(name, 2, seed=2).array, 1)
    assert digest(one, 0) != digest(one, 1)


@pytest.mark.parametrize("name", NAMES)
def test_any_selection_equals_that_part_of_the_chunks(name):
    source = data_generator.array(name, 3).array
    whole = np.concatenate([values for _, values in source])
    assert whole.shape == source.shape
    assert whole.dtype == source.dtype
    edges = [(0, 1), (1, 3), (0, source.shape[0])]
    for start, stop in edges:
        rest = tuple(slice(edge // 3, edge // 3 + max(1, edge // 2)) for edge in source.shape[1:])
        selection = (slice(start, stop), *rest)
        values = source.read(selection)
        assert values.dtype == source.dtype
        assert values.flags.c_contiguous
        assert values.shape == shape_of(selection)
        np.testing.assert_array_equal(values, whole[selection])


@pytest.mark.parametrize("name", NAMES)
def test_arrays_describe_themselves(name):
    made = data_generator.array(name, 2)
    source = made.array
    assert made.name == name
    assert source.name.isidentifier()
    assert len(set(source.dims)) == len(source.shape)
    for dimension, values in source.coordinates.items():
        assert values.shape == (source.shape[source.dims.index(dimension)],)
    assert all(isinstance(value, (str, int, float, list)) for value in source.attributes.values())


@pytest.mark.parametrize("name", NAMES)
def test_writing_into_a_chunk_harms_no_other(name):
    source = data_generator.array(name, 1).array
    values = chunk(source, 0)
    if values.flags.writeable:
        values[...] = 0
    assert chunk(source, 0).any()


@pytest.mark.parametrize("name", SYNTHETIC)
def test_arrays_travel_between_processes_as_recipes(name):
    text = pickle.dumps(data_generator.array(name, 3))
    assert len(text) < 100_000
    assert digest(pickle.loads(text).array, 0, 2) == DIGESTS[name]


def test_chunks_are_not_kept():
    source = data_generator.array("era5-like").array
    chunk(source, 0)
    tracemalloc.start()
    try:
        for number in range(5):
            chunk(source, number)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert source.size_bytes == 8_670_412_800
    assert peak < 3 * source.chunk_bytes


def test_cells_and_their_labels_are_of_one_volume():
    """Membranes are lit, and cells are of one piece and of some 2,000 voxels, across chunks too."""
    light, labels = (data_generator.array(name, 2).array for name in ("cells", "cell-labels"))
    whole = tuple(slice(0, edge) for edge in labels.shape)
    light, labels = light.read(whole), labels.read(whole)
    assert light.max() < 2**12
    assert light[labels == 0].mean() > 1.5 * light[labels > 0].mean()
    assert 0.2 < (labels == 0).mean() < 0.3
    assert 1_500 < np.median(np.unique(labels[labels > 0], return_counts=True)[1]) < 2_500
    # As many labels change between two chunks as within one.
    changes = (labels[1:] != labels[:-1]).mean(axis=(1, 2))
    assert changes[31] < changes[:31].max()
    cell = labels == labels[31:33][labels[31:33] > 0][0]
    assert cell[31].any()
    assert cell[32].any() or cell[30].any()


def test_weather_has_the_moments_of_era5(weather):
    for variable, (mean, deviation) in enumerate(MOMENTS):
        values = weather[:, variable].astype(float)
        assert values.mean() == pytest.approx(mean, rel=0.02)
        assert values.std() == pytest.approx(deviation, rel=0.02)
        assert np.isfinite(values).all()
    assert weather[:, 1].min() > 0


def test_weather_of_a_region_has_the_same_moments():
    small = np.concatenate([values for _, values in data_generator.array("era5-small", 20).array])
    assert small[:, 1].min() > 0
    for variable, (mean, deviation) in enumerate(MOMENTS):
        assert small[:, variable].mean(dtype=float) == pytest.approx(mean, rel=0.02)
        assert small[:, variable].std(dtype=float) == pytest.approx(deviation, rel=0.02)


def test_each_field_of_weather_was_packed_in_16_bits(weather):
    for step in weather[:3]:
        for field in step:
            distinct = np.unique(field).astype(float)
            assert 2**14 < len(distinct) <= 2**16
            steps = np.diff(distinct)
            exponent = np.round(np.log2(np.median(steps[steps <= 1.5 * steps.min()])))
            levels = (distinct - distinct[0]) / 2.0**exponent
            # float32 rounds the sum of reference and level.
            assert abs(levels - np.round(levels)).max() < 0.1
            assert levels[-1] < 2**16


@pytest.mark.parametrize("extent", [0, 1, 65_535, 65_536, 2**30])
def test_packing_takes_the_least_exponent_and_rounds_to_the_nearest(extent):
    field = np.linspace(0, extent, 1_001).astype(np.int32) - 77
    restored = np.empty(field.shape, np.float32)
    pack(field.copy(), 0.0, 0, restored)
    spacing = 2 ** max(0, (extent // 65_535 - (extent % 65_535 == 0)).bit_length())
    assert restored[0] == -77
    assert abs(restored.astype(float) - field).max() <= spacing / 2 + extent * 2**-24
    assert len(np.unique(restored)) <= 2**16


def test_weather_is_smooth_in_space_and_evolves_smoothly():
    source = data_generator.array("era5-like").array
    first, hour, week = (chunk(source, number)[0] for number in (0, 1, 168))
    for now, soon, late in zip(first, hour, week, strict=True):
        east = np.corrcoef(now[:, 1:].ravel(), now[:, :-1].ravel())[0, 1]
        assert east > 0.99
        assert 0.99 < np.corrcoef(now.ravel(), soon.ravel())[0, 1] < 1
        anomalies = [field - field.mean(axis=1, keepdims=True) for field in (now, late)]
        assert abs(np.corrcoef(anomalies[0].ravel(), anomalies[1].ravel())[0, 1]) < 0.9
    # From the last column on, the first one follows.
    assert abs(first[:, :, -1] - first[:, :, 0]).max() < 4 * abs(np.diff(first, axis=2)).max()


def test_wind_has_the_spectrum_of_synoptic_scales(weather):
    power = (abs(np.fft.rfft(weather[:, 2, 60:200].astype(float), axis=-1)) ** 2).mean(axis=(0, 1))
    waves = np.arange(6, 40)
    slope = np.polyfit(np.log(waves), np.log(power[waves]), 1)[0]
    assert -4 < slope < -2


@pytest.mark.parametrize(
    ("variable", "least", "most"), [(0, 0.30, 0.42), (1, 0.36, 0.44), (2, 0.46, 0.56)]
)
def test_shuffled_weather_compresses_like_era5(weather, variable, least, most):
    field = np.ascontiguousarray(weather[1, variable])
    assert least < len(zlib.compress(shuffled(field), 4)) / field.nbytes < most
    assert 0.55 < len(zlib.compress(field.tobytes(), 4)) / field.nbytes < 0.70


def test_noise_is_finite_and_does_not_compress():
    values = chunk(data_generator.array("noise").array, 5)
    assert np.isfinite(values).all()
    assert len(zlib.compress(shuffled(values), 1)) / values.nbytes > 0.99


def test_the_constant_is_neither_zero_nor_missing():
    values = chunk(data_generator.array("constant").array, 5)
    assert values.dtype == np.float32
    assert set(values.ravel()) == {np.float32(273.25)}


def test_images_in_an_array_differ_from_each_other():
    source = data_generator.array("image-batch", 4).array
    assert source.chunks == (1, 224, 224, 3)
    assert len({chunk(source, number).tobytes() for number in range(4)}) == 4


def test_real_arrays_end_with_a_ragged_chunk():
    source = data_generator.array("digits-float").array
    assert source.shape == (1_797, 8, 8)
    assert chunk(source, 17).shape == (97, 8, 8)
    assert set(np.unique(chunk(source, 0))) == set(range(17))


def test_bad_arguments_are_reported():
    with pytest.raises(UnknownNameError, match="no array 'era5-smal'; did you mean era5-small"):
        data_generator.array("era5-smal")
    with pytest.raises(ValueError, match="an array cannot have -1 chunks"):
        data_generator.array("noise", -1)
    with pytest.raises(ValueError, match="faces has 20 chunks, not 21"):
        data_generator.array("faces", 21)


def test_a_missing_package_is_reported(monkeypatch, tmp_path):
    monkeypatch.setattr(
        bundled_arrays, "module_of", lambda *_: type("module", (), {"__file__": tmp_path})
    )
    with pytest.raises(UnavailableError, match="comes without lfw_subset"):
        data_generator.array("faces")


def test_no_chunks_are_an_empty_array():
    source = data_generator.array("era5-small", 0).array
    assert source.shape == (0, 3, 140, 360)
    assert list(source) == []
