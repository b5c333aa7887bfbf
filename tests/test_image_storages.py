"""The contract of image storages, for every file in image_storages/."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import image_storages
from adapter_core import CannotHold
from data_generator.hostile_images import equal, hostile_images, random_image, unequal
from format_bench.verify_images import verify_images
from tests.image_sets import MadeOnDemand

SETS = hostile_images()


@pytest.fixture(params=image_storages.names())
def storage(request):
    found = image_storages.find(request.param)
    answer = found.availability()
    if not answer:
        pytest.skip(f"{request.param}: {answer.reason}")
    return found


@pytest.fixture
def path(storage, tmp_path):
    return tmp_path / f"set{storage.suffix}"


@pytest.fixture
def ordinary(storage):
    """Return the richest set that the storage holds."""
    return equal() if storage.equal_shapes_only else unequal()


@pytest.mark.parametrize("name", SETS)
def test_a_set_comes_back_right_or_is_refused(storage, name, path):
    images, labels = SETS[name]
    try:
        storage.save(images, labels, path)
    except CannotHold as refusal:
        assert str(refusal).startswith(f"{storage.label} cannot hold these images: ")
        assert list(path.parent.iterdir()) == []
        return
    found, found_labels = storage.read(path)
    assert type(found) is list
    assert verify_images(storage, images, labels, found, found_labels).errors == ()


def test_an_ordinary_set_is_not_refused(storage, path):
    storage.save(*equal(), path)
    if not storage.equal_shapes_only:
        storage.save(*unequal(), path)
        assert len(storage.read(path)[0]) == 25


@pytest.mark.parametrize("name", ["no images", "one image", "one pixel", "equal images"])
def test_small_sets_are_not_refused(storage, name, path):
    storage.save(*SETS[name], path)


def test_only_a_declared_change_touches_pixels(storage, ordinary, path):
    images, labels = ordinary
    storage.save(images, labels, path)
    verdict = verify_images(storage, images, labels, *storage.read(path))
    assert bool(verdict.changed_images) == storage.changes_pixels


@pytest.mark.parametrize("name", SETS)
def test_random_access_agrees_with_reading_everything(storage, name, path):
    images, labels = SETS[name]
    try:
        storage.save(images, labels, path)
    except CannotHold:
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


def test_a_batch_may_repeat_images_and_be_empty(storage, ordinary, path):
    storage.save(*ordinary, path)
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
def test_an_image_that_is_not_there_is_an_index_error(storage, index, path):
    storage.save(*equal(), path)
    with storage.open(path) as reader:
        with pytest.raises(IndexError, match=f"no image {index} among 40"):
            reader.get(index)
        with pytest.raises(IndexError):
            reader.get_many([0, index])


def test_images_outlive_the_reader_and_the_files(storage, ordinary, path):
    storage.save(*ordinary, path)
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


def test_images_are_asked_for_once_and_in_order(storage, ordinary, path):
    images, labels = ordinary
    asked = MadeOnDemand(images)
    storage.save(asked, labels, path)
    assert asked.asked == list(range(len(images)))


def test_one_array_of_all_images_is_a_set(storage, path):
    images, labels = equal()
    storage.save(np.stack(images), np.array(labels, np.uint8), path)
    found, found_labels = storage.read(path)
    assert verify_images(storage, images, labels, found, found_labels).errors == ()


def test_views_with_strides_are_saved_as_they_look(storage, path):
    images = [random_image(20, 30, 3)[::2, ::-3], random_image(30, 20, 3)[::3].transpose(1, 0, 2)[::2]]
    assert images[0].shape == images[1].shape == (10, 10, 3)
    storage.save(images, [1, 2], path)
    assert verify_images(storage, images, [1, 2], *storage.read(path)).errors == ()


def test_many_images_keep_their_order(storage, path):
    images = [np.full((2, 2, 3), i % 251, np.uint8) for i in range(1100)]
    labels = [2**31 - i for i in range(1100)]
    storage.save(images, labels, path)
    found, found_labels = storage.read(path)
    assert found_labels.tolist() == labels
    assert verify_images(storage, images, labels, found, found_labels).errors == ()
    with storage.open(path) as reader:
        assert reader.get(1099)[1] == labels[1099]
        assert reader.get_many([999, 10, 100])[1].tolist() == [labels[i] for i in (999, 10, 100)]


BAD = {
    "floats": ([np.zeros((2, 2, 3))], [1]),
    "four dimensions": ([np.zeros((1, 2, 2, 3), np.uint8)], [1]),
    "no pixels": ([np.zeros((0, 2, 3), np.uint8)], [1]),
    "no arrays": (["image"], [1]),
    "a label too few": ([random_image(2, 2, 3)] * 2, [1]),
    "a negative label": ([random_image(2, 2, 3)], [-1]),
    "a label beyond 2**31": ([random_image(2, 2, 3)], [2**31 + 1]),
    "labels of text": ([random_image(2, 2, 3)], ["cat"]),
    "the last image bad": ([*[random_image(2, 2, 3)] * 30, np.zeros((2, 2, 3))], [1] * 31),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_and_leaves_what_was_there(storage, name, path):
    storage.save(*equal(), path)
    with pytest.raises(CannotHold, match="cannot hold these images: "):
        storage.save(*BAD[name], path)
    assert list(path.parent.iterdir()) == [path]
    assert len(storage.read(path)[0]) == 40


def test_saving_replaces_what_was_there(storage, path):
    storage.save(*equal(), path)
    storage.save(*SETS["one image"], path)
    assert len(storage.read(path)[0]) == 1
    assert list(path.parent.iterdir()) == [path]


def test_a_missing_folder_or_file_is_named(storage, path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        storage.save(*equal(), path.parent / "missing" / path.name)
    for call in (storage.read, storage.open):
        with pytest.raises(FileNotFoundError, match="there is no file"):
            call(path)


def test_size_counts_all_files_and_remove_leaves_none(storage, path):
    storage.save(*equal(), path)
    files = [each for each in [path, *path.rglob("*")] if each.is_file()]
    assert storage.size_bytes(path) == sum(file.stat().st_size for file in files) > 0
    storage.remove(path)
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize("share", [0.0, 0.5, 0.95])
def test_a_truncated_file_is_noticed(storage, ordinary, share, path):
    images, labels = ordinary
    storage.save(images, labels, path)
    files = [each for each in [path, *path.rglob("*")] if each.is_file()]
    largest = max(files, key=lambda file: file.stat().st_size)
    with largest.open("r+b") as file:
        file.truncate(int(largest.stat().st_size * share))
    # In a process of its own: damage may crash a library, which is noticed, too.
    child = subprocess.run(
        [sys.executable, "-c", READ, storage.label, str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    if storage.detects_truncation:
        assert child.returncode != 0, child.stdout
        assert "Traceback" in child.stderr or child.returncode < 0


READ = """
import sys
import image_storages

images, labels = image_storages.get(sys.argv[1]).read(sys.argv[2])
print(len(images), sum(int(image.sum()) for image in images), labels)
"""


def test_an_image_of_40_megapixels_comes_back(storage, path):
    rows = np.arange(5_000, dtype=np.uint8)[:, None, None]
    image = np.broadcast_to(rows, (5_000, 8_000, 3)).copy()
    image[17, :4_000] = random_image(4_000, 3)
    storage.save([image], [2**31], path)
    verdict = verify_images(storage, [image], [2**31], *storage.read(path))
    assert verdict.errors == ()


def test_no_file_stays_open_or_mapped(storage, ordinary, path):
    """What is read is in memory: pixels in a mapped file are not read yet."""
    storage.save(*ordinary, path)
    found, _ = storage.read(path)
    with storage.open(path) as reader:
        alone = reader.get(0)
        batch = reader.get_many([1, 2])
    gc.collect()
    assert not [link for link in Path("/proc/self/fd").iterdir() if _points_into(link, path.parent)]
    assert str(path) not in Path("/proc/self/maps").read_text(encoding="utf-8")
    assert len(found) > len(batch) > 0
    assert alone


def _points_into(link: Path, folder: Path) -> bool:
    try:
        return str(link.readlink()).startswith(str(folder))
    except OSError:
        return False


def test_check_refuses_what_save_refuses(storage):
    for images, _ in SETS.values():
        try:
            storage.check(images)
        except CannotHold as refusal:
            assert str(refusal).startswith(f"{storage.label} cannot hold these images: ")
    with pytest.raises(CannotHold):
        storage.check(BAD["floats"][0])
