"""JPEG-LS through imagecodecs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from adapter_core.images.one_file_each import ImageFiles, Shape

if TYPE_CHECKING:
    import numpy as np

# A code has at most LIMIT bits: 32 for samples of 8 bits, by ITU-T T.87, A.2.1 and C.2.4.1.1. The buffer
# that imagecodecs allocates by itself is too small for noise.
MOST_BYTES_A_SAMPLE = 4
HEADER_BYTES = 1_024


class Adapter(ImageFiles):
    """One lossless JPEG-LS file an image, and labels.csv.

    CharLS writes 1, 3 or 4 channels; labels.csv distinguishes (height, width) and (height, width, 1).
    Colours are coded one by one, without a transform.

    Format: https://www.itu.int/rec/T-REC-T.87
    """

    label = "JPEG-LS"
    suffix = ".jlss"
    ending = ".jls"
    requires = ("imagecodecs",)
    channels: ClassVar = frozenset({0, 1, 3, 4})
    _code_of_file: ClassVar = {
        "module": "import imagecodecs",
        "bytes": "imagecodecs.jpegls_encode(image, out=4 * image.nbytes + 1024)",
        "image": "imagecodecs.jpegls_decode(file.read())",
    }

    def _encode(self, image: np.ndarray) -> bytes | bytearray:
        import imagecodecs

        return imagecodecs.jpegls_encode(image, out=MOST_BYTES_A_SAMPLE * image.nbytes + HEADER_BYTES)

    def _decode(self, data: bytes, shape: Shape) -> np.ndarray:
        import imagecodecs

        return imagecodecs.jpegls_decode(data)
