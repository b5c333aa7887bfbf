"""Images gathered into runs of bytes of bounded length, for libraries that are slow with single ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapter_core.flat_images import SHAPE_DTYPE

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
    """Return shapes as `adapter_core.flat_images` has them, at little cost if all are the same."""
    import numpy as np

    rows = {shape: (*shape, 0)[:3] for shape in set(shapes)}
    if len(rows) == 1:
        return np.repeat(np.array([*rows.values()], SHAPE_DTYPE), len(shapes), axis=0)
    return np.array([rows[shape] for shape in shapes], SHAPE_DTYPE).reshape(len(shapes), 3)
