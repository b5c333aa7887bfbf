"""Images as .npy files inside archives, faster for small ones than `numpy.save` and `numpy.load`.

Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


HEADER_BYTES = 128
"""Length of the header, which NumPy pads to a multiple of 64, with room for longer shapes."""

_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00v\x00\{'descr': '\|u1', 'fortran_order': False, "
    rb"'shape': \((\d+), (\d+)(?:, (\d+))?\), \} *\n"
)

# Images of a data set have few shapes; each header is made once.
_SHAPES_KEPT = 4096


@lru_cache(_SHAPES_KEPT)
def header(shape: tuple[int, ...]) -> bytes:
    """Return the header of an image of some shape."""
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
        If it does not start with a `header`, or the number of pixels does not fit its shape.
    """
    import numpy as np

    return np.frombuffer(data, np.uint8, offset=HEADER_BYTES).reshape(shape_in(data[:HEADER_BYTES]))


@lru_cache(_SHAPES_KEPT)
def shape_in(header: bytes) -> tuple[int, ...]:
    """Return the shape in a header.

    Raises
    ------
    ValueError
        If it is not one of `header`.
    """
    # NumPy's parser of headers takes longer than reading an image of 32 x 32 pixels.
    found = _HEADER.fullmatch(header)
    if found is None:
        raise ValueError("a .npy file is not an image: it has another header")
    return tuple(int(number) for number in found.groups() if number is not None)
