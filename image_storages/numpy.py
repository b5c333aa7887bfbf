"""NumPy's .npy files."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from adapter_core import Given, ImageReader, ImageStorage, Snippet
from adapter_core.file_facts import FileFacts
from adapter_core.image_shapes import shape_table
from adapter_core.images.packed import split
from adapter_core.images.readers import FlatReader

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import CheckedImages

IMAGES, SHAPES, LABELS = "images.npy", "shapes.npy", "labels.npy"
# Some hundred small images for each call of the system.
BUFFER_BYTES = 1 << 20


class Adapter(ImageStorage):
    """A directory of .npy files for `numpy.load`: `images.npy` and `labels.npy`.

    Images of one shape are one array (images, height, width[, channels]). Others lie end to end in an
    array (bytes,), with their (height, width, channels) in `shapes.npy`. Random access maps the file
    into memory, which the members of an .npz archive would not allow. Pixels are written as they come,
    and the header, whose length does not depend on the shape, is written again at the end.

    Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
    """

    label = "NumPy"
    suffix = ".npys"
    requires = ("numpy",)
    file_facts = FileFacts(version="1.0")
    snippet = Snippet(
        imports="import os\n\nimport numpy as np",
        write="""
            os.mkdir({path})
            np.save(os.path.join({path}, "images.npy"), np.stack(images))  # of one shape
            np.save(os.path.join({path}, "labels.npy"), labels)
        """,
        read="""
            images = list(np.load(os.path.join({path}, "images.npy")))
            labels = np.load(os.path.join({path}, "labels.npy"))
        """,
        given=Given.IMAGES,
    )

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        import numpy as np

        path.mkdir()
        shapes = []
        with (path / IMAGES).open("wb", buffering=BUFFER_BYTES) as file:
            _write_header(file, (0,))
            begin = file.tell()
            for image in images:
                file.write(image.data)
                shapes.append(image.shape)
            count_bytes = file.tell() - begin
            equal = len(set(shapes)) == 1
            file.seek(0)
            _write_header(file, (len(shapes), *shapes[0]) if equal else (count_bytes,))
            if file.tell() != begin:
                raise AssertionError("the header of an .npy file has grown over the pixels")
        if not equal:
            np.save(path / SHAPES, shape_table(shapes))
        np.save(path / LABELS, labels)

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        images, shapes, labels = _load(path, None)
        return list(images) if shapes is None else split(images, shapes), labels

    def _open(self, path: Path) -> ImageReader:
        import numpy as np

        mapped, shapes, labels = _load(path, "r")
        # As a plain array, since slicing a memmap costs several times as much.
        images = mapped.view(np.ndarray)
        return _EqualReader(images, labels) if shapes is None else FlatReader([images], [shapes], labels)


class _EqualReader(ImageReader):
    def __init__(self, images: np.ndarray, labels: np.ndarray) -> None:
        super().__init__(len(images))
        self._images, self._labels = images, labels

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        return self._images[index].copy(), int(self._labels[index])

    def _get_many(self, indices: list[int]) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np

        chosen = np.array(indices, np.int64)
        return list(self._images[chosen]), self._labels[chosen]

    def close(self) -> None:
        self._images = self._images[:0].copy()


def _write_header(file: IO[bytes], shape: tuple[int, ...]) -> None:
    import numpy as np

    header = {"descr": "|u1", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)


def _load(
    path: Path, mmap_mode: Literal["r"] | None
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """Return pixels, shapes if they differ, and labels."""
    import numpy as np

    images, labels = np.load(path / IMAGES, mmap_mode), np.load(path / LABELS)
    shapes = np.load(path / SHAPES) if images.ndim == 1 else None
    count = len(images) if shapes is None else len(shapes)
    if count != len(labels):
        raise ValueError(f"there are {count} images and {len(labels)} labels")
    return images, shapes, labels
