"""Random access to sets of images."""

from __future__ import annotations

import numpy as np
import pytest

from adapter_core import CannotHoldError
from data_generator.synthetic.edge_case_images import edge_case_images, equal

SETS = edge_case_images()


@pytest.mark.parametrize("name", SETS)
def test_random_access_agrees_with_reading_everything(storage, name, path):
    images, labels = SETS[name]
    try:
        storage.save(images, labels, path)
    except CannotHoldError:
        return
    found, found_labels = storage.read(path)
    order = np.random.default_rng(1).permutation(len(images))
    with storage.open(path) as reader:
        assert len(reader) == len(images)
        for index in order:
            image, label = reader.get(index)
            assert image.dtype == np.uint8
            np.testing.assert_array_equal(image, found[index])
            assert label == found_labels[index]
            assert type(label) is int
        batch, batch_labels = reader.get_many(order)
        assert [image.shape for image in batch] == [found[i].shape for i in order]
        assert all(np.array_equal(image, found[i]) for image, i in zip(batch, order, strict=True))
        np.testing.assert_array_equal(batch_labels, found_labels[order])
        assert batch_labels.dtype == np.int64


def test_a_batch_may_repeat_images_and_be_empty(storage, ordinary_set, path):
    storage.save(*ordinary_set, path)
    found, labels = storage.read(path)
    with storage.open(path) as reader:
        batch, batch_labels = reader.get_many([3, 1, 3, 24, 0, 0])
        for image, index in zip(batch, [3, 1, 3, 24, 0, 0], strict=True):
            np.testing.assert_array_equal(image, found[index])
        assert batch_labels.tolist() == labels[[3, 1, 3, 24, 0, 0]].tolist()
        batch, batch_labels = reader.get_many([])
        assert batch == []
        assert batch_labels.shape == (0,)
        assert batch_labels.dtype == np.int64


@pytest.mark.parametrize("index", [-1, 40, 10**9])
def test_an_index_out_of_range_is_an_index_error(storage, index, path):
    storage.save(*equal(), path)
    with storage.open(path) as reader:
        with pytest.raises(IndexError, match=f"no image {index} among 40"):
            reader.get(index)
        with pytest.raises(IndexError):
            reader.get_many([0, index])


def test_images_outlive_the_reader_and_the_files(storage, ordinary_set, path):
    storage.save(*ordinary_set, path)
    expected = [image.copy() for image in storage.read(path)[0]]
    found, _ = storage.read(path)
    with storage.open(path) as reader:
        alone, _ = reader.get(7)
        batch, _ = reader.get_many([2, 9])
    reader.close()
    storage.remove(path)
    np.testing.assert_array_equal(alone, expected[7])
    np.testing.assert_array_equal(batch[1], expected[9])
    assert all(np.array_equal(one, other) for one, other in zip(found, expected, strict=True))
