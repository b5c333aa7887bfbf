"""Images packed one after the other into runs of bytes, and views of them.

A run has a bounded length, for libraries that are slow with single images.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapter_core.image_shapes import offsets, shape_table

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import Refusal


def image_of(pixels: bytes | memoryview | np.ndarray, row: Iterable[int]) -> np.ndarray:
    """Return bytes as an image, without a copy.

    Raises
    ------
    ValueError
        If there are more or fewer bytes than the shape needs.
    """
    import numpy as np

    height, width, channels = row
    shape = (height, width, channels) if channels else (height, width)
    return np.frombuffer(pixels, np.uint8).reshape(shape)


def split(flat: np.ndarray, shapes: np.ndarray) -> list[np.ndarray]:
    """Return all images as views of the bytes that they lie in one after the other.

    Parameters
    ----------
    flat : numpy.ndarray
        Shape (bytes,), dtype uint8.
    shapes : numpy.ndarray
        Shape (images, 3).

    Raises
    ------
    ValueError
        If there are more or fewer bytes than the shapes need.
    """
    begins = offsets(shapes)
    if begins[-1] != len(flat):
        raise ValueError(f"{len(flat)} bytes of pixels are there, and {begins[-1]} needed")
    if len(shapes) and (shapes == shapes[0]).all():
        height, width, channels = shapes[0].tolist()
        return list(flat.reshape(-1, height, width, *([channels] if channels else [])))
    places = begins.tolist()
    return [
        flat[start:end].reshape((height, width, channels) if channels else (height, width))
        for start, end, (height, width, channels) in zip(
            places, places[1:], shapes.tolist(), strict=False
        )
    ]


@dataclass(frozen=True)
class Batch:
    """Some images that follow each other."""

    pixels: bytearray
    """Those of one image after the other."""
    shapes: np.ndarray
    """Shape (images, 3), see `adapter_core.image_shapes`."""


def batches(images: Iterable[np.ndarray], least_bytes: int) -> Iterator[Batch]:
    """Yield all images in batches, each complete as soon as it has `least_bytes`.

    Each image is copied before the next is asked for. The last batch may be smaller; none is empty.
    """
    pixels, shapes = bytearray(), []
    for image in images:
        pixels += image.data
        shapes.append(image.shape)
        if len(pixels) >= least_bytes:
            yield Batch(pixels, shape_table(shapes))
            pixels, shapes = bytearray(), []
    if shapes:
        yield Batch(pixels, shape_table(shapes))


def none_larger(images: Iterable[np.ndarray], most_bytes: int, refusal: Refusal) -> Iterator[np.ndarray]:
    """Yield images, and raise the refusal at one that has more than `most_bytes`."""
    for image in images:
        if image.nbytes > most_bytes:
            raise refusal(f"one has {image.nbytes:,} bytes, and {most_bytes:,} are the most")
        yield image
