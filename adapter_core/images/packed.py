"""Images of unequal shapes as one run of bytes: where each begins, and its shape.

A shape is a row (height, width, channels), channels 0 standing for greyscale of shape (height, width).

Images gathered into runs of bytes of bounded length, for libraries that are slow with single ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import Refusal


SHAPE_DTYPE = "<u4"


def shape_row(image: np.ndarray) -> tuple[int, int, int]:
    """Return the (height, width, channels) of an image."""
    height, width, *channels = image.shape
    return height, width, channels[0] if channels else 0


def shape_rows(images: Iterable[np.ndarray]) -> np.ndarray:
    """Return the shapes of images, shape (images, 3), dtype little-endian uint32."""
    import numpy as np

    rows = [shape_row(image) for image in images]
    return np.array(rows, SHAPE_DTYPE).reshape(len(rows), 3)


def sizes(shapes: np.ndarray) -> np.ndarray:
    """Return how many bytes each image takes, shape (images,), dtype int64."""
    import numpy as np

    wide = shapes.astype(np.int64)
    return wide[:, 0] * wide[:, 1] * np.maximum(wide[:, 2], 1)


def offsets(shapes: np.ndarray) -> np.ndarray:
    """Return where each image begins, and where the last one ends, shape (images + 1,), int64."""
    import numpy as np

    ends = np.zeros(len(shapes) + 1, np.int64)
    np.cumsum(sizes(shapes), out=ends[1:])
    return ends


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
    """Shape (images, 3), as in `adapter_core.images.packed`."""


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


def shape_table(shapes: Sequence[tuple[int, ...]]) -> np.ndarray:
    """Return shapes as `adapter_core.images.packed` has them, at little cost if all are the same."""
    import numpy as np

    rows = {shape: (*shape, 0)[:3] for shape in set(shapes)}
    if len(rows) == 1:
        return np.repeat(np.array([*rows.values()], SHAPE_DTYPE), len(shapes), axis=0)
    return np.array([rows[shape] for shape in shapes], SHAPE_DTYPE).reshape(len(shapes), 3)
