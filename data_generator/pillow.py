"""Arrays from Pillow's images."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

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
