"""Images from files of many kinds, as 8-bit arrays that lose nothing.

Arrays from Pillow's images.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidDataError
from data_generator.errors import library_errors

if TYPE_CHECKING:
    import numpy as np


CHANNELS = {"L": 0, "LA": 2, "RGB": 3, "RGBA": 4}
"""Of the modes of Pillow that arrays are made in; 0 stands for the shape (height, width)."""


def shape_of(path: Path) -> tuple[int, ...]:
    """Return the shape of the array that `decode` gives, from the head of the file alone.

    Raises
    ------
    InvalidDataError
        If the file is no image, or has more than 8 bits a channel.
    """
    from PIL import Image

    with library_errors(path, "an image"), Image.open(path) as image:
        channels = CHANNELS[_mode(path, image)]
        shape = (image.height, image.width, channels)
    return shape if channels else shape[:2]


def decode(path: Path) -> np.ndarray:
    """Return the pixels of an image, or of the first one of an animation, dtype uint8.

    Black and white and greyscale have the shape (height, width), all else (height, width, channels):
    colour 3, with opacity 4, greyscale with opacity 2. Palettes, CMYK, YCbCr and the like become RGB, by
    Pillow's simple formulas. Which way up the camera was held is not regarded.

    Raises
    ------
    InvalidDataError
        If the file cannot be read, or has more than 8 bits a channel.
    """
    import numpy as np
    from PIL import Image

    with library_errors(path, "an image"), Image.open(path) as image:
        return np.array(image.convert(_mode(path, image)))


def _mode(path: Path, image: Any) -> str:
    """Return the mode of Pillow's in which nothing is lost that the storages measured here can hold."""
    # Pillow halves the depth of colour without a word; how the file has it, its tiles tell.
    halved = any(";16" in str(tile) for tile in image.tile)
    if halved or image.mode.startswith(DEEP_MODES):
        raise InvalidDataError(
            path, "has more than 8 bits a channel", "convert it to 8 bits, or leave it out"
        )
    if image.mode in GREY_MODES:
        return "LA" if image.has_transparency_data else "L"
    return "RGBA" if image.has_transparency_data else "RGB"


GREY_MODES = ("1", "L", "LA", "La")
DEEP_MODES = ("I", "F")


def to_array(image: Any) -> np.ndarray:
    """Return the pixels of a `PIL.Image.Image` as uint8.

    Greyscale and black-and-white images have the shape (height, width), all others (height, width, 3):
    palettes, CMYK, YCbCr and the like are converted to RGB by Pillow, and transparency is dropped. Of an
    animation, it is the frame that the image is at.

    Raises
    ------
    ValueError
        If the image has more than 8 bits a channel.
    """
    import numpy as np

    if image.mode.startswith(DEEP_MODES):
        raise ValueError(f"an image of Pillow's mode {image.mode} has more than 8 bits a channel")
    return np.array(image.convert("L" if image.mode in GREY_MODES else "RGB"))
