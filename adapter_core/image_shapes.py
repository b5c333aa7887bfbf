"""Shapes of images as rows of numbers, and the bytes that the images take.

A shape is a row (height, width, channels); 0 channels stand for greyscale of shape (height, width).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

SHAPE_DTYPE = "<u4"


def shape_row(image: np.ndarray) -> tuple[int, int, int]:
    """Return the (height, width, channels) of an image."""
    height, width, *channels = image.shape
    return height, width, channels[0] if channels else 0


def shape_table(shapes: Sequence[tuple[int, ...]]) -> np.ndarray:
    """Return shapes as rows, shape (images, 3), dtype little-endian uint32.

    Sets of one shape, the usual case, cost next to nothing.
    """
    import numpy as np

    rows = {shape: (*shape, 0)[:3] for shape in set(shapes)}
    if len(rows) == 1:
        return np.repeat(np.array([*rows.values()], SHAPE_DTYPE), len(shapes), axis=0)
    return np.array([rows[shape] for shape in shapes], SHAPE_DTYPE).reshape(len(shapes), 3)


def sizes(shapes: np.ndarray) -> np.ndarray:
    """Return the bytes of each image, shape (images,), dtype int64."""
    import numpy as np

    wide = shapes.astype(np.int64)
    return wide[:, 0] * wide[:, 1] * np.maximum(wide[:, 2], 1)


def offsets(shapes: np.ndarray) -> np.ndarray:
    """Return the start of each image, and the end of the last one, in bytes.

    Shape (images + 1,), dtype int64.
    """
    import numpy as np

    ends = np.zeros(len(shapes) + 1, np.int64)
    np.cumsum(sizes(shapes), out=ends[1:])
    return ends
