"""OpenEXR through its own Python library."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, ClassVar

from adapter_core.images.one_file_each import ImageFiles, Shape

if TYPE_CHECKING:
    import numpy as np

NAMES: dict[int, str] = {1: "Y", 2: "YA", 3: "RGB", 4: "RGBA"}


class Adapter(ImageFiles):
    """One OpenEXR file an image with the library's default compression, ZIP, and labels.csv.

    OpenEXR has floats and 32-bit integers only: bytes are stored as 16-bit floats, which contain all
    integers up to 2,048, in twice the bytes before compression. Channels have names: Y for greyscale, A
    for opacity, R, G and B, or numbers where there are more than four.

    Format: https://openexr.com/en/latest/OpenEXRFileLayout.html
    """

    label = "OpenEXR"
    suffix = ".exrs"
    ending = ".exr"
    requires = ("openexr",)
    modules: ClassVar = {"openexr": "OpenEXR"}
    _code_of_file: ClassVar = {
        "module": "import OpenEXR",
        "encode": (
            'pixels = {"RGB" if image.ndim == 3 else "Y": image.astype(np.float16)}\n'
            'header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}\n'
            "OpenEXR.File(header, pixels).write(os.path.join({path}, name))"
        ),
        "decode": (
            'file = OpenEXR.File(os.path.join({path}, row["file"]))\n'
            "(channel,) = file.channels().values()\n"
            "image = channel.pixels.astype(np.uint8)"
        ),
    }

    def _encode(self, image: np.ndarray) -> bytes:
        import numpy as np
        import OpenEXR

        pixels = image.astype(np.float16).reshape(*image.shape[:2], -1)
        count = pixels.shape[2]
        if count in (3, 4):
            channels = {NAMES[count]: pixels}
        else:
            planes = np.ascontiguousarray(np.moveaxis(pixels, 2, 0))
            channels = dict(zip(_names(count), planes, strict=True))
        header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
        file = BytesIO()
        OpenEXR.File(header, channels).write(file)
        return file.getvalue()

    def _decode(self, data: bytes, shape: Shape) -> np.ndarray:
        import numpy as np
        import OpenEXR

        # It prints what is wrong with the file, too.
        channels = OpenEXR.File(BytesIO(data)).channels()
        count = shape[2] if len(shape) > 2 else 1  # noqa: PLR2004 (with channels)
        if count in (3, 4):
            return channels[NAMES[count]].pixels.astype(np.uint8)
        image = np.empty((*shape[:2], count), np.uint8)
        for place, name in enumerate(_names(count)):
            plane = channels[name].pixels
            if plane.shape != shape[:2]:
                raise ValueError(f"the file has the shape {plane.shape}, not {shape}")
            image[:, :, place] = plane
        return image


def _names(count: int) -> list[str]:
    return list(NAMES.get(count, ())) or [f"{number:06d}" for number in range(count)]
