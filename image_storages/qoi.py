"""QOI (Quite OK Image Format) through the qoi package."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from adapter_core.images.one_file_each import ImageFiles, Shape, in_colour, out_of_colour

if TYPE_CHECKING:
    import numpy as np

# QOI_PIXELS_MAX of https://github.com/phoboslab/qoi/blob/master/qoi.h
MOST_PIXELS = 400_000_000


class Adapter(ImageFiles):
    """One QOI file an image, and labels.csv.

    QOI has colour with and without opacity only (https://qoiformat.org/qoi-specification.pdf): greyscale
    is stored as colour of three equal channels, two channels as greyscale with opacity, and labels.csv
    has the original number. That costs little, since QOI stores differences between pixels.
    """

    label = "QOI"
    suffix = ".qois"
    ending = ".qoi"
    requires = ("qoi",)
    channels: ClassVar = frozenset({0, 1, 2, 3, 4})
    _code_of_file: ClassVar = {
        "module": "import qoi",
        "bytes": "qoi.encode(image)",
        "image": "qoi.decode(file.read())",
    }

    def _encode(self, image: np.ndarray) -> bytes:
        import qoi

        if image.shape[0] * image.shape[1] > MOST_PIXELS:
            raise self.refusal(f"an image has more than {MOST_PIXELS} pixels")
        return qoi.encode(in_colour(image))

    def _decode(self, data: bytes, shape: Shape) -> np.ndarray:
        import qoi

        return out_of_colour(qoi.decode(data), shape)
