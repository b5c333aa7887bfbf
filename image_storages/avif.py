"""Lossless AVIF through imagecodecs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from adapter_core.images.one_file_each import ImageFiles, Shape, with_opacity

if TYPE_CHECKING:
    import numpy as np

# Limits of libavif's decoder: https://github.com/AOMediaCodec/libavif/blob/main/include/avif/avif.h,
# AVIF_DEFAULT_IMAGE_DIMENSION_LIMIT and AVIF_DEFAULT_IMAGE_SIZE_LIMIT
MOST_PIXELS = 16_384 * 16_384

# Default of libavif's own encoder, avifenc. imagecodecs' default, 0, takes ten times as long for files
# that are 1 % smaller.
SPEED = 6


class Adapter(ImageFiles):
    """One lossless AVIF file an image, at libavif's usual speed, and labels.csv.

    AVIF has greyscale and colour, each with and without opacity: 1 to 4 channels
    (https://aomediacodec.github.io/av1-avif/). labels.csv distinguishes (height, width) and (height,
    width, 1), and shows an opacity that libavif has dropped, since it is full everywhere.
    """

    label = "AVIF"
    suffix = ".avifs"
    ending = ".avif"
    requires = ("imagecodecs",)
    channels: ClassVar = frozenset({0, 1, 2, 3, 4})
    longest_side = 32_768
    _code_of_file: ClassVar = {
        "module": "import imagecodecs",
        "bytes": "imagecodecs.avif_encode(image, level=100, speed=6)",
        "image": "imagecodecs.avif_decode(file.read())",
    }

    def _encode(self, image: np.ndarray) -> bytes | bytearray:
        import imagecodecs

        height, width = image.shape[:2]
        if height * width > MOST_PIXELS:
            raise self.refusal(f"an image has more than {MOST_PIXELS} pixels")
        return imagecodecs.avif_encode(image, level=100, speed=SPEED)

    def _decode(self, data: bytes, shape: Shape) -> np.ndarray:
        import imagecodecs

        return with_opacity(imagecodecs.avif_decode(data), shape)
