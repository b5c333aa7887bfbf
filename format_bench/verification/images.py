"""What a storage has done to a set of images: nothing, what it said it would, or something wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_storage import ImageStorage


@dataclass(frozen=True)
class ImageVerdict:
    """How images and labels read back differ from those saved."""

    losses: tuple[str, ...] = ()
    """What was lost as the storage declares, in words."""
    errors: tuple[str, ...] = ()
    """What came back wrong, in words."""
    changed_images: int = 0
    """How many images came back with other pixels."""

    @property
    def exact(self) -> bool:
        """Whether everything came back as it was."""
        return not self.losses and not self.errors


def verify_images(
    storage: ImageStorage,
    images: Sequence[np.ndarray],
    labels: Sequence[int] | np.ndarray,
    found_images: Sequence[np.ndarray],
    found_labels: np.ndarray,
) -> ImageVerdict:
    """Compare a set read back with the one saved, image by image, so that either may be made on demand.

    Parameters
    ----------
    storage : ImageStorage
        Which may declare that it changes pixels; then changed pixels are a loss, else an error.
    images, labels
        What was saved.
    found_images, found_labels
        What was read: uint8 arrays, and an array of shape (images,) and dtype int64.
    """
    import numpy as np

    errors = list(_label_errors(np.asarray(labels, np.int64), found_labels))
    if len(found_images) != len(images):
        return ImageVerdict((), (*errors, f"{len(images)} images came back as {len(found_images)}"))
    changed, largest = 0, 0
    for index, (image, found) in enumerate(zip(images, found_images, strict=True)):
        if found.shape != image.shape or found.dtype != image.dtype:
            what = f"image {index}: {image.dtype} {image.shape} came back as {found.dtype} {found.shape}"
            return ImageVerdict((), (*errors, what))
        if not np.array_equal(image, found):
            changed += 1
            difference = np.abs(image.astype(np.int16) - found)
            largest = max(largest, int(difference.max()))
    if not changed:
        return ImageVerdict((), tuple(errors))
    words = f"pixels of {changed} of {len(images)} images changed, by up to {largest} of 255"
    if storage.changes_pixels:
        return ImageVerdict((words,), tuple(errors), changed)
    return ImageVerdict((), (*errors, words), changed)


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
