"""AVIF through Pillow."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, ClassVar

from adapter_core.images.one_file_each import ImageFiles, Shape, in_colour, out_of_colour, with_opacity

if TYPE_CHECKING:
    import numpy as np


class Adapter(ImageFiles):
    """One AVIF file an image at Pillow's defaults, quality 75 and speed 6, and labels.csv; lossy.

    Pillow writes colour with and without opacity: greyscale is stored as colour, and labels.csv has the
    original number of channels.
    """

    label = "AVIF.lossy"
    suffix = ".avifs"
    ending = ".avif"
    requires = ("pillow",)
    modules: ClassVar = {"pillow": "PIL"}
    channels: ClassVar = frozenset({0, 1, 3, 4})
    # AV1's: https://aomediacodec.github.io/av1-spec/#sequence-header-obu-semantics
    longest_side = 32_768
    changes_pixels = True
    _code_of_file: ClassVar = {
        "module": "from PIL import Image",
        "encode": "Image.fromarray(image).save(os.path.join({path}, name))",
        "decode": 'image = np.array(Image.open(os.path.join({path}, row["file"])))',
    }

    def _encode(self, image: np.ndarray) -> bytes:
        from PIL import Image

        file = BytesIO()
        Image.fromarray(in_colour(image)).save(file, "AVIF")
        return file.getvalue()

    def _decode(self, data: bytes, shape: Shape) -> np.ndarray:
        import numpy as np
        from PIL.AvifImagePlugin import AvifImageFile

        # Image.open would detect the format first. A copy, since Pillow's arrays are scattered.
        found = np.array(AvifImageFile(BytesIO(data)))
        return out_of_colour(with_opacity(found, shape), shape)
