"""Lossless WebP through imagecodecs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from adapter_core.images.one_file_each import ImageFiles, Shape, in_colour, out_of_colour

if TYPE_CHECKING:
    import numpy as np


class Adapter(ImageFiles):
    """One lossless WebP file an image, with libwebp's default effort, and labels.csv.

    WebP has colour with and without opacity only: greyscale is stored as colour of three equal channels,
    two channels as greyscale with opacity, and labels.csv has the original number. imagecodecs decodes
    faster than Pillow, and keeps the colour of transparent pixels by default.
    """

    label = "WebP"
    suffix = ".webps"
    ending = ".webp"
    requires = ("imagecodecs",)
    channels: ClassVar = frozenset({0, 1, 2, 3, 4})
    # Limit of imagecodecs; libwebp's is one more:
    # https://developers.google.com/speed/webp/faq#what_is_the_maximum_size_a_webp_image_can_be
    longest_side = 16_382
    _code_of_file: ClassVar = {
        "module": "import imagecodecs",
        "bytes": "imagecodecs.webp_encode(image, lossless=True)",
        "image": "imagecodecs.webp_decode(file.read())",
    }

    def _encode(self, image: np.ndarray) -> bytes | bytearray:
        import imagecodecs

        return imagecodecs.webp_encode(in_colour(image), lossless=True)

    def _decode(self, data: bytes, shape: Shape) -> np.ndarray:
        import imagecodecs

        # By default, libwebp drops an opacity that is full everywhere.
        with_opacity = shape[2:] in ((2,), (4,))
        return out_of_colour(imagecodecs.webp_decode(data, hasalpha=with_opacity), shape)
