"""Samples for training: a pure function of name and number, decoded to what a model takes."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import data_generator
from adapter_core.sample_set import INDEX, FieldForm, SampleKind, digest
from data_generator.training_samples import (
    Crop,
    PictureSamples,
    TableSamples,
    WindowSamples,
    numbers_and_texts,
)

NAMES = data_generator.sample_names()


def made(name, count=12, **options):
    return data_generator.samples(name, count, **options).samples


def digests(samples):
    return [digest(samples.decode(each)) for each in samples]


def test_each_kind_has_a_set():
    assert sorted(made(name).kind for name in NAMES) == sorted(SampleKind)


@pytest.mark.parametrize("name", NAMES)
def test_equal_calls_make_equal_samples_and_other_seeds_others(name):
    first = digests(made(name))
    assert len(first) == len(set(first)) == 12
    assert digests(made(name)) == first
    assert not set(digests(made(name, seed=7))) & set(first)


@pytest.mark.parametrize("name", NAMES)
def test_stored_values_have_the_forms_of_their_fields(name):
    samples = made(name)
    types = {
        FieldForm.INTEGER: int,
        FieldForm.NUMBER: float,
        FieldForm.TEXT: str,
        FieldForm.PICTURE: bytes,
        FieldForm.ARRAY: np.ndarray,
    }
    for sample in samples:
        assert set(sample) == {INDEX, *samples.fields}
        for field_name, field in samples.fields.items():
            assert type(sample[field_name]) is types[field.form]
            if field.form is FieldForm.ARRAY:
                array = sample[field_name]
                assert (array.dtype.name, array.shape) == (field.dtype, field.shape)
    decode = pickle.loads(pickle.dumps(samples.decode))
    assert digest(decode(samples[3])) == digest(samples.decode(samples[3]))


def test_samples_are_a_sequence():
    samples = made("training-rows")
    assert samples[-1][INDEX] == 11
    assert [each[INDEX] for each in samples[2:5]] == [2, 3, 4]
    with pytest.raises(IndexError):
        samples[12]


def test_windows_overlap_in_all_but_a_step():
    samples = made("training-windows")
    assert isinstance(samples, WindowSamples)
    first, second = samples[0]["values"], samples[1]["values"]
    assert first.shape == (4, 3, 140, 360)
    assert np.array_equal(first[1:], second[:-1])
    assert not np.array_equal(first[0], second[0])


def test_image_and_mask_are_cut_at_the_same_place():
    rows, columns = np.mgrid[0:40, 0:60]
    pixels = np.stack([rows, columns, rows], axis=2).astype(np.uint8)
    crop = Crop(8)
    decoded = [crop({INDEX: index, "image": pixels, "mask": pixels[:, :, 0]}) for index in range(40)]
    for each in decoded:
        assert each["image"].shape == (8, 8, 3)
        assert np.array_equal(each["image"][:, :, 0], each["mask"])
    assert len({each["image"].tobytes() for each in decoded}) > 20


def test_small_and_grey_images_are_filled_and_tripled():
    grey, flat = np.full((3, 5), 200, np.uint8), np.full((4, 4, 1), 9, np.uint8)
    images = [grey, flat, np.zeros((9, 9, 4), np.uint8)]
    samples = PictureSamples(images, [1, 2, 3], with_masks=True)
    small, _, _ = (samples.decode(each) for each in samples)
    assert small["image"].shape == (128, 128, 3)
    assert small["image"][:3, :5].min() > 190
    assert small["image"][3:].max() == small["image"][:, 5:].max() == 0
    assert set(np.unique(small["mask"])) == {0, 3}


def test_texts_are_short_and_long():
    lengths = [len(each["text"].split()) for each in made("training-texts", 400)]
    assert min(lengths) < 16
    assert 512 < max(lengths) < 1_024


def test_a_users_table_keeps_numbers_and_texts():
    df = pd.DataFrame(
        {
            "n": [1, 2, 3],
            "x": [1.5, None, 3.0],
            "yes": [True, False, True],
            "t": ["a", None, "c"],
            "day": pd.to_datetime(["2026-01-01"] * 3),
            "maybe": pd.array([1, None, 3], "Int64"),
        }
    )
    kept = numbers_and_texts(df)
    assert list(kept.columns) == ["n", "x", "yes", "t", "maybe"]
    samples = TableSamples(SampleKind.ROW, lambda rows: kept.iloc[:rows], 3)
    assert samples[0] == {INDEX: 0, "n": 1, "x": 1.5, "yes": 1, "t": "a", "maybe": 1.0}
    assert samples[1]["t"] == ""
    assert np.isnan(samples[1]["x"])
    assert np.isnan(samples[1]["maybe"])


def test_unknown_names_and_negative_numbers_are_refused():
    with pytest.raises(LookupError, match="training-rows"):
        data_generator.samples("training-row")
    with pytest.raises(ValueError, match="-1 samples"):
        data_generator.samples("training-rows", -1)
