"""JPEG through Pillow."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, ClassVar

from adapter_core.images.one_file_each import ImageFiles, Shape

if TYPE_CHECKING:
    import numpy as np


class Adapter(ImageFiles):
    """One JPEG file an image at Pillow's default quality, 75, and labels.csv; lossy.

    JPEG has greyscale and colour; labels.csv distinguishes (height, width) and (height, width, 1). Its
    four channels are inks (CMYK), where opacity would come back as black.
    """

    label = "JPEG"
    suffix = ".jpgs"
    ending = ".jpg"
    requires = ("pillow",)
    modules: ClassVar = {"pillow": "PIL"}
    channels: ClassVar = frozenset({0, 1, 3})
    # JPEG_MAX_DIMENSION of libjpeg, Pillow's library:
    # https://github.com/libjpeg-turbo/libjpeg-turbo/blob/main/src/jmorecfg.h
    longest_side = 65_500
    changes_pixels = True
    _code_of_file: ClassVar = {
        "module": "from PIL import Image",
        "encode": "Image.fromarray(image).save(os.path.join({path}, name))",
        "decode": 'image = np.array(Image.open(os.path.join({path}, row["file"])))',
    }

    def _encode(self, image: np.ndarray) -> bytes:
        from PIL import Image

        if image.shape[2:] == (1,):
            image = image.reshape(image.shape[:2])
        file = io.BytesIO()
        Image.fromarray(image).save(file, "JPEG")
        return file.getvalue()

    def _decode(self, data: bytes, shape: Shape) -> np.ndarray:
        import numpy as np
        from PIL.JpegImagePlugin import JpegImageFile

        # Image.open would detect the format first, and refuse images beyond 179 megapixels as an attack.
        # A copy, since Pillow's arrays are scattered: a set of them takes 1.4 times the memory.
        return np.array(JpegImageFile(io.BytesIO(data)))
