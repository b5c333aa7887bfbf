"""PNG through Pillow."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, ClassVar

from adapter_core.images.one_file_each import ImageFiles, Shape

if TYPE_CHECKING:
    import numpy as np


class Adapter(ImageFiles):
    """One PNG file an image, as Pillow writes it by default, and labels.csv.

    PNG has greyscale and colour, each with and without opacity: 1 to 4 channels
    (https://www.w3.org/TR/png-3/#6Colour-values). Shapes (height, width) and (height, width, 1), which
    look the same in it, are told apart by labels.csv.
    """

    label = "PNG"
    suffix = ".pngs"
    ending = ".png"
    requires = ("pillow",)
    modules: ClassVar = {"pillow": "PIL"}
    channels: ClassVar = frozenset({0, 1, 2, 3, 4})

    def _encode(self, image: np.ndarray) -> bytes:
        from PIL import Image

        file = BytesIO()
        grey = image.shape[2:] == (1,)
        Image.fromarray(image[:, :, 0] if grey else image).save(file, "PNG")
        return file.getvalue()

    def _decode(self, data: bytes, shape: Shape) -> np.ndarray:
        import numpy as np
        from PIL.PngImagePlugin import PngImageFile

        # Image.open would find out the format first, and take images of 179 megapixels for an attack.
        # Copied: what Pillow gives lies scattered, and a set of it takes 1.4 times its size.
        return np.array(PngImageFile(BytesIO(data)))
