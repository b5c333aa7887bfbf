"""Images as .npy files inside archives: faster for small ones than `numpy.save` and `numpy.load`.

Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


HEADER_BYTES = 128
"""What stands before the pixels: NumPy fills it up to a multiple of 64, with room for longer shapes."""

_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00v\x00\{'descr': '\|u1', 'fortran_order': False, "
    rb"'shape': \((\d+), (\d+)(?:, (\d+))?\), \} *\n"
)

_SHAPES_KEPT = 4096


@lru_cache(_SHAPES_KEPT)
def header(shape: tuple[int, ...]) -> bytes:
    """Return what stands before the pixels of an image of some shape."""
    from io import BytesIO

    from numpy.lib import format as npy

    file = BytesIO()
    npy.write_array_header_1_0(file, {"descr": "|u1", "fortran_order": False, "shape": shape})
    return file.getvalue()


def image_in(data: bytes) -> np.ndarray:
    """Return the image of a .npy file, without a copy.

    Raises
    ------
    ValueError
        If it is none as `header` begins it, or if there are more or fewer pixels than its shape needs.
    """
    import numpy as np

    return np.frombuffer(data, np.uint8, offset=HEADER_BYTES).reshape(shape_in(data[:HEADER_BYTES]))


@lru_cache(_SHAPES_KEPT)
def shape_in(header: bytes) -> tuple[int, ...]:
    """Return the shape in a header; NumPy takes longer to read it than an image of 32 x 32 pixels.

    Raises
    ------
    ValueError
        If it is not as `header` makes it.
    """
    found = _HEADER.fullmatch(header)
    if found is None:
        raise ValueError("a .npy file is no image: it does not begin as one does")
    return tuple(int(number) for number in found.groups() if number is not None)
