"""PNG through Pillow."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, ClassVar

from adapter_core.images.one_file_each import ImageFiles, Shape

if TYPE_CHECKING:
    import numpy as np


class Adapter(ImageFiles):
    """One PNG file an image with Pillow's defaults, and labels.csv.

    PNG has greyscale and colour, each with and without opacity: 1 to 4 channels
    (https://www.w3.org/TR/png-3/#6Colour-values). labels.csv distinguishes the shapes (height, width)
    and (height, width, 1), which are the same in PNG.
    """

    label = "PNG"
    suffix = ".pngs"
    ending = ".png"
    requires = ("pillow",)
    modules: ClassVar = {"pillow": "PIL"}
    channels: ClassVar = frozenset({0, 1, 2, 3, 4})
    _code_of_file: ClassVar = {
        "module": "from PIL import Image",
        "encode": "Image.fromarray(image).save(os.path.join({path}, name))",
        "decode": 'image = np.array(Image.open(os.path.join({path}, row["file"])))',
    }

    def _encode(self, image: np.ndarray) -> bytes:
        from PIL import Image

        file = BytesIO()
        grey = image.shape[2:] == (1,)
        Image.fromarray(image[:, :, 0] if grey else image).save(file, "PNG")
        return file.getvalue()

    def _decode(self, data: bytes, shape: Shape) -> np.ndarray:
        import numpy as np
        from PIL.PngImagePlugin import PngImageFile

        # Image.open would detect the format first, and refuse images beyond 179 megapixels as an attack.
        # A copy, since Pillow's arrays are scattered: a set of them takes 1.4 times the memory.
        return np.array(PngImageFile(BytesIO(data)))
