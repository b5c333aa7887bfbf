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
        If the number of bytes does not fit the shape.
    """
    import numpy as np

    height, width, channels = row
    shape = (height, width, channels) if channels else (height, width)
    return np.frombuffer(pixels, np.uint8).reshape(shape)


def split(flat: np.ndarray, shapes: np.ndarray) -> list[np.ndarray]:
    """Return all images as views of bytes that contain them end to end.

    Parameters
    ----------
    flat : numpy.ndarray
        Shape (bytes,), dtype uint8.
    shapes : numpy.ndarray
        Shape (images, 3).

    Raises
    ------
    ValueError
        If the number of bytes does not fit the shapes.
    """
    starts = offsets(shapes)
    if starts[-1] != len(flat):
        raise ValueError(f"the pixels have {len(flat)} bytes, and {starts[-1]} are needed")
    if len(shapes) and (shapes == shapes[0]).all():
        height, width, channels = shapes[0].tolist()
        return list(flat.reshape(-1, height, width, *([channels] if channels else [])))
    edges = starts.tolist()
    return [
        flat[start:end].reshape((height, width, channels) if channels else (height, width))
        for start, end, (height, width, channels) in zip(edges, edges[1:], shapes.tolist(), strict=False)
    ]


@dataclass(frozen=True)
class Batch:
    """Consecutive images."""

    pixels: bytearray
    """Pixels of all images, end to end."""
    shapes: np.ndarray
    """Shape (images, 3), see `adapter_core.image_shapes`."""


def batches(images: Iterable[np.ndarray], least_bytes: int) -> Iterator[Batch]:
    """Yield all images in batches of at least `least_bytes`, except for the last one; none is empty.

    Each image is copied before the next is requested.
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
    """Yield images, and raise the refusal at one of more than `most_bytes`."""
    for image in images:
        if image.nbytes > most_bytes:
            raise refusal(f"one has {image.nbytes:,} bytes, and {most_bytes:,} are the most")
        yield image
