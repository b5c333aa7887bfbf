"""Lossless HEIF through pillow-heif."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, ClassVar

from adapter_core.images.one_file_each import ImageFiles, Shape

if TYPE_CHECKING:
    import numpy as np

MODES = ("L", "L", "LA", "RGB", "RGBA")


class Adapter(ImageFiles):
    """One HEIF file an image with HEVC without loss, by x265's default effort, and labels.csv.

    HEIF has greyscale and colour, each with and without opacity: 1 to 4 channels
    (https://nokiatech.github.io/heif/technical.html). libheif returns greyscale with opacity as colour;
    labels.csv has the original number.
    """

    label = "HEIF"
    suffix = ".heics"
    ending = ".heic"
    requires = ("pillow-heif",)
    modules: ClassVar = {"pillow-heif": "pillow_heif"}
    channels: ClassVar = frozenset({0, 1, 2, 3, 4})
    # Tried: libde265, the decoder, takes no longer sides.
    longest_side = 65_528
    _code_of_file: ClassVar = {
        "module": "import pillow_heif",
        "encode": (
            'mode = {2: "L", 3: "RGB"}[image.ndim]\n'
            "file = pillow_heif.from_bytes(mode, image.shape[1::-1], image.tobytes())\n"
            "file.save(os.path.join({path}, name), quality=-1, chroma=444, matrix_coefficients=0)"
        ),
        "decode": 'image = np.array(pillow_heif.open_heif(os.path.join({path}, row["file"])))',
    }

    def _encode(self, image: np.ndarray) -> bytes:
        import pillow_heif

        height, width = image.shape[:2]
        mode = MODES[image.shape[2] if image.ndim > 2 else 0]  # noqa: PLR2004 (with channels)
        file = BytesIO()
        # Quality -1 is without loss; it takes the colours as they are (matrix 0), and all of them (444).
        pillow_heif.from_bytes(mode, (width, height), image.data).save(
            file, quality=-1, chroma=444, matrix_coefficients=0
        )
        return file.getvalue()

    def _decode(self, data: bytes, shape: Shape) -> np.ndarray:
        import numpy as np
        import pillow_heif

        # A copy, since the pixels belong to the file, which would stay open.
        found = np.array(pillow_heif.open_heif(data))
        return np.ascontiguousarray(found[:, :, ::3]) if shape[2:] == (2,) else found
