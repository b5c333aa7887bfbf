"""Checks of images and labels on their way to an image storage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

MAX_LABEL = 2**31

LABELS_FILE = "labels.csv"
"""Table of labels in a folder of image files, a storage's or a user's."""

Refusal = Callable[[str], Exception]


@dataclass(frozen=True)
class Limits:
    """Limits of a storage on the shapes of images."""

    channels: frozenset[int] | None
    """Allowed numbers of channels, 0 for shape (height, width); any if None."""
    longest_side: int | None
    """Longest allowed height or width, in pixels; any if None."""
    equal: bool
    """True if all images must have the shape of the first."""


class CheckedImages:
    """Images in order, each requested once and checked as it comes.

    Parameters
    ----------
    images : sequence of numpy.ndarray
        The user's images.
    limits : Limits
        The storage's limits.
    refusal : callable
        Returns the error to raise for a reason.
    check : bool
        False if all images have been checked before.
    """

    def __init__(
        self,
        images: Sequence[np.ndarray],
        limits: Limits,
        refusal: Refusal,
        *,
        check: bool = True,
    ) -> None:
        self._images, self._limits, self._refusal = images, limits, refusal
        self._must_check = check

    def __len__(self) -> int:
        """Return the number of images."""
        return len(self._images)

    def __iter__(self) -> Iterator[np.ndarray]:
        """Yield each image, C-contiguous.

        Raises
        ------
        CannotHoldError
            At the first item that is not an image, or that the storage cannot store.
        """
        import numpy as np

        known: set[tuple[int, ...]] = set()
        for index, image in enumerate(self._images):
            # Each shape is checked once, for speed; the dtype may differ from image to image.
            if self._must_check:
                shape = getattr(image, "shape", None)
                if shape not in known or image.dtype != np.uint8:
                    self._check(index, image, known)
                    known.add(image.shape)
            yield image if image.flags.c_contiguous else np.ascontiguousarray(image)

    def _check(self, index: int, image: np.ndarray, known: set[tuple[int, ...]]) -> None:
        import numpy as np

        if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.ndim not in (2, 3):
            found = f"{image.dtype} of shape {image.shape}" if isinstance(image, np.ndarray) else image
            raise self._refusal(
                f"image {index} is not a uint8 array of shape (height, width) or "
                f"(height, width, channels), but {found!s:.80}"
            )
        if image.size == 0:
            raise self._refusal(f"image {index} has no pixel: its shape is {image.shape}")
        channels = image.shape[2] if image.ndim == 3 else 0  # noqa: PLR2004 (height, width, channels)
        limits = self._limits
        if limits.channels is not None and channels not in limits.channels:
            kind = f"{channels} channels" if channels else "no channels (greyscale)"
            raise self._refusal(f"image {index} has {kind}")
        if limits.longest_side is not None and max(image.shape[:2]) > limits.longest_side:
            raise self._refusal(
                f"image {index} of {image.shape[0]} x {image.shape[1]} pixels "
                f"has a side beyond {limits.longest_side}"
            )
        if limits.equal and known and image.shape not in known:
            first = next(iter(known))
            raise self._refusal(
                f"all must have one shape, but image {index} is {image.shape} and the first {first}"
            )


def checked_labels(labels: Sequence[int] | np.ndarray, count: int, refusal: Refusal) -> np.ndarray:
    """Return labels as an array, shape (count,), dtype int64.

    Raises
    ------
    CannotHoldError
        If they are not integers from 0 to 2**31, one for each image.
    """
    import numpy as np

    if len(labels) != count:
        raise refusal(f"there are {len(labels)} labels for {count} images")
    numbers = np.asarray(labels if count else np.empty(0, np.int64))
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise refusal("labels must be integers, one for each image")
    if count and (numbers.min() < 0 or numbers.max() > MAX_LABEL):
        raise refusal(
            f"labels must lie between 0 and {MAX_LABEL}, but go from {numbers.min()} to {numbers.max()}"
        )
    return numbers.astype(np.int64)
