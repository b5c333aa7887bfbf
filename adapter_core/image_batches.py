"""Images gathered into runs of bytes of bounded length, for libraries that are slow with single ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapter_core.flat_images import SHAPE_DTYPE, shape_row

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import Refusal


@dataclass(frozen=True)
class Batch:
    """Some images that follow each other."""

    pixels: bytearray
    """Those of one image after the other."""
    shapes: np.ndarray
    """Shape (images, 3), as in `adapter_core.flat_images`."""


def batches(images: Iterable[np.ndarray], least_bytes: int) -> Iterator[Batch]:
    """Yield all images in batches, each complete as soon as it has `least_bytes`.

    Each image is copied before the next is asked for. The last batch may be smaller; none is empty.
    """
    pixels, rows = bytearray(), []
    for image in images:
        pixels += image.data
        rows.append(shape_row(image))
        if len(pixels) >= least_bytes:
            yield _batch(pixels, rows)
            pixels, rows = bytearray(), []
    if rows:
        yield _batch(pixels, rows)


def none_larger(images: Iterable[np.ndarray], most_bytes: int, refusal: Refusal) -> Iterator[np.ndarray]:
    """Yield images, and raise the refusal at one that has more than `most_bytes`."""
    for image in images:
        if image.nbytes > most_bytes:
            raise refusal(f"one has {image.nbytes:,} bytes, and {most_bytes:,} are the most")
        yield image


def _batch(pixels: bytearray, rows: list[tuple[int, int, int]]) -> Batch:
    import numpy as np

    return Batch(pixels, np.array(rows, SHAPE_DTYPE))
