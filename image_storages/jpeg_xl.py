"""Lossless JPEG XL through imagecodecs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from adapter_core.images.one_file_each import ImageFiles, Shape

if TYPE_CHECKING:
    import numpy as np


class Adapter(ImageFiles):
    """One lossless JPEG XL file an image, and labels.csv.

    JPEG XL has any number of channels (https://jpeg.org/jpegxl/); labels.csv distinguishes (height,
    width) and (height, width, 1). The effort is imagecodecs' default, 5 of 1 to 9.
    """

    label = "JPEG-XL"
    suffix = ".jxls"
    ending = ".jxl"
    requires = ("imagecodecs",)
    _code_of_file: ClassVar = {
        "module": "import imagecodecs",
        "bytes": "imagecodecs.jpegxl_encode(image, lossless=True)",
        "image": "imagecodecs.jpegxl_decode(file.read())",
    }

    def _encode(self, image: np.ndarray) -> bytes | bytearray:
        import imagecodecs

        return imagecodecs.jpegxl_encode(image, lossless=True)

    def _decode(self, data: bytes, shape: Shape) -> np.ndarray:
        import imagecodecs

        image = imagecodecs.jpegxl_decode(data)
        # It leaves out a height of one pixel of more than four channels.
        return image[None] if image.shape == shape[1:] else image
