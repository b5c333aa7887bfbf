"""Decoding of images through Pillow to arrays of 8 bits per channel."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidDataError
from data_generator.errors import library_errors

if TYPE_CHECKING:
    import numpy as np


# Channels of Pillow's modes; 0 represents the shape (height, width).
CHANNELS = {"L": 0, "LA": 2, "RGB": 3, "RGBA": 4}

GREY_MODES = ("1", "L", "LA", "La")
DEEP_MODES = ("I", "F")
# Modes of colours whose formula for RGB rounds.
CONVERTED_MODES = ("CMYK", "HSV", "LAB", "YCbCr")

# Tags of TIFF, and their values for signed integers, and for channels of no declared meaning
# (TIFF Revision 6.0, Adobe, 1992, pages 31 and 80).
_SAMPLE_FORMAT, _SIGNED = 339, 2
_EXTRA_SAMPLES, _UNSPECIFIED = 338, 0

# Pillow recognises by the content some forty kinds of files, and starts Ghostscript for PostScript.
FORMATS = ("PNG", "JPEG", "WEBP", "TIFF", "BMP")


@dataclass(frozen=True)
class Header:
    """Header of an image."""

    shape: tuple[int, ...]
    """(height, width) or (height, width, channels) of the array that `decode` returns."""
    mode: str
    """Pillow's mode of what is stored."""
    frames: int
    """Number of frames of an animation, or of pages; 1 for other images."""


def header_of(path: Path) -> Header:
    """Return the header of an image, none of which is decoded.

    Raises
    ------
    InvalidDataError
        If the file is not an image, or `decode` would refuse or lose values of it.
    """
    with library_errors(path, "an image"), _opened(path) as image:
        channels = CHANNELS[_mode(path, image)]
        shape = (image.height, image.width, channels)
        return Header(shape if channels else shape[:2], image.mode, getattr(image, "n_frames", 1))


def decode(path: Path) -> np.ndarray:
    """Return the pixels of an image, or of the first frame of an animation, dtype uint8.

    Black-and-white and greyscale images have the shape (height, width), all others (height, width,
    channels): 3 for colour, 4 with opacity, 2 for greyscale with opacity. Palettes, CMYK, YCbCr and the
    like are converted to RGB by Pillow's simple formulas. The orientation in EXIF metadata is ignored.

    Raises
    ------
    InvalidDataError
        If the file cannot be read, has more than 8 bits per channel or signed values, or a channel that
        is neither colour nor opacity.
    """
    import numpy as np

    with library_errors(path, "an image"), _opened(path) as image:
        return np.array(image.convert(_mode(path, image)))


def _opened(path: Path) -> Any:
    from PIL import Image

    return Image.open(path, formats=FORMATS)


def _mode(path: Path, image: Any) -> str:
    """Return the mode of Pillow that preserves all that 8 bits per channel can represent."""
    # Pillow silently reduces 16-bit colour to 8 bits; only the tiles show the depth of the file.
    halved = any(";16" in str(tile) for tile in image.tile)
    if halved or image.mode.startswith(DEEP_MODES):
        raise InvalidDataError(
            path, "has more than 8 bits a channel", "convert it to 8 bits, or leave it out"
        )
    tags = getattr(image, "tag_v2", {})
    if _SIGNED in tags.get(_SAMPLE_FORMAT, ()):
        raise InvalidDataError(
            path, "has signed values", "convert them to unsigned ones, or leave it out"
        )
    if _UNSPECIFIED in tags.get(_EXTRA_SAMPLES, ()):
        # Pillow drops such a channel, e.g. of infrared light.
        problem = "has a channel that is neither colour nor opacity"
        raise InvalidDataError(path, problem, "measure it as an array, or leave it out")
    if image.mode in GREY_MODES:
        return "LA" if image.has_transparency_data else "L"
    return "RGBA" if image.has_transparency_data else "RGB"


def to_array(image: Any) -> np.ndarray:
    """Return the pixels of a `PIL.Image.Image` without transparency, dtype uint8.

    Greyscale and black-and-white images have the shape (height, width), all others (height, width, 3):
    palettes, CMYK, YCbCr and the like are converted to RGB by Pillow. The current frame of an animation
    is returned.

    Raises
    ------
    ValueError
        If the image has more than 8 bits per channel.
    """
    import numpy as np

    if image.mode.startswith(DEEP_MODES):
        raise ValueError(f"an image of Pillow's mode {image.mode} has more than 8 bits a channel")
    return np.array(image.convert("L" if image.mode in GREY_MODES else "RGB"))
