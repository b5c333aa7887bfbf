"""Lossless JPEG 2000 through imagecodecs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from adapter_core.images.one_file_each import ImageFiles, Shape

if TYPE_CHECKING:
    import numpy as np


class Adapter(ImageFiles):
    """One lossless JP2 file an image, by OpenJPEG, and labels.csv.

    JPEG 2000 has any number of channels up to 16,384 (https://www.itu.int/rec/T-REC-T.800); labels.csv
    distinguishes (height, width) and (height, width, 1).
    """

    label = "JPEG-2000"
    suffix = ".jp2s"
    ending = ".jp2"
    requires = ("imagecodecs",)
    _code_of_file: ClassVar = {
        "module": "import imagecodecs",
        "bytes": "imagecodecs.jpeg2k_encode(image, level=0, reversible=True, planar=False)",
        "image": "imagecodecs.jpeg2k_decode(file.read(), planar=False)",
    }

    def _encode(self, image: np.ndarray) -> bytes | bytearray:
        import imagecodecs

        return imagecodecs.jpeg2k_encode(image, level=0, reversible=True, planar=False)

    def _decode(self, data: bytes, shape: Shape) -> np.ndarray:
        import imagecodecs

        return imagecodecs.jpeg2k_decode(data, planar=False)
