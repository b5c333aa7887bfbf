"""Comparison of a set of images read back with the one saved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from format_bench.verification import Diff

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import ImageStorage

USUAL_ERROR = 4
"""Root mean square of errors, in levels, within which an image is not taken for another one.

JPEG at its usual quality has as much. Fainter images cannot be distinguished by their values.
"""


def verify_images(
    storage: ImageStorage,
    images: Sequence[np.ndarray],
    labels: Sequence[int] | np.ndarray,
    found_images: Sequence[np.ndarray],
    found_labels: np.ndarray,
) -> Diff:
    """Compare a set read back with the one saved, image by image.

    Only four images are in memory at a time, if the sequences are lazy. Of storages that change pixels,
    an image that is much nearer to its mirrored or recoloured self, or to another one, is an error.

    Parameters
    ----------
    storage : ImageStorage
        If it declares that it changes pixels, changed pixels are a loss, otherwise an error.
    images, labels
        Saved images, uint8 arrays, and their labels.
    found_images, found_labels
        Images read back, uint8 arrays, and their labels, shape (images,), dtype int64.
    """
    import numpy as np

    errors = list(_label_errors(np.asarray(labels, np.int64), found_labels))
    if len(found_images) != len(images):
        return Diff((), (*errors, f"{len(images)} images came back as {len(found_images)}"))
    changed, largest = 0, 0
    for index, (image, found) in enumerate(zip(images, found_images, strict=True)):
        if found.shape != image.shape or found.dtype != image.dtype:
            what = f"image {index}: {image.dtype} {image.shape} came back as {found.dtype} {found.shape}"
            return Diff((), (*errors, what))
        if not np.array_equal(image, found):
            changed += 1
            # The difference of two uint8 arrays would wrap around.
            difference = np.abs(image.astype(np.int16) - found)
            largest = max(largest, int(difference.max()))
            others = {"the first image": images[0], "the image before it": images[max(0, index - 1)]}
            nearer = _nearer(image, found, others) if storage.changes_pixels else ""
            if nearer:
                errors.append(f"image {index} came back as {nearer}")
                break
    if not changed:
        return Diff((), tuple(errors))
    words = f"pixels of {changed} of {len(images)} images changed, by up to {largest} of 255"
    if storage.changes_pixels:
        return Diff((words,), tuple(errors), changed)
    return Diff((), (*errors, words), changed)


def _nearer(image: np.ndarray, found: np.ndarray, others: Mapping[str, np.ndarray]) -> str:
    """Return a phrase on a change that an image read is much nearer to than the original, or ""."""
    import numpy as np

    def error(wanted: np.ndarray) -> float:
        return float(np.square(found.astype(np.float32) - wanted).sum())

    candidates = {
        "its mirror image": image[:, ::-1],
        "itself upside down": image[::-1],
        "its negative": 255 - image,
        "a black image": np.zeros_like(image),
        **{name: each for name, each in others.items() if each.shape == image.shape},
    }
    if image.ndim == 3:  # noqa: PLR2004 (rows, columns, channels)
        candidates["itself with other channels"] = image[..., ::-1]
    own = error(image)
    if own <= USUAL_ERROR**2 * image.size:
        return ""
    # An image that equals its mirror image but for the losses is no nearer to it by half.
    nearer = [name for name, each in candidates.items() if error(each) < own / 2]
    return nearer[0] if nearer else ""


def _label_errors(labels: np.ndarray, found: np.ndarray) -> list[str]:
    import numpy as np

    if not isinstance(found, np.ndarray) or found.dtype != np.int64:
        return [f"labels came back as {getattr(found, 'dtype', type(found).__name__)}, not int64"]
    if found.shape != labels.shape:
        return [f"{len(labels)} labels came back as {found.shape}"]
    wrong = np.flatnonzero(labels != found)
    if len(wrong):
        first = wrong[0]
        return [f"{len(wrong)} labels differ: {labels[first]} at {first} came back as {found[first]}"]
    return []
