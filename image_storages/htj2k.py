"""Lossless High-Throughput JPEG 2000 through imagecodecs."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from adapter_core.images.one_file_each import ImageFiles, Shape

if TYPE_CHECKING:
    import numpy as np

# Marker EOC: https://www.itu.int/rec/T-REC-T.800, A.4.4
END_OF_CODESTREAM = b"\xff\xd9"


class Adapter(ImageFiles):
    """One lossless codestream of JPEG 2000, Part 15, an image, by OpenJPH, and labels.csv.

    Its block coder is faster than the one of `JPEG-2000`, and any number of channels is possible
    (https://www.itu.int/rec/T-REC-T.814). labels.csv distinguishes (height, width) and (height, width,
    1).
    """

    label = "HTJ2K"
    suffix = ".jhcs"
    ending = ".jhc"
    requires = ("imagecodecs",)
    _code_of_file: ClassVar = {
        "module": "import imagecodecs",
        "bytes": "imagecodecs.htj2k_encode(image, reversible=True, planar=False)",
        "image": "imagecodecs.htj2k_decode(file.read(), planar=False)",
    }

    def _encode(self, image: np.ndarray) -> bytes | bytearray:
        import imagecodecs

        return imagecodecs.htj2k_encode(image, reversible=True, planar=False)

    def _decode(self, data: bytes, shape: Shape) -> np.ndarray:
        import imagecodecs

        # OpenJPH does not miss the end of the last block.
        if not data.endswith(END_OF_CODESTREAM):
            raise ValueError("the codestream of JPEG 2000 is truncated")
        return imagecodecs.htj2k_decode(data, planar=False)
