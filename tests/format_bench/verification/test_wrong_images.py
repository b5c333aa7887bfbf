"""Wrong images and labels that the verifier has to see."""

from __future__ import annotations

import numpy as np
import pytest

import image_storages
from format_bench.verification import Diff
from format_bench.verification.images import verify_images

COUNT = 6
EXACT, LOSSY = "NumPy", "JPEG"


def _set(seed):
    random = np.random.default_rng(seed)
    shapes = [(4, 3, 3), (5, 3, 3), (6, 3, 3), (8, 9, 3), (8, 9, 3), (6, 6)]
    images = [random.integers(0, 256, shape, dtype=np.uint8) for shape in shapes]
    return images, np.arange(COUNT, dtype=np.int64) + 7


def _pixel(change):
    """Return a mutation of one pixel of one image."""

    def mutate(images, labels):
        found = images[2].copy()
        found[1, 2, 0] = change(found[1, 2, 0])
        return [*images[:2], found, *images[3:]], labels

    return mutate


def _image(change):
    return lambda images, labels: ([*images[:2], change(images[2]), *images[3:]], labels)


def _labels(change):
    return lambda images, labels: (images, change(labels))


PIXELS = {
    "a pixel by one": _pixel(lambda value: value ^ 1),
    "a pixel wrapped": _pixel(lambda value: value ^ 128),
    "all pixels by one": _image(lambda image: image ^ 1),
}
"""Changes of pixels alone: a loss of storages that change pixels."""

WRONG = {
    "channels swapped": _image(lambda image: image[..., ::-1]),
    "mirrored": _image(lambda image: image[:, ::-1]),
    "upside down": _image(lambda image: image[::-1]),
    "inverted": _image(lambda image: 255 - image),
    "black": _image(np.zeros_like),
    "images of equal shape swapped": lambda images, labels: (
        [*images[:3], images[4], images[3], *images[5:]],
        labels,
    ),
    "images swapped": lambda images, labels: ([images[1], images[0], *images[2:]], labels),
    "images reversed": lambda images, labels: (images[::-1], labels),
    "an image lost": lambda images, labels: (images[:-1], labels),
    "an image more": lambda images, labels: ([*images, images[0]], labels),
    "no images": lambda _, labels: ([], labels),
    "transposed": _image(lambda image: image.transpose(1, 0, 2)),
    "of another shape and size": _image(lambda image: image[:-1]),
    "of equal size": _image(lambda image: image.reshape(3, -1, 3)),
    "a channel dropped": _image(lambda image: image[..., :2]),
    "a channel alone": _image(lambda image: image[..., 0]),
    "an alpha channel": _image(lambda image: np.dstack([image, image[..., 0]])),
    "a fourth axis": _image(lambda image: image[None]),
    "a grey image with an axis": lambda images, labels: ([*images[:-1], images[-1][..., None]], labels),
    "of floats": _image(lambda image: image / 255),
    "of signed bytes": _image(lambda image: image.view(np.int8)),
    "of more bits": _image(lambda image: image.astype(np.uint16)),
    "labels swapped": _labels(lambda labels: labels[[1, 0, 2, 3, 4, 5]]),
    "a label by one": _labels(lambda labels: labels + (np.arange(COUNT) == 3)),
    "labels negative": _labels(lambda labels: -labels),
    "labels of 32 bits": _labels(lambda labels: labels.astype(np.int32)),
    "labels of floats": _labels(lambda labels: labels.astype(float)),
    "labels without a sign": _labels(lambda labels: labels.astype(np.uint64)),
    "labels of another byte order": _labels(lambda labels: labels.byteswap()),
    "labels as a list": _labels(list),
    "labels as a table": _labels(lambda labels: labels[:, None]),
    "a label lost": _labels(lambda labels: labels[:-1]),
    "a label more": _labels(lambda labels: np.append(labels, 0)),
}


def _verdict(label, mutate, seed):
    images, labels = _set(seed)
    storage = image_storages.find(label)
    assert verify_images(storage, images, labels, [*images], labels.copy()) == Diff()
    return verify_images(storage, images, labels, *mutate(images, labels))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("mutation", PIXELS)
def test_changed_pixels_are_an_error_or_a_declared_loss(mutation, seed):
    exact = _verdict(EXACT, PIXELS[mutation], seed)
    assert exact.errors
    assert (exact.losses, exact.lost) == ((), 1)
    declared = _verdict(LOSSY, PIXELS[mutation], seed)
    assert declared.losses
    assert (declared.errors, declared.lost) == ((), 1)


@pytest.mark.parametrize("label", [EXACT, LOSSY])
@pytest.mark.parametrize("mutation", WRONG)
def test_wrong_images_and_labels_are_an_error(mutation, label):
    for seed in range(3):
        found = _verdict(label, WRONG[mutation], seed)
        assert found.errors
        assert label == LOSSY or not found.losses
