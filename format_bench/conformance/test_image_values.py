"""Values of sets of images after a round trip, and refusals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from data_generator.synthetic.edge_case_images import edge_case_images, equal, random_image, unequal
from format_bench.conformance import image_losses, losses
from format_bench.verification.images import verify_images

SETS = edge_case_images()


def test_every_set_comes_back_right_or_is_refused(storage, share_of, request, tmp_path, subtests):
    # Edge cases suffice of a storage that no change concerns.
    stands_for_others = request.node.callspec.params["storage"].stands_for_others
    sets = SETS if stands_for_others else image_losses.image_sets()
    for number, (name, images) in enumerate(share_of(sets.items())):
        with subtests.test(name):
            folder = tmp_path / str(number)
            folder.mkdir()
            found = image_losses.of_images(storage, images, folder / f"set{storage.suffix}")
            documented = losses.documented_of(losses.IMAGE_PAGE, name, storage.label)
            assert documented in {None, found.text}, f"docs/{losses.IMAGE_PAGE} is out of date"
            if found.refusal:
                assert found.refusal.startswith(f"{storage.label} cannot store these images: ")
                assert list(folder.iterdir()) == []
            else:
                assert type(found.read[0]) is list
                assert found.errors == ()
                storage.remove(folder / f"set{storage.suffix}")


def test_an_ordinary_set_is_not_refused(storage, path):
    storage.save(*equal(), path)
    if not storage.equal_shapes_only:
        storage.save(*unequal(), path)
        assert len(storage.read(path)[0]) == 25


@pytest.mark.parametrize("name", ["no images", "one image", "one pixel", "equal images"])
def test_small_sets_are_not_refused(storage, name, path):
    storage.save(*SETS[name], path)


def test_only_a_declared_change_touches_pixels(storage, ordinary_set, path):
    images, labels = ordinary_set
    storage.save(images, labels, path)
    verdict = verify_images(storage, images, labels, *storage.read(path))
    assert bool(verdict.lost) == storage.changes_pixels


class RecordingImages(Sequence):
    """A sequence that makes images on demand, and records the requested indices."""

    def __init__(self, images):
        self.images, self.requested = images, []

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        self.requested.append(index)
        return self.images[index].copy()

    def __iter__(self):
        return (self[index] for index in range(len(self)))


def test_images_are_requested_once_and_in_order(storage, ordinary_set, path):
    images, labels = ordinary_set
    recording = RecordingImages(images)
    storage.save(recording, labels, path)
    assert recording.requested == list(range(len(images)))


def test_one_array_of_all_images_is_a_set(storage, path):
    images, labels = equal()
    storage.save(np.stack(images), np.array(labels, np.uint8), path)
    found, found_labels = storage.read(path)
    assert verify_images(storage, images, labels, found, found_labels).errors == ()


def test_views_with_strides_come_back_right(storage, path):
    images = [random_image(20, 30, 3)[::2, ::-3], random_image(30, 20, 3)[::3].transpose(1, 0, 2)[::2]]
    assert images[0].shape == images[1].shape == (10, 10, 3)
    storage.save(images, [1, 2], path)
    assert verify_images(storage, images, [1, 2], *storage.read(path)).errors == ()


def test_many_images_keep_their_order(storage, path, share_of):
    # Names sort in another way than numbers from 10, 100 and 1,000 on; a share shows the first two.
    numbers = share_of(range(1100))
    # Neighbours differ by more than a lossy codec changes.
    images = [np.full((2, 2, 3), 83 * i % 251, np.uint8) for i in numbers]
    labels = [2**31 - i for i in numbers]
    storage.save(images, labels, path)
    found, found_labels = storage.read(path)
    assert found_labels.tolist() == labels
    assert verify_images(storage, images, labels, found, found_labels).errors == ()
    with storage.open(path) as reader:
        assert reader.get(len(numbers) - 1)[1] == labels[-1]
        apart = [len(numbers) - 101, 10, 100]
        assert reader.get_many(apart)[1].tolist() == [labels[i] for i in apart]


def test_an_image_of_40_megapixels_comes_back(storage, path, request):
    if request.node.callspec.params["storage"].stands_for_others:
        pytest.skip("no change concerns it; it runs every night")
    rows = np.arange(5_000, dtype=np.uint8)[:, None, None]
    image = np.broadcast_to(rows, (5_000, 8_000, 3)).copy()
    image[17, :4_000] = random_image(4_000, 3)
    storage.save([image], [2**31], path)
    verdict = verify_images(storage, [image], [2**31], *storage.read(path))
    assert verdict.errors == ()
